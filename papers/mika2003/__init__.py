"""S. Mika, G. Rätsch, J. Weston, B. Schölkopf, A. Smola, K.-R. Müller.

Constructing descriptive and discriminative nonlinear features: Rayleigh coefficients in kernel feature
spaces. IEEE Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003.
"""

TABLES = ("fig1", "digits", "table1", "table1_grid", "default_reg", "default_stop_tol")
