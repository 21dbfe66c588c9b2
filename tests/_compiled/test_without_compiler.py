"""With NUMBA_DISABLE_JIT=1 the library is slow, and gives the same numbers."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelsieve._compiled.double_double import _plain_rounding_of_product

pytestmark = pytest.mark.slow
PROGRAM = """
import sys
import numpy as np
from sklearn.datasets import load_iris
from kernelsieve import KernelPCA, SparseMaximalAlignment, config_context
from kernelsieve._compiled.jit_cache import COMPILES

X, y = load_iris(return_X_y=True)
models = {
    "sma": SparseMaximalAlignment(8),
    "narrow": SparseMaximalAlignment(4),
    "pca": KernelPCA(6),
    "laplacian": SparseMaximalAlignment(8, kernel="laplacian"),
    "safe": SparseMaximalAlignment(12, candidates=60, random_state=0),
    "dependent": SparseMaximalAlignment(30, gamma=0.01, candidates=60, tol=1e-12, random_state=0),
}
weight = np.linspace(0.5, 2, len(X))
settings = {"narrow": {"dtype": "float32"}, "safe": {"precision": "safe"}}
found = {}
for name, model in models.items():
    with config_context(**settings.get(name, {})):
        found[name] = model.fit(X, y, sample_weight=weight).transform(X)
np.savez(sys.argv[1], compiles=COMPILES, **found)
"""


def features(path, **environment) -> dict[str, np.ndarray]:
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        env=dict(os.environ, **environment),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    with np.load(path) as found:
        return dict(found)


def test_fits_and_features_are_the_same(tmp_path):
    slow = features(tmp_path / "slow.npz", NUMBA_DISABLE_JIT="1")
    fast = features(tmp_path / "fast.npz")
    assert not slow.pop("compiles")
    assert fast.pop("compiles")
    # Kernel values differ in their last digit, which dependent landmarks amplify.
    amplified = {"narrow": 1e-4, "dependent": 1e-7}
    for name, values in fast.items():
        atol = amplified.get(name, 1e-10)
        assert_allclose(slow[name], values, atol=atol, rtol=0, err_msg=name)


def test_products_and_what_they_are_rounded_by_are_exact(rng):
    left, right = (rng.standard_normal(50) * 10.0 ** rng.integers(-90, 90, 50) for _ in range(2))
    product = left * right
    rest = _plain_rounding_of_product(left, right, product)
    for x, z, high, low in zip(left, right, product, rest, strict=True):
        numerator, denominator = (x.as_integer_ratio()[i] * z.as_integer_ratio()[i] for i in (0, 1))
        (a, b), (c, d) = high.as_integer_ratio(), low.as_integer_ratio()
        assert (a * d + c * b) * denominator == numerator * b * d
