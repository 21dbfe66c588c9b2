"""Objects as JSON and arrays, and back without running what a file says."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ..exceptions import ModelFileError
from ..kernels import KERNELS, Kernel
from .archive import STORED_KINDS, UNREADABLE, dtype_named, read_archive, shortened, write_archive
from .fit_result import Fit
from .kernel_model import KernelModel
from .known_classes import KNOWN, class_of_name, name_of_class

_Object = TypeVar("_Object")
_PLAIN = (type(None), bool, int, str)
_MOST_RANDOM_STATES = 1000  # each takes a sixth of a millisecond to make
_TYPES = {kind.__name__: kind for kind in (bool, float, int, object, str)}


class Encoder:
    """Turns values into JSON; arrays are set aside under numbers.

    An object is written as its attributes, or as what its ``to_state`` returns, and its
    ``take_state`` takes back.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self._keys: dict[int, str] = {}  # by the identity of arrays, which are kept above
        self._within: list[int] = []  # identities of the objects that are being written

    def encode(self, value: Any, name: str) -> Any:
        """Return JSON for a value; ``name`` is how an error calls it."""
        if type(value) in _PLAIN:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            dtype = _checked_dtype(value.dtype, name)
            return {"scalar": self.encode(value.item(), name), "dtype": dtype.str}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if sparse.issparse(value):
            return self._sparse(value, name)
        return self._compound(value, name)

    def _compound(self, value: Any, name: str) -> Any:
        if id(value) in self._within:
            raise ModelFileError(f"{name} is a part of itself, which a file cannot hold.")
        self._within.append(id(value))
        encoded = self._collection(value, name)
        self._within.pop()
        return encoded

    def _collection(self, value: Any, name: str) -> Any:
        if type(value) in (list, tuple):
            return {type(value).__name__: [self.encode(v, f"{name}[{i}]") for i, v in enumerate(value)]}
        if type(value) is dict:
            pairs = value.items()
            return {
                "dict": [[self.encode(k, name), self.encode(v, f"{name}[{k!r}]")] for k, v in pairs]
            }
        if isinstance(value, slice):
            return {"slice": [self.encode(v, name) for v in (value.start, value.stop, value.step)]}
        if isinstance(value, np.dtype):
            return {"dtype": _checked_dtype(value, name).str}
        if isinstance(value, type):
            return self._type(value, name)
        if type(value) is np.random.RandomState:
            return {"random_state": [self.encode(v, name) for v in value.get_state()]}
        return self._object(value, name)

    def _array(self, array: np.ndarray, name: str) -> Any:
        if array.dtype.kind == "O":
            items = [self.encode(item, name) for item in array.ravel().tolist()]
            return {"objects": items, "shape": list(array.shape)}
        _checked_dtype(array.dtype, name)
        if id(array) not in self._keys:
            self._keys[id(array)] = key = str(len(self.arrays))
            self.arrays[key] = array
        return {"array": self._keys[id(array)]}

    def _sparse(self, matrix: Any, name: str) -> Any:
        csr = matrix.tocsr()
        parts = [self._array(part, name) for part in (csr.data, csr.indices, csr.indptr)]
        return {"csr": parts, "shape": list(csr.shape), "matrix": isinstance(csr, sparse.spmatrix)}

    def _type(self, kind: type, name: str) -> Any:
        if issubclass(kind, np.generic):
            return {"scalar_type": _checked_dtype(np.dtype(kind), name).str}
        if _TYPES.get(kind.__name__) is kind:
            return {"type": kind.__name__}
        raise ModelFileError(_no_place(kind, name))

    def _object(self, value: Any, name: str) -> Any:
        cls = type(value)
        place = {"kernel": cls.name} if _is_registered(value) else {"class": name_of_class(cls)}
        if None in place.values():
            raise ModelFileError(_no_place(value, name))
        state = {key: self.encode(v, f"{name}.{key}") for key, v in _state_of(value).items()}
        return place | {"state": state}


def _is_registered(value: Any) -> bool:
    return isinstance(value, Kernel) and KERNELS.get(type(value).name) is type(value)


def _state_of(value: Any) -> dict[str, Any]:
    if getattr(type(value), "to_state", None) is not None:
        return value.to_state()
    if _is_of_scikit_learn(type(value)) and isinstance(value, BaseEstimator):
        return value.__getstate__()  # with the version that its __setstate__ compares
    return vars(value)


