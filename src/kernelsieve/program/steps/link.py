"""The last step: from scores to numbers, expected counts, labels or probabilities."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, softmax

from .step import ProgramStep

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph

BEND = 0.02  # scores within which they bend to the floor
_CLOSE = 1e-9


@dataclass(frozen=True)
class Link(ProgramStep):
    """Converts scores: to numbers, exponentials, or labels with probabilities if there are any.

    Parameters
    ----------
    n_scores : int
        Numbers that it takes for a sample.
    flat : bool
        Whether the only one of them is given without an axis.
    classes : ndarray, default=None
        Labels: by the sign of a single score, or the largest of several.
    probabilities : callable, default=None
        From scores to probabilities of the labels; a ``Probabilities`` can be exported.
    largest_log : float, default=None
        Scores are logarithms of means of counts; beyond this size they count as that.
    called : str, default="prediction"
        Name of the output in a graph, for numbers.
    """

    n_scores: int
    flat: bool = False
    classes: np.ndarray | None = None
    probabilities: Callable[[np.ndarray], np.ndarray] | None = None
    largest_log: float | None = None
    called: str = "prediction"

    @property
    def n_inputs(self) -> int:
        return self.n_scores

    @property
    def n_outputs(self) -> int:
        return 1 if self.flat or self.classes is not None else self.n_scores

    def run(self, X: np.ndarray) -> np.ndarray:
        if self.classes is not None:
            return self.classes[(X[:, 0] > 0).astype(np.intp) if X.shape[1] == 1 else X.argmax(axis=1)]
        if self.largest_log is not None:
            X = np.exp(np.clip(X, -self.largest_log, self.largest_log))
        return X[:, 0] if self.flat else X

    def decide(self, scores: np.ndarray) -> np.ndarray:
        """Return decision values: one for two classes, otherwise one for each class."""
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def exported_probabilities(self) -> Probabilities | None:
        """The probability function for exports; None if there is none or it cannot be exported."""
        return known_probabilities(self.probabilities, self.n_scores)

    def to_onnx(self, graph: Graph, value: str) -> str:
        q = self.n_scores
        if self.classes is None:
            if self.largest_log is not None:
                ends = graph.number(-self.largest_log), graph.number(self.largest_log)
                value = graph.add("Exp", graph.add("Clip", value, *ends))
            if self.flat:
                value = graph.add("Squeeze", value, graph.integers([1]))
            graph.output(self.called, value, None if self.flat else q)
            return value
        graph.label_output("label", _class_numbers(graph, value, q), self.classes)
        graph.output("scores", _decisions(graph, value, q), q if q > 2 else None)
        if (probabilities := self.exported_probabilities) is not None:
            graph.output("probabilities", probabilities.to_onnx(graph, value, q), max(q, 2))
        return value

    def to_c(self, file: CFile, source: str) -> str:
        q = self.n_scores
        value = f"{source}[c]"
        if self.largest_log is not None:
            size = float(self.largest_log).hex()
            value = f"exp(fmin(fmax({value}, -{size}), {size}))"
        file.add(f"for (int c = 0; c < {q}; c++) out[c] = {value};")
        if self.classes is not None:
            largest = f"for (int c = 1; c < {q}; c++) if (s[c] > s[best]) best = c;"
            file.decisions.append(_CLASS.format(q=q, body="best = s[0] > 0.0;" if q == 1 else largest))
            if (probabilities := self.exported_probabilities) is not None:
                file.decisions.append(_PROBABILITIES.format(q=q, body=probabilities.to_c(q)))
        return "out"


def _class_numbers(graph: Graph, scores: str, n_scores: int) -> str:
    if n_scores > 1:
        return graph.add("ArgMax", scores, axis=1, keepdims=0)
    positive = graph.add("Greater", scores, graph.constant(np.zeros(1)))
    return graph.add("Squeeze", graph.cast(positive, np.int64), graph.integers([1]))


def _decisions(graph: Graph, scores: str, n_scores: int) -> str:
    if n_scores == 1:
        return graph.add("Squeeze", scores, graph.integers([1]))
    if n_scores > 2:
        return scores
    difference = graph.add("MatMul", scores, graph.constant(np.array([[-1.0], [1.0]])))
    return graph.add("Squeeze", difference, graph.integers([1]))


_CLASS = """/* The number of the label of the sample x in NAME_labels. */
int NAME_class(const double *x) {{
    double s[{q}];
    int best = 0;
    NAME(x, s);
    {body}
    return best;
}}
"""

_PROBABILITIES = """/* Probabilities of the labels. */
void NAME_probabilities(const double *x, double *out) {{
    double s[{q}];
    NAME(x, s);
{body}}}
"""


# ---------------------------------------------------------------------- probabilities


class Probabilities(ABC):
    """A function from scores to probabilities that can be exported."""

    @abstractmethod
    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Return probabilities of shape (n_samples, n_classes)."""

    @abstractmethod
    def to_onnx(self, graph: Graph, scores: str, n_scores: int) -> str:
        """Return the name of the probabilities in a graph."""

    @abstractmethod
    def to_c(self, n_scores: int) -> str:
        """Return the statements that write ``out`` from the scores ``s``."""


