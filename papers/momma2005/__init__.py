"""M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted latent
features.

ACM SIGKDD International Conference on Knowledge Discovery and Data Mining, 2005.

The copy of the paper that we worked from has lost equations (4) and (11), Algorithm 1, the numbers of
Table 1 and all pictures. Our dual problem, and the quantity that MI ranks, are derived; we can compare
with what the paper says about its figures, not with the figures. The paper reads the exact solutions
from earlier work; ours are computed (Frank-Wolfe). Q² is the mean squared error of other rows over the
variance of the training targets.
"""

from __future__ import annotations

TABLES = ("fig1", "fig2", "table1", "fig3")
NAMES = {"exact": "exact", "mi": "MI", "mr": "MR", "svm": "nu-SVM", "dense": "kernel PLS"}
