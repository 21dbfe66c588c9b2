"""The peers against the number of training samples: fit time, predict rate, memory.

Methods have fixed settings and one thread; seconds are those of the processor. One of the repetitions
is in a process of its own, which shows the peak of memory; the others take turns. Methods with an n x n
matrix stop early. Beyond 1,500 samples SMA takes its candidates from a pool by default, and beyond
3,000 our other methods do, so that their times may fall there. Peers with an environment of their own
run there, in a process for each fit; without it they are left out, as kernlab is, which needs R.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from threadpoolctl import threadpool_limits

from kernelsieve.datasets import make_interactions

from .common import Spread, forget_peak, heading, in_own_process, peak_megabytes, table, warm_up
from .peer_methods import (
    BOOSTING,
    CHOLESKY,
    METHODS,
    NYSTROEM,
    PLS,
    SIEVE,
    SMA,
    alignment,
    n_landmarks,
    n_samples,
    scikit_kernel_pca,
    with_ridge,
)
from .peer_runs import PEERS
from .peers_external.protocol import Fit, Problem, Task

N_INPUTS, K, N_LATENT, GAMMA, PENALTY = 10, 100, 16, 0.05, 1e-4
NUMBERS = (1_000, 3_000, 10_000, 30_000)
N_NEW = 5_000
REPEAT = 3
LONG = 5.0  # seconds: fits that take longer are not repeated
# Seconds: three times the samples take a method with an n x n matrix up to 27 times as long.
MOST_DENSE = 2.0


@dataclass(frozen=True)
class Scaled:
    """A method with settings that stay the same."""

    fit: Fit
    setting: float = PENALTY
    dense: bool = False  # needs an n x n matrix


def of(name: str, setting: float = PENALTY, *, dense: bool = False) -> Scaled:
    return Scaled(METHODS[name].fit, setting, dense)


SCALED: dict[str, Scaled] = {
    SMA: Scaled(with_ridge(alignment, n_landmarks)),
    "AKFA": of("AKFA"),
    NYSTROEM: of(NYSTROEM),
    "RBFSampler": of("RBFSampler"),
    CHOLESKY: of(CHOLESKY),
    "accelerated Cholesky": of("accelerated Cholesky"),
    "fastcan": of("fastcan", dense=True),
    "our KernelPCA": of("our KernelPCA"),
    **{
        f"KernelPCA, {solver}": Scaled(with_ridge(scikit_kernel_pca(solver), n_samples), dense=True)
        for solver in ("arpack", "randomized", "dense")
    },
    "our KernelPLS": of("our KernelPLS", N_LATENT),
    PLS: of(PLS, N_INPUTS),
    "KernelRidge": of("KernelRidge", dense=True),
    "SVR": of("SVR or SVC", 1.0, dense=True),  # without the matrix, but with its time
    BOOSTING: of(BOOSTING),
    SIEVE: of(SIEVE),
}


# Peers with an environment of their own; all but these need an n x n matrix, or its time.
ELSEWHERE = {name: peer for name, peer in PEERS.items() if peer.is_installed}
NOT_DENSE = ("skmatter FPS", "ikpls", "GPyTorch SGPR")


@dataclass(frozen=True)
class Cost:
    """What a fit and predictions took; seconds are those of the processor."""

    seconds: float
    rows_per_second: float


def samples(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inputs and targets to train with, and inputs to predict."""
    X, y = make_interactions(n + N_NEW, N_INPUTS, random_state=0)
    return X[:n], ((y[:n] - y[:n].mean()) / y[:n].std())[:, None], X[n:]


def costs(name: str, n: int) -> Cost:
    """Fit a method to n samples and predict others, with one thread."""
    X, Y, X_new = samples(n)
    scaled = SCALED[name]
    problem = Problem(X, Y, GAMMA, [scaled.setting], K, 0, labelled=False)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        fitted = scaled.fit(problem)
        end = time.process_time()
        fitted.predict(X_new)
        return Cost(end - start, N_NEW / max(time.process_time() - end, 1e-6))


