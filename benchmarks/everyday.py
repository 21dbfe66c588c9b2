"""The fit that most users make: SMA by default, beside ``Nystroem.fit_transform`` at equal k."""

from __future__ import annotations

from time import sleep

import numpy as np
from sklearn.kernel_approximation import Nystroem

from kernelsieve import SparseMaximalAlignment

from .common import REST, Spread, heading, seconds, table, verdict, warm_up

N_ROWS = (1_000, 3_000, 10_000, 30_000, 100_000)
N_INPUTS = 20
MOST = {100: 8, 300: 20}  # times Nystroem's time, by k


def make_data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, N_INPUTS))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(n_rows)


def compare(X: np.ndarray, y: np.ndarray, k: int, repeat: int) -> list[Spread]:
    """Time both in turns; return their seconds and their ratios.

    The two runs of a turn meet the same neighbours on a shared machine.
    """
    turns = []
    for _ in range(repeat):
        sleep(REST)
        peer = seconds(lambda: Nystroem(n_components=k, random_state=0).fit_transform(X), 1)
        sleep(REST)
        own = seconds(lambda: SparseMaximalAlignment(k, random_state=0).fit(X, y), 1)
        turns.append((peer, own, own / peer))
    return [Spread(column) for column in zip(*turns, strict=True)]


def main(repeat: int = 7) -> None:
    warm_up()
    SparseMaximalAlignment(5).fit(*make_data(5_000))  # which screens candidates
    heading(f"everyday: SparseMaximalAlignment(k).fit against Nystroem(k), {N_INPUTS} inputs")
    rows = [(n, k, *compare(*make_data(n), k, repeat)) for n in N_ROWS for k in MOST]
    table(["rows", "k", "Nystroem s", "SMA s", "ratio"], rows)
    for k, most in MOST.items():
        worst = max(ratio for _, asked, _, _, ratio in rows if asked == k)
        verdict(f"times Nystroem's time at k = {k}, in the worst row", worst, most, at_least=False)


if __name__ == "__main__":
    main()
