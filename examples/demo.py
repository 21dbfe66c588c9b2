"""Features from a few chosen examples, beside the usual ones.

Three data sets (breast cancer, digits, 200,000 synthetic rows), four ways to get k features, and the
same linear head on all of them:

- SparseMaximalAlignment chooses k examples with the targets in view: k kernel evaluations a new row;
- Nystroem takes k random examples: k kernel evaluations a new row;
- KernelPCA needs every example it was trained on for every new row;
- PLSRegression is linear and needs no kernel at all.

k is chosen without looking at the test rows, by cross-validation over every k. The features are nested,
so that takes one fit a fold, and the smallest k within one standard error of the best is taken.

Run it with ``make demo``. It prints a table a data set and draws three pictures.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import KFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions
from kernelsieve.displays import ComponentPathDisplay
from kernelsieve.model_selection import ComponentPathCV

OUTPUT = Path(__file__).resolve().parents[1] / "output"
KERNEL_PCA_ROWS = 2_000  # its cost grows with the square of the rows, and of every prediction with them
PICTURES = 40  # of chosen digits

# Colours that survive colour blindness, and a marker and a dash each for those who print in grey.
LOOKS = {
    "SparseMaximalAlignment": {"color": "#0072B2", "marker": "o", "linestyle": "-"},
    "Nystroem": {"color": "#E69F00", "marker": "s", "linestyle": "--"},
    "KernelPCA": {"color": "#009E73", "marker": "^", "linestyle": "-."},
    "PLSRegression": {"color": "#555555", "marker": "x", "linestyle": ":"},
}


# ---------------------------------------------------------------------- data


@dataclass(frozen=True)
class Task:
    """Rows to train and to test on, and which numbers of features to look at."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    labels: bool  # or a continuous target
    prefixes: range  # among which k is chosen
    drawn: tuple[int, ...]  # that the picture shows
    folds: Any

    @property
    def error_name(self) -> str:
        return "error rate" if self.labels else "1 - R2"

    @property
    def gamma(self) -> float:
        """One width of the kernel for all methods."""
        return 1.0 / (self.X.shape[1] * self.X.var())

    @property
    def targets(self) -> np.ndarray:
        """Labels as columns of zeros and ones, for methods that want numbers."""
        return LabelBinarizer().fit_transform(self.y) if self.labels else self.y


def breast_cancer() -> Task:
    X, y = load_breast_cancer(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    scaler = StandardScaler().fit(X)
    return Task(
        "Breast cancer",
        scaler.transform(X),
        y,
        scaler.transform(X_test),
        y_test,
        labels=True,
        prefixes=range(1, 41),
        drawn=(1, 2, 3, 5, 8, 13, 20, 30, 40),
        folds=KFold(5, shuffle=True, random_state=0),
    )


def digits() -> Task:
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X / 16, y, test_size=0.3, stratify=y, random_state=0)
    return Task(
        "Digits",
        X,
        y,
        X_test,
        y_test,
        labels=True,
        prefixes=range(1, 101),
        drawn=(2, 4, 7, 10, 15, 25, 40, 60, 100),
        folds=KFold(5, shuffle=True, random_state=0),
    )


def synthetic() -> Task:
    X, y = make_interactions(200_000, 10, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, test_size=20_000, random_state=0)
    return Task(
        "200,000 synthetic rows",
        X,
        y,
        X_test,
        y_test,
        labels=False,
        prefixes=range(4, 81, 4),
        drawn=(5, 10, 20, 40, 80),
        folds=KFold(5, shuffle=True, random_state=0),
    )


# ---------------------------------------------------------------------- methods


@dataclass(frozen=True)
class Method:
    """How features are made, and what they cost a new row."""

    name: str
    make: Callable[[int, Task], Any]
    evaluations: Callable[[Any], int]
    nested: bool  # whether the first features of a large fit are those of a small one
    most_rows: int | None = None  # that it can take
    linear: bool = False  # no kernel, and no more features than inputs

    def most_features(self, task: Task) -> int:
        return min(task.drawn[-1], task.X.shape[1]) if self.linear else task.drawn[-1]


def sieve(k: int, task: Task) -> SparseMaximalAlignment:
    # By default every row is a candidate where there are up to 1,500; where there are more, candidates
    # are screened on a sample first, and the choice among the best looks at all rows.
    target = "classes" if task.labels else "continuous"
    return SparseMaximalAlignment(
        k, gamma=task.gamma, target=target, scale="unit_variance", random_state=0
    )


def nystroem(k: int, task: Task) -> Nystroem:
    return Nystroem(gamma=task.gamma, n_components=k, random_state=0)


def kernel_pca(k: int, task: Task) -> KernelPCA:
    # "dense" is its fastest solver for so few rows
    return KernelPCA(k, kernel="rbf", gamma=task.gamma, eigen_solver="dense")


def partial_least_squares(k: int, task: Task) -> PLSRegression:
    return PLSRegression(min(k, task.X.shape[1]))


