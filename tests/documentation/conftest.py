import pytest


@pytest.fixture(autouse=True)
def forgotten_kernels(known_kernels):
    """Pages and examples register kernels, which other tests must not know."""
