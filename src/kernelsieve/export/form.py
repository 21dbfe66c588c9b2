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
from ..serving import Affine, Encoding, Parts, Response, feature_parts, folded, prediction_parts
from .links import Link, link_of

_KERNELS = (Cosine, Inputs, Laplacian, Linear, Matern, Polynomial, RBF, RationalQuadratic, Sigmoid)
_OUTPUTS = ("auto", "prediction", "features")
_COMPARED, _MOST_ROUNDING = 200, 2e-6  # landmarks, and what float32 may change, as a part of outputs


@dataclass(frozen=True)
class Exported:
    """What was written, and what it costs; returned by ``export_onnx`` and ``export_c``.

    Attributes
    ----------
    path : pathlib.Path
        The file.
    kernel_evaluations : int
        Kernel evaluations for a sample.
    n_bytes : int
        Size of the file.
    inputs : dict of list of str
        The inputs of the exported model, each with the names of its columns.
    """

    path: Path
    kernel_evaluations: int  # for a sample
    n_bytes: int  # of the file
    inputs: dict[str, list[str]]  # names of the columns of each input


@dataclass(frozen=True)
class ServedForm:
    """A model that is nothing but arrays and a kernel with a short formula."""

    encoding: Encoding | None
    before: Affine | None
    model: KernelModel  # with dense landmarks; its features are the scores
    response: Response
    link: Link | None
    gives_features: bool
    names: list[str]  # of the inputs

    @property
    def kernel(self) -> Kernel:
        return self.model.kernel

    @property
    def n_inputs(self) -> int:
        return len(self.names)

    @property
    def n_columns(self) -> int:
        """How many numbers come out of the encoding."""
        return self.n_inputs if self.encoding is None else len(self.encoding.columns)

    @property
    def texts(self) -> dict[int, list]:
        """The values of inputs that are categories by name."""
        return {} if self.encoding is None else self.encoding.texts

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
        if np.abs(rounded - exact).max() > _MOST_ROUNDING * np.abs(exact).max():
            return False
        return self.link is None or bool(
            np.abs(self.link(rounded.astype(np.float64)) - self.link(exact)).max() <= _MOST_ROUNDING
        )


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
    _check_categories(parts.encoding)
    in_one = folded(parts.model, parts.after)
    served = replace(in_one, landmarks=_dense(in_one.landmarks), as_fitted=None)
    return ServedForm(
        parts.encoding,
        parts.before,
        served,
        parts.response,
        link_of(parts.response.probabilities, in_one.n_components),
        gives_features,
        _names(model, parts, served),
    )


def _check_categories(encoding: Encoding | None) -> None:
    """Refuse categories that differ as values and not as they are written, as texts or a gap."""
    if encoding is None:
        return
    for number, values in encoding.texts.items():
        texts = list(map(str, values))
        twice = next((text for text in texts if texts.count(text) > 1), None)
        if twice is not None:
            raise InvalidParameterError(
                f"Input {number} has categories of several types that are all written {twice!r}; fit "
                "with texts alone, such as X[column].astype(str)."
            )
    for number in {column.input for _, column in encoding.indicators}:
        mine = [column for _, column in encoding.indicators if column.input == number]
        of_nan, of_none = [c.of_nan for c in mine], [c.of_none for c in mine]
        if any(of_nan) and any(of_none) and of_nan != of_none:
            raise InvalidParameterError(
                f"The model takes NaN and None in input {number} for different values, as imputers do; "
                "other programs have one missing value. Fit without None, such as with "
                "X[column].fillna(np.nan)."
            )


def _names(model: Any, parts: Parts, served: KernelModel) -> list[str]:
    """Return the names of the inputs, or x0, x1, ... where they have none."""
    if parts.encoding is not None:
        n_inputs = parts.encoding.n_inputs
    elif parts.before is not None:
        n_inputs = len(parts.before.matrix)
    else:
        of_inputs = isinstance(served.kernel, Inputs)
        n_inputs = len(served.landmarks) if of_inputs else served.landmarks.shape[1]
    given = getattr(getattr(model, "pipeline", model), "feature_names_in_", None)
    return [f"x{i}" for i in range(n_inputs)] if given is None else list(map(str, given))


def _dense(landmarks: Any) -> np.ndarray:
    return landmarks.toarray() if sparse.issparse(landmarks) else landmarks
