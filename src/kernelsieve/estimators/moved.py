"""Parameters that have another place now: an error that names it, wherever one is passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..fitting import Candidates

_OF_CANDIDATES = {"pool": "how", "resample": "resample", "sample_rows": "scored_on"}
_OF_THE_MACHINE = ("precision", "dtype", "max_memory", "block_size")


def refuse_moved(estimator: Any, given: Mapping[str, Any]) -> None:
    """Refuse parameters that ``Candidates``, ``config_context`` or another parameter took over.

    ``estimator`` is a class or an instance, and ``given`` what is passed by keyword.
    """
    known, moved = estimator._get_param_names(), estimator._moved
    for name, value in given.items():
        if name in known:
            continue
        if name in moved:
            raise TypeError(f"{name} is no parameter any more: {moved[name]}")
        if name in _OF_THE_MACHINE:
            raise TypeError(
                f"{name} is now a setting of the machine: fit within "
                f"kernelsieve.config_context({name}={value!r}), or call kernelsieve.set_config."
            )
        of_candidates = estimator._candidates_parameter
        if name in _OF_CANDIDATES and of_candidates in known:
            new = _OF_CANDIDATES[name]
            raise TypeError(
                f"{name} is now Candidates({new}=...): pass {of_candidates}="
                f"Candidates({_size(given.get(of_candidates, 'auto'))}, {new}={value!r})"
            )


def _size(candidates: Any) -> str:
    size = Candidates.of(candidates).size
    return repr(size) if isinstance(size, (str, int)) else "points"
