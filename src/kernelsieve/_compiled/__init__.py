"""All that is compiled, behind one door: small products, exponentials and the like, double-double sums.

Other modules import from here alone. With NUMBA_DISABLE_JIT=1 the same loops run in the interpreter,
their innermost instructions replaced by numpy's: slow, and good for looking inside.
"""

from .absolute_differences import absolute_differences
from .blas import add_squares
from .double_double import WIDTH, DoubleDoubleRowProduct
from .double_double_loops import (
    add_by_class,
    add_combinations,
    add_products,
    means_and_rests,
    pivoted_factor,
    plus_arrays,
    products_of,
    shift_sums,
    shifted,
)
from .fast_exp import exp_inplace
from .jit_cache import compile_all
from .profiles import AS_IT_IS, EXPONENTIAL, MATERN, Profile, power_profile, profile_inplace
from .small_gemm import MOST_INPUTS, LineProduct, RowProduct
from .small_gemm_loops import GROUP


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


#: Sums of double-double products have a multiple of that many lines and columns.
TILE = max(GROUP, WIDTH)

__all__ = [
    "AS_IT_IS",
    "EXPONENTIAL",
    "MATERN",
    "MOST_INPUTS",
    "TILE",
    "DoubleDoubleRowProduct",
    "LineProduct",
    "Profile",
    "RowProduct",
    "absolute_differences",
    "add_by_class",
    "add_combinations",
    "add_products",
    "add_squares",
    "exp_inplace",
    "means_and_rests",
    "pivoted_factor",
    "plus_arrays",
    "power_profile",
    "products_of",
    "profile_inplace",
    "shift_sums",
    "shifted",
    "warm_up",
]
