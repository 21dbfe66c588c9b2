"""Print which functions of ours a fit runs through, as a tree, and count them.

``python tools/walk.py`` counts the walks of a few estimators; ``python tools/walk.py KernelPLS`` also
prints the tree of one, each function where it is called first. A walk is what the main thread calls in
a second fit, when everything is imported and compiled.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np


@dataclass
class Walk:
    """The functions of a package that were called, in the order of their first calls."""

    package: Path
    steps: list[tuple[int, str, str]] = field(default_factory=list)  # depth, module, function
    _depth: int = 0
    _seen: set[tuple[str, str]] = field(default_factory=set)

    @property
    def modules(self) -> set[str]:
        return {module for _, module, _ in self.steps}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take a step, as ``sys.setprofile`` wants it."""
        if event not in ("call", "return") or not frame.f_code.co_filename.startswith(
            f"{self.package}/"
        ):
            return
        if event == "return":
            self._depth -= 1
            return
        self._depth += 1
        module = str(Path(frame.f_code.co_filename).relative_to(self.package).with_suffix(""))
        name = frame.f_code.co_qualname.replace(".<locals>", "")
        if (module, name) not in self._seen:
            self._seen.add((module, name))
            self.steps.append((self._depth, module, name))

    def tree(self) -> str:
        """Return a line for each function, indented by how deep it is called."""
        return "\n".join(
            f"{'  ' * (depth - 1)}{name}  [{module}]" for depth, module, name in self.steps
        )


def walk_of(estimator: Any, X: np.ndarray, y: np.ndarray) -> Walk:
    """Return the walk of a second fit, through the package that the estimator is from."""
    top = sys.modules[type(estimator).__module__.partition(".")[0]]
    walk = Walk(Path(str(top.__file__)).parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
        sys.setprofile(walk)
        try:
            estimator.fit(X, y)
        finally:
            sys.setprofile(None)
    return walk


def _samples(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).standard_normal((n_samples, 6))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


def cases() -> dict[str, tuple[Callable[[], Any], int, bool]]:
    """Return what makes an estimator, the number of samples, and whether y has labels."""
    from sklearn.kernel_approximation import Nystroem

    import kernelsieve as ks

    return {
        "SparseMaximalAlignment": (
            lambda: ks.SparseMaximalAlignment(100, random_state=0),
            100_000,
            False,
        ),
        "KernelPLS": (lambda: ks.KernelPLS(10, random_state=0), 500, False),
        "KernelFisherDiscriminant": (lambda: ks.KernelFisherDiscriminant(random_state=0), 500, True),
        "SieveRegressor": (lambda: ks.SieveRegressor(random_state=0), 2_000, False),
        "Nystroem": (lambda: Nystroem(random_state=0), 500, False),
    }


def main(names: list[str]) -> None:
    """Print the walks that are named, as trees, or the sizes of all."""
    print(f"{'':26}{'samples':>9}{'modules':>9}{'functions':>11}")
    for name, (make, n_samples, labelled) in cases().items():
        if names and name not in names:
            continue
        X, y = _samples(n_samples)
        walk = walk_of(make(), X, (y > 0).astype(int) if labelled else y)
        print(f"{name:26}{n_samples:9,}{len(walk.modules):9}{len(walk.steps):11}", flush=True)
        if names:
            print(walk.tree())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="estimators whose trees to print")
    main(parser.parse_args().names)
