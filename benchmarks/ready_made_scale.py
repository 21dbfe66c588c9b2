"""Features with a default head: both scales of SMA against Nystroem, on the sets of the data folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import load, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning

from .common import heading, table, verdict

SIZES, N_SPLITS, MOST_TRAIN, MOST_TESTED = (30, 100, 300), 3, 1500, 5000
LABELLED = (
    *("ionosphere", "sonar", "spectf", "wdbc", "usps"),
    *(f"ida_{name}" for name in ("banana", "breast-cancer", "german", "titanic", "waveform", "heart")),
    *(f"ida_{name}" for name in ("ringnorm", "diabetis", "flare-solar", "thyroid")),
)
NUMBERS = (
    *("boston", "abalone", "ailerons", "baseball", "pole_telecomm", "house_8L", "puma32H", "bank32nh"),
    *(
        f"uci_{name}"
        for name in ("bike", "concrete", "airfoil", "energy", "protein", "keggdirected", "sml", "wine")
    ),
)
SCALES = ("unit_variance", "rkhs")
MARGIN = 0.005  # of accuracy or R2, which splits of so few samples cannot tell from nothing


@dataclass(frozen=True)
class Split:
    """Standardised inputs, and targets as they are."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    @classmethod
    def draw(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        seed: int,
        *,
        labelled: bool,
        most_train: int = MOST_TRAIN,
        most_tested: int = MOST_TESTED,
    ) -> Split:
        X, X_test, y, y_test = train_test_split(
            X, y, test_size=1 / 3, random_state=seed, stratify=y if labelled else None
        )
        X, y, X_test, y_test = (
            X[:most_train],
            y[:most_train],
            X_test[:most_tested],
            y_test[:most_tested],
        )
        scaler = StandardScaler().fit(X)
        if not labelled:
            y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()
        return cls(scaler.transform(X), y, scaler.transform(X_test), y_test)


def scores(split: Split, seed: int, sizes: list[int], *, labelled: bool) -> np.ndarray:
    """Return the scores of both scales and of Nystroem, for every size."""
    gamma = 1 / split.X.shape[1]
    head = LogisticRegression(max_iter=1000) if labelled else Ridge()
    target = "classes" if labelled else "continuous"
    sieves = [
        SparseMaximalAlignment(max(sizes), gamma=gamma, scale=scale, target=target).fit(
            split.X, split.y
        )
        for scale in SCALES
    ]
    found = []
    for k in sizes:
        nystroem = Nystroem(gamma=gamma, n_components=k, random_state=seed).fit(split.X)
        extractors = [*(sieve.truncate(min(k, sieve.n_components_)) for sieve in sieves), nystroem]
        found.append(
            [
                head.fit(extractor.transform(split.X), split.y).score(
                    extractor.transform(split.X_test), split.y_test
                )
                for extractor in extractors
            ]
        )
    return np.array(found)


def main() -> None:
    heading(f"ready-made scale: accuracy or R2 with a default head, means of {N_SPLITS} splits")
    if local_data_folder() is None:
        print("no data folder: set KERNELSIEVE_DATA")
        return
    warnings.simplefilter("ignore", FewerFeaturesWarning)
    rows, cells = [], []
    for name in LABELLED + NUMBERS:
        labelled = name in LABELLED
        data = load(name)
        X, y = np.asarray(data["X"], dtype=np.float64), data["y"]
        sizes = [k for k in SIZES if k <= min(len(X) * 2 // 3, MOST_TRAIN)]
        runs = [
            scores(Split.draw(X, y, seed, labelled=labelled), seed, sizes, labelled=labelled)
            for seed in range(N_SPLITS)
        ]
        for k, means in zip(sizes, np.mean(runs, axis=0), strict=True):
            rows.append((name, k, *(f"{mean:.4f}" for mean in means)))
            cells.append(means)
    table(["set", "k", *SCALES, "Nystroem"], rows)
    differences = np.array(cells)[:, :2] - np.array(cells)[:, 2:]
    for scale, found in zip(SCALES, differences.T, strict=True):
        print(
            f"{scale}: at least Nystroem in {np.mean(found >= 0):.2f} of the cells, mean difference "
            f"{found.mean():+.4f}, worst {found.min():+.4f}"
        )
        share = float(np.mean(found >= -MARGIN))
        verdict(f"{scale}: share of cells not {MARGIN} below Nystroem", share, 0.9, at_least=True)
