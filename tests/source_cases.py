"""The samples and methods by which every way to read samples is compared with memory."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import numpy as np

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=N)
LABELS = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 1] > 0, "left", "right"))
LABELS[N - 1] = "rare"
WEIGHT = RNG.uniform(0.5, 2.0, N)
POOL = X[::60]
NAMES = ["a", "b", "c", "d"]

METHODS = {
    "alignment": (SparseMaximalAlignment(8, candidates=POOL, gamma=0.3), "y"),
    "covariance": (SparseMaximalCovariance(8, candidates=POOL, gamma=0.3), "y"),
    "analysis": (AcceleratedKernelFeatureAnalysis(8, candidates=POOL, gamma=0.3), None),
    "pca": (KernelPCA(4, candidates=POOL, gamma=0.3), None),
    "pls": (KernelPLS(4, candidates=POOL, gamma=0.3), "y"),
    "fisher": (KernelFisherDiscriminant(candidates=POOL, gamma=0.3), "label"),
    "centroid": (KernelOrthogonalCentroid(candidates=POOL, gamma=0.3), "label"),
}
TARGETS = {"y": Y, "label": LABELS, None: None}


def in_memory(name, weight=None):
    model, target = METHODS[name]
    model.fit(X, TARGETS[target], weight)
    return list(model.landmark_indices_), model.transform(X)


def rbf_by_value():
    """Return a kernel that can be sent to workers, which cannot import this module."""
    return lambda X, Z: np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


def deadly_kernel(once=None):
    """Return a kernel that kills the worker it runs in: the first one, which makes a file, or each."""
    parent, evaluate = os.getpid(), rbf_by_value()

    def kernel(X, Z):
        if os.getpid() != parent and len(X) > 100 and (once is None or not once.exists()):
            if once is not None:
                once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return evaluate(X, Z)

    return kernel


def slow_kernel(begun):
    """Return a kernel that takes its time in a worker, and writes a byte to a file when it begins."""
    parent, evaluate = os.getpid(), rbf_by_value()

    def kernel(X, Z):
        if os.getpid() != parent and len(X) > 100:
            with open(begun, "ab") as file:
                file.write(b".")
            time.sleep(1)
        return evaluate(X, Z)

    return kernel


@contextmanager
def interrupted_when(exists):
    """Interrupt this process when a file exists, as its user would: again where that is not heard."""
    over = threading.Event()

    def watch():
        while not exists.exists() and not over.wait(0.05):
            pass
        while not over.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            over.wait(5)

    # A process that was started in the background ignores interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.signal(signal.SIGINT, before)
