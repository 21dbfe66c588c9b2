"""Texts that the docstrings of all estimators share."""

from __future__ import annotations

import inspect
from textwrap import indent
from typing import TypeVar

from ..kernels import KERNELS, PRESETS

_Class = TypeVar("_Class", bound=type)

#: Name, type and text of the parameters that several estimators have; defaults come from signatures.
PARAMETERS: dict[str, tuple[str, str]] = {
    "n_components": ("int", "Number of components; None for as many as the data give, up to 100."),
    "kernel": (
        "str, callable or Kernel",
        f"""A name, {", ".join(f'"{name}"' for name in sorted([*KERNELS, *PRESETS]))};
an object of :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an
array of shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.""",
    ),
    "gamma": (
        '{"scale", "median"}, part or multiple of these, "cv", or float',
        """Width of a named kernel; rbf is exp(-gamma d^2). "scale" is one over (number of features
times variance of X, or standard deviation for a distance that is not squared); "median" is one over the
median (squared) distance of a sample; "scale/4" and "median*2" are understood. With candidates
given as points they are taken from these points, so that a fit may go out of core. "cv" is the best of
eight multiples of "median", from narrow to nearly linear, by five folds of at most 1,000 samples; for
estimators that predict, and within ``ComponentPathCV``.""",
    ),
    "degree": ("float", 'Of the "poly" kernel.'),
    "coef0": ("float", 'Of the "poly" and "sigmoid" kernels.'),
    "kernel_params": (
        "dict",
        "Keyword arguments for a kernel that is a function, or other parameters of a named kernel.",
    ),
    "candidates": (
        '{"auto", "all"}, int or array',
        """Samples among which landmarks are chosen. "all" is exact selection; a number draws a pool of
that many; an array of points (row numbers, for a precomputed kernel) is the pool. "auto" is
"all" up to 10,000 samples where memory and about two seconds allow, 1,500 where single samples are
chosen by a criterion that can screen them, 2,000 where systems of equations are solved; beyond, a
pool of 200 to 1,000, 150 to 1,000, or 2,000, as the page "Which method?" says.""",
    ),
    "pool": (
        '{"auto", "screen", "random", "kmeans", "rpcholesky"}',
        """How a pool is drawn. "screen" runs the selection itself for many candidates on a subset of
the samples, which a criterion of your own allows by ``can_screen``. "auto" is "random" for candidates
given as a number or a criterion that cannot be screened, and "screen" otherwise.""",
    ),
    "resample": (
        "bool",
        "Draw new random candidates at every step, as Dhanjal et al. do, instead of one pool.",
    ),
    "n_nonzero": (
        "{1, 2, 3}",
        "Most landmarks in one direction. 2 and 3 search all pairs or triples of the candidates.",
    ),
    "center": (
        "bool",
        """Give features zero mean. Sparse input stays sparse, and a feature still needs its own
landmarks only.""",
    ),
    "scale": (
        '{"auto", "unit_variance", "rkhs"}',
        """Which of the features with the same span are given. "unit_variance": orthogonal on the
training samples, with unit mean square, so that least squares treats each alone and a penalty every
direction alike. "rkhs": coordinates along orthonormal directions of the kernel's space, in which a
direction along which the samples vary little stays small, so that a ridge on them is the kernel
ridge regression on the landmarks. "auto": "rkhs", or "unit_variance" where the kernel is not
positive definite on the landmarks. The landmarks are the same.""",
    ),
    "tol": (
        "float",
        """A column whose squared residual is below this part of its squared norm counts as linearly
dependent on the chosen ones. It limits how much rounding is amplified (see
`python -m benchmarks accuracy`).""",
    ),
    "precision": (
        '{"auto", "fast", "safe"}',
        """How a pass over the samples accumulates inner products. "fast" does so in float64, which
cannot resolve columns whose squared residual is below 1e-8 of their squared norm; "safe" updates
a triangular factor instead, at about twice the cost. "auto" is safe where a selection on a few of
the samples gets that far, and in a single pass (``partial_fit``, iterators).""",
    ),
    "target": (
        '{"auto", "continuous", "classes"}',
        """What ``y`` is. "auto" takes strings, booleans and integers of few values for labels, others
for continuous, and warns where whole numbers may be either. Two classes are one column of -1 and +1
where features are not centred, and one column a class otherwise, which is the same there.""",
    ),
    "reg": (
        "float",
        """Added to the denominator, which is a sum over the samples: ``reg * I`` or ``reg * K``, as
``penalty`` says.""",
    ),
    "penalty": (
        '{"alpha", "norm"}',
        """What ``reg`` keeps small: the coefficients alpha of the candidates, or the length of the
direction in feature space.""",
    ),
    "invariances": (
        "list of (transform, weight)",
        """Features are to change little under these: each transform is a function from X to X
transformed by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``, and the squared
changes, summed over the samples, are added to the denominator with that weight.""",
    ),
    "virtual_candidates": (
        "bool",
        """Draw candidates among the samples and their transformed copies. A copy has the index of its
sample in ``landmark_indices_``.""",
    ),
    "multi_class": (
        '{"joint", "ovr"}',
        """For more than two classes: "joint" features, one less than classes, on which classes are
taken for Gaussian, or "ovr", a feature for each class against the rest; the largest
is predicted.""",
    ),
    "threshold": (
        '{"auto", "least_squares", "margin", "midpoint", "gaussian"}',
        """Of features that separate one class from the rest. "least_squares" is where least squares to
labels -1 and 1 changes sign, "margin" the linear program (15) of Mika et al. (2003), which
needs the features of all samples, "midpoint" the middle of the means, and "gaussian" where both
sides are as probable by a Gaussian model of the features. Joint features of several classes
are decided by a Gaussian model, or with "least_squares" by ridge regression to the indicators
of the classes; "margin" and "midpoint" are not for them. "auto" is "least_squares", but
"gaussian" for joint features unless a class weighs less than one sample.""",
    ),
    "nu": (
        'float or "cv"',
        'For ``threshold="margin"``: the share of the smaller class that may lie within the margin; '
        '"cv" chooses it by cross-validation of the threshold.',
    ),
    "class_weight": (
        'dict or "balanced"',
        'Weights of labels, which multiply the sample weights; "balanced" gives all classes the same.',
    ),
    "probability": (
        '{"loo", "in_sample"}',
        """Outputs that ``predict_proba`` is made of: "loo" those that a fit without the sample would
give it, in closed form (at most 10,000 samples are looked at; out of core, by the mean leverage of
all), "in_sample" those of the fit, which are overconfident where there are many candidates and little
penalty.""",
    ),
    "probability_cv": (
        "int",
        """Folds of a cross-validation whose held-out outputs make ``predict_proba``, in place of those
that ``probability`` names; None for no cross-validation.""",
    ),
    "target_error": (
        "float",
        "Stop when the training error, the mean squared error or the mean loss, is at or below it.",
    ),
    "sample_size": ("int", 'Random samples that selection="mi" starts from.'),
    "cache_columns": ("int", "Kernel columns that are kept, those of support vectors first."),
    "gap_tol": (
        "float",
        'Duality gap, as a part of the objective, at which ``selection="exact"`` ends a step.',
    ),
    "sample_rows": (
        "int",
        """Score candidates by sums over this many random samples: the probabilistic speed-up. None for
all samples.""",
    ),
    "fit_inverse_transform": (
        "bool",
        """Keep up to 3,000 training samples (out of core, the pool), from which
``inverse_transform`` is learned.""",
    ),
    "alpha": ("float", "Ridge of ``inverse_transform``."),
    "dtype": (
        '{"float64", "float32"}',
        """Precision of kernel values. "float32" is faster, and sees about half as many features of a
wide kernel; sums are float64 in any case.""",
    ),
    "block_size": (
        "int",
        "Samples in a block of kernel columns; None fits the cache. Results do not depend on it.",
    ),
    "max_memory": (
        "float",
        """Bytes that kernel columns may take. Beyond them exact selection evaluates columns again at
every step, and screening looks at fewer samples and candidates.""",
    ),
    "random_state": ("int, RandomState or None", "For drawing candidates."),
    "n_jobs": ("int", "Threads; None for as many as BLAS uses."),
    "verbose": ("int or bool", "Print what is done."),
}

