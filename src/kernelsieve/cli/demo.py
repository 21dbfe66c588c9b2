"""``kernelsieve demo``, ``papers`` and ``bench``."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from sklearn.datasets import load_diabetes

from .app import fit
from .errors import TableError
from .outputs import check_files
from .terminal import Terminal

_PAPERS = {
    "C. Dhanjal, S. R. Gunn, J. Shawe-Taylor, Efficient sparse kernel feature extraction based on "
    "partial least squares, IEEE TPAMI 31(8), 2009": "SparseMaximalAlignment, SparseMaximalCovariance, "
    "KernelFeatureExtraction, KernelPLS, KernelBoosting, ReducedKernelOPLS",
    "X. Jiang, R. R. Snapp, Y. Motai, X. Zhu, Accelerated kernel feature analysis, CVPR 2006": (
        "AcceleratedKernelFeatureAnalysis, SparseKernelFeatureAnalysis"
    ),
    "S. Mika et al., Constructing descriptive and discriminative nonlinear features: Rayleigh "
    "coefficients in kernel feature spaces, IEEE TPAMI 25(5), 2003": "KernelFisherDiscriminant, "
    "SparseKernelFisherDiscriminant, GreedyKernelFisherDiscriminant, OrientedKernelPCA",
    "M. Momma, Efficient computations via scalable sparse kernel partial least squares and boosted "
    "latent features, KDD 2005": "SparseKernelPLS, SparseKernelBoostedLatentFeatures, "
    "OrthogonalLoadingsKernelPLS",
    "M. Wu, J. Farquhar, A subspace kernel for nonlinear feature extraction, IJCAI 2007": (
        "SubspaceKernelFeatures, KernelOrthogonalCentroid, KernelDiscriminantQR"
    ),
}


def run_demo() -> None:
    """Write an example table to the current folder, fit a model to it, and show commands to try."""
    data, model = Path("diabetes.csv"), Path("diabetes.ksv")
    for path in (data, model):
        if path.exists():
            raise TableError(f"{path} is in this folder already; run the demo in another one.")
    check_files([], [data, model])
    frame = load_diabetes(as_frame=True, scaled=False).frame
    frame.to_csv(data, index=False)
    fit(str(data), "target", model, method="sma", budget=100)
    Terminal().text(
        "Try:",
        f"  kernelsieve inspect {model}",
        f"  kernelsieve predict {model} {data} --explain 3",
        f"  kernelsieve report {model} {data} -o report.html",
        f"  kernelsieve compare {data} --target target",
        f"  kernelsieve export {model} --c diabetes.c",
    )


def show_papers(arguments: list[str] | None) -> None:
    """Show the implemented papers, or run their tables as ``python -m papers`` does."""
    if arguments:
        _run_sources("papers", arguments, what="tables of the papers")
        return
    for paper, names in _PAPERS.items():
        print(f"{paper}\n    {names}")


def run_benchmark(name: str | None) -> None:
    """Run benchmarks from a checkout of the repository; the package does not contain them."""
    _run_sources("benchmarks", [name] if name else [], what="benchmarks")


def _run_sources(package: str, arguments: list[str], *, what: str) -> None:
    """Run a folder of the repository, such as papers, that the package does not contain."""
    if importlib.util.find_spec(package) is None and not Path(package).is_dir():
        raise TableError(f"The {what} are part of the repository; run this in a checkout of it.")
    done = subprocess.run([sys.executable, "-m", package, *arguments], check=False)
    if done.returncode:
        raise TableError(f"The {what} ended with exit code {done.returncode}.")
