"""The commands with their options; each imports its implementation when it runs, so help is instant."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

_EPILOG = (
    "Exit codes: 0 done, 1 the data or the model cannot be used, 2 wrong usage, 3 a file cannot be "
    "read or written, 130 interrupted (or 128 and the number of another signal), 141 nobody reads the "
    "output. Files appear whole or not at all. "
    "--debug shows tracebacks."
)

app = typer.Typer(
    name="kernelsieve",
    help="Kernel features and predictions from tables: fit, use, look at and pass on models.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)

Data = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV (also .gz), .xlsx, Parquet file or folder, Arrow/Feather, svmlight, .npy, .npz, "
        "or - for CSV on stdin."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that fit wrote, or a sieve saved in Python.")]
Target = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="File to write.")]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be repeated.")]
Weight = Annotated[str | None, typer.Option(help="Column with sample weights.")]
Group = Annotated[str | None, typer.Option(help="Column with groups; no group is split between folds.")]
Task = Annotated[str, typer.Option(help="auto, regression or classification.")]
Dates = Annotated[
    str, typer.Option(help="auto, day-first or month-first, where dates end with the year.")
]
Kernel = Annotated[str, typer.Option(help="rbf, linear, matern, laplacian, or another by name.")]
Gamma = Annotated[
    str, typer.Option(help="Width of the kernel: auto (cross-validated), scale, a number.")
]
Method = Annotated[
    str, typer.Option(help="auto (a sieve), sma, smc, kpls, kfd, gkfd, kpca, akfa, skfa, rkopls.")
]
Components = Annotated[
    str, typer.Option("--k", help="Number of features: auto (cross-validated), or N.")
]
Budget = Annotated[
    int, typer.Option(min=1, help="Maximum number of kernel evaluations per prediction.")
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
Sep = Annotated[
    str | None, typer.Option(help="Delimiter of a CSV file, one character or tab; inferred by default.")
]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a CSV file, such as latin-1; inferred by default.")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal sign of a CSV file, . or ,; inferred by default.")
]


#: Options of commands that are handed on together.
_GROUPS = {
    "text": ("sep", "encoding", "decimal"),
    "roles": ("target", "drop", "weight", "group"),
    "given": ("method", "k", "kernel", "gamma", "head", "budget", "task", "dates", "seed"),
    "limits": ("task", "dates", "budget", "rows", "folds", "seed"),
    "wanted": ("proba", "interval", "explain", "keep"),
}


def _call(module: str, function: str, options: dict[str, Any], *groups: str) -> None:
    """Import and run the function of a command, with BLAS limited to one thread."""
    from ..data import single_threaded_blas

    for group in groups:
        options[group] = {name: options.pop(name) for name in _GROUPS[group] if name in options}
    run = getattr(import_module(f"{__package__}.{module}"), function)
    with single_threaded_blas():
        run(**options)


def _show_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and end."
        ),
    ] = False,
) -> None: ...


@app.command(epilog="Example: kernelsieve fit houses.csv --target price -o houses.ksv")
def fit(
    data: Data,
    target: Target,
    output: Output = Path("model.ksv"),
    method: Method = "auto",
    k: Components = "auto",
    kernel: Kernel = "rbf",
    gamma: Gamma = "auto",
    head: Annotated[str, typer.Option(help="auto, ridge, logistic, svm or none.")] = "auto",
    budget: Budget = 200,
    drop: Drop = None,
    weight: Weight = None,
    group: Group = None,
    task: Task = "auto",
    dates: Dates = "auto",
    seed: Seed = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")] = False,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Fit a model to a table, and save it. Column types are inferred and shown."""
    _call("fit", "fit_table", locals(), "roles", "given", "text")


