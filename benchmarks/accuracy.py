"""How orthogonal features are as ``transform`` computes them, and if the way of fitting matters."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import pairwise_kernels

from kernelsieve import SparseMaximalAlignment, config_context
from kernelsieve.exceptions import FewerFeaturesWarning

from .common import heading, table

K, WIDTHS = 60, (0.3, 1, 3, 10, 30, 100)


def gamma_of(X: np.ndarray, width: float) -> float:
    """Return gamma for a width in medians of the distances."""
    return 1 / (2 * (width * np.median(pdist(X))) ** 2)


def off_orthogonal(X: np.ndarray, y: np.ndarray, gamma: float, candidates) -> tuple[int, float]:
    model = SparseMaximalAlignment(K, gamma=gamma, candidates=candidates, scale="unit_variance")
    features = model.fit(X, y).transform(X)
    gram = features.T @ features / len(X)
    return model.n_components_, float(np.abs(gram - np.eye(len(gram))).max())


def orthogonality() -> None:
    heading(f"accuracy: largest error of orthogonality of up to {K} features, 400 rows")
    rng = np.random.default_rng(0)
    rows = []
    for n_inputs in (3, 30):
        X = rng.standard_normal((400, n_inputs))
        y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2
        for width in WIDTHS:
            exact, pool = (off_orthogonal(X, y, gamma_of(X, width), c) for c in ("all", X[:150]))
            rows.append([f"{n_inputs} inputs, {width:g} medians", *exact, *pool])
    table(["kernel", "features, all", "error", "features, pool", "error"], rows)


def largest_terms(model: SparseMaximalAlignment, X: np.ndarray, parameters: dict) -> float:
    """Return how much cancels in a feature: the sum of the sizes of its terms."""
    others = {name: value for name, value in parameters.items() if name != "kernel"}
    kernel = parameters.get("kernel", "rbf")
    values = pairwise_kernels(X, model.landmarks_, metric=kernel, **others)
    return float((np.abs(values) @ np.abs(model.projection_)).max())


def drivers() -> None:
    heading("accuracy: features of unscaled breast cancer, by the way of fitting, pool of 150")
    X, y = load_breast_cancer(return_X_y=True)
    kernels = {f"rbf, {width:g} medians": {"gamma": gamma_of(X, width)} for width in WIDTHS}
    kernels |= {name: {"kernel": name} for name in ("laplacian", "chi2", "cosine", "linear")}
    kernels["laplacian"]["gamma"], kernels["chi2"]["gamma"] = 1e-7, 1e-4
    rows = []
    for name, parameters in kernels.items():

        def make(parameters=parameters, **others):
            return SparseMaximalAlignment(
                K, candidates=X[:150], scale="unit_variance", **parameters, **others
            )

        whole, in_pieces = make(n_jobs=1).fit(X, y), make()
        with config_context(block_size=37):
            blocks = make(n_jobs=2).fit(X, y)
        for start in range(0, len(X), 7):
            in_pieces.partial_fit(X[start : start + 7], y[start : start + 7], classes=[0, 1])
        row = [name, whole.n_components_, largest_terms(whole, X, parameters)]
        for model in (blocks, in_pieces):
            same = np.array_equal(model.landmarks_, whole.landmarks_)
            row.append(np.abs(model.transform(X) - whole.transform(X)).max() if same else np.nan)
        rows.append(row)
    table(["kernel", "features", "terms", "2 threads, blocks of 37", "pieces of 7"], rows)
    print("Terms: the largest sum of their sizes, of features with a root mean square of one.")
    print("The others: the largest difference from one thread and all rows; nan: other landmarks.")


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        orthogonality()
        drivers()
