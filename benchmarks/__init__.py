"""Side by side with the alternatives, as ratios in one run; see ``python -m benchmarks --help``."""
