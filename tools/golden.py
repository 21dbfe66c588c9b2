"""Compare the features of all estimators with those of another state of the code.

``python tools/golden.py keep FILE`` writes what every public estimator finds in three data sets, and
``python tools/golden.py check FILE`` tells where the code as it is finds something else. Keep a file
before a change that is to change no result, and check it afterwards, on the same machine.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.preprocessing import scale

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from contract_cases import all_cases

SETS = {"iris": load_iris, "wine": load_wine, "diabetes": load_diabetes}
TOLERANCE = 1e-9  # of the largest feature


def found() -> Iterator[tuple[str, np.ndarray]]:
    """Yield a name and the features of each estimator, with each option, on each data set."""
    for name, load in SETS.items():
        X, y = load(return_X_y=True)
        X, median = scale(X), np.median(y)
        for case in all_cases():
            if is_classifier(case.entry()) and (name == "diabetes" or case.target == "two"):
                y_of_case = (y > median).astype(int)
            else:
                y_of_case = (y > median).astype(int) if case.target == "two" else y
            try:
                features = case.make().fit(X, y_of_case).transform(X)
            except ValueError as error:  # refused, which is a result as well
                features = np.frombuffer(type(error).__name__.encode(), np.uint8).astype(float)[None]
            yield f"{name} {case}", np.asarray(features)[:: max(1, len(features) // 40)]


def differences(kept: dict[str, np.ndarray]) -> Iterator[str]:
    """Yield a line for each result that differs from a kept one."""
    now = dict(found())
    yield from (f"{name}: gone" for name in sorted(kept.keys() - now.keys()))
    yield from (f"{name}: new" for name in sorted(now.keys() - kept.keys()))
    for name in sorted(now.keys() & kept.keys()):
        one, other = now[name], kept[name]
        if one.shape != other.shape:
            yield f"{name}: shape {one.shape}, not {other.shape}"
        else:
            change = np.abs(one - other).max() / max(np.abs(other).max(), 1e-300)
            if not change <= TOLERANCE:
                yield f"{name}: differs by {change:.1e} of the largest feature"


def main(what: str, path: Path) -> int:
    """Keep or check; return how many results differ."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if what == "keep":
            np.savez_compressed(path, **dict(found()))
            return 0
        lines = list(differences(dict(np.load(path))))
    print("\n".join([*lines, f"{len(lines)} results differ"]))
    return len(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["keep", "check"])
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    sys.exit(min(main(options.what, options.path), 1))
