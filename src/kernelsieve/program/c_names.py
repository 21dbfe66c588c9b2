"""Valid C names: no keywords, no names of the standard library or of the file itself."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..exceptions import InvalidParameterError

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
