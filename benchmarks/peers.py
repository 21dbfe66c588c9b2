"""Side by side with the peers: errors, kernel evaluations, fit time and predict rate.

Every method gets the same scaled inputs. Where it has a width and a penalty (or a number of
components), the same held-out quarter of the training samples chooses them from the same lists; then
all training samples are fitted. Features of all kinds have the same head, ridge regression. Landmarks
have the same features, those of Nystroem, whoever chose them; SMA chooses with ``tol=1e-14``, by which
it has as many as the others, and which a ridge regression forgives. HistGradientBoosting, the sieves,
xRFM and the sparse Gaussian process choose for themselves; xRFM validates by a quarter of its samples,
and fits the others. A "-" is what was not run: kernlab starts R for every fit, so it has one split of
one set; the sparse Gaussian process has numbers alone; it and fastcan are slow beyond k = 100;
KernelPCovR and nirs4all are slow beyond 1,000 samples.
Errors are mean squared errors of targets with unit variance, or rates of wrong labels. Seconds are
those of one processor. Methods take turns, split by split. Results of splits are kept in
``results/peers.jsonl``, and what is there is not computed again. A peer that clashes with our
environment has its own below ``.venv-peers``::

    python -m benchmarks.peers --install       # makes the environments; R is called if kernlab is there
    python -m benchmarks peers                 # computes what is missing, and reports
    python -m benchmarks.peers --splits 5      # adds further splits
    python -m benchmarks.peers --again Sieve   # computes this method anew, with new code
    python -m benchmarks.peers --fresh         # forgets what was kept of splits
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from statistics import mean, median

import numpy as np

from kernelsieve.datasets import local_data_folder

from . import peer_runs
from .common import Mean, Spread, heading, table, verdict
from .peer_methods import BOOSTING, CHOLESKY, METHODS, NYSTROEM, OURS, PLS, SIEVE, SIZES, SMA
from .peer_runs import KEPT, N_SPLITS, PEERS, SETS, Kernlab, kernlab_methods
from .readme import SIDE_BY_SIDE, lowest

Found = dict[tuple[str, str, int], list[dict]]  # by set, method and k, an outcome for each split
SHOWN = (  # in the short table: methods, and k where there are several
    (SMA, 30),
    (SMA, 100),
    (SMA, 300),
    ("our KernelPLS", None),
    (SIEVE, None),
    (NYSTROEM, 100),
    (CHOLESKY, 100),
    ("fastcan", 100),
    ("GPyTorch SGPR", 100),
    ("KernelPCA", None),
    (PLS, None),
    ("KernelRidge", None),
    ("SVR or SVC", None),
    (BOOSTING, None),
    ("xRFM", None),
)
WITH_COMPONENTS = ("our KernelPCA", "KernelPCA", "skmatter KernelPCovR", "kernlab kpca")  # k of them
LABELS = {SIEVE: "SieveRegressor, SieveClassifier", "our KernelPLS": "KernelPLS, kernelsieve's"}
BUDGETS = (0.1, 0.3, 1.0, 3.0, 10.0)  # seconds of one processor
TIE = 1e-3  # of the error, by which rounding may change it


def order() -> list[str]:
    return [*METHODS, *PEERS, *kernlab_methods()]


def by_cell(results: Iterable[dict]) -> Found:
    found: Found = {}
    for result in results:
        for method, outcomes in result["outcomes"].items():
            for outcome in outcomes:
                found.setdefault((result["set"], method, outcome["k"]), []).append(outcome)
    return found


def means(found: Found, key: str = "error") -> dict[tuple[str, str, int], float]:
    return {cell: mean(outcome[key] for outcome in outcomes) for cell, outcomes in found.items()}


def of_equal_cost() -> list[str]:
    """Return the methods that cost k kernel evaluations for a new sample."""
    local = [name for name, method in METHODS.items() if len(method.sizes) > 1]
    return [*local, *(name for name, peer in PEERS.items() if len(peer.sizes) > 1), "kernlab kfa"]


# ---------------------------------------------------------------------- tables


def short_table(found: Found) -> None:
    """Print the errors of a few methods on all sets, what a prediction needs, and what a fit takes."""
    splits = {len(outcomes) for outcomes in found.values()}
    heading(f"{SIDE_BY_SIDE}: errors, means of {max(splits)} splits")
    errors, seconds = means(found), means(found, "search_seconds")
    rows = []
    for method, k in SHOWN:
        cells = {name: cell_of(errors, name, method, k) for name in SETS}
        if not any(cells.values()):
            continue
        needs = {outcome["evaluations"] for cell in cells.values() if cell for outcome in found[cell]}
        times = [seconds[cell] for cell in cells.values() if cell]
        rows.append(
            [
                LABELS.get(method, method) if k is None else f"{method}, k = {k}",
                f"{min(needs)}" if len(needs) == 1 else f"{min(needs)} to {max(needs)}",
                *(errors[cell] if cell else "-" for cell in cells.values()),
                max(times),
            ]
        )
    header = ["", "kernel evaluations", *SETS, "longest fit, s"]
    table(header, rows)
    for sentence in losses(found, header, rows):
        print(sentence)


def losses(found: Found, header: list[str], rows: list[list]) -> Iterator[str]:
    """Yield what speaks against us."""
    ours = tuple(LABELS.get(name, name) for name in OURS)
    for j, names in lowest(header, rows).items():
        if not any(name.startswith(ours) for name in names):
            yield f"On {header[j]} {names[0]} has the lowest error."
    errors, cells = means(found), of_cells(found)
    few = [cell for cell in cells if cell[1] <= 100]
    shares = ", ".join(
        f"below {method} in {share_below(ratios(errors, few, method)):.0%}"
        for method in (NYSTROEM, CHOLESKY, "fastcan")
    )
    yield f"Of the {len(few)} pairs of a set and a k <= 100, SMA is {shares} (a tie counts for a half)."
    # A longer time that changes neither of the two models tells nothing new.
    pairs = {
        (name, in_time.get(SMA, np.inf), in_time[NYSTROEM])
        for name, _, in_time in within_budgets(found)
    }
    below = share_below([ours / theirs for _, ours, theirs in pairs])
    late = sum(ours == np.inf for _, ours, _ in pairs)
    yield (
        f"Given equal time to choose and fit, SMA is below {NYSTROEM} in {below:.0%} of {len(pairs)} "
        f"comparisons; in {late} of these it has no model in time."
    )
    low, high = times_of_boosting(found)
    yield f"A fit of the sieves takes {low:.0f} to {high:.0f} times as long as one of {BOOSTING}."


def times_of_boosting(found: Found) -> tuple[float, float]:
    """Return how many times as long as boosting the sieves fit, at least and at most of the sets."""
    seconds = means(found, "fit_seconds")
    pairs = [[cell_of(seconds, name, method, None) for method in (SIEVE, BOOSTING)] for name in SETS]
    slower = [seconds[ours] / seconds[theirs] for ours, theirs in pairs if ours and theirs]
    return min(slower), max(slower)


def of_cells(found: Found) -> list[tuple[str, int]]:
    return [(name, k) for name in SETS for k in SIZES if (name, SMA, k) in found]


def cell_of(errors: dict, name: str, method: str, k: int | None) -> tuple[str, str, int] | None:
    sizes = [size for one, other, size in errors if (one, other) == (name, method)]
    if k is None and sizes:
        return name, method, sizes[0]
    return (name, method, k) if k in sizes else None


def equal_evaluations(found: Found) -> None:
    """Print errors of methods that cost the same for a new sample, and how often SMA's is lower."""
    errors, methods = means(found), of_equal_cost()
    cells = of_cells(found)
    heading("error at equal kernel evaluations for a new sample, means of splits")
    rows = [[name, k, *(errors.get((name, m, k), "-") for m in methods)] for name, k in cells]
    table(["set", "k", *methods], rows)
    heading("share of cells in which SMA has the lower error, and its error over that of the other")
    table(
        ["", "share, k <= 100", "share, all k", "ratio, median", "ratio, worst"],
        [comparison(errors, cells, m) for m in methods[1:] if ratios(errors, cells, m)],
    )
    few = [cell for cell in cells if cell[1] <= 100]
    for method in (NYSTROEM, CHOLESKY, "accelerated Cholesky"):
        share = share_below(ratios(errors, few, method))
        verdict(f"SMA below {method}, share of cells with k <= 100", share, 0.8, at_least=True)
    print(f"Errors that differ by less than {TIE:.1%} are equal, and count for a half.")
    for method in methods[1:]:
        lost = [f"{n} (k = {k})" for n, k in cells if ratio(errors, n, k, method) > 1 + TIE]
        if lost:
            print(f"SMA is above {method} in: {', '.join(lost)}")