METHODS = (
    Method("SparseMaximalAlignment", sieve, lambda model: len(model.landmarks_), nested=True),
    Method("Nystroem", nystroem, lambda model: len(model.components_), nested=False),
    Method("KernelPCA", kernel_pca, lambda model: len(model.X_fit_), True, KERNEL_PCA_ROWS),
    Method("PLSRegression", partial_least_squares, lambda model: 0, nested=True, linear=True),
)


def fit_head(features: np.ndarray, y: np.ndarray, labels: bool) -> Any:
    """Fit the same linear head for everyone, on features of the same scale."""
    return make_pipeline(StandardScaler(), new_head(labels)).fit(features, y)


def new_head(labels: bool) -> Any:
    return RidgeClassifier() if labels else Ridge()


def losses(head: Any, features: np.ndarray, y: np.ndarray, labels: bool) -> np.ndarray:
    """Return a number for each row whose mean is the error rate, or 1 - R2."""
    predicted = head.predict(features)
    if labels:
        return (predicted != y).astype(float)
    return (predicted - y) ** 2 / y.var()


def mean_and_error(values: np.ndarray) -> tuple[float, float]:
    """Return the mean of all rows' losses and its standard error."""
    return float(values.mean()), float(values.std() / np.sqrt(len(values)))


# ---------------------------------------------------------------------- choosing k


def choose_k(task: Task) -> ComponentPathCV:
    """Score every k in every fold, from one fit a fold, and say which is taken and why."""
    extractor = sieve(task.prefixes[-1], task)
    search = ComponentPathCV(
        extractor,
        new_head(task.labels),
        n_components=list(task.prefixes),
        cv=task.folds,
        scoring="accuracy" if task.labels else "r2",
        refit=False,
    ).fit(task.X, task.y)
    print(textwrap.fill(search.reason_, 100, initial_indent="  ", subsequent_indent="  "))
    return search


# ---------------------------------------------------------------------- comparing


def compare(task: Task, k: int) -> None:
    """Print the table of all methods with k features."""
    line = "  {:<24}{:>11}{:>10}{:>13}{:>9}{:>11}"
    print()
    print(line.format("method", task.error_name, "std err", "kernel", "fit", "predict"))
    print(line.format("", "test rows", "", "evaluations", "s", "us a row"))
    for method in METHODS:
        extractor, head, seconds = timed_fit(task, method, k)
        test = losses(head, extractor.transform(task.X_test), task.y_test, task.labels)
        error, spread = mean_and_error(test)
        evaluations = method.evaluations(extractor)
        speed = microseconds_a_row(extractor, head, task.X_test)
        numbers = f"{error:.4f}", f"{spread:.4f}", f"{evaluations:,}", f"{seconds:.2f}", f"{speed:.1f}"
        print(line.format(method.name, *numbers))
    for remark in remarks(task, k):
        print(f"  {remark}")
    print(flush=True)


def timed_fit(task: Task, method: Method, k: int) -> tuple[Any, Any, float]:
    start = time.perf_counter()
    extractor = fit_features(task, method, k)
    rows = slice(method.most_rows)
    head = fit_head(extractor.transform(task.X[rows]), task.y[rows], task.labels)
    return extractor, head, time.perf_counter() - start


def fit_features(task: Task, method: Method, k: int) -> Any:
    rows = slice(method.most_rows)  # the rows are in random order, so the first are a fair sample
    y = task.targets if method.linear else task.y
    return method.make(k, task).fit(task.X[rows], y[rows])


