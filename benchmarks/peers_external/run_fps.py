"""Farthest-point sampling of skmatter, then ridge regression on the samples as landmarks."""

from protocol import Fitted, Problem, fitted_landmarks, main
from skmatter.sample_selection import FPS


def fit(problem: Problem) -> Fitted:
    start = problem.seed % len(problem.X)
    selection = FPS(initialize=start, n_to_select=problem.k).fit(problem.X)
    return fitted_landmarks(problem, problem.X[selection.selected_idx_])


if __name__ == "__main__":
    main(fit, "penalties")
