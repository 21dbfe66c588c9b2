"""How a pool is drawn: what the features explain of held-out targets, and what the fit costs."""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_digits, make_friedman1
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale

from kernelsieve import Candidates, SparseMaximalAlignment
from kernelsieve.datasets import load, local_data_folder

from .common import heading, table, warm_up

K = (30, 100)
KINDS = (
    ("random", 300),
    ("random", 1000),
    ("kmeans", 300),
    ("rpcholesky", 300),
    ("screen", 200),
    ("screen", 300),
    ("screen", 500),
)
LOCAL = ("house_8L", "ailerons", "pole_telecomm", "puma32H", "bank32nh")


def data_sets():
    """Yield name, inputs, target, and whether the target is a class."""
    X, y = make_friedman1(100_000, n_features=10, noise=1.0, random_state=0)
    yield "Friedman 1", X, y, False
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y, True
    if local_data_folder() is None:
        print("set KERNELSIEVE_DATA for the real regression sets")
        return
    for name in LOCAL:
        data = load(name)
        yield name, data["X"].astype(float), data["y"].astype(float), False


def score(name: str, X: np.ndarray, y: np.ndarray, labels: bool) -> list[list[object]]:
    X = scale(X[:, X.std(axis=0) > 0])
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    head = RidgeClassifierCV() if labels else RidgeCV(alphas=np.logspace(-6, 2, 9))
    rows = []
    for kind, size in KINDS:
        model = SparseMaximalAlignment(
            max(K),
            gamma="median",
            candidates=Candidates(size, how=kind),
            random_state=0,
        )
        start = time.perf_counter()
        model.fit(train, y_train)
        spent = time.perf_counter() - start
        scores = []
        for k in K:
            j = min(k, model.n_components_)
            head.fit(model.transform(train, n_components=j), y_train)
            scores.append(float(head.score(model.transform(test, n_components=j), y_test)))
        rows.append([name, f"{kind} {size}", *scores, spent])
    return rows


def main() -> None:
    warm_up()
    heading("pools: test R2 (accuracy for digits) of SMA by pool")
    for name, X, y, labels in data_sets():
        table(["data", "pool", *(f"k = {k}" for k in K), "fit s"], score(name, X, y, labels))
        print()
