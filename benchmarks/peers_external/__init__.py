"""Scripts that run a method of another package, each in an environment of its own."""