def ratio(errors: dict, name: str, k: int, method: str) -> float:
    other = errors.get((name, method, k), np.nan)
    return errors[name, SMA, k] / other if other else np.nan


def ratios(errors: dict, cells: Iterable[tuple[str, int]], method: str) -> list[float]:
    found = [ratio(errors, name, k, method) for name, k in cells]
    return [value for value in found if np.isfinite(value)]


def comparison(errors: dict, cells: list[tuple[str, int]], method: str) -> list[object]:
    few, every = (
        ratios(errors, some, method) for some in ([cell for cell in cells if cell[1] <= 100], cells)
    )
    return [method, share_below(few), share_below(every), median(every), max(every)]


def share_below(found: list[float]) -> float:
    """Return the share of ratios below one, with ties for a half."""
    return float(np.mean([0.5 if abs(r - 1) < TIE else r < 1 for r in found])) if found else np.nan


def within_budgets(found: Found) -> list[tuple[str, float, dict[str, float]]]:
    """Return errors by method, for every set and time to choose and fit: of the largest k in time."""
    errors, seconds = means(found), means(found, "search_seconds")
    pairs = []
    for name in SETS:
        for budget in BUDGETS:
            in_time = {
                method: errors[name, method, k]
                for one, method, k in sorted(errors, key=lambda cell: cell[2])
                if one == name and seconds[name, method, k] <= budget
            }
            if NYSTROEM in in_time:
                pairs.append((name, budget, in_time))
    return pairs


