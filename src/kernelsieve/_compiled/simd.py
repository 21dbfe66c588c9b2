"""Vector registers in compiled loops, by LLVM instructions.

The compiler halves the registers that this machine has where it vectorises by itself, and keeps no
more than one number of an array at hand. The loops that everything else waits for therefore say which
registers they use.
"""

# numba says little about its own types.
# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config
from numba.core import cgutils


def _has_avx512() -> bool:
    """Tell what numba compiles for: NUMBA_CPU_FEATURES and NUMBA_ENABLE_AVX go before the machine."""
    if config.CPU_FEATURES is not None:
        return "+avx512f" in config.CPU_FEATURES
    return bool(config.ENABLE_AVX and binding.get_host_cpu_features().get("avx512f"))


HAS_AVX512 = _has_avx512()
_BYTES = 64 if HAS_AVX512 else 32

#: Lets the compiler join a product and a sum, which is then rounded once.
JOIN = ("contract",)


def lanes(dtype: Any) -> int:
    """Return the number of values of a type in a register."""
    return _BYTES // np.dtype(dtype).itemsize


class Registers:
    """Emits instructions on registers of ``count`` numbers of a numba type."""

    def __init__(self, context: Any, builder: Any, number: Any, count: int | None = None) -> None:
        self.builder = builder
        self.count = count or lanes(str(number))
        self._context = context
        self._number = number
        self._align = number.bitwidth // 8
        self._scalar = context.get_value_type(number)
        self.type = ir.VectorType(self._scalar, self.count)
        self.bits = ir.VectorType(ir.IntType(number.bitwidth), self.count)

    def constant(self, value: float) -> Any:
        """Return a register filled with a constant."""
        return ir.Constant(self.type, [float(value)] * self.count)

    def constant_bits(self, value: int) -> Any:
        """Return an integer register filled with a constant."""
        return ir.Constant(self.bits, [int(value)] * self.count)

    def broadcast(self, scalar: Any) -> Any:
        """Return a register filled with a number known at run time."""
        undefined = ir.Constant(self.type, ir.Undefined)
        alone = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        return self._shuffled(alone, undefined, [0] * self.count)

    def address(self, array_type: Any, array: Any, position: Any) -> Any:
        """Return the address of an element of a contiguous array."""
        data = self._context.make_array(array_type)(self._context, self.builder, array).data
        return self.after(data, position)

    def after(self, address: Any, count: Any) -> Any:
        """Return an address advanced by a number of elements."""
        return self.builder.gep(address, [count], source_etype=self._scalar)

    def load(self, address: Any) -> Any:
        """Load a register from an address of any alignment."""
        return self.builder.load(self._place(address), align=self._align, typ=self.type)

    def load_broadcast(self, address: Any) -> Any:
        """Return a register filled with the number at an address."""
        return self.broadcast(self.builder.load(address, typ=self._scalar))

    def store(self, register: Any, address: Any) -> None:
        """Store a register at an address of any alignment."""
        self.builder.store(register, self._place(address), align=self._align)

    def _place(self, address: Any) -> Any:
        """Return an address for registers, which is the same where LLVM's pointers have no types."""
        return self.builder.bitcast(address, self.type.as_pointer())

    def variable(self, register: Any) -> Any:
        """Allocate a register that changes in a loop, with its initial value."""
        return cgutils.alloca_once_value(self.builder, register)

    def value(self, variable: Any) -> Any:
        """Return the value of such a variable."""
        return self.builder.load(variable, typ=self.type)

    def plus_product(self, total: Any, left: Any, right: Any) -> Any:
        """Return ``total + left * right``."""
        product = self.builder.fmul(left, right, flags=JOIN)
        return self.builder.fadd(total, product, flags=JOIN)

    def minus_product(self, total: Any, left: Any, right: Any) -> Any:
        """Return ``total - left * right``."""
        product = self.builder.fmul(left, right, flags=JOIN)
        return self.builder.fsub(total, product, flags=JOIN)

    def fused_multiply_add(self, left: Any, right: Any, total: Any) -> Any:
        """Return ``left * right + total`` with a single rounding on every machine."""
        name = f"llvm.fma.v{self.count}f{self._number.bitwidth}"
        joined = self.builder.module.declare_intrinsic(
            name, fnty=ir.FunctionType(self.type, [self.type] * 3)
        )
        return self.builder.call(joined, [left, right, total])

    def sqrt(self, register: Any) -> Any:
        """Return square roots, correctly rounded."""
        name = f"llvm.sqrt.v{self.count}f{self._number.bitwidth}"
        root = self.builder.module.declare_intrinsic(name, fnty=ir.FunctionType(self.type, [self.type]))
        return self.builder.call(root, [register])

    def two_sum(self, left: Any, right: Any) -> tuple[Any, Any]:
        """Return ``left + right`` and its rounding error."""
        add, subtract = self.builder.fadd, self.builder.fsub
        total = add(left, right)
        back = subtract(total, left)
        of_left, of_right = subtract(left, subtract(total, back)), subtract(right, back)
        return total, add(of_left, of_right)

    def times_power_of_two(self, factor: Any, exponent: Any) -> Any:
        """Return ``factor * 2**exponent``, rounded once; for AVX-512 only."""
        letter = "s" if self._number.bitwidth == 32 else "d"
        mask, rounding = ir.IntType(self.count), ir.IntType(32)
        scale = self.builder.module.declare_intrinsic(
            f"llvm.x86.avx512.mask.scalef.p{letter}.512",
            fnty=ir.FunctionType(self.type, [self.type] * 3 + [mask, rounding]),
        )
        everywhere, as_usual = ir.Constant(mask, -1), ir.Constant(rounding, 4)
        return self.builder.call(scale, [factor, exponent, self.constant(0), everywhere, as_usual])

    def transposed(self, rows: list[Any]) -> list[Any]:
        """Transpose a square of registers: number j of register i becomes number i of register j."""
        rows, size = list(rows), self.count
        # Blocks off the diagonal change places, of one number, of two, of four, and so on.
        for step in (2**k for k in range(size.bit_length() - 1)):
            first = [i if not i & step else size + i - step for i in range(size)]
            second = [size + i if i & step else i + step for i in range(size)]
            for i in range(size):
                if not i & step:
                    pair = rows[i], rows[i + step]
                    rows[i], rows[i + step] = (self._shuffled(*pair, p) for p in (first, second))
        return rows

    def _shuffled(self, left: Any, right: Any, places: list[int]) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), self.count), places)
        return self.builder.shuffle_vector(left, right, mask)
