import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture
def path(rng):
    """Scores of 3 folds, 4 values of gamma and k = 1 ... 12, in no particular order."""
    lines = [
        (fold, gamma, k) for fold in range(3) for gamma in (0.01, 0.1, 1.0, 10.0) for k in range(1, 13)
    ]
    fold, gamma, k = np.array(lines).T
    test = 0.9 - 0.5 * np.exp(-k / 4) - 0.05 * np.abs(np.log10(gamma)) + 0.02 * rng.random(len(k))
    table = {
        "fold": fold.astype(int),
        "param_gamma": gamma,
        "k": k.astype(int),
        "train_score": test + 0.05,
        "test_score": test,
        "fit_seconds": rng.random(len(k)),
        "kernel_evaluations": 2 * k + fold,
    }
    order = rng.permutation(len(k))
    return {name: column[order] for name, column in table.items()}
