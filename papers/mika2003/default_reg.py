"""How the default of ``reg`` was chosen: ``python -m papers.mika2003.default_reg``.

Errors and log-losses of kernel Fisher discriminants on the IDA sets, over the least of each set, for
every penalty and a grid of ``reg``. The default is where they are smallest, on average over the sets.
"""

from __future__ import annotations

import numpy as np
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler

from kernelsieve import KernelFisherDiscriminant

from .ida import load, quiet_single_thread
from .printed import TABLE1

GRID = (1e-3, 1e-2, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
REALISATIONS = 3


def measure(name: str, penalty: str) -> np.ndarray:
    """Return error and log-loss on one set for every ``reg``, of shape (len(GRID), 2)."""
    found = np.zeros((len(GRID), 2))
    for realisation in range(REALISATIONS):
        (X, y), (X_new, y_new) = load(name, realisation)
        scaler = StandardScaler().fit(X)
        for i, reg in enumerate(GRID):
            model = KernelFisherDiscriminant(reg=reg, penalty=penalty, candidates="all", n_jobs=1)
            p = model.fit(scaler.transform(X), y).predict_proba(scaler.transform(X_new))
            wrong = np.mean(model.classes_[p.argmax(axis=1)] != y_new)
            found[i] += wrong / REALISATIONS, log_loss(y_new, p) / REALISATIONS
    return found


def main() -> None:
    """Print both measures for each penalty and ``reg``."""
    print(f"{'':<18}" + "".join(f"{reg:>8g}" for reg in GRID))
    for penalty in ("alpha", "norm"):
        with quiet_single_thread():
            found = np.array([measure(name, penalty) for name in TABLE1])
        relative = np.mean(found / found.min(axis=1, keepdims=True), axis=0)
        for what, values in zip(("error", "log-loss"), relative.T, strict=True):
            print(f"{penalty:<8}{what:<10}" + "".join(f"{value:>8.3f}" for value in values))


if __name__ == "__main__":
    main()
