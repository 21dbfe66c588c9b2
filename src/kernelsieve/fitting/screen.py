"""The greedy loop over many candidates on a sample of rows, in matrix products alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import row_slices, run_blocks
from ..deflation import DiagonalOnly, ScoringCriterion, StoredColumns, View

SCREEN_FLOOR = 1e-8  # of the squared norm; below it float32 columns are noise
# Picks of a round, as many as there have been: the first ones change the scores of all candidates the
# most, and those that have the best scores before them are alike.
_FEWEST_STEPS, _MOST_STEPS = 1, 50
_SHORTLISTED_EACH, _FEWEST_SHORTLISTED = 4, 100  # that may be picked, for every pick of a round
_THREAD_PRODUCTS = 2**26  # multiplications that are worth a thread
_ROUND_FLOOR = 1e-4  # of the squared norm in a round; below it float32 products are noise
_TARGET_NOISE = 1e-12  # of the targets' squared norm: what float32 products know of it


class Screen:
    """Picks candidates in rounds: inside a shortlist, with all candidates scored anew between them.

    A step of the loop reads every column that it may choose. A round reads the columns of the shortlist
    once, for their inner products, by which it picks; one product with the features of all its picks
    then brings every column up to date.
    """

    def __init__(
        self,
        columns: StoredColumns,
        metric: DiagonalOnly,
        targets: np.ndarray,
        criterion: ScoringCriterion,
        n_jobs: int | None = None,
    ) -> None:
        self._columns = columns
        self._n_jobs = n_jobs
        self._criterion = criterion
        self._targets = targets
        squared_norms, products = columns.scan(targets)
        self._scored = _Scored(squared_norms, products, columns.raw_squared_norms, metric.diagonal)
        self._eligible = squared_norms > 0
        noise = _TARGET_NOISE * float(np.einsum("nq,nq->", targets, targets))
        self._least_explained = noise if criterion.needs.targets else -1.0

    def pick(self, n_pool: int) -> np.ndarray:
        """Return as many candidates as asked, or as there are independent ones."""
        n_rows, n_columns = self._columns.shape
        features = np.empty((n_pool, n_rows), np.float32)
        column_products = np.empty((n_columns, n_pool), np.float32)
        picked = np.empty(0, np.intp)
        while (size := len(picked)) < n_pool:
            n_steps = min(max(size, _FEWEST_STEPS), _MOST_STEPS, n_pool - size)
            shortlist = self._shortlist(max(_SHORTLISTED_EACH * n_steps, _FEWEST_SHORTLISTED))
            lines = self._columns.values.T[shortlist]  # as they lie in memory
            lines -= column_products[shortlist, :size] @ features[:size]
            chosen = self._greedy(shortlist, lines, n_steps)
            if len(chosen) == 0:
                break
            picked = np.concatenate([picked, shortlist[chosen]])
            if len(picked) == n_pool:
                break
            new = slice(size, len(picked))
            # Once more against all features: float32 sums have left some of them behind.
            rest = lines[chosen] - (lines[chosen] @ features[:size].T) @ features[:size]
            features[new] = np.linalg.qr(rest.T)[0].T
            column_products[:, new] = self._deflate(features[new].T)
            self._eligible[picked] = False
        return picked

    def _shortlist(self, most: int) -> np.ndarray:
        """Return the best candidates, each by its own score."""
        scored = self._scored
        self._eligible &= scored.squared_norms > SCREEN_FLOOR * scored.raw_squared_norms
        view = scored.view(self._criterion, self._eligible)
        scores = self._criterion.scores_of_eligible(view)
        order = np.argsort(-scores, kind="stable")[:most]
        return np.sort(order[np.isfinite(scores[order])])

    def _greedy(self, shortlist: np.ndarray, lines: np.ndarray, n_steps: int) -> np.ndarray:
        """Pick lines one after another, by their inner products alone."""
        gram = (lines @ lines.T).astype(np.float64)
        scored = self._scored[shortlist]
        scored.products = (lines @ self._targets.astype(np.float32)).astype(np.float64)
        scored.squared_norms = np.diagonal(gram).copy()
        floors = np.maximum(SCREEN_FLOOR * scored.raw_squared_norms, _ROUND_FLOOR * np.diagonal(gram))
        eligible = np.ones(len(shortlist), bool)
        view = scored.view(self._criterion, eligible)  # of numbers that are brought up to date
        factor = np.empty((n_steps, len(shortlist)))
        chosen: list[int] = []
        while len(chosen) < min(n_steps, len(shortlist)):
            eligible &= scored.squared_norms > floors
            scores = self._criterion.scores_of_eligible(view)
            pick, known = int(scores.argmax()), factor[: len(chosen)]
            if not eligible[pick]:
                break
            norm = np.sqrt(scored.squared_norms[pick])
            target_products = scored.products[pick] / norm
            if target_products @ target_products <= self._least_explained:
                break
            line = (gram[pick] - known[:, pick] @ known) / norm
            scored.squared_norms -= line * line
            scored.products -= np.multiply.outer(line, target_products)
            factor[len(chosen)] = line
            eligible[pick] = False
            chosen.append(pick)
        return np.array(chosen, dtype=np.intp)

    def _deflate(self, features: np.ndarray) -> np.ndarray:
        """Bring all candidates up to date with new features; return their products with them."""
        lines, scored = self._columns.values.T, self._scored
        narrow = np.empty((len(lines), features.shape[1]), np.float32)

        def multiply(some: slice) -> None:
            np.dot(lines[some], features, out=narrow[some])

        slices = list(row_slices(len(lines), max(1, _THREAD_PRODUCTS // features.size)))
        run_blocks(multiply, slices, self._n_jobs)
        products, target_products = narrow.astype(np.float64), features.T @ self._targets
        scored.squared_norms -= np.einsum("cj,cj->c", products, products)
        np.maximum(scored.squared_norms, 0.0, out=scored.squared_norms)
        scored.products -= products @ target_products
        self._targets = self._targets - features @ target_products
        return products


@dataclass
class _Scored:
    """What a criterion sees of candidates."""

    squared_norms: np.ndarray
    products: np.ndarray
    raw_squared_norms: np.ndarray
    lengths: np.ndarray

    def __getitem__(self, chosen: np.ndarray) -> _Scored:
        return _Scored(
            self.squared_norms[chosen],
            self.products[chosen],
            self.raw_squared_norms[chosen],
            self.lengths[chosen],
        )

    def view(self, criterion: ScoringCriterion, eligible: np.ndarray) -> View:
        return View(
            criterion,
            residual_squared_norms=self.squared_norms,
            raw_squared_norms=self.raw_squared_norms,
            target_products=self.products,
            eligible=eligible,
            metric=DiagonalOnly(self.lengths),
        )
