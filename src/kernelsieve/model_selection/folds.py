"""One fold: one fit of the extractor a setting, scored with all heads and numbers of features."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import clone

from .._sklearn import safe_split
from ..config import with_this_config
from ..data import Part
from ..exceptions import InvalidParameterError
from ..kernels import BlockCache, sharing
from .composed import ExtractorWithHead
from .heads import prefix_heads
from .nested_extractors import fit_quietly, last_step, microseconds_a_row, predicts, truncate

HEAD = "head__"  # begins the names of parameters that belong to the head
_UNCHECKED = {"assume_finite": True, "skip_parameter_validation": True}
_WIDTHS = ("gamma", "degree", "coef0")  # kernels that differ in these have distances in common


#: Settings of the head, with the numbers that they have in the grid.
HeadSettings = list[tuple[int, Mapping[str, Any]]]
#: Settings that share distances: those of the extractor, each with those of the head.
Group = list[tuple[Mapping[str, Any], HeadSettings]]


@dataclass(frozen=True)
class Task:
    """The estimators, settings, scorers and sizes that every fold evaluates."""

    extractor: Any  # with the largest number of features
    head: Any
    settings: Sequence[Mapping[str, Any]]  # of the grid
    scoring: Any  # as the user gave it
    scorer: Callable[..., float]
    sizes: np.ndarray  # numbers of features, ascending
    time_rows: bool  # whether to measure how long a new sample takes

    @property
    def groups(self) -> list[Group]:
        """Groups of settings that differ only in the head or the width of the kernel."""
        groups: dict[tuple, dict[tuple, tuple[Mapping[str, Any], HeadSettings]]] = {}
        for number, setting in enumerate(self.settings):
            of_extractor, of_head = _split_by_estimator(setting)
            common = {k: v for k, v in of_extractor.items() if k.split("__")[-1] not in _WIDTHS}
            group = groups.setdefault(_identity(common), {})
            group.setdefault(_identity(of_extractor), (of_extractor, []))[1].append((number, of_head))
        return [list(group.values()) for group in groups.values()]

    def curve(self, seconds: float, *columns: Any) -> Curve:
        """Return a curve, padded with NaN to all numbers of features."""
        padded = (np.concatenate([v, np.full(len(self.sizes) - len(v), np.nan)]) for v in columns)
        return Curve(seconds, *padded)


@dataclass(frozen=True)
class Curve:
    """The scores of one setting in one fold for every number of features; NaN beyond those found."""

    seconds: float
    train_score: np.ndarray
    test_score: np.ndarray
    evaluations: np.ndarray
    latency: np.ndarray


def _split_by_estimator(setting: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a setting into parameters of the extractor and of the head."""
    of_extractor = {k: v for k, v in setting.items() if not k.startswith(HEAD)}
    of_head = {k.removeprefix(HEAD): v for k, v in setting.items() if k.startswith(HEAD)}
    return of_extractor, of_head


def _identity(setting: Mapping[str, Any]) -> tuple:
    # A grid hands out the same objects again and again; values may be arrays, which == cannot compare.
    return tuple((name, id(value)) for name, value in sorted(setting.items()))


def split_off(estimator: Any, data: Part, rows: np.ndarray, fitted: np.ndarray | None = None) -> Part:
    """Return some samples; a precomputed kernel is restricted to the fitted samples' columns."""
    X, y = safe_split(estimator, data.X, data.y, rows, fitted)
    return Part(X, y, None if data.weight is None else data.weight[rows])


def run_apart(
    task: Task,
    data: Part,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    n_jobs: int | None,
    done: Callable[[int], None],
) -> list[dict[int, Curve]]:
    """Fit every fold separately; return the curves of all settings in each fold."""
    jobs = [(number, group) for number in range(len(folds)) for group in task.groups]
    run = delayed(with_this_config(run_group))
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        run(task, data, *folds[number], group) for number, group in jobs
    )
    found: list[dict[int, Curve]] = [{} for _ in folds]
    for (number, group), curves in zip(jobs, results, strict=True):
        found[number].update(curves)
        done(len(group))
    return found


