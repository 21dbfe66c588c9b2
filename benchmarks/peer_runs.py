"""The runs of the benchmark of peers: sets, splits, and methods in environments of their own."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from kernelsieve.exceptions import FewerFeaturesWarning, NothingLearntWarning

from .common import warm_up
from .landmark_runs import load
from .peer_methods import COMPONENTS, METHODS, ONE_SIZE, PENALTIES, SIZES, Method
from .peers_external.protocol import Fitted, Outcome, Problem, RidgeHeads, Task, choose_and_fit
from .record import RESULTS, cpu_model

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(__file__).parent / "peers_external"
ENVIRONMENTS = ROOT / ".venv-peers"
KEPT = RESULTS / "peers.jsonl"
N_SPLITS = 3
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
WIDTHS = 4.0 ** np.arange(1, -6, -1)  # of one over the median squared distance
WIDE = 4.0 ** np.arange(0, -10, -1)  # for spectra, which are smooth


# ---------------------------------------------------------------------- sets


@dataclass(frozen=True)
class Set:
    """A data set, and how it is used."""

    most_train: int = 1000
    labelled: bool = False
    common_scale: bool = False  # one scale for all features: those of spectra are alike


SETS = {
    "boston": Set(),
    "uci_airfoil": Set(),
    "uci_protein": Set(most_train=2000),
    "ida_banana": Set(labelled=True),
    "digits": Set(labelled=True),
    "spectra_meats": Set(common_scale=True),
}
MOST_TESTED = 3000
DENSE_LIMIT = 1000  # training samples up to which slow methods of others with n x n matrices are run


def draw(name: str, seed: int) -> Task:
    """Return a task: a third of the samples tests, a quarter of the others chooses."""
    use = SETS[name]
    X, y = load(name)
    Y = np.eye(len(np.unique(y)))[np.unique(y, return_inverse=True)[1]] if use.labelled else y[:, None]
    train, test = train_test_split(
        np.arange(len(X)), test_size=1 / 3, random_state=seed, stratify=y if use.labelled else None
    )
    train, test = train[: use.most_train], test[:MOST_TESTED]
    means, scales = X[train].mean(axis=0), X[train].std(axis=0)
    scales = scales.mean() if use.common_scale else np.where(scales > 0, scales, 1.0)
    X = (X - means) / scales
    if not use.labelled:
        Y = (Y - Y[train].mean()) / Y[train].std()
    held = np.random.default_rng(seed).permutation(len(train)) < len(train) // 4
    widths = (WIDE if use.common_scale else WIDTHS) / np.median(pdist(X[train][:500], "sqeuclidean"))
    return Task(X[train], Y[train], X[test], Y[test], held, widths, seed, use.labelled)


def sizes_of(task: Task, sizes: tuple[int, ...]) -> list[int]:
    """Return the numbers of features that are at most half of the samples in fits that choose."""
    few = [k for k in SIZES if 2 * k <= np.count_nonzero(~task.held)]
    return [k for k in sizes if k in few] or [max(few)]


# ---------------------------------------------------------------------- methods elsewhere


@dataclass(frozen=True)
class Peer:
    """A method of a package that has an environment of its own."""

    environment: str
    package: str
    script: str
    installs: tuple[tuple[str, ...], ...]  # arguments of pip, one call after the other
    sizes: tuple[int, ...] = ONE_SIZE
    numbers_only: bool = False
    dense: bool = False  # has a matrix of all training samples, and is slow

    @property
    def python(self) -> Path:
        return ENVIRONMENTS / self.environment / "bin" / "python"

    @property
    def is_installed(self) -> bool:
        return (ENVIRONMENTS / self.environment / ".ready").exists()

    def install(self) -> None:
        folder = ENVIRONMENTS / self.environment
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        for packages in self.installs:
            subprocess.run([self.python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (folder / ".ready").touch()

    def version(self) -> str:
        asked = f"from importlib.metadata import version; print(version({self.package!r}))"
        return printed([self.python, "-c", asked])

    def run(
        self,
        task: Task,
        *,
        penalties: Sequence[float] = PENALTIES,
        components: Sequence[int] = COMPONENTS,
    ) -> list[Outcome]:
        """Return an outcome for every size."""
        sizes = sizes_of(task, self.sizes)
        with tempfile.TemporaryDirectory() as name:
            given, found = Path(name) / "task.npz", Path(name) / "found.json"
            grids = {"penalties": penalties, "components": components, "sizes": sizes}
            np.savez(given, **asdict(task), **grids)
            command = [self.python, SCRIPTS / self.script, given, found]
            done = subprocess.run(
                command, check=False, capture_output=True, text=True, env=os.environ | ONE_THREAD
            )
            if done.returncode:
                raise RuntimeError(f"{self.script} failed: {done.stderr.strip()[-2000:]}")
            return [Outcome(**outcome) for outcome in json.loads(found.read_text())]


def printed(command: list[str | Path]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


# torch first, so that no other package asks for another release; an index of CPU builds avoids the GPU
# stack, as in PIP_EXTRA_INDEX_URL.
TORCH = (("torch==2.13.0",), ("xrfm", "gpytorch", "scikit-learn"))
NIRS4ALL = (("numpy", "scipy", "scikit-learn"), ("--no-deps", "nirs4all"))
PEERS = {
    "skmatter FPS": Peer("skmatter", "skmatter", "run_fps.py", (("skmatter",),), SIZES),
    "GPyTorch SGPR": Peer("torch", "gpytorch", "run_sgpr.py", TORCH, SIZES[:3], numbers_only=True),
    "skmatter KernelPCovR": Peer(
        "skmatter", "skmatter", "run_kernel_pcovr.py", (("skmatter",),), dense=True
    ),
    "ikpls": Peer("ikpls", "ikpls", "run_ikpls.py", (("ikpls",),)),
    "nirs4all KernelPLS": Peer("nirs4all", "nirs4all", "run_nirs4all.py", NIRS4ALL, dense=True),
    "xRFM": Peer("torch", "xrfm", "run_xrfm.py", TORCH),
}


class Kernlab:
    """Features of R's kernlab, with the seconds that R itself reports."""

    def __init__(self, method: str) -> None:
        self._method, self._spent = method, 0.0

    @staticmethod
    def is_installed() -> bool:
        program = shutil.which("Rscript")
        if program is None:
            return False
        call = [program, SCRIPTS / "kernlab.R", "check"]
        return subprocess.run(call, check=False, capture_output=True).returncode == 0

    @staticmethod
    def version() -> str:
        return printed(["Rscript", SCRIPTS / "kernlab.R", "check"])

    def clock(self) -> float:
        return time.process_time() + self._spent

    def _call(self, folder: Path, X: np.ndarray, *before: str, after: tuple[str, ...]) -> np.ndarray:
        np.savetxt(folder / "X.csv", X, delimiter=",")
        paths = [folder / name for name in ("model.rds", "features.csv", "seconds.csv")]
        call = ["Rscript", SCRIPTS / "kernlab.R", *before, folder / "X.csv", *after, *paths]
        subprocess.run(call, check=True, capture_output=True, env=os.environ | ONE_THREAD)
        self._spent += float(paths[2].read_text())
        return np.loadtxt(paths[1], delimiter=",", ndmin=2)

    def fit(self, problem: Problem) -> Fitted:
        place = tempfile.TemporaryDirectory()
        folder = Path(place.name)
        after = (repr(problem.gamma), str(problem.k))
        F = self._call(folder, problem.X, "fit", self._method, after=after)
        heads = RidgeHeads(F, problem.Y, problem.settings)

        def predict(X: np.ndarray, _place: object = place) -> np.ndarray:  # keeps the folder
            return heads(self._call(folder, X, "transform", after=()))

        return Fitted(predict, F.shape[1] if self._method == "kfa" else len(problem.X))


