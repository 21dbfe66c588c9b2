"""Maximise the evidence of functions on few landmarks over a metric of the inputs.

A function ``kernel(x, Z) @ b`` with normal noise and a normal prior of precision W, the kernel matrix
of the landmarks Z, has a marginal likelihood (evidence) in closed form. Its derivative by the kernel
values, and by these the derivative by a metric L of ``x' L``, costs little more than the function. The
evidence needs no held-out samples, so that many weights can be learned from few samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import minimize

from ..kernels import Kernel, Rows

_JITTER = 1e-6  # of the mean of the diagonal of W
_NOISE = (np.log(1e-6), np.log(1e5))  # range of the ratio of noise to signal, as a logarithm
_FACTOR = 7.0  # most that the logarithm of a weight may change
_FAILED = 1e10  # instead of an evidence that cannot be computed: the search steps back


@dataclass(frozen=True)
class Evidence:
    """The evidence of Gaussian process regression on landmarks, as a function of the metric."""

    kernel: Kernel
    X: np.ndarray
    Y: np.ndarray
    root_weight: np.ndarray
    Z: np.ndarray

    @classmethod
    def on_first_samples(
        cls, kernel: Kernel, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, n_landmarks: int
    ) -> Evidence:
        """Take the first samples as landmarks; the samples are in random order."""
        root = np.sqrt(weight / weight.mean())
        centred = (Y - np.average(Y, axis=0, weights=weight)) * root[:, None]
        return cls(kernel, X, centred, root, X[:n_landmarks])

    def loss(self, L: np.ndarray, noise: float) -> tuple[float, np.ndarray, float]:
        """Return the negative log evidence per sample, and its derivatives by L and the noise.

        ``L`` is a matrix, or its diagonal; ``noise`` is the logarithm of the ratio r of the variances
        of noise and of signal, the latter at its best value.
        """
        kernel, root = self.kernel, self.root_weight[:, None]
        U, V = (apply_metric(rows, L) for rows in (self.X, self.Z))
        K, W = kernel.block(U, V), kernel.block(V, V)
        means = (root**2).T @ K / len(K)
        by_values, by_landmarks, loss, by_noise = _derivatives((K - means) * root, W, self.Y, noise)
        by_values *= root
        by_values -= root**2 * (by_values.sum(axis=0) / len(K))  # the means move as well
        at_samples = kernel.landmark_gradient(V, U, K.T, by_values.T)
        at_landmarks = kernel.landmark_gradient(U, V, K, by_values)
        at_landmarks += kernel.landmark_gradient(V, V, W, 2 * by_landmarks)
        if L.ndim == 1:
            by_metric = (self.X * at_samples).sum(axis=0) + (self.Z * at_landmarks).sum(axis=0)
        else:
            by_metric = self.X.T @ at_samples + self.Z.T @ at_landmarks
        return loss, by_metric, by_noise

    def maximise(
        self, L: np.ndarray, noise: float, n_steps: int, groups: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the metric of largest evidence that a search from L finds.

        Weights of a diagonal stay positive, and those of a group equal. Inputs of no weight stay out.
        """
        used = np.diagonal(metric_of(L)) > 0 if L.ndim == 2 else metric_of(L) > 0
        inside = np.ix_(used, used) if L.ndim == 2 else used
        groups = np.arange(len(L)) if groups is None else groups
        _, numbers = np.unique(groups[used], return_inverse=True)
        if L.ndim == 2:
            begin, most = L[inside].ravel(), np.inf
        else:  # logarithms of the weights of groups
            begin = np.log(np.bincount(numbers, L[used]) / np.bincount(numbers))
            most = _FACTOR

        def metric_at(x: np.ndarray) -> np.ndarray:
            found = np.zeros_like(L)
            found[inside] = x.reshape(used.sum(), -1) if L.ndim == 2 else np.exp(x)[numbers]
            return found

        def function(x: np.ndarray) -> tuple[float, np.ndarray]:
            found = metric_at(x[:-1])
            try:
                loss, by_metric, by_noise = self.loss(found, x[-1])
            except (LinAlgError, ValueError):  # rounding, or kernel values that are not finite
                return _FAILED, np.zeros_like(x)
            if L.ndim == 2:
                by_parameters = by_metric[inside].ravel()
            else:
                by_parameters = np.bincount(numbers, (by_metric * found)[used])
            slopes = np.append(by_parameters, by_noise)
            return (loss, slopes) if np.isfinite(slopes).all() else (_FAILED, np.zeros_like(x))

        found = minimize(
            function,
            np.append(begin, np.clip(np.log(noise), *_NOISE)),
            jac=True,
            method="L-BFGS-B",
            bounds=[*((each - most, each + most) for each in begin), _NOISE],
            options={"maxiter": n_steps},
        )
        return metric_at(found.x[:-1])


def _derivatives(
    A: np.ndarray, W: np.ndarray, Y: np.ndarray, noise: float
) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return the derivatives by A and W, the loss, and its derivative by the noise.

    With ``P = A'A + r W`` and ``B = P^-1 A'Y``, the ridge regression of Y on A, the loss is
    ``n q log(E) / 2 + q log|r^-1 W^-1 P| / 2``, where ``E = tr Y'(Y - A B)``, the minimum of that ridge
    regression.
    """
    (n, m), q, r = A.shape, Y.shape[1], np.exp(noise)
    jitter = _JITTER * np.trace(W) / m
    W = W + jitter * np.eye(m)
    whitening = _inverse_factor(W)
    F = A @ whitening.T
    triangle = cholesky(F.T @ F + r * np.eye(m), lower=True)
    root = solve_triangular(triangle, whitening, lower=True)
    P_inverse, W_inverse = root.T @ root, whitening.T @ whitening
    B = root.T @ (root @ (A.T @ Y))
    residual = Y - A @ B
    penalty = float(np.sum(B * (W @ B)))
    E = float(np.sum(residual**2)) + r * penalty  # as a sum of squares, which is never negative
    loss = n * q / 2 * np.log(E) + q * np.log(np.diagonal(triangle)).sum() - q * m / 2 * noise
    by_A = q * (A @ P_inverse) - (n * q / E) * (residual @ B.T)
    by_W = (n * q * r / (2 * E)) * (B @ B.T) + q / 2 * (r * P_inverse - W_inverse)
    by_W.flat[:: m + 1] += _JITTER / m * np.trace(by_W)  # the jitter moves as well
    by_r = n * q / (2 * E) * penalty + q / 2 * np.sum(P_inverse * W) - q * m / (2 * r)
    return by_A / n, by_W / n, float(loss / n), float(by_r * r / n)


def _inverse_factor(W: np.ndarray) -> np.ndarray:
    """Return the inverse of the lower triangle T with ``T T' = W``."""
    return np.asarray(solve_triangular(cholesky(W, lower=True), np.eye(len(W)), lower=True))


def metric_of(L: np.ndarray) -> np.ndarray:
    """Return ``L L'``, or its diagonal."""
    return L**2 if L.ndim == 1 else L @ L.T


def apply_metric(X: Rows, L: np.ndarray) -> Rows:
    """Return ``X L``, with L given in full or as a diagonal."""
    if L.ndim == 2:
        return X @ L
    return sparse.csr_matrix(X.multiply(L[None])) if sparse.issparse(X) else X * L