def run_group(
    task: Task, data: Part, train: np.ndarray, test: np.ndarray, group: Group
) -> list[tuple[int, Curve]]:
    """Return the curves of all settings of a group, with their indices."""
    fitted_rows = split_off(task.extractor, data, train)
    held_out = split_off(task.extractor, data, test, train)
    curves: list[tuple[int, Curve]] = []
    with sharing(BlockCache()) if len(group) > 1 else nullcontext():
        for of_extractor, head_settings in group:
            extractor = clone_with(task.extractor, of_extractor)
            start = time.perf_counter()
            fit_quietly(extractor, fitted_rows.X, fitted_rows.y, fitted_rows.weight)
            seconds = time.perf_counter() - start
            curves += score_extractor(task, extractor, head_settings, fitted_rows, held_out, seconds)
    return curves


def clone_with(estimator: Any, setting: Mapping[str, Any]) -> Any:
    """Clone an estimator, and nested ones, with the parameters of a setting; None stays None."""
    if estimator is None:
        return None
    return clone(estimator).set_params(**{name: clone(v, safe=False) for name, v in setting.items()})


def with_setting(extractor: Any, head: Any, setting: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return clones of extractor and head with the parameters of a setting."""
    of_extractor, of_head = _split_by_estimator(setting)
    if of_head and head is None:
        raise InvalidParameterError(
            f"param_grid names {sorted(of_head)} of the head, and there is none; pass a head."
        )
    _check_names(extractor, head, of_extractor, of_head)
    return clone_with(extractor, of_extractor), clone_with(head, of_head)


def _check_names(extractor: Any, head: Any, of_extractor: Mapping, of_head: Mapping) -> None:
    """Raise an error for unknown parameters, with suggestions."""
    of_any_head = () if head is None else head.get_params()
    known = [*extractor.get_params(), *(f"head__{name}" for name in of_any_head)]
    for name in (*of_extractor, *(f"head__{name}" for name in of_head)):
        if name not in known:
            meant = [f"{other!r}" for other in known if other.endswith(f"__{name.split('__')[-1]}")]
            raise InvalidParameterError(
                f"param_grid names {name!r}, which the extractor and the head do not have; "
                + (f"pass {' or '.join(meant)}." if meant else f"they have {', '.join(sorted(known))}.")
            )


def score_extractor(
    task: Task, extractor: Any, head_settings: HeadSettings, train: Part, test: Part, seconds: float
) -> Iterator[tuple[int, Curve]]:
    """Yield the curves of all heads on a fitted extractor's features."""
    model = last_step(extractor)
    sizes = task.sizes[task.sizes <= model.n_components_]
    evaluations = model.kernel_evaluations_[sizes - 1]
    latency = microseconds_a_row(extractor, test.X, sizes) if task.time_rows else np.empty(0)
    known = tuple((data.X, np.asarray(extractor.transform(data.X))) for data in (train, test))
    for number, of_head in head_settings:
        head = clone_with(task.head, of_head)
        heads: Iterator[Any] = (own_head(extractor, int(k)) for k in sizes)
        if head is not None:
            heads = prefix_heads(head, known[0][1], train.y, train.weight, sizes)
        scores: list[list[float]] = []
        for k, fitted in zip(sizes, heads, strict=True):
            chosen = ExtractorWithHead(truncate(extractor, int(k)), fitted).with_known_features(*known)
            # What is wrong with a scorer is wrong with the first model already, and checking all that
            # it is given takes longer than most scores do.
            first = not scores
            scores.append([score_of(task.scorer, chosen, d, checked=first) for d in (train, test)])
        yield number, task.curve(seconds, *np.reshape(scores, (-1, 2)).T, evaluations, latency)


def own_head(extractor: Any, n_components: int) -> Any:
    """Return the linear head inside an extractor that predicts; None for others."""
    model = last_step(extractor)
    return model.head(n_components) if predicts(model) else None


def score_of(scorer: Callable[..., float], model: Any, data: Part, *, checked: bool = True) -> float:
    """Score a model, with sample weights if the scorer accepts them.

    Unchecked, scikit-learn looks neither for NaN nor at the parameters of its functions.
    """
    target = () if data.y is None else (data.y,)
    weight = {}
    if data.weight is not None and _takes_weight(scorer):
        weight = {"sample_weight": data.weight}
    with nullcontext() if checked else config_context(**_UNCHECKED):
        return float(scorer(model, data.X, *target, **weight))


def _takes_weight(scorer: Callable[..., float]) -> bool:
    metric = getattr(scorer, "_score_func", scorer)  # a scorer hands on what its metric may not take
    parameters = signature(metric).parameters
    return "sample_weight" in parameters or any(
        p.kind is Parameter.VAR_KEYWORD for p in parameters.values()
    )
