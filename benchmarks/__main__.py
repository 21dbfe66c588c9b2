"""Run all benchmarks, or those that are named: ``python -m benchmarks [fill] [million] ...``."""

from __future__ import annotations

import argparse
import importlib

NAMES = (
    "everyday",
    "fill",
    "serving",
    "first_use",
    "ready_made_scale",
    "accuracy",
    "digits",
    "exact",
    "analysis",
    "kernel_pls",
    "spectra",
    "sparse_pls",
    "fisher",
    "sparse_fisher",
    "probabilities",
    "pools",
    "subspace",
    "selection",
    "tolerance",
    "many_classes",
    "million",
    "one_pass_folds",
    "scale",
    "dask_engine",
    "learned_metric",
    "landmarks",
    "sieve",
    "command_line",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; all if none")
    names = parser.parse_args().names or NAMES
    unknown = set(names) - set(NAMES)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in names:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
