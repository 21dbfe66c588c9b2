"""Cache of distances and inner products that kernels of several widths share."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from weakref import ref

import numpy as np
from scipy import sparse

from .base import Filler, Kernel, Rows


class BlockCache:
    """Caches blocks of values up to a number of bytes; later blocks are recomputed.

    Parameters
    ----------
    max_bytes : float, default=2**28
        Bytes that blocks may take.

    Attributes
    ----------
    evaluated : int
        Values that were evaluated.
    reused : int
        Values that were kept from before.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import BlockCache, resolve_kernel, sharing
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> cache = BlockCache()
    >>> with sharing(cache):
    ...     blocks = [resolve_kernel("laplacian", X, gamma=gamma).block(X, X) for gamma in (0.1, 0.2)]
    >>> cache.evaluated, cache.reused
    (9, 9)
    """

    def __init__(self, max_bytes: float = 2**28) -> None:
        self.max_bytes = max_bytes
        self.evaluated = 0  # values
        self.reused = 0
        self._blocks: dict[Hashable, np.ndarray] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Forget all blocks."""
        with self._lock:
            self._blocks.clear()
            self._bytes = 0

    def fill(self, key: Hashable, compute: Filler, X: Rows, out: np.ndarray) -> None:
        """Write the block of a key into ``out``, from the cache if it is there."""
        block = self._blocks.get(key)
        if block is not None:
            out[...] = block
            with self._lock:
                self.reused += out.size
            return
        compute(X, out)
        with self._lock:
            self.evaluated += out.size
            if self._bytes + out.nbytes <= self.max_bytes:
                self._bytes += out.nbytes
                self._blocks[key] = out.copy()


class CachedKernel(Kernel):
    """A kernel that takes its shared part from a cache, as long as the cache is alive.

    Samples and landmarks are known by their contents: equal ones may come from different arrays. A copy
    of it is the kernel that it holds: models outlive a cache.
    """

    def __init__(self, kernel: Kernel, cache: BlockCache) -> None:
        self.kernel = kernel
        self._cache = ref(cache)
        self.name = kernel.name  # type: ignore[misc]
        self.accepts_sparse = kernel.accepts_sparse  # type: ignore[misc]
        self.non_negative = kernel.non_negative  # type: ignore[misc]
        self.cheap_diag = kernel.cheap_diag  # type: ignore[misc]

    def __reduce__(self) -> tuple:
        return _without_cache, (self.kernel,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel!r})"

    def without_cache(self) -> Kernel:
        return self.kernel

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        cache = self._cache()
        part = None if cache is None else self.kernel.shared_part(Z, dtype)
        if cache is None or part is None:
            return self.kernel.against(Z, dtype)
        about = (part.name, np.dtype(dtype).char, _fingerprint(Z))

        def fill(X: Rows, out: np.ndarray) -> None:
            cache.fill((*about, _fingerprint(X)), part.fill, X, out)
            self.kernel.finish(out)

        return fill

    def diag(self, X: Rows) -> np.ndarray:
        return self.kernel.diag(X)

    def diag_at(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        return self.kernel.diag_at(X, rows)

    def points(self, X: Rows, rows: np.ndarray) -> Rows:
        return self.kernel.points(X, rows)

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        return self.kernel.landmark_gradient(X, Z, values, slopes)

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return self.kernel.sample_gradient(X, Z, coefficients)

    def rounded_as_with(self, Z: Rows) -> Kernel:
        kernel, cache = self.kernel.rounded_as_with(Z), self._cache()
        return kernel if cache is None else CachedKernel(kernel, cache)


def _without_cache(kernel: Kernel) -> Kernel:
    return kernel


#: What kernels that are resolved now take distances and inner products from.
active_cache: ContextVar[BlockCache | None] = ContextVar("kernelsieve_block_cache", default=None)


@contextmanager
def sharing(cache: BlockCache) -> Iterator[None]:
    """Let all kernels resolved inside the context share distances and inner products by a cache.

    Parameters
    ----------
    cache : BlockCache
        The cache of the values; its class has an example.

    Returns
    -------
    context manager
    """
    token = active_cache.set(cache)
    try:
        yield
    finally:
        active_cache.reset(token)


def _fingerprint(X: Rows) -> Hashable:
    """Return a key that only equal rows share: shape, type and a hash of all bytes.

    Reading the rows once is all that it costs. Anything made of their values by arithmetic can round
    the difference of two rows away.
    """
    parts = (X.data, X.indices, X.indptr) if sparse.issparse(X) else (X,)
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    return X.shape, X.dtype.char, sparse.issparse(X), digest.digest()
