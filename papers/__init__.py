"""Published figures and tables beside what this library gives: one folder a paper.

``python -m papers`` runs them all; ``python -m papers dhanjal2009`` runs one.
"""
