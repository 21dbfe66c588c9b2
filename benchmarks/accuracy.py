"""How orthogonal the features are as ``transform`` computes them, by the width of the kernel."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import pdist

from kernelsieve import SparseMaximalAlignment
from kernelsieve.exceptions import FewerFeaturesWarning

from .common import heading, table

K, WIDTHS = 60, (0.3, 1, 3, 10, 30, 100)


def off_orthogonal(X: np.ndarray, y: np.ndarray, gamma: float, candidates) -> tuple[int, float]:
    model = SparseMaximalAlignment(K, gamma=gamma, candidates=candidates)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        features = model.fit(X, y).transform(X)
    gram = features.T @ features / len(X)
    return model.n_components_, float(np.abs(gram - np.eye(len(gram))).max())


def main() -> None:
    heading(f"accuracy: largest error of orthogonality of up to {K} features, 400 rows")
    rng = np.random.default_rng(0)
    rows = []
    for n_inputs in (3, 30):
        X = rng.standard_normal((400, n_inputs))
        y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2
        for width in WIDTHS:
            gamma = 1 / (2 * (width * np.median(pdist(X))) ** 2)
            exact, pool = (off_orthogonal(X, y, gamma, c) for c in ("all", X[:150]))
            rows.append([f"{n_inputs} inputs, {width:g} medians", *exact, *pool])
    table(["kernel", "features, all", "error", "features, pool", "error"], rows)
