"""What an exported model computes: ``kernel(before(x), landmarks) @ coefficients + intercept``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ..exceptions import InvalidParameterError
from ..kernels import (
    RBF,
    Cosine,
    Inputs,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from ..model import KernelModel, Projector
from ..serving import (
    Affine,
    Response,
    feature_parts,
    folded,
    jointly,
    one_by_one,
    prediction_parts,
)

_KERNELS = (Cosine, Inputs, Laplacian, Linear, Matern, Polynomial, RBF, RationalQuadratic, Sigmoid)
_OUTPUTS = ("auto", "prediction", "features")
_COMPARED, _MOST_ROUNDING = 200, 2e-6  # landmarks, and what float32 may change, as a part of outputs
_CLOSE = 1e-9


@dataclass(frozen=True)
class Exported:
    """What was written, and what it costs."""

    path: Path
    kernel_evaluations: int  # for a sample
    n_bytes: int  # of the file


@dataclass(frozen=True)
class Link:
    """How scores become probabilities: by a logistic function of each, or by their softmax."""

    name: str  # "logistic" or "softmax"
    slope: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return (one_by_one if self.name == "logistic" else jointly)(self.slope * scores)


@dataclass(frozen=True)
class ServedForm:
    """A model that is nothing but arrays and a kernel with a short formula."""

    before: Affine | None
    model: KernelModel  # with dense landmarks; its features are the scores
    response: Response
    link: Link | None
    gives_features: bool

    @property
    def kernel(self) -> Kernel:
        return self.model.kernel

    @property
    def n_inputs(self) -> int:
        if self.before is not None:
            return len(self.before.matrix)
        inputs = isinstance(self.kernel, Inputs)
        return len(self.landmarks) if inputs else int(self.landmarks.shape[1])

    @property
    def landmarks(self) -> np.ndarray:
        return np.asarray(self.model.landmarks, dtype=np.float64)

    @property
    def coefficients(self) -> np.ndarray:
        return np.asarray(self.model.projection, dtype=np.float64)

    @property
    def intercept(self) -> np.ndarray:
        return -np.asarray(self.model.offset, dtype=np.float64)

    @property
    def kernel_evaluations(self) -> int:
        return 0 if isinstance(self.kernel, Inputs) else len(self.coefficients)

    def float32_suffices(self) -> bool:
        """Tell if sums in float32 keep five digits, by outputs for landmarks."""
        if isinstance(self.kernel, Inputs):
            return True
        rows = self.landmarks[:_COMPARED]
        exact = Projector(replace(self.model, dtype=np.float64))(rows)
        rounded = Projector(replace(self.model, dtype=np.float32))(rows)
        return bool(np.abs(rounded - exact).max() <= _MOST_ROUNDING * np.abs(exact).max())


def served_form(model: Any, output: str) -> ServedForm:
    """Read a fitted model as arrays and a formula, or say why that is not possible."""
    if output not in _OUTPUTS:
        raise InvalidParameterError(
            f"output={output!r} must be one of {', '.join(map(repr, _OUTPUTS))}."
        )
    gives_features = output == "features" or (output == "auto" and not hasattr(model, "predict"))
    parts = feature_parts(model) if gives_features else prediction_parts(model)
    if type(parts.model.kernel) not in _KERNELS:  # one that is derived may compute what it likes
        raise InvalidParameterError(
            f"The kernel {parts.model.kernel!r} has no formula that can be exported; these have: "
            f"{', '.join(sorted(kind.name for kind in _KERNELS if kind is not Inputs))}. Fit with one "
            "of them, or serve the model by predictor()."
        )
    in_one = folded(parts.model, parts.after)
    landmarks = in_one.landmarks
    return ServedForm(
        parts.before,
        replace(in_one, landmarks=_dense(landmarks), as_fitted=None),
        parts.response,
        _link_of(parts.response, in_one.n_components),
        gives_features,
    )


def _dense(landmarks: Any) -> np.ndarray:
    return landmarks.toarray() if sparse.issparse(landmarks) else landmarks


def _link_of(response: Response, n_scores: int) -> Link | None:
    """Return which function makes probabilities of scores; None where it is none that is known."""
    if response.probabilities is None:
        return None
    scores = np.random.default_rng(0).uniform(-1, 1, (16, n_scores))
    expected = response.probabilities(scores)
    odds = np.log(expected[0, 1] / expected[0, 0])
    step = scores[0, 0] if n_scores == 1 else scores[0, 1] - scores[0, 0]
    name = "logistic" if n_scores == 1 else "softmax"
    tried = [Link(name, float(odds / step)), Link("logistic", 1.0), Link("logistic", 2.0)]
    return next((link for link in tried if _agree(link(scores), expected)), None)


def _agree(found: np.ndarray, expected: np.ndarray) -> bool:
    return found.shape == expected.shape and bool(np.allclose(found, expected, _CLOSE, _CLOSE))
