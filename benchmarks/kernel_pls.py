"""Kernel PLS against nirs4all's, and on a pool against Nystroem with linear PLS."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from sklearn.cross_decomposition import PLSRegression
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

from kernelsieve import KernelPLS
from kernelsieve.datasets import make_interactions

from .common import heading, in_turns, table, verdict, warm_up

N, N_INPUTS, K, POOL = 6000, 20, 10, 300
GAMMA = 1 / (2 * N_INPUTS)


def nirs4all_kernel_pls() -> Any | None:
    """Load the one module of nirs4all that is needed; the package as a whole imports many others."""
    found = importlib.util.find_spec("nirs4all")
    if found is None or not found.submodule_search_locations:
        return None
    folder = Path(found.submodule_search_locations[0])
    path = folder / "operators" / "models" / "sklearn" / "nlpls.py"
    spec = importlib.util.spec_from_file_location("nirs4all_nlpls", path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KernelPLS(K, kernel="rbf", gamma=GAMMA)


def main() -> None:
    heading(f"kernel_pls: {N} x {N_INPUTS} to train, {N} rows to predict, k = {K}, rbf")
    warm_up()
    X, y = make_interactions(2 * N, N_INPUTS, random_state=0)
    train, new = (X[:N], y[:N]), X[N:]
    models = {
        "KernelPLS, all rows": KernelPLS(K, gamma=GAMMA, candidates="all"),
        f"KernelPLS, pool of {POOL}": KernelPLS(K, gamma=GAMMA, candidates=POOL, random_state=0),
        f"Nystroem({POOL}) + PLSRegression": make_pipeline(
            Nystroem(gamma=GAMMA, n_components=POOL, random_state=0), PLSRegression(K, scale=False)
        ),
    }
    names, peer = list(models), nirs4all_kernel_pls()
    if peer is None:
        print("nirs4all is not installed: pip install --no-deps nirs4all adds it to the table")
    else:
        models["nirs4all KernelPLS"] = peer
    fits = in_turns(*(lambda m=m: m.fit(*train) for m in models.values()), repeat=3)
    predictions = in_turns(*(lambda m=m: m.predict(new) for m in models.values()), repeat=3)
    scores = [r2_score(y[N:], model.predict(new)) for model in models.values()]
    table(
        ["", "fit s", "predict s", "R2"],
        [list(row) for row in zip(models, fits, predictions, scores, strict=True)],
    )
    if peer is not None:
        verdict("nirs4all's time to fit over ours", fits[3] / fits[0], 10, at_least=True)
        verdict(
            "nirs4all's time to predict over ours", predictions[3] / predictions[0], 10, at_least=True
        )
        verdict("R2 of nirs4all less ours", scores[3] - scores[0], 1e-3, at_least=False)
    verdict(
        f"time of {names[2]} over the pool's",
        sum_of(fits, predictions, 2) / sum_of(fits, predictions, 1),
        1,
        at_least=True,
    )
    verdict(f"R2 of {names[2]} less the pool's", scores[2] - scores[1], 0, at_least=False)


def sum_of(fits: list[float], predictions: list[float], i: int) -> float:
    return fits[i] + predictions[i]
