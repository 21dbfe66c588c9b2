"""Default probabilities of the Fisher discriminants against those of a cross-validation: log-losses."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
)
from kernelsieve.rayleigh import DecisionRule

from .common import heading, table, verdict

SETS = {"wine": load_wine, "cancer": load_breast_cancer, "iris": load_iris, "digits": load_digits}
ESTIMATORS = (
    KernelFisherDiscriminant,
    GreedyKernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
)


def measure(make: type, load) -> tuple[float, float, float, float]:
    """Return log-losses of held-out fifths and seconds: of the default, and of ``probability=5``."""
    X, y = load(return_X_y=True)
    losses, spent = np.zeros(2), np.zeros(2)
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        for i, folds in enumerate(("loo", 5)):
            start = time.perf_counter()
            model = make(decision=DecisionRule(probability=folds)).fit(
                scaler.transform(X[train]), y[train]
            )
            spent[i] += time.perf_counter() - start
            losses[i] += log_loss(y[test], model.predict_proba(scaler.transform(X[test]))) / 5
    return *losses, *spent


def main() -> None:
    heading("probabilities: log-loss of held-out fifths, by default and by probability=5")
    warnings.simplefilter("ignore")
    lines, worst = [], 0.0
    for make in ESTIMATORS:
        for name, load in SETS.items():
            default, folds, seconds, seconds_folds = measure(make, load)
            worst = max(worst, default / folds)
            lines.append([f"{make.__name__}, {name}", default, folds, seconds, seconds_folds])
    table(["", "default", "probability=5", "s", "s with folds"], lines)
    verdict("default over probability=5, at worst", worst, 1.5, at_least=False)


if __name__ == "__main__":
    main()
