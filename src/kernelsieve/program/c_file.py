"""A C99 file, assembled step by step."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from ..exceptions import InvalidParameterError

_PER_LINE = 4
# Names that a function may not have: keywords, and names of the standard library.
_KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if
inline int long main register restrict return short signed sizeof static struct switch typedef union
unsigned void volatile while alignas alignof asm bool constexpr false fortran i386 linux nullptr
static_assert thread_local true typeof typeof_unqual unix"""  # of later C and of compilers, too
# Of math.h, each with a twin for float and one for long double.
_FUNCTIONS = """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh drem erf erfc exp
exp10 exp2 expm1 fabs fdim finite floor fma fmax fmin fmod frexp gamma hypot ilogb isinf isnan j0 j1 jn
ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
nexttoward pow remainder remquo rint round scalb scalbln scalbn significand sin sincos sinh sqrt tan
tanh tgamma trunc y0 y1 yn"""
_MACROS = """HUGE HUGE_VAL HUGE_VALF HUGE_VALL NAN NULL INFINITY double_t float_t fpclassify isfinite
isgreater isgreaterequal isless islessequal
islessgreater isnormal isunordered signbit signgam"""
_TAKEN = {
    *_KEYWORDS.split(),
    *(name + suffix for name in _FUNCTIONS.split() for suffix in ("", "f", "l")),
    *_MACROS.split(),
}
_OF_HEADERS = re.compile(r"(str|mem)[a-z]\w*|(FP|M|MATH)_\w*")  # all are reserved for them
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")


class CFile:
    """Collects arrays, functions and the statements of the main function; NAME stands for its name."""

    def __init__(self) -> None:
        self.functions: list[str] = []
        self.statements: list[str] = []
        self.decisions: list[str] = []  # functions that call the main one
        self.arrays: dict[str, np.ndarray] = {}
        self.texts: dict[str, list[str]] = {}
        self._n_variables = 0

    def array(self, name: str, values: np.ndarray) -> str:
        """Add an array, and return its name; repeated names get a number."""
        taken, number = name, 1
        while taken in self.arrays:
            number += 1
            taken = f"{name}{number}"
        values = np.asarray(values)
        self.arrays[taken] = values if values.dtype.kind == "i" else values.astype(np.float64)
        return f"NAME_{taken}"

    def variable(self, size: int) -> str:
        """Declare an array in the main function, and return its name."""
        self._n_variables += 1
        name = f"u{self._n_variables}"
        self.add(f"double {name}[{size}];")
        return name

    def add(self, *lines: str) -> None:
        """Add statements to the main function."""
        self.statements += [f"    {line}" for line in lines]

    @property
    def n_bytes(self) -> int:
        return sum(values.nbytes for values in self.arrays.values())

    @property
    def code(self) -> list[str]:
        """The text of the file without the arrays."""
        return [*self.functions, *self.statements, *self.decisions]


def array_text(name: str, values: np.ndarray) -> str:
    """Return a C array with all digits, as C99's hexadecimal floats."""
    kind = {"f": "double", "i": "int"}[values.dtype.kind]
    sizes = "".join(f"[{size}]" for size in values.shape)
    rows = [_line(row) for row in (values if values.ndim == 2 else values[None])]
    body = ",\n".join(f"{{{row}}}" for row in rows) if values.ndim == 2 else rows[0]
    return f"static const {kind} {name}{sizes} = {{\n{body}}};\n"


def texts_text(name: str, texts: list[str]) -> str:
    """Return a C array of strings."""
    return f"const char *const {name}[{len(texts)}] = {{{', '.join(map(_string, texts))}}};\n"


def _line(values: np.ndarray) -> str:
    texts = list(map(_number, values.tolist()))
    return ",\n ".join(", ".join(texts[i : i + _PER_LINE]) for i in range(0, len(texts), _PER_LINE))


def _number(value: float | int) -> str:
    if isinstance(value, int):
        return str(value)
    return "NAN" if np.isnan(value) else value.hex()


def _string(value: str) -> str:
    """Return a C string literal; bytes beyond ASCII become octal escapes of three digits."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in value.encode()
    )
    return f'"{plain}"'


def check_name(name: str, code: Iterable[str]) -> None:
    """Raise an error if a name is not valid in C, or already taken in the file or its headers."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise InvalidParameterError(f"name={name!r} must be a name of C, such as 'model'.")
    used = {word for part in code for word in _WORD.findall(_COMMENT.sub("", part))} - {"NAME"}
    if name in _TAKEN | used or _OF_HEADERS.fullmatch(name):
        raise InvalidParameterError(
            f"name={name!r} is reserved in C or used in the file; pass another name, such as "
            f"'{name}_model'."
        )
