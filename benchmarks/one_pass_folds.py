"""Cross-validation from one pass: five folds, fifty ks and ten penalties against one plain fit."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Ridge

from kernelsieve import ComponentPathCV, SparseMaximalAlignment

from .common import heading, in_turns, table, verdict, warm_up
from .million import N_INPUTS, N_ROWS, POOL, make_data

K, FOLDS = 50, 5
PENALTIES = np.logspace(-3, 3, 10)


def make_model(candidates: np.ndarray) -> SparseMaximalAlignment:
    return SparseMaximalAlignment(K, candidates=candidates, gamma=1 / (2 * N_INPUTS))


def main() -> None:
    heading(
        f"one_pass_folds: {N_ROWS:,} x {N_INPUTS}, pool {POOL}, {FOLDS} folds, {K} ks, "
        f"{len(PENALTIES)} penalties"
    )
    X, y = make_data(N_ROWS)
    warm_up()
    model = make_model(X[:: N_ROWS // POOL])
    search = ComponentPathCV(
        model,
        Ridge(),
        n_components=np.arange(1, K + 1),
        param_grid={"head__alpha": PENALTIES},
        cv=FOLDS,
        refit=False,
    )
    rows = np.arange(N_ROWS) % FOLDS > 0
    plain, folds, apart = in_turns(
        lambda: model.fit(X, y),
        lambda: search.fit(X, y),
        lambda: model.fit(X[rows], y[rows]),
        repeat=3,
    )
    table(
        ["", "s", "passes"],
        [
            ["one plain fit", plain, 1],
            ["all folds from one pass", folds, search.n_passes_],
            [f"{FOLDS} fits one after another, from one of them", FOLDS * apart, FOLDS],
        ],
    )
    verdict("all folds over one plain fit", folds / plain, 1.6, at_least=False)


if __name__ == "__main__":
    main()