def kernlab_methods() -> dict[str, Method]:
    kfa, kpca = Kernlab("kfa"), Kernlab("kpca")
    return {
        "kernlab kfa": Method(kfa.fit, sizes=(10, 30), clock=kfa.clock),
        "kernlab kpca": Method(kpca.fit, sizes=(30,), clock=kpca.clock),
    }


# Each call starts R and reads text, which takes seconds: one split is run.
SETS_OF_R = ("boston",)


# ---------------------------------------------------------------------- all of them


def outcomes(method: Method, task: Task) -> list[Outcome]:
    widths = task.widths if method.has_width else [np.nan]
    sizes = sizes_of(task, tuple(method.sizes))
    return [
        choose_and_fit(method.fit, task, method.settings, k, widths=widths, clock=method.clock)
        for k in sizes
    ]


def runners(name: str, seed: int) -> Iterator[tuple[str, Callable[[Task], list[Outcome]]]]:
    """Yield what runs on a set: methods here, and those of installed peers that can."""
    use = SETS[name]
    for key, method in METHODS.items():
        yield key, lambda task, method=method: outcomes(method, task)
    for key, peer in PEERS.items():
        suits = not (peer.numbers_only and use.labelled) and not (
            peer.dense and use.most_train > DENSE_LIMIT
        )
        if peer.is_installed and suits:
            yield key, peer.run
    if name in SETS_OF_R and seed == 0 and Kernlab.is_installed():
        for key, method in kernlab_methods().items():
            yield key, lambda task, method=method: outcomes(method, task)