ATTRIBUTES = """landmarks_ : array of shape (n_landmarks, n_features)
    The chosen samples, in the order of choice; column numbers for a precomputed kernel.
landmark_indices_ : ndarray of shape (n_landmarks,)
    Their indices in the training set, or in the given candidates; -1 for points of neither.
projection_ : ndarray of shape (n_landmarks, n_components)
    Features are ``kernel(x, landmarks_) @ projection_ - offset_``.
offset_ : ndarray of shape (n_components,)
    What is subtracted, so that features have mean zero where they are centred.
n_components_ : int
    Number of components found.
kernel_, gamma_ : Kernel, float
    The kernel with all of its parameters, and its width, where it has one.
kernel_evaluations_ : ndarray of shape (n_components,)
    Kernel evaluations that the first 1, 2, ... components cost a new sample.
criterion_path_ : ndarray of shape (n_components,)
    The criterion's value at each step.
explained_variance_ratio_ : ndarray of shape (n_components,)
    Ratio of the variance of the kernel images that each component's direction adds.
explained_target_ratio_ : ndarray of shape (n_components,)
    Ratio of the targets' variance that each component explains; zeros without targets.
classes_ : ndarray of shape (n_classes,)
    Labels, where ``y`` has labels.
n_features_in_, feature_names_in_
    Number and names of the features of X, as in scikit-learn."""


def fill_shared_texts(cls: _Class) -> _Class:
    """Fill the shared texts into a class's docstring: all parameters that it does not describe."""
    text, declared = cls.__doc__ or "", inspect.signature(cls).parameters
    entries = [
        f"{name} : {kind}, default={_shown(declared[name].default)}\n{indent(meaning, '    ')}"
        for name, (kind, meaning) in PARAMETERS.items()
        if name in declared and f"\n    {name} : " not in text
    ]
    parameters = indent("\n".join(entries), "    ").lstrip()
    attributes = indent(ATTRIBUTES, "    ").lstrip()
    cls.__doc__ = text.replace("{parameters}", parameters).replace("{attributes}", attributes)
    return cls


def _shown(default: object) -> str:
    if isinstance(default, str):
        return f'"{default}"'
    return "2**30" if default == 2**30 else repr(default)