@app.command(epilog="Example: kernelsieve transform houses.ksv new.csv -o features.parquet")
def transform(
    model: Model,
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", help=".csv, .parquet, .npy, or - .")] = "-",
    k: Annotated[int | None, typer.Option("--k", min=1, help="Only the first N features.")] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Compute features of the rows of a table."""
    _call("predict", "transform_table", locals(), "text")


@app.command(
    epilog="Example: kernelsieve predict churn.ksv new.csv --proba --keep id -o predictions.csv"
)
def predict(
    model: Model,
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", help=".csv, .parquet, .npy, or - .")] = "-",
    proba: Annotated[bool, typer.Option(help="Add the probability of every class.")] = False,
    interval: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Add an interval of this coverage.")
    ] = None,
    explain: Annotated[
        int,
        typer.Option(min=0, help="Add the N training rows, counted from 0, that contribute most."),
    ] = 0,
    keep: Annotated[list[str] | None, typer.Option(help="Column to copy; may be repeated.")] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Predict the target of the rows of a table."""
    _call("predict", "predict_table", locals(), "wanted", "text")


@app.command()
def inspect(model: Model) -> None:
    """Show a model: method, kernel, cost, landmarks, importances, scores."""
    _call("inspect", "inspect_model", locals())


@app.command(epilog="Example: kernelsieve report houses.ksv houses.csv -o report.html")
def report(
    model: Model,
    data: Data,
    output: Output = Path("report.html"),
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", help="Column with the target, for a sieve saved in Python."),
    ] = None,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Write a report on a model and its scores on a table, as one HTML file."""
    _call("report", "write_report", locals(), "text")


@app.command(epilog="Example: kernelsieve compare houses.csv --target price --csv scores.csv")
def compare(
    data: Data,
    target: Target,
    drop: Drop = None,
    weight: Weight = None,
    group: Group = None,
    task: Task = "auto",
    dates: Dates = "auto",
    budget: Budget = 200,
    rows: Annotated[
        int, typer.Option(min=20, help="Maximum number of rows; larger tables are sampled.")
    ] = 5000,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 5,
    csv: Annotated[Path | None, typer.Option(help="Write the table as CSV.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write the table as HTML.")] = None,
    seed: Seed = 0,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Cross-validate methods of kernelsieve and scikit-learn on a table, and recommend one."""
    _call("compare", "compare_methods", locals(), "roles", "limits", "text")


@app.command(epilog="Example: kernelsieve prepare sample.csv --target price -o plan.ksv")
def prepare(
    data: Data,
    target: Target,
    output: Output = Path("plan.ksv"),
    method: Method = "auto",
    kernel: Kernel = "rbf",
    gamma: Annotated[str, typer.Option(help="Width of the kernel: scale, or a number.")] = "scale",
    budget: Budget = 200,
    drop: Drop = None,
    task: Task = "auto",
    dates: Dates = "auto",
    seed: Seed = 0,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Choose, on a sample, the settings that all machines share to sum up their rows."""
    _call("statistic", "prepare_plan", locals(), "roles", "given", "text")


@app.command(epilog="Example: kernelsieve statistic plan.ksv mine.csv -o mine.part")
def statistic(
    plan: Annotated[Path, typer.Argument(help="A plan that prepare wrote.")],
    data: Data,
    output: Output,
    sep: Sep = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
) -> None:
    """Sum up the rows of a table into a file that can be sent where rows may not go."""
    _call("statistic", "sum_up_table", locals(), "text")


@app.command(epilog="Example: kernelsieve merge a.part b.part -o all.part")
def merge(
    parts: Annotated[list[Path], typer.Argument(help="Sums that statistic wrote.")], output: Output
) -> None:
    """Add up the sums of several tables."""
    _call("statistic", "merge_parts", locals())


@app.command(epilog="Example: kernelsieve finish plan.ksv all.part -o model.ksv")
def finish(
    plan: Annotated[Path, typer.Argument(help="A plan that prepare wrote.")],
    part: Annotated[Path, typer.Argument(help="Sums of all rows, as statistic or merge wrote them.")],
    output: Output = Path("model.ksv"),
) -> None:
    """Fit a model from sums alone."""
    _call("statistic", "finish_model", locals())


@app.command(epilog="Example: kernelsieve export houses.ksv --onnx houses.onnx")
def export(
    model: Model,
    onnx: Annotated[Path | None, typer.Option(help="Write an ONNX graph here.")] = None,
    c: Annotated[Path | None, typer.Option("--c", help="Write a file of C99 here.")] = None,
    dtype: Annotated[str, typer.Option(help="float64 or float32, of the ONNX graph.")] = "float64",
    features: Annotated[bool, typer.Option(help="Features instead of predictions.")] = False,
) -> None:
    """Write a model for programs without kernelsieve."""
    _call("export", "export_model", locals())


@app.command()
def demo() -> None:
    """Make an example table, fit a model to it, and show commands to try."""
    _call("demo", "run_demo", {})


@app.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: kernelsieve papers run dhanjal2009/table3 --quick",
)
def papers(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(help="In a copy of the sources: list, run NAME, or page, as python -m papers."),
    ] = None,
) -> None:
    """Show the implemented papers, or run their tables and figures."""
    _call("demo", "show_papers", locals())


@app.command()
def bench(
    name: Annotated[str | None, typer.Argument(help="A benchmark; without one, all run.")] = None,
) -> None:
    """Run the benchmarks, in a checkout of the repository."""
    _call("demo", "run_benchmark", locals())
