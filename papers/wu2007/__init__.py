"""M. Wu, J. Farquhar: A subspace kernel for nonlinear feature extraction.

International Joint Conference on Artificial Intelligence, 2007.
"""