def equal_fit_time(found: Found) -> None:
    """Print errors of what each method has fitted after the same time."""
    pairs = within_budgets(found)
    methods = [method for method in order() if any(method in errors for *_, errors in pairs)]
    heading("error at equal fit time, with the search: the largest k that is fitted in time")
    rows = [[name, f"{s:g}", *(errors.get(m, "-") for m in methods)] for name, s, errors in pairs]
    table(["set", "seconds", *methods], rows)


def widths_at_ends(found: Found) -> None:
    """Print how often the list of widths may have been too short."""
    at_end = [o["at_end"] for outcomes in found.values() for o in outcomes if "at_end" in o]
    if not at_end:
        return
    print(f"The width that is chosen is at an end of the list in {np.mean(at_end):.0%} of all fits.")


def fit_times(found: Found, results: list[dict]) -> None:
    """Print errors beside times, a table for each set."""
    with_k = {*of_equal_cost(), *WITH_COMPONENTS}
    for name in SETS:
        some = [result for result in results if result["set"] == name]
        if not some:
            continue
        first = some[0]
        heading(
            f"error against fit time, {name}: {first['measure']}, {first['n_train']} samples to train, "
            f"{first['n_test']} to test, {len(some)} splits"
        )
        cells = [(m, k) for m in order() for k in SIZES if (name, m, k) in found]
        table(
            [
                *("", "k", "kernel evaluations", "error, mean"),
                *("fit, s, median", "with its search, s, median", "rows a second, median"),
            ],
            [[m, k if m in with_k else "-", *times_of(found[name, m, k])] for m, k in cells],
        )


def times_of(outcomes: list[dict]) -> list[object]:
    def all_of(key: str) -> list[float]:
        return [outcome[key] for outcome in outcomes]

    return [
        round(median(all_of("evaluations"))),
        Mean(all_of("error")),
        Spread(all_of("fit_seconds")),
        Spread(all_of("search_seconds")),
        f"{median(all_of('rows_per_second')):,.0f}",
    ]


def assembled(found: Found) -> None:
    """Print our assembled predictors beside boosting, by the defaults of both."""
    heading("SieveRegressor and SieveClassifier beside HistGradientBoosting, all by their defaults")
    errors, seconds = means(found), means(found, "fit_seconds")
    rows, lower = [], 0
    for name in SETS:
        ours, theirs = (cell_of(errors, name, method, None) for method in (SIEVE, BOOSTING))
        if ours and theirs:
            rows.append([name, errors[ours], errors[theirs], seconds[ours], seconds[theirs]])
            lower += errors[ours] < errors[theirs]
    table(["", "Sieve", "boosting", "fit of Sieve, s", "fit of boosting, s"], rows)
    low, high = times_of_boosting(found)
    print(
        f"Sieve has the lower error on {lower} of {len(rows)} sets, and its fit takes "
        f"{low:.0f} to {high:.0f} times as long."
    )


# ---------------------------------------------------------------------- all of it


def absent() -> list[str]:
    missing = [name for name, peer in PEERS.items() if not peer.is_installed]
    return missing if Kernlab.is_installed() else [*missing, *kernlab_methods()]


def circumstances(results: list[dict]) -> None:
    heading("packages of others, and when and where the results were computed")
    table(["", "version"], sorted({pair for result in results for pair in result["versions"].items()}))
    minutes = sum(result["seconds"] for result in results) / 60
    dates, processors = (", ".join(sorted({r[key] for r in results})) for key in ("date", "cpu"))
    print(f"All sets and splits took {minutes:.0f} minutes of {processors}, on {dates}.")


def report(results: list[dict]) -> None:
    found = by_cell(results)
    short_table(found)
    equal_evaluations(found)
    equal_fit_time(found)
    assembled(found)
    fit_times(found, results)
    circumstances(results)
    widths_at_ends(found)


def main(n_splits: int = N_SPLITS) -> None:
    for name in absent():
        print(f"  {name} is not installed, and its results are the kept ones: see --install")
    if local_data_folder() is None:
        print("peers: no data folder, so only the kept results: set KERNELSIEVE_DATA for more")
    else:
        peer_runs.compute(n_splits)
    if results := peer_runs.kept_results():
        report(results)


def install() -> None:
    """Make the environments that are missing."""
    for peer in PEERS.values():
        if not peer.is_installed:
            peer.install()
    if not Kernlab.is_installed():
        print("for kernlab install R: apt-get install r-base-core r-cran-kernlab")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--install", action="store_true", help="make the environments of the peers")
    parser.add_argument("--fresh", action="store_true", help="forget the kept results of splits")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--again", choices=METHODS, metavar="METHOD", help="compute this method anew")
    given = parser.parse_args()
    if given.again:
        peer_runs.compute_again(given.again)
    if given.install:
        install()
    if given.fresh:
        KEPT.unlink(missing_ok=True)
    if not (given.install or given.fresh or given.again):
        main(given.splits)
