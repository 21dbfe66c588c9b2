"""Run all benchmarks, or those that are named: ``python -m benchmarks [fill] [million] ...``.

What each printed is kept in ``results/<name>.json``; ``python -m benchmarks page`` writes
``docs/benchmarks.md`` from what is kept.
"""

from __future__ import annotations

import argparse
import importlib

from . import record

NAMES = (
    "everyday",
    "fill",
    "serving",
    "first_use",
    "contention",
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
    "suite",
    "command_line",
    "peers",
    "peer_scale",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"of {', '.join(NAMES)}; all if none; or page"
    )
    names = parser.parse_args().names or NAMES
    if names == ["page"]:
        from . import page

        page.write(NAMES)
        return
    unknown = set(names) - set(NAMES)
    if unknown:
        parser.error(
            f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)} and page"
        )
    for name in names:
        record.run(name, importlib.import_module(f"benchmarks.{name}").main)


if __name__ == "__main__":
    main()