def _is_of_scikit_learn(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "sklearn"


def _no_place(value: Any, name: str) -> str:
    called = getattr(value, "__qualname__", type(value).__qualname__)
    if callable(value) and not isinstance(value, BaseEstimator):
        return (
            f"{name} is {called}, code of yours, which a safe file cannot hold; use what kernelsieve "
            "has by name, or give a kernel a name (register_kernel) where it is saved and loaded."
        )
    searched = isinstance(value, BaseEstimator) and "best_estimator_" in vars(value)
    instead = "save its best_estimator_" if searched else "use one of these"
    return (
        f"{name} is {called}, which a safe file cannot hold. It holds {KNOWN}; {instead}, or save by "
        "joblib for readers who trust you."
    )


def _checked_dtype(dtype: np.dtype, name: str) -> np.dtype:
    if dtype.kind not in STORED_KINDS + "O":
        raise ModelFileError(f"{name} has the type {dtype}, which has no place in a file.")
    return dtype


class Decoder:
    """Turns JSON and arrays back into values. Only known classes are made, by their state."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays
        self._n_random_states = 0

    def decode(self, value: Any) -> Any:
        """Return the value that some JSON stands for."""
        if not isinstance(value, dict):
            return value
        match value:
            case {"array": key}:
                return self._arrays[key]
            case {"list": items}:
                return self._all(items)
            case {"tuple": items}:
                return tuple(self._all(items))
            case {"dict": pairs}:
                return {self.decode(k): self.decode(v) for k, v in pairs}
            case {"objects": items, "shape": shape}:
                return _object_array(self._all(items), shape)
            case {"csr": parts, "shape": shape, "matrix": as_matrix}:
                return _csr(self._all(parts), shape, as_matrix)
            case {"kernel": name, "state": state}:
                return self._made(_kernel_class(name), state)
            case {"class": name, "state": state}:
                return self._made(_known_class(name), state)
        return self._leaf(value)

    def _leaf(self, value: dict[str, Any]) -> Any:
        match value:
            case {"float": text}:
                return float(text)
            case {"scalar": inner, "dtype": name}:
                return dtype_named(name).type(self.decode(inner))
            case {"slice": parts}:
                return slice(*self._all(parts))
            case {"dtype": name}:
                return dtype_named(name)
            case {"scalar_type": name}:
                return dtype_named(name).type
            case {"type": name}:
                return _TYPES[name]
            case {"random_state": parts}:
                return self._random_state(self._all(parts))
        raise ModelFileError(f"it holds what this version does not know: {sorted(value)}.")

    def _random_state(self, parts: list[Any]) -> np.random.RandomState:
        self._n_random_states += 1
        if self._n_random_states > _MOST_RANDOM_STATES:
            raise ModelFileError(
                f"it holds more than {_MOST_RANDOM_STATES:,} random states; the file was not written "
                "by kernelsieve."
            )
        random_state = np.random.RandomState()
        random_state.set_state(tuple(parts))
        return random_state

    def _all(self, items: list[Any]) -> list[Any]:
        return [self.decode(item) for item in items]

    def _made(self, cls: type, state: dict[str, Any]) -> Any:
        decoded = {name: self.decode(value) for name, value in state.items()}
        made: Any = cls.__new__(cls)  # type: ignore[call-overload]
        _taking(made)(_with_defaults(cls, decoded))
        if isinstance(made, KernelModel):
            made.check_shapes(None)
        if isinstance(decoded.get("_fit"), Fit):
            decoded["_fit"].check_inputs(decoded.get("n_features_in_"))
        return made


def _taking(made: Any) -> Callable[[dict[str, Any]], None]:
    if _takes_state(type(made)):  # a frozen estimator would ask another, not there yet
        return made.take_state
    if _is_of_scikit_learn(type(made)) and isinstance(made, BaseEstimator):
        return made.__setstate__
    return vars(made).update


def _takes_state(cls: type) -> bool:
    return getattr(cls, "take_state", None) is not None


def _with_defaults(cls: type, state: dict[str, Any]) -> dict[str, Any]:
    """Return a state with what a file of an older version lacks; what a class has not, is refused."""
    if issubclass(cls, BaseEstimator) and not _is_of_scikit_learn(cls):
        declared = signature(cls).parameters
        later = sorted(set(declared) - set(state))
        return {name: declared[name].default for name in later} | state
    if not is_dataclass(cls) or _takes_state(cls):
        return state
    if hasattr(cls, "take_state"):  # which looks at it
        return state
    known = {field.name: field for field in fields(cls)}
    if not set(state) <= set(known):
        raise ModelFileError(
            f"it names {sorted(set(state) - set(known))} of a {cls.__name__}, unknown here."
        )
    missing = {name: field for name, field in known.items() if name not in state}
    return {name: _default(field) for name, field in missing.items()} | state


def _default(field: Field) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    if field.default is MISSING:
        raise ModelFileError(f"it lacks {field.name}.")
    return field.default


def _object_array(items: list[Any], shape: list[int]) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(shape)


def _csr(parts: list[np.ndarray], shape: list[int], as_matrix: bool) -> Any:
    kind = sparse.csr_matrix if as_matrix else sparse.csr_array
    made = kind(tuple(parts), shape=tuple(shape))
    made.check_format(full_check=True)
    return made


def _kernel_class(name: str) -> type:
    if name not in KERNELS:
        raise ModelFileError(
            f"kernel={name!r} is not known here; register it (register_kernel) before the file is read."
        )
    return KERNELS[name]


def _known_class(name: str) -> type:
    try:
        found = class_of_name(name)
    except ImportError:
        found = None
    if found is None:
        raise ModelFileError(f"it names the class {name}, which this version does not have.")
    return found


def save_object(path: str | os.PathLike[str], kind: str, version: int, value: Any) -> None:
    """Write an object to a file."""
    encoder = Encoder()
    content = encoder.encode(value, kind)
    write_archive(path, kind, version, content, encoder.arrays)


def load_object(path: str | os.PathLike[str], kind: str, version: int, cls: type[_Object]) -> _Object:
    """Read an object of a class from a file, or say why that is not possible."""
    content, arrays = read_archive(path, kind, version)
    try:
        value = Decoder(arrays).decode(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {shortened(error)}") from error
    except UNREADABLE as error:
        raise ModelFileError(
            f"{path} holds no {kind} that this version can read ({shortened(error)})."
        ) from error
    if not isinstance(value, cls):
        raise ModelFileError(f"{path} holds no {kind}.")
    return value
