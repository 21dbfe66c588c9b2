"""Cross-validation over the number of features against GridSearchCV, with the same scores."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions
from kernelsieve.model_selection import ComponentPathCV

from .common import heading, in_turns, table, verdict, warm_up

N, N_INPUTS, FOLDS = 3000, 20, 3
SIZES = np.arange(1, 51)
GAMMAS = [0.0002, 0.0005, 0.001, 0.002, 0.005]


def scores_of_grid_search(search: GridSearchCV) -> np.ndarray:
    return np.array([search.cv_results_[f"split{i}_test_score"] for i in range(FOLDS)])


def main() -> None:
    heading(f"selection: {N} x {N_INPUTS}, {len(SIZES)} numbers of features, {FOLDS} folds")
    warm_up()
    X, y = make_interactions(N, N_INPUTS, random_state=0)
    sieve = SparseMaximalAlignment(candidates="all", gamma=1 / (2 * N_INPUTS))
    ours = ComponentPathCV(sieve, Ridge(), n_components=SIZES, cv=FOLDS, scoring="r2")
    theirs = GridSearchCV(
        Pipeline([("sieve", sieve), ("head", Ridge())]),
        {"sieve__n_components": SIZES},
        cv=FOLDS,
        scoring="r2",
        return_train_score=True,
    )
    spent = in_turns(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), repeat=2)
    table(
        ["", "s", "fits of the extractor"],
        [
            ["ComponentPathCV", spent[0], FOLDS + 1],
            ["GridSearchCV over n_components", spent[1], FOLDS * len(SIZES) + 1],
        ],
    )
    gap = np.abs(ours.path_["test_score"].reshape(FOLDS, -1) - scores_of_grid_search(theirs)).max()
    verdict("time of GridSearchCV over ours", spent[1] / spent[0], 10, at_least=True)
    verdict("largest difference of a score, in 1e-8", gap / 1e-8, 1, at_least=False)
    shared_distances()


def shared_distances() -> None:
    """Time a grid of widths with and without shared distances."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 1000))
    y = np.sin(X[:, 0]) + X[:, 1]
    lines = []
    for kernel in ("rbf", "laplacian"):
        sieve = SparseMaximalAlignment(20, kernel=kernel, candidates="all")
        together = ComponentPathCV(sieve, Ridge(), param_grid={"gamma": GAMMAS}, cv=FOLDS, refit=False)

        def one_by_one(sieve: SparseMaximalAlignment = sieve) -> None:
            for gamma in GAMMAS:
                alone = SparseMaximalAlignment(**{**sieve.get_params(), "gamma": gamma})
                ComponentPathCV(alone, Ridge(), n_components=[20], cv=FOLDS, refit=False).fit(X, y)

        spent = in_turns(lambda search=together: search.fit(X, y), one_by_one, repeat=2)
        lines.append([f"{kernel}, {len(GAMMAS)} widths", *spent, spent[1] / spent[0]])
    table(["2000 x 1000, 20 features", "shared s", "one by one s", "ratio"], lines)
