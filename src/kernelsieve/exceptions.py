"""Errors and warnings. Each message says what was wrong, what is allowed and what to do."""

from __future__ import annotations

import sys
import warnings

_NOT_THE_USER = {"kernelsieve", "sklearn", "joblib"}
_said_in_searches: set[tuple[str, type[Warning], str, int]] = set()


class InvalidParameterError(ValueError):
    """A constructor parameter has a value that cannot work, alone or with the data at hand."""


class InvalidDataError(ValueError):
    """The data handed to ``fit`` or ``transform`` cannot be used as they are."""


class NoFeaturesError(InvalidDataError):
    """The samples gave no feature: equal samples, equal kernel values, or a constant target."""


class KernelError(ValueError):
    """A kernel returned something that is not a block of kernel values."""


class CriterionError(ValueError):
    """A criterion did what it has not declared, or proposed what cannot be a direction."""


class ModelFileError(ValueError):
    """A file is damaged, of another kind or version, or something cannot be written to one."""


class DownloadError(OSError):
    """A file of another machine did not come, or is not what was asked for."""


class AmbiguousTargetWarning(UserWarning):
    """``y`` has few whole numbers, which may be labels or quantities; one of them was assumed."""


class FewerFeaturesWarning(UserWarning):
    """The data gave fewer features than were asked for."""


class IgnoredFeatureWarning(UserWarning):
    """A feature of X is left out, wholly or for most samples, as it tells samples apart by name."""


class IgnoredParameterWarning(UserWarning):
    """A parameter has a value that changes nothing, beside those of others."""


class InconsistentVersionWarning(UserWarning):
    """A model was saved by another version of this package."""


class NothingLearntWarning(UserWarning):
    """A transformer found nothing in the data that would make it better than the identity."""


class InputScaleWarning(UserWarning):
    """The features of X have so different scales that a kernel sees only some of them."""


class UncachedCodeWarning(UserWarning):
    """Compiled code cannot be kept in a file, so every process compiles it again."""


class VacuousBoundWarning(UserWarning):
    """A bound says nothing, so what was chosen by it is chosen by chance."""


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line that called this package, through scikit-learn or not.

    A search or cross-validation of scikit-learn lets Python forget what it has warned about, with every
    fit; so what comes through one is said once for a line.
    """
    frame, level, searches = sys._getframe(1), 2, False
    while (
        frame.f_back
        and (name := frame.f_globals.get("__name__", "")).partition(".")[0] in _NOT_THE_USER
    ):
        searches |= name.startswith("sklearn.model_selection")
        frame, level = frame.f_back, level + 1
    if searches:
        said = (message, category, frame.f_code.co_filename, frame.f_lineno)
        if said in _said_in_searches:
            return
        _said_in_searches.add(said)
    warnings.warn(message, category, stacklevel=level)