@dataclass(frozen=True)
class Logistic(Probabilities):
    """Normalised logistic functions of the scores, each of one class against the rest."""

    slope: float = 1.0

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        p = expit(self.slope * scores)
        return np.hstack([1 - p, p]) if p.shape[1] == 1 else p / p.sum(axis=1, keepdims=True)

    def to_onnx(self, graph: Graph, scores: str, n_scores: int) -> str:
        scaled = graph.add("Mul", scores, graph.number(self.slope))
        if n_scores == 1:
            return _sigmoid_of_both(graph, scaled)
        p = graph.add("Sigmoid", scaled)
        return graph.add("Div", p, graph.add("ReduceSum", p, graph.integers([1]), keepdims=1))

    def to_c(self, n_scores: int) -> str:
        if n_scores == 1:
            return _logistic_of_one(self.slope)
        return _normalised(n_scores, f"1.0 / (1.0 + exp(-{self.slope.hex()} * s[c]))")


@dataclass(frozen=True)
class Softmax(Probabilities):
    """A softmax of the scores; for two classes, one score with both signs."""

    slope: float = 1.0

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        both = np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores
        return np.asarray(softmax(self.slope * both, axis=1))

    def to_onnx(self, graph: Graph, scores: str, n_scores: int) -> str:
        if n_scores == 1:
            return _sigmoid_of_both(graph, graph.add("Mul", scores, graph.number(2 * self.slope)))
        scaled = graph.add("Mul", scores, graph.number(self.slope))
        return graph.add("Softmax", scaled, axis=1)

    def to_c(self, n_scores: int) -> str:
        if n_scores == 1:
            return _logistic_of_one(2 * self.slope)
        return _LARGEST.format(q=n_scores) + _normalised(
            n_scores, f"exp({self.slope.hex()} * (s[c] - top))"
        )


@dataclass(frozen=True)
class Calibration(Probabilities):
    """Probabilities of classes from scores by least squares.

    Least squares estimates probabilities themselves, but scores may be negative, and too bold or too
    timid. So those below a floor are bent to it, all are raised to a power, and divided by their sum.
    The order of scores stays.
    """

    power: float
    floor: float

    def logits(self, scores: np.ndarray) -> np.ndarray:
        """Return unnormalised log probabilities."""
        positive = BEND * np.logaddexp(0.0, scores / BEND)
        return self.power * np.log(self.floor + positive)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(softmax(self.logits(scores), axis=1))

    def to_onnx(self, graph: Graph, scores: str, n_scores: int) -> str:
        z = graph.add("Div", scores, graph.number(BEND))  # without large powers
        decay = graph.add("Exp", graph.add("Neg", graph.add("Abs", z)))
        small = graph.add("Log", graph.add("Add", decay, graph.number(1.0)))
        above = graph.add("Max", z, graph.number(0.0))
        bent = graph.add("Mul", graph.add("Add", above, small), graph.number(BEND))
        logarithms = graph.add("Log", graph.add("Add", bent, graph.number(self.floor)))
        return Softmax(self.power).to_onnx(graph, logarithms, n_scores)

    def to_c(self, n_scores: int) -> str:
        return (
            f"    for (int c = 0; c < {n_scores}; c++) {{\n"
            f"        const double z = s[c] / {BEND.hex()};\n"
            "        const double above = fmax(z, 0.0) + log1p(exp(-fabs(z)));\n"
            f"        s[c] = log({float(self.floor).hex()} + {BEND.hex()} * above);\n"
            "    }\n"
        ) + Softmax(self.power).to_c(n_scores)


def _sigmoid_of_both(graph: Graph, scores: str) -> str:
    """Return the probabilities of two classes, both computed without cancellation."""
    return graph.add("Sigmoid", graph.add("MatMul", scores, graph.constant(np.array([[-1.0, 1.0]]))))


def _logistic_of_one(slope: float) -> str:
    return (
        f"    out[0] = 1.0 / (1.0 + exp({slope.hex()} * s[0]));\n"
        f"    out[1] = 1.0 / (1.0 + exp(-{slope.hex()} * s[0]));\n"
    )


_LARGEST = """    double top = s[0];
    for (int c = 1; c < {q}; c++) if (s[c] > top) top = s[c];
"""


def _normalised(n_scores: int, each: str) -> str:
    return (
        "    double total = 0.0;\n"
        f"    for (int c = 0; c < {n_scores}; c++) total += out[c] = {each};\n"
        f"    for (int c = 0; c < {n_scores}; c++) out[c] /= total;\n"
    )


def known_probabilities(function: Any, n_scores: int) -> Probabilities | None:
    """Return a function as exportable probabilities; None if it is not a known one."""
    if function is None or isinstance(function, Probabilities):
        return function
    scores = np.random.default_rng(0).uniform(-1, 1, (16, n_scores))
    expected = function(scores)
    odds = np.log(expected[0, 1] / expected[0, 0])
    step = scores[0, 0] if n_scores == 1 else scores[0, 1] - scores[0, 0]
    slope = float(odds / step)
    tried = [Logistic(slope) if n_scores == 1 else Softmax(slope), Logistic(1.0), Logistic(2.0)]
    return next((link for link in tried if outputs_agree(link(scores), expected, _CLOSE)), None)


def outputs_agree(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Return True if two outputs agree within a relative and absolute tolerance."""
    return found.shape == np.shape(expected) and bool(
        np.allclose(found, expected, tolerance, tolerance)
    )
