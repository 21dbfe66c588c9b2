"""How many features: every number from one fit, the one-standard-error rule, a bound."""
