"""All compiled loops, behind one door: small matrix products, exponentials and the like.

Other modules import from here alone. With NUMBA_DISABLE_JIT=1 the same loops run in the interpreter,
their innermost instructions replaced by numpy's: slow, and good for looking inside.
"""

from .absolute_differences import absolute_differences
from .blas import add_rows, add_squares
from .double_double import DoubleDoubleRowProduct
from .fast_exp import exp_inplace
from .jit_cache import compile_all
from .profiles import AS_IT_IS, EXPONENTIAL, MATERN, Profile, power_profile, profile_inplace
from .small_gemm import MOST_INPUTS, LineProduct, RowProduct


def warm_up() -> None:
    """Compile all loops now instead of at their first use, and keep them in files.

    Loops are compiled for this processor when a call needs them: one or two seconds at the first fit,
    once for a machine and a version of the package. Call this when an image is built, or before
    anything is timed or forked. Files are kept beside the package where that can be written, otherwise
    in the user's cache, or where the environment variable ``NUMBA_CACHE_DIR`` says. The logger
    "kernelsieve" says at level INFO what is compiled.

    Examples
    --------
    >>> import kernelsieve
    >>> kernelsieve.warm_up()
    """
    compile_all()


__all__ = [
    "AS_IT_IS",
    "EXPONENTIAL",
    "MATERN",
    "MOST_INPUTS",
    "DoubleDoubleRowProduct",
    "LineProduct",
    "Profile",
    "RowProduct",
    "absolute_differences",
    "add_rows",
    "add_squares",
    "exp_inplace",
    "power_profile",
    "profile_inplace",
    "warm_up",
]
