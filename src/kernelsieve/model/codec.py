"""Objects of this package as JSON and arrays, and back without running what a file says."""

from __future__ import annotations

import importlib
import math
import os
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from ..exceptions import ModelFileError
from ..kernels import KERNELS, Kernel
from .archive import read_archive, write_archive

_Object = TypeVar("_Object")
_PLAIN = (type(None), bool, int, str)
_PACKAGE = __package__.partition(".")[0]


class Encoder:
    """Turns values into JSON; arrays are set aside under numbers.

    An object is written as its attributes, or as what its ``to_state`` returns, and its
    ``take_state`` takes back.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, name: str) -> Any:
        """Return JSON for a value; ``name`` is how an error calls it."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value, name)
        if sparse.issparse(value):
            parts = (value.data, value.indices, value.indptr)
            return {"csr": [self._array(p, name) for p in parts], "shape": list(value.shape)}
        if isinstance(value, (list, tuple)):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.encode(item, f"{name}[{i}]") for i, item in enumerate(value)]}
        if isinstance(value, dict):
            pairs = value.items()
            return {
                "dict": [[self.encode(k, name), self.encode(v, f"{name}[{k!r}]")] for k, v in pairs]
            }
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"dtype": np.dtype(value).name}
        return self._object(value, name)

    def _array(self, array: np.ndarray, name: str) -> Any:
        if array.dtype.kind == "O":
            return {"objects": self.encode(array.tolist(), name)}
        if array.dtype.kind not in "biufU":
            raise ModelFileError(f"{name} has the type {array.dtype}, which has no place in a file.")
        key = str(len(self.arrays))
        self.arrays[key] = array
        return {"array": key}

    def _object(self, value: Any, name: str) -> Any:
        cls = type(value)
        known = isinstance(value, Kernel) and KERNELS.get(cls.name) is cls
        ours = cls.__module__.partition(".")[0] == _PACKAGE and hasattr(value, "__dict__")
        if not (known or ours):
            called = getattr(value, "__qualname__", cls.__qualname__)
            raise ModelFileError(
                f"{name} is {called}, code of yours, which a safe file cannot hold; use what this "
                "package has by name, or give a kernel a name (register_kernel) where it is loaded."
            )
        place = {"kernel": cls.name} if known else {"class": [cls.__module__, cls.__qualname__]}
        state = value.to_state() if hasattr(value, "to_state") else vars(value)
        state = {key: self.encode(v, f"{name}.{key}") for key, v in state.items()}
        return place | {"state": state}


class Decoder:
    """Turns JSON and arrays back into values. Only classes of this package are made, by their state."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def decode(self, value: Any) -> Any:
        """Return the value that some JSON stands for."""
        if not isinstance(value, dict):
            return value
        match value:
            case {"float": text}:
                return float(text)
            case {"array": key}:
                return self._arrays[key]
            case {"objects": items}:
                return np.array(self.decode(items), dtype=object)
            case {"csr": parts, "shape": shape}:
                return sparse.csr_matrix(tuple(map(self.decode, parts)), shape=tuple(shape))
            case {"list": items}:
                return [self.decode(item) for item in items]
            case {"tuple": items}:
                return tuple(self.decode(item) for item in items)
            case {"dict": pairs}:
                return {self.decode(k): self.decode(v) for k, v in pairs}
            case {"dtype": name}:
                return np.dtype(name).type
            case {"kernel": name, "state": state}:
                if name not in KERNELS:
                    raise ModelFileError(
                        f"kernel={name!r} is not known here; register it (register_kernel) before "
                        "the file is read."
                    )
                return self._made(KERNELS[name], state)
            case {"class": [module, qualname], "state": state}:
                return self._made(_class_of(module, qualname), state)
        raise ModelFileError(f"the file holds what this version does not know: {sorted(value)}.")

    def _made(self, cls: type, state: dict[str, Any]) -> Any:
        made: Any = object.__new__(cls)
        decoded = {name: self.decode(value) for name, value in state.items()}
        take_state = getattr(made, "take_state", vars(made).update)
        take_state(decoded)
        return made


def _class_of(module: str, qualname: str) -> type:
    """Return a class of this package; nothing else can be named by a file."""
    if module.partition(".")[0] == _PACKAGE:
        try:
            found = getattr(importlib.import_module(module), qualname, None)
        except ImportError:
            found = None
        if isinstance(found, type) and found.__module__ == module:
            return found
    raise ModelFileError(f"the file names {module}.{qualname}, which this version does not have.")


def save_object(path: str | os.PathLike[str], kind: str, version: int, value: Any) -> None:
    """Write an object of this package to a file."""
    encoder = Encoder()
    content = encoder.encode(value, kind)
    write_archive(path, kind, version, content, encoder.arrays)


def load_object(path: str | os.PathLike[str], kind: str, version: int, cls: type[_Object]) -> _Object:
    """Read an object of a class from a file, or say why that is not possible."""
    content, arrays = read_archive(path, kind, version)
    try:
        value = Decoder(arrays).decode(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path}: {error}") from error
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"{path} holds no {kind} that this version can read ({error}).") from error
    if not isinstance(value, cls):
        raise ModelFileError(f"{path} holds no {kind}.")
    return value
