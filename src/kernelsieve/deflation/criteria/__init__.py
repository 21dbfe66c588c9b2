"""Criteria: which direction is good."""
