"""xRFM, recursive feature machines in the leaves of a tree, by its defaults.

A quarter of the samples validates.
"""

import numpy as np
import torch
from protocol import Fitted, Problem, main
from xrfm import xRFM

torch.set_num_threads(1)


def fit(problem: Problem) -> Fitted:
    torch.manual_seed(problem.seed)
    order = np.random.default_rng(problem.seed).permutation(len(problem.X))
    held, rest = np.split(order, [len(order) // 4])
    X, y = problem.X.astype(np.float32), problem.y
    y = y.astype(np.int64 if problem.labelled else np.float32)
    model = xRFM(device="cpu", random_state=problem.seed, verbose=False, n_threads=1)
    model.fit(X[rest], y[rest], X[held], y[held])

    def predict(X: np.ndarray) -> np.ndarray:
        found = np.ravel(model.predict(X.astype(np.float32)))
        return (np.eye(problem.Y.shape[1])[found.astype(int)] if problem.labelled else found[:, None])[
            None
        ]

    return Fitted(predict, len(rest))


if __name__ == "__main__":
    main(fit, "none")
