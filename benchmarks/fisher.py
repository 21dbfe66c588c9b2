"""Kernel Fisher discriminants on many rows, against LDA on Nystroem features and SVC on some rows."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from kernelsieve import KernelFisherDiscriminant
from kernelsieve.datasets import make_interactions
from kernelsieve.rayleigh import DecisionRule, ImageRotation, ImageTranslation, LineThickening

from .common import (
    heading,
    in_own_process,
    in_turns,
    measured_in_turns,
    peak_megabytes,
    seconds,
    table,
    verdict,
    warm_up,
)

N, N_NEW, N_INPUTS, POOL, SVC_ROWS = 100_000, 10_000, 50, 1000, 10_000
GAMMA = 1 / (2 * N_INPUTS)
REG = 1e-3


def classes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with two classes of equal size: a smooth function of the inputs, with noise."""
    X, y = make_interactions(n_rows, N_INPUTS, random_state=0)
    return X, (y > np.median(y)).astype(int)


def many_points(invariant: bool) -> tuple[float, float]:
    """Fit ten classes of images as large as USPS on 3,000 points; return seconds and peak megabytes."""
    rng = np.random.default_rng(0)
    labels = np.arange(7291) % 10
    X = rng.normal(size=(10, 256))[labels] + rng.normal(size=(7291, 256))
    moves = [ImageTranslation(1, 0), ImageTranslation(0, 1), ImageRotation(5.0), LineThickening(0.1)]
    model = KernelFisherDiscriminant(
        gamma=1 / 512,
        candidates=X[:3000],
        reg=REG,
        decision=DecisionRule("margin", multi_class="ovr"),
        invariances=[(move, 2.5e-4) for move in moves] if invariant else None,
    )
    return seconds(lambda: model.fit(X, labels), 1), peak_megabytes()


def main() -> None:
    heading(f"fisher: {N} x {N_INPUTS} to train, {N_NEW} rows to predict, {POOL} points, rbf")
    warm_up()
    X, y = classes(N + N_NEW)
    train, new, truth = (X[:N], y[:N]), X[N:], y[N:]
    models = {
        f"KernelFisherDiscriminant({POOL})": KernelFisherDiscriminant(
            gamma=GAMMA, candidates=POOL, reg=REG, random_state=0
        ),
        "the same, decision='margin'": KernelFisherDiscriminant(
            gamma=GAMMA, candidates=POOL, reg=REG, decision="margin", random_state=0
        ),
        f"Nystroem({POOL}) + LDA": make_pipeline(
            Nystroem(gamma=GAMMA, n_components=POOL, random_state=0), LinearDiscriminantAnalysis()
        ),
        f"SVC on {SVC_ROWS} rows": SVC(gamma=GAMMA, cache_size=1000),
    }
    some = tuple(part[:SVC_ROWS] for part in train)
    of_model = [some if isinstance(model, SVC) else train for model in models.values()]
    every = list(zip(models.values(), of_model, strict=True))
    fits = in_turns(*(lambda m=m, of=of: m.fit(*of) for m, of in every), repeat=3)
    predictions = in_turns(*(lambda m=m: m.predict(new) for m, _ in every), repeat=3)
    errors = [float(np.mean(model.predict(new) != truth)) for model, _ in every]
    rows = [list(row) for row in zip(models, fits, predictions, errors, strict=True)]
    table(["", "fit s", "predict s", "error"], rows)
    ours, _, nystroem, svc = rows
    verdict("time of Nystroem + LDA to fit over ours", nystroem[1] / ours[1], 1, at_least=True)
    verdict("time of Nystroem + LDA to predict over ours", nystroem[2] / ours[2], 1, at_least=True)
    verdict("error of Nystroem + LDA less ours", nystroem[3] - ours[3], -0.005, at_least=True)
    share = N // SVC_ROWS
    print(
        f"SVC on one of {share} rows takes {svc[1] / ours[1]:.1f} times as long to fit as ours on all,"
    )
    print(
        f"{svc[2] / ours[2]:.1f} times as long to predict, with {svc[3] / ours[3]:.2f} times the error"
    )
    print("\n7291 x 256, ten classes, each against the rest, 3000 points")
    ways = {"plain": False, "4 invariances": True}
    found = measured_in_turns(*(partial(in_own_process, many_points, way) for way in ways.values()))
    table(["", "fit s", "peak MB"], [[name, *of] for name, of in zip(ways, found, strict=True)])
    most = max(max(megabytes.values) for _, megabytes in found)
    verdict("peak MB", most, 1500, at_least=False)
