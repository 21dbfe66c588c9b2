"""KernelPCovR of skmatter: kernel PCA mixed half and half with kernel ridge regression."""

from protocol import Fitted, Problem, RidgeHeads, main
from sklearn.kernel_ridge import KernelRidge
from skmatter.decomposition import KernelPCovR

PENALTY = (
    1e-3  # of the regression inside, as a share of the number of samples; the head chooses its own
)


def fit(problem: Problem) -> Fitted:
    penalty = PENALTY * len(problem.X)
    model = KernelPCovR(
        mixing=0.5,
        n_components=problem.k,
        regressor=KernelRidge(alpha=penalty, kernel="rbf", gamma=problem.gamma),
        kernel="rbf",
        gamma=problem.gamma,
        center=True,
        random_state=problem.seed,
    ).fit(problem.X, problem.Y)
    heads = RidgeHeads(model.transform(problem.X), problem.Y, problem.settings)
    return Fitted(lambda X: heads(model.transform(X)), len(problem.X))


if __name__ == "__main__":
    main(fit, "penalties")