def microseconds_a_row(extractor: Any, head: Any, X: np.ndarray) -> float:
    """Return the best of three, so that one interruption does not count."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        head.predict(extractor.transform(X))
        times.append(time.perf_counter() - start)
    return 1e6 * min(times) / len(X)


def remarks(task: Task, k: int) -> list[str]:
    """Say where a method could not have the same as the others."""
    n_rows, n_inputs = task.X.shape
    texts = []
    for method in METHODS:
        if method.most_rows and n_rows > method.most_rows:
            texts.append(f"{method.name}: features and head from {method.most_rows:,} rows only.")
        if method.linear and k > n_inputs:
            texts.append(f"{method.name}: {n_inputs} features, as there are no more inputs.")
    return texts


def error_curve(task: Task, method: Method) -> tuple[list[int], list[float]]:
    """Return the test error for every number of features that is drawn."""
    sizes = [k for k in task.drawn if k <= method.most_features(task)]
    errors = []
    for k in sizes:
        if k == sizes[0] or not method.nested:
            train, test = both_features(task, method, sizes[-1] if method.nested else k)
        head = fit_head(train[:, :k], task.y[: len(train)], task.labels)
        errors.append(losses(head, test[:, :k], task.y_test, task.labels).mean())
    return sizes, errors


def both_features(task: Task, method: Method, k: int) -> tuple[np.ndarray, np.ndarray]:
    extractor = fit_features(task, method, k)
    return extractor.transform(task.X[: method.most_rows]), extractor.transform(task.X_test)


# ---------------------------------------------------------------------- pictures


def draw_errors(tasks: list[Task], chosen: list[int]) -> Path:
    """Draw error against number of features, a panel for each data set."""
    figure, panels = plt.subplots(1, len(tasks), figsize=(4.2 * len(tasks), 4.2), layout="constrained")
    figure.get_layout_engine().set(wspace=0.06)
    for panel, task, k in zip(panels, tasks, chosen, strict=True):
        for method in METHODS:
            sizes, errors = error_curve(task, method)
            panel.plot(sizes, errors, label=method.name, markersize=5, **LOOKS[method.name])
        mark_choice(panel, k)
        panel.set(title=task.name, xlabel="number of features", ylabel=f"{task.error_name}, test rows")
        panel.set(xscale="log", yscale="log")
        plain_ticks(panel, task)
        panel.grid(alpha=0.25)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    return save(figure, "demo.png")


def draw_paths(tasks: list[Task], searches: list[ComponentPathCV]) -> Path:
    """Draw what the choice of k was made by, a panel for each data set."""
    figure, panels = plt.subplots(1, len(tasks), figsize=(4.4 * len(tasks), 4.8), layout="constrained")
    for panel, task, search in zip(panels, tasks, searches, strict=True):
        ComponentPathDisplay.from_estimator(search, ax=panel, markersize=0)
        panel.set_title(task.name)
    return save(figure, "demo_path.png")


def mark_choice(panel: Any, k: int) -> None:
    panel.axvline(k, color="black", linewidth=0.8)
    panel.annotate(
        f"chosen k = {k}",
        (k, 1),
        xycoords=("data", "axes fraction"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        rotation=90,
        fontsize=8,
    )


def plain_ticks(panel: Any, task: Task) -> None:
    """Write the numbers themselves at the ticks of a logarithmic axis."""
    panel.set_xticks(task.drawn, [str(k) for k in task.drawn])
    panel.minorticks_off()
    low, high = panel.get_ylim()
    ticks = [m * 10.0**e for e in range(-4, 1) for m in (1, 2, 5)]
    panel.set_yticks([t for t in ticks if low <= t <= high])
    panel.yaxis.set_major_formatter("{x:g}")
    panel.set_ylim(low, high)


def draw_digits(task: Task) -> Path:
    """Draw the first chosen digits as images, in the order of choice."""
    model = sieve(PICTURES, task).fit(task.X, task.y)
    figure, panels = plt.subplots(4, PICTURES // 4, figsize=(9, 4.6), layout="constrained")
    for place, (panel, row) in enumerate(zip(panels.flat, model.landmark_indices_, strict=True), 1):
        panel.imshow(task.X[row].reshape(8, 8), cmap="gray_r")
        panel.set_title(f"{place}: a {task.y[row]}", fontsize=9)
        panel.set(xticks=[], yticks=[])
    figure.suptitle("The chosen training examples, in order of choice (place: label)")
    kinds = len(set(task.y[model.landmark_indices_[:10]]))
    print(f"The first ten examples chosen from the digits show {kinds} of the ten digits.")
    return save(figure, "demo_digits.png")


def save(figure: Any, name: str) -> Path:
    OUTPUT.mkdir(exist_ok=True)
    figure.savefig(OUTPUT / name, dpi=130)
    plt.close(figure)
    return OUTPUT / name


# ---------------------------------------------------------------------- all together


def warm_up() -> None:
    """Compile what is compiled on first use, which is nobody's time to fit."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    SparseMaximalAlignment(2).fit(X, X[:, 0]).transform(X)


def main() -> None:
    start = time.perf_counter()
    warm_up()
    tasks = [breast_cancer(), digits(), synthetic()]
    searches = []
    for task in tasks:
        n_rows, n_inputs = task.X.shape
        print(f"{task.name}: {n_rows:,} rows to train, {len(task.X_test):,} to test, {n_inputs} inputs")
        searches.append(choose_k(task))
        compare(task, searches[-1].best_n_components_)
    paths = draw_paths(tasks, searches)
    errors = draw_errors(tasks, [search.best_n_components_ for search in searches])
    examples = draw_digits(tasks[1])
    print("Pictures:")
    print(f"  {paths}: cross-validated scores by which the number of features was chosen")
    print(f"  {errors}: error against number of features")
    print(f"  {examples}: the chosen digits")
    print(f"All in {time.perf_counter() - start:.0f} s.")
    print("To try on tables of your own, with .venv/bin on the PATH:")
    print("  kernelsieve fit TABLE --target COLUMN -o model.ksv")
    print("  kernelsieve inspect model.ksv")
    print("  kernelsieve report model.ksv TABLE -o report.html")
    print("  kernelsieve compare TABLE --target COLUMN")


if __name__ == "__main__":
    main()
