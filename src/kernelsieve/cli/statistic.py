"""``kernelsieve prepare``, ``statistic``, ``merge``, ``finish``: fits from sums instead of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from ..estimators import StatisticPart, StatisticPlan, is_summed_up
from ..estimators.statistic import Saved
from ..model import save
from ..model_selection import ComponentPathCV
from .columns import coerce_columns, column_encoder
from .errors import TableError
from .methods import OPEN, CrossValidatedMethod, predicts_alone
from .outputs import check_files, saved_message
from .table_model import TableModel
from .tables import open_table
from .terminal import Terminal
from .training import Reading, TableSource

_ROWS = 20_000  # that settle a plan


@dataclass(frozen=True)
class TablePlan(Saved):
    """The settings that all machines share when they sum up rows of a table."""

    _kind = "table plan"

    plan: StatisticPlan
    columns: Any  # the fitted encoder of columns
    kinds: dict
    roles: dict
    task: str
    whole_labels: bool
    notes: list

    @property
    def reading(self) -> Reading:
        """How to read the tables."""
        return Reading(self.roles, self.kinds, self.task, self.whole_labels, tuple(self.notes))


def prepare_plan(
    data: str,
    roles: Mapping[str, Any],
    given: Mapping[str, Any],
    output: Path,
    text: Mapping[str, str | None],
) -> None:
    """Choose column types, kernel and candidates on a sample, and save them."""
    check_files([data], [output])
    show = Terminal()
    table = open_table(data, text, show)
    frame, n_rows = table.sampled(_ROWS, given["seed"])
    drawn_from = table if len(frame) < n_rows else None
    reading = Reading.infer(frame, roles, given["task"], given.get("dates", "auto"), drawn_from)
    classifies = reading.task == "classification"
    given = {**OPEN, **given}
    if given["method"] == "auto" and classifies:
        given["method"] = "kfd"  # which predicts by sums alone
    rows = reading.labelled(frame)
    columns = column_encoder(reading.kinds)
    X = columns.fit_transform(coerce_columns(rows.frame, reading.kinds))
    chosen = CrossValidatedMethod(given, reading.task)
    extractor = chosen.extractor.set_params(n_components=max(chosen.sizes(rows.y)))
    if not is_summed_up(extractor):
        raise TableError(f"--method {given['method']} needs all rows at once; pass sma, kpls or kfd.")
    folds = {} if classifies or predicts_alone(extractor) else {"folds": 5}
    plan = extractor.prepare(X, rows.y, **folds)
    show.kinds(frame, reading.kinds, roles)
    show.text(*reading.notes)
    made = TablePlan(
        plan,
        columns,
        dict(reading.kinds),
        dict(roles),
        reading.task,
        reading.whole_labels,
        list(reading.notes),
    )
    made.save(output)
    show.text(
        f"Saved: {output}. Send it to where the rows are, and run: kernelsieve statistic {output} DATA"
    )


def sum_up_table(plan: Path, data: str, output: Path, text: Mapping[str, str | None]) -> None:
    """Save the sums of the rows of a table."""
    check_files([plan, data], [output])
    settled, show = TablePlan.load(plan), Terminal()
    source = TableSource(open_table(data, text, show), settled.reading, show)
    total = source.summed(settled.plan, settled.columns)
    if total is None:
        raise TableError(f"No row of {data} has a target.")
    total.save(output)
    show.text(saved_message(output, f"{total.n_samples:,} rows"))


def merge_parts(parts: list[Path], output: Path) -> None:
    """Add up sums of several tables."""
    check_files(parts, [output])
    first, *others = map(StatisticPart.load, parts)
    for other in others:
        first = first.merge(other)
    first.save(output)
    Terminal().text(saved_message(output, f"{first.n_samples:,} rows"))


def finish_model(plan: Path, part: Path, output: Path) -> None:
    """Fit a model from sums."""
    check_files([plan, part], [output])
    settled, sums = TablePlan.load(plan), StatisticPart.load(part)
    extractor = clone(settled.plan.estimator)
    if settled.plan.folds is None:
        fitted = extractor.finish(settled.plan, sums)
    else:
        fitted = ComponentPathCV(extractor, Ridge()).finish(settled.plan, sums)
    pipeline = Pipeline([("columns", settled.columns), ("model", fitted)])
    notes = [*settled.notes, f"Fitted to sums of {sums.n_samples:,} rows."]
    save(TableModel(pipeline, settled.kinds, settled.roles["target"], settled.task, notes), output)
    Terminal().text(saved_message(output))
