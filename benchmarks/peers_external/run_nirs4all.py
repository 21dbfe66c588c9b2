"""Kernel PLS of nirs4all."""

import importlib.util
from pathlib import Path

import numpy as np
from protocol import Fitted, Problem, main


def kernel_pls() -> type:
    """Load the one module that is needed; the package as a whole imports many others."""
    folder = Path(importlib.util.find_spec("nirs4all").submodule_search_locations[0])
    path = folder / "operators" / "models" / "sklearn" / "nlpls.py"
    spec = importlib.util.spec_from_file_location("nirs4all_nlpls", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KernelPLS


KernelPLS = kernel_pls()


def fit(problem: Problem) -> Fitted:
    most = int(min(len(problem.X) - 1, max(problem.settings)))
    model = KernelPLS(most, kernel="rbf", gamma=problem.gamma).fit(problem.X, problem.Y)

    def predict(X: np.ndarray) -> np.ndarray:
        found = [model.predict(X, n_components=int(n)) for n in problem.settings]
        return np.array([part.reshape(len(X), -1) for part in found])

    return Fitted(predict, len(problem.X))


if __name__ == "__main__":
    main(fit, "components")
