"""How the default of ``stop_tol`` was chosen: ``python -m papers.mika2003.default_stop_tol``.

Errors, log-losses and numbers of landmarks of greedy kernel Fisher discriminants on the IDA sets, over
those without a stop, for a grid of ``stop_tol``.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from kernelsieve import GreedyKernelFisherDiscriminant

from .ida import load, quiet_single_thread
from .printed import TABLE1

GRID = (0.0, 0.003, 0.01, 0.02, 0.03, 0.05, 0.1)
REALISATIONS = 3


def measure(name: str) -> np.ndarray:
    """Return error, log-loss and landmarks on one set for every ``stop_tol``."""
    found = np.zeros((len(GRID), 3))
    for realisation in range(REALISATIONS):
        (X, y), (X_new, y_new) = load(name, realisation)
        scaler = StandardScaler().fit(X)
        for i, stop_tol in enumerate(GRID):
            model = GreedyKernelFisherDiscriminant(100, stop_tol=stop_tol, candidates="all", n_jobs=1)
            p = model.fit(scaler.transform(X), y).predict_proba(scaler.transform(X_new))
            wrong = np.mean(model.classes_[p.argmax(axis=1)] != y_new)
            found[i] += wrong, log_loss(y_new, p), len(model.landmarks_)
    return found / REALISATIONS


def main() -> None:
    """Print the three measures for each ``stop_tol``."""
    with quiet_single_thread():
        found = np.array([measure(name) for name in TABLE1])
    relative = np.mean(found / found[:, :1], axis=0)
    print(f"{'stop_tol':<10}" + "".join(f"{stop_tol:>8g}" for stop_tol in GRID))
    for what, values in zip(("error", "log-loss", "landmarks"), relative.T, strict=True):
        print(f"{what:<10}" + "".join(f"{value:>8.3f}" for value in values))


if __name__ == "__main__":
    main()
