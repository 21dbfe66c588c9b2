"""An ONNX graph, assembled operator by operator."""

from __future__ import annotations

from typing import Any

import numpy as np


class Graph:
    """Collects operators; inner values have one float type, inputs and outputs another."""

    def __init__(self, onnx: Any, dtype: type, outer: type) -> None:
        self.dtype = dtype
        self.outer = outer
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator, and return the name of its result."""
        name = f"v{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def constant(self, values: np.ndarray) -> str:
        """Add an array in the float type of the graph, and return its name."""
        return self._constant(np.asarray(values, dtype=self.dtype))

    def number(self, value: float) -> str:
        """Add a single number in the float type of the graph, and return its name."""
        return self.constant(np.array(value))

    def integers(self, values: list[int]) -> str:
        """Add an array of integers, such as axes, and return its name."""
        return self._constant(np.array(values, dtype=np.int64))

    def _constant(self, values: np.ndarray) -> str:
        name = f"c{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def typed(self, values: Any, dtype: type) -> str:
        """Add an array of the given type, and return its name."""
        return self._constant(np.asarray(values, dtype=dtype))

    def input(self, name: str, dtype: type, n_columns: int) -> str:
        """Declare an input of the graph, with a number of columns."""
        shape = ["samples", n_columns]
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, self._type(dtype), shape))
        return name

    def cast(self, value: str, dtype: type) -> str:
        """Change the type of a value."""
        return self.add("Cast", value, to=self._type(dtype))

    def inner(self, value: str) -> str:
        """Cast an input to the float type of the graph."""
        return value if self.outer is self.dtype else self.cast(value, self.dtype)

    def _type(self, dtype: Any) -> int:
        if np.dtype(dtype).kind in "UO":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def output(self, name: str, value: str, n_columns: int | None) -> None:
        """Declare an output of the graph: one number, or several, for each sample."""
        cast = value if self.outer is self.dtype else self.cast(value, self.outer)
        self._nodes.append(self._onnx.helper.make_node("Identity", [cast], [name]))
        self._declare(name, self.outer, ["samples"] if n_columns is None else ["samples", n_columns])

    def label_output(self, name: str, numbers: str, labels: np.ndarray) -> None:
        """Declare an output of labels, integers or text, given class numbers."""
        whole = labels.dtype.kind in "biu"
        kept = labels.astype(np.int64) if whole else labels.astype(str).astype(object)
        self._nodes.append(
            self._onnx.helper.make_node("Gather", [self._constant(kept), numbers], [name])
        )
        self._declare(name, np.int64 if whole else np.str_, ["samples"])

    def _declare(self, name: str, dtype: type, shape: list) -> None:
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, self._type(dtype), shape))

    def serialised(self, opset: int, ir_version: int, about: dict[str, str]) -> bytes:
        """Return the graph as bytes, checked by onnx, with metadata."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "kernelsieve", self._inputs, self._outputs, self._constants
        )
        opsets = [helper.make_opsetid("", opset)]
        if any(node.domain for node in self._nodes):
            opsets.append(helper.make_opsetid("ai.onnx.ml", 2))
        model = helper.make_model(
            graph, producer_name="kernelsieve", opset_imports=opsets, ir_version=ir_version
        )
        n_bytes = sum(len(constant.raw_data) for constant in self._constants)
        helper.set_model_props(model, {**about, "bytes_of_arrays": str(n_bytes)})
        self._onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
