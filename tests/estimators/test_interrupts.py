"""An interrupt at any line leaves an estimator as it was."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from blas_threads import blas_threads
from numpy.testing import assert_allclose

import kernelsieve
from kernelsieve import KernelFisherDiscriminant, KernelPCA, SparseMaximalAlignment
from kernelsieve.data import threads

SOURCE = str(Path(kernelsieve.__file__).parent)
X = np.random.default_rng(0).normal(size=(120, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1]
LABELS = np.where(X[:, 0] > 0, "yes", "no")
PLACES = 15  # lines of each call at which it is interrupted

ESTIMATORS = {
    "alignment": (lambda: SparseMaximalAlignment(4, candidates=30, gamma=0.3, random_state=0), Y),
    "pca": (lambda: KernelPCA(3, candidates=30, gamma=0.3, random_state=0), None),
    "fisher": (lambda: KernelFisherDiscriminant(candidates=30, gamma=0.3, random_state=0), LABELS),
}
CALLS = {
    "fit": lambda model, y: model.fit(X[60:], y if y is None else y[60:]),
    "partial_fit": lambda model, y: model.partial_fit(X[60:], y if y is None else y[60:]),
    "fit_batches": lambda model, y: model.fit_batches([(X[60:], y if y is None else y[60:])]),
    "finish": lambda model, y: model.finish(*prepared(model, y)),
}


def prepared(model, y):
    plan = model.prepare(X[60:], y if y is None else y[60:])
    return plan, plan.statistic(X[60:], y if y is None else y[60:])


class Interrupts:
    """Counts the lines of our code that run in this thread, and raises at one of them.

    Those of the limit on BLAS are tested where it is: a trace could raise while a lock is left, where
    Python does not look for interrupts.
    """

    def __init__(self, at=None):
        self.at, self.seen = at, 0

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_filename
        return self._line if name.startswith(SOURCE) and name != threads.__file__ else None

    def _line(self, frame, event, arg):
        if event == "line":
            self.seen += 1
            if self.seen == self.at:
                raise KeyboardInterrupt
        return self._line

    def __enter__(self):
        self._before = sys.gettrace()
        sys.settrace(self)
        return self

    def __exit__(self, *raised):
        sys.settrace(self._before)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_interrupts_at_many_lines(name, call):
    make, y = ESTIMATORS[name]
    model = make().partial_fit(X[:60], y if y is None else y[:60])
    features = model.transform(X)
    before, counts = dict(vars(model)), blas_threads()
    with Interrupts() as counting:
        CALLS[call](_copy(model), y)
    assert counting.seen > PLACES
    places = np.unique(np.linspace(1, counting.seen, PLACES).astype(int))
    interrupted = 0
    for place in places:
        try:
            with Interrupts(at=place):
                CALLS[call](model, y)
        except KeyboardInterrupt:
            interrupted += 1
        else:
            vars(model).clear()
            vars(model).update(before)  # fewer lines than before, because something is known by now
            continue
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before)
    assert interrupted > PLACES // 2
    assert_allclose(model.transform(X), features)
    assert blas_threads() == counts
    assert not [thread for thread in threading.enumerate() if "kernelsieve" in thread.name]


def _copy(model):
    other = type(model)(**model.get_params())
    vars(other).update(vars(model))
    return other
