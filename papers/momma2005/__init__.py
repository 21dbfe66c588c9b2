"""M. Momma: Efficient computations via scalable sparse kernel PLS and boosted latent features.

ACM SIGKDD International Conference on Knowledge Discovery and Data Mining, 2005.
"""