def first_costs(name: str, n: int) -> tuple[Cost, float]:
    """Return costs, and megabytes above what was used before; runs in a process of its own."""
    warm_up()
    costs(name, 500)  # loads and compiles what is needed
    forget_peak()
    before = peak_megabytes()
    found = costs(name, n)
    return found, peak_megabytes() - before


def costs_elsewhere(name: str, n: int) -> tuple[Cost, float]:
    """Return the same for a peer with an environment of its own."""
    X, Y, X_new = samples(n)
    none = np.zeros(n, dtype=bool)
    task = Task(X, Y, X_new, np.zeros((N_NEW, 1)), none, np.array([GAMMA]), 0, labelled=False)
    peer = replace(ELSEWHERE[name], sizes=(K,))
    (found,) = peer.run(
        task, penalties=[PENALTY], components=[N_INPUTS if name == "ikpls" else N_LATENT]
    )
    assert found.megabytes is not None
    return Cost(found.fit_seconds, found.rows_per_second), found.megabytes


def goes_on(name: str, before: Sequence[Cost]) -> bool:
    """Return whether a method goes on to the next number of samples."""
    is_dense = SCALED[name].dense if name in SCALED else name not in NOT_DENSE
    return not is_dense or before[0].seconds <= MOST_DENSE


def measure() -> tuple[dict[tuple[str, int], list[Cost]], dict[tuple[str, int], float]]:
    """Return times and peaks of memory, by method and number of samples."""
    times: dict[tuple[str, int], list[Cost]] = {}
    peaks: dict[tuple[str, int], float] = {}
    warm_up()
    names = [*SCALED, *ELSEWHERE]
    for name in SCALED:
        costs(name, 500)
    for n in NUMBERS:
        for name in names:
            first, peaks[name, n] = (
                in_own_process(first_costs, name, n) if name in SCALED else costs_elsewhere(name, n)
            )
            times[name, n] = [first]
            print(f"  {name}, {n} samples", flush=True)
        for _ in range(REPEAT - 1):
            for name in names:
                if times[name, n][0].seconds <= LONG:
                    again = costs(name, n) if name in SCALED else costs_elsewhere(name, n)[0]
                    times[name, n].append(again)
        names = [name for name in names if goes_on(name, times[name, n])]
    return times, peaks


def main() -> None:
    """Print what fits and predictions take."""
    times, peaks = measure()
    names = [*SCALED, *ELSEWHERE]
    for name in PEERS.keys() - ELSEWHERE.keys():
        print(f"{name} is not installed: see python -m benchmarks.peers --help")

    def by_number(name: str, shown: Callable[[list[Cost]], object]) -> list[object]:
        return [shown(times[name, n]) if (name, n) in times else "-" for n in NUMBERS]

    def rate(found: list[Cost]) -> str:
        return f"{median(cost.rows_per_second for cost in found):,.0f}"

    def spent(found: list[Cost]) -> Spread:
        return Spread(cost.seconds for cost in found)

    header = ["", *(f"n = {n:,}" for n in NUMBERS)]
    heading(f"fit time against n: seconds of the processor, {N_INPUTS} inputs, k = {K}")
    table(header, [[name, *by_number(name, spent)] for name in names])
    print(
        f"Medians of {REPEAT} fits, and the range; fits of more than {LONG:g} s are not "
        "repeated. A - was not run: the method needs time or memory that grows with n x n."
    )
    heading(f"predict rate against n: rows a second, {N_NEW:,} new rows, medians")
    table(header, [[name, *by_number(name, rate)] for name in names])
    heading("peak memory against n: megabytes above those before the fit, in a process of its own")
    table(header, [[name, *(peaks.get((name, n), "-") for n in NUMBERS)] for name in names])
