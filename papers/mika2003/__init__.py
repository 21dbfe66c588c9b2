"""S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller.

Constructing descriptive and discriminative nonlinear features: Rayleigh coefficients in kernel feature
spaces. IEEE Transactions on Pattern Analysis and Machine Intelligence 25, 2003.
"""
