"""X. Jiang, R. R. Snapp, Y. Motai, X. Zhu: Accelerated kernel feature analysis.

IEEE Conference on Computer Vision and Pattern Recognition, 2006.
"""
