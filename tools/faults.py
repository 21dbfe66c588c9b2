"""Break the code in one place after another, and see that a test fails: what tests are for.

``python tools/faults.py`` works on a copy of what is committed. For each fault it runs the tests of the
fault's own room first, and all of ``make test`` only where these pass. Name faults to try only some.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = "src/kernelsieve"


@dataclass(frozen=True)
class Fault:
    """A line of the package, and what stands there instead."""

    name: str
    module: str
    right: str
    wrong: str

    @property
    def path(self) -> str:
        return f"{PACKAGE}/{self.module}"

    @property
    def room(self) -> str:
        """The tests that look at the module's room."""
        return f"tests/{self.module.split('/')[0]}"

    def put_into(self, tree: Path) -> None:
        path = tree / self.path
        path.write_text(path.read_text().replace(self.right, self.wrong))


FAULTS = [
    Fault(
        "sign of a kernel's gradient",
        "kernels/distances.py",
        "towards = np.sign(Z[:, i] - X[:, i, None])",
        "towards = np.sign(X[:, i, None] - Z[:, i])",
    ),
    Fault(
        "weights lost in sums of inner products",
        "statistics/statistic.py",
        "lines = lines * np.sqrt(weight)",
        "lines = lines * 1.0",
    ),
    Fault(
        "weights lost in the width of a kernel",
        "kernels/resolve.py",
        "size = weight.sum() * X.shape[1]",
        "size = X.shape[0] * X.shape[1]",
    ),
    Fault(
        "draws that do not see weights",
        "data/pool.py",
        "return np.log(random_state.standard_exponential(len(weight))) - np.log(weight)",
        "return np.log(random_state.standard_exponential(len(weight)))",
    ),
    Fault(
        "error of a thread swallowed",
        "data/threads.py",
        "done.result()",
        "done.exception()",
    ),
    Fault(
        "samples that are never held out are held out",
        "statistics/fold_sums.py",
        "for number, of_fold in enumerate([*sums.folds, sums.never_held_out]):",
        "for number, of_fold in enumerate(sums.folds):",
    ),
    Fault(
        "targets deflated the wrong way",
        "deflation/loop.py",
        "residual_targets -= np.multiply.outer(feature, target_products)",
        "residual_targets += np.multiply.outer(feature, target_products)",
    ),
    Fault(
        "gradient of a loss not centred",
        "deflation/criteria/dense.py",
        "gradient -= root * (root.T @ gradient) / (root.T @ root)",
        "gradient -= 0.0",
    ),
    Fault(
        "model file without a check of its arrays",
        "model/archive.py",
        'if digest.hexdigest() != told["sha256"]:',
        'if digest.hexdigest() == "":',
    ),
    Fault(
        "variance of correlated features counted twice",
        "model/explained.py",
        "features = features @ directions",
        "features = features @ np.diag(np.diagonal(directions))",
    ),
    Fault(
        "one pass over an iterable that can be gone through again",
        "estimators/out_of_core.py",
        "for item in chain([first], iterator):",
        "for item in iterator:",
    ),
    Fault(
        "importance of inputs by rows, not by columns",
        "latent/chemometrics.py",
        "rotations = np.asarray(model.landmarks.T @ model.projection)",
        "rotations = np.asarray(model.landmarks.T @ np.abs(model.projection))",
    ),
    Fault(
        "class means by the weight of all samples",
        "rayleigh/fisher.py",
        "means = coordinates.means @ found.alpha - offset + products / weights[:, None]",
        "means = coordinates.means @ found.alpha - offset + products / total",
    ),
    Fault(
        "centroids as sums of samples",
        "subspace/centroids.py",
        "averages = labels / squared_lengths(labels)",
        "averages = labels",
    ),
    Fault(
        "outer products of gradients without weights",
        "metric_learning/functions.py",
        "flat = (gradients * np.sqrt(weight[rows])[:, None])",
        "flat = (gradients * 1.0)",
    ),
    Fault(
        "standard error of a fold, not of the mean of folds",
        "model_selection/rules.py",
        "return self.test.std(axis=0, ddof=1) / np.sqrt(n_folds)",
        "return self.test.std(axis=0, ddof=1)",
    ),
    Fault(
        "intervals that do not count the new sample",
        "predictors/calibration.py",
        "reached = np.cumsum(weight[order]) / (weight.sum() + weight.mean())",
        "reached = np.cumsum(weight[order]) / weight.sum()",
    ),
    Fault(
        "scaler to a range with the wrong centre",
        "program/scikit_learn.py",
        "AffineMap(step.scale_, -step.min_ / step.scale_)",
        "AffineMap(step.scale_, step.min_ / step.scale_)",
    ),
    Fault(
        "exponential before the bound of its argument",
        "program/steps/link.py",
        'value = f"exp(fmin(fmax({value}, -{size}), {size}))"',
        'value = f"exp({value})"',
    ),
    Fault(
        "largest contributions by sign",
        "cli/predict.py",
        "order = np.argsort(-np.abs(added), axis=1)[:, :number]",
        "order = np.argsort(-added, axis=1)[:, :number]",
    ),
    Fault(
        "curves without weights",
        "displays/roc.py",
        "y_true, given, pos_label=positive, sample_weight=sample_weight",
        "y_true, given, pos_label=positive, sample_weight=None",
    ),
]


def finds(tree: Path, tests: list[str]) -> bool:
    """Tell if one of the tests fails on a tree."""
    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "auto", "-m", "not slow", *tests]
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)
    failed = re.search(r"^\d+ (failed|errors?)\b", run.stdout, re.MULTILINE) is not None
    if not failed and run.returncode != 0:
        raise RuntimeError(f"pytest did not run:\n{run.stdout}\n{run.stderr}")
    return failed


def main(names: list[str]) -> int:
    """Print for each fault where it was found; return how many were not."""
    found = 0
    faults = [fault for fault in FAULTS if not names or fault.name in names]
    for fault in faults:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            archive = subprocess.run(
                ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
            )
            subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
            fault.put_into(tree)
            where = next(
                (
                    word
                    for word, tests in (("its room", [fault.room]), ("all tests", []))
                    if finds(tree, tests)
                ),
                None,
            )
        found += where is not None
        print(
            f"{'found by ' + where if where else 'NOT FOUND':18} {fault.module:32} {fault.name}",
            flush=True,
        )
    print(f"{found} of {len(faults)} faults found")
    return len(faults) - found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="faults to try; all where none is named")
    sys.exit(main(parser.parse_args().names))
