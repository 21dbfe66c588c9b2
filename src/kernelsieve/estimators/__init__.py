"""What estimators share: reading parameters and data, abilities, documentation."""

from .documentation import documented
from .inputs import check_precomputed_columns
from .inverse_transform import Rebuilding
from .kernel_extractor import KernelExtractor
from .loop_transformer import DEFAULT_COMPONENTS, LoopTransformer, all_or_nothing
from .nested import NestedTransformer
from .prediction import Predicting

__all__ = [
    "DEFAULT_COMPONENTS",
    "KernelExtractor",
    "LoopTransformer",
    "NestedTransformer",
    "Predicting",
    "Rebuilding",
    "all_or_nothing",
    "check_precomputed_columns",
    "documented",
]