def versions() -> dict[str, str]:
    """Return those of the packages of others that are run."""
    found = {"fastcan": version("fastcan")}
    found |= {peer.package: peer.version() for peer in PEERS.values() if peer.is_installed}
    return found | ({"kernlab": Kernlab.version()} if Kernlab.is_installed() else {})


def run(name: str, seed: int) -> dict:
    """Return the result of one set and split; methods take turns, split by split."""
    start, found = time.perf_counter(), {}
    task = draw(name, seed)
    for method, work in runners(name, seed):
        found[method] = [asdict(outcome) for outcome in work(task)]
        print(f"  {name}, split {seed}, {method}", flush=True)
    return {
        "set": name,
        "split": seed,
        "measure": "error rate" if task.labelled else "mean squared error",
        "n_train": len(task.X),
        "n_test": len(task.X_test),
        "date": date.today().isoformat(),
        "cpu": cpu_model(),
        "versions": versions(),
        "seconds": round(time.perf_counter() - start, 1),
        "outcomes": found,
    }


def kept_results() -> list[dict]:
    return [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []


def compute(n_splits: int = N_SPLITS) -> None:
    """Add the sets and splits that are missing to the results that are kept, a line for each."""
    done = {(result["set"], result["split"]) for result in kept_results()}
    missing = [(name, seed) for seed in range(n_splits) for name in SETS if (name, seed) not in done]
    if not missing:
        return
    KEPT.parent.mkdir(exist_ok=True)
    with one_quiet_thread():
        for name, seed in missing:
            line = json.dumps(run(name, seed))
            with KEPT.open("a") as file:
                file.write(line + "\n")


def compute_again(method: str) -> None:
    """Compute one method of ours, or of scikit-learn's, anew in all results that are kept."""
    results = kept_results()
    if others := {result["cpu"] for result in results} - {cpu_model()}:
        raise SystemExit(
            f"Times would not compare with those kept, of {', '.join(others)}: use --fresh."
        )
    with one_quiet_thread():
        for result in results:
            found = outcomes(METHODS[method], draw(result["set"], result["split"]))
            result["outcomes"][method] = [asdict(outcome) for outcome in found]
            print(f"  {result['set']}, split {result['split']}, {method}", flush=True)
    temporary = KEPT.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(result) + "\n" for result in results))
    temporary.replace(KEPT)


@contextlib.contextmanager
def one_quiet_thread() -> Iterator[None]:
    """Compute with one thread, everything compiled, and without warnings that are a part of results."""
    warm_up()
    with warnings.catch_warnings(), threadpool_limits(1):
        for category in (FewerFeaturesWarning, NothingLearntWarning, ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", category)
        yield
