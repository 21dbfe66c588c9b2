"""Fits with settings of the machine."""

from typing import Any

from kernelsieve import config_context


def fit_with(config: dict[str, Any], model: Any, *data: Any, **others: Any) -> Any:
    """Fit a model within a context."""
    with config_context(**config):
        return model.fit(*data, **others)
