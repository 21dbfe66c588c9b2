"""Linear partial least squares by ikpls, for every number of components from one fit."""

import numpy as np
from ikpls.numpy import PLS
from protocol import Fitted, Problem, main


def fit(problem: Problem) -> Fitted:
    most = int(min(*problem.X.shape, max(problem.settings)))
    model = PLS(scale_X=False, scale_Y=False).fit(problem.X, problem.Y, most)
    numbers = [min(int(number), most) for number in problem.settings]
    return Fitted(lambda X: np.array([model.predict(X, n_components=n) for n in numbers]), 0)


if __name__ == "__main__":
    main(fit, "components")
