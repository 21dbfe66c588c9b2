"""A sparse Gaussian process of GPyTorch: the marginal likelihood moves k inducing points."""

import gpytorch
import numpy as np
import torch
from protocol import Fitted, Problem, main

STEPS, RATE = 100, 0.1
torch.set_num_threads(1)


class Model(gpytorch.models.ExactGP):
    """A constant mean and the Gaussian kernel on inducing points (Titsias, 2009)."""

    def __init__(self, X, y, points, likelihood):
        super().__init__(X, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        base = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
        base.base_kernel.lengthscale = float(np.sqrt(X.shape[1]))
        self.covar_module = gpytorch.kernels.InducingPointKernel(base, points, likelihood)

    def forward(self, X):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(X), self.covar_module(X))


def fit(problem: Problem) -> Fitted:
    torch.manual_seed(problem.seed)
    X, y = (torch.tensor(part, dtype=torch.float64) for part in (problem.X, problem.Y[:, 0]))
    points = X[torch.randperm(len(X))[: problem.k]].clone()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Model(X, y, points, likelihood).double()
    model.train()
    likelihood.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = -evidence(model(X), y)
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()
    model(X[:1])  # what predictions need of the training samples is part of the fit

    def predict(X: np.ndarray) -> np.ndarray:
        with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
            return model(torch.tensor(X, dtype=torch.float64)).mean.numpy()[None, :, None]

    return Fitted(predict, problem.k)


if __name__ == "__main__":
    main(fit, "none")
