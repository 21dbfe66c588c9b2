"""Which samples become candidates: drawn at random, near centres, or screened by a selection."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..data import (
    Batch,
    Labels,
    dense_sample,
    draw_kmeans,
    draw_random,
    draw_rpcholesky,
    draw_sample,
    filled_up,
    row_slices,
    run_blocks,
    weighted_targets,
)
from ..deflation import (
    Alignment,
    BestSubset,
    Criterion,
    DiagonalOnly,
    DirectionVariance,
    EvaluatedMetric,
    FollowedCandidates,
    ScoringCriterion,
    StoredColumns,
    View,
    extract,
    store_columns,
)
from ..exceptions import InvalidParameterError
from ..kernels import CallableKernel, Kernel

if TYPE_CHECKING:
    from .problem import Settings

# For every candidate that is wanted, so many samples on which candidates are scored, and so many
# candidates that are; of many samples such a part, which takes less time than the pass over all.
_ROWS_EACH, _SCREENED_EACH = 10, 10
_FEWEST_ROWS, _FEWEST_CANDIDATES = 1500, 1500
_ENOUGH = 4000  # of each, for pools that are themselves large
_ROWS_PART, _CANDIDATES_PART = 16, 10
SCREEN_ROWS, SCREEN_CANDIDATES = 10_000, 10_000  # at most
_FEW_VALUES = 2**22  # kernel values that one thread has evaluated before others have begun
_SCREEN_TARGETS = 128  # that stand for more classes
_ANALYSED_ROWS = 2000
_ANALYSED_CANDIDATES = 5000

SCREEN_FLOOR = 1e-8  # of the squared norm; below it float32 columns are noise
# Picks of a round, as many as there have been: the first ones change the scores of all candidates the
# most, and those that have the best scores before them are alike.
_FEWEST_STEPS, _MOST_STEPS = 1, 50
_SHORTLISTED_EACH, _FEWEST_SHORTLISTED = 4, 100  # that may be picked, for every pick of a round
# Few values are screened in one round of all candidates, where a pool has at least so many for every
# component: of few components, each that is missed matters.
_ONE_ROUND_EACH = 2
_THREAD_PRODUCTS = 2**26  # multiplications that are worth a thread
_ROUND_FLOOR = 1e-4  # of the squared norm in a round; below it float32 products are noise
_TARGET_NOISE = 1e-12  # of the targets' squared norm: what float32 products know of it


def draw_pool(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion | None,
    n_pool: int,
    how: str,
    settings: Settings,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the rows of ``n_pool`` candidates, drawn as ``how`` says."""
    if n_pool >= len(batch):
        return np.arange(len(batch))
    if how == "random":
        return draw_random(len(batch), n_pool, random_state, batch.weight)
    if how == "kmeans":
        return draw_kmeans(batch.X, n_pool, random_state, batch.weight)
    if how == "rpcholesky":
        return draw_rpcholesky(batch.X, kernel, n_pool, random_state, batch.weight)
    screening = screening_criterion(criterion)
    is_scoring = isinstance(screening, ScoringCriterion)
    if screening is None or not (is_scoring or screening.deflation.symmetric):
        raise InvalidParameterError(
            f"how='screen' needs a criterion whose class says can_screen = True, and "
            f"{type(criterion).__name__} does not; pass how='random', 'kmeans' or 'rpcholesky'."
        )
    return draw_screened(batch, kernel, screening, n_pool, settings, random_state)


def screening_criterion(criterion: Criterion | None) -> Criterion | None:
    """Return the criterion by which candidates for this one are screened, if there is any."""
    if criterion is None:
        return None
    if isinstance(criterion, BestSubset):
        return criterion.single
    if criterion.needs.metric:
        # Examples that are good one by one serve directions that combine them, too.
        return Alignment() if criterion.needs.targets else DirectionVariance()
    return criterion if criterion.can_screen or criterion.deflation.symmetric else None


def draw_screened(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion,
    n_pool: int,
    settings: Settings,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Screen candidates: the greedy loop over many candidates on a sample of rows.

    What is picked there becomes the pool of the pass over all rows. A candidate that matters is found
    on a sample; a random pool may not contain it.
    """
    symmetric = criterion.deflation.symmetric
    sample, candidates, weight = _samples(batch, n_pool, symmetric, settings.max_memory, random_state)
    points = kernel.points(batch.X, candidates)
    if not isinstance(kernel, CallableKernel):  # a function of the user's sees rows as they were given
        sample, points = replace(sample, X=dense_sample(sample.X)), dense_sample(points)
    center = criterion.centred_scores if symmetric else settings.center
    few = len(sample) * len(candidates) <= _FEW_VALUES
    columns = store_columns(
        sample, kernel, points, center=center, dtype=np.float32, n_jobs=1 if few else settings.n_jobs
    )
    if symmetric:
        followed = FollowedCandidates(columns, EvaluatedMetric(kernel, batch.X, candidates), n_pool)
        no_targets = np.empty((len(sample), 0))
        found = extract(followed, no_targets, criterion, n_pool, total_weight=1.0, floor=SCREEN_FLOOR)
        picked = np.array([d.candidates[0] for d in found.directions], np.intp)
    else:
        lengths = kernel.diag_at(batch.X, candidates)
        if isinstance(sample.targets, Labels) and sample.n_targets > _SCREEN_TARGETS:
            sample = replace(sample, targets=_few_targets(sample.targets, random_state))
        targets = weighted_targets(sample, center)
        one_round = few and n_pool >= _ONE_ROUND_EACH * settings.n_components
        screen = Screen(columns, lengths, targets, criterion, settings.n_jobs)
        picked = screen.pick(n_pool, one_round=one_round)
    return filled_up(candidates, picked, n_pool, random_state, weight)


def _few_targets(labels: Labels, random_state: np.random.RandomState) -> np.ndarray:
    """Return many classes as few targets, in which sums of squares over classes are nearly the same.

    Each class has random signs in all of them (Achlioptas, 2003): sums differ by an eighth at most, in
    most cases, and the samples on which candidates are scored are random, too.
    """
    signs = random_state.choice([-1.0, 1.0], (labels.n_classes, _SCREEN_TARGETS))
    return np.asarray(signs[labels.codes] / np.sqrt(_SCREEN_TARGETS))


def _samples(
    batch: Batch,
    n_pool: int,
    symmetric: bool,
    max_memory: float,
    random_state: np.random.RandomState,
) -> tuple[Batch, np.ndarray, np.ndarray | None]:
    """Draw the rows and the candidates of a screen, and return the candidates' weights, too.

    They are as many as memory has room for, and at most some number. The pool's own kernel matrix is
    needed in any case, and a screen may be as large.
    """
    n_rows = len(batch)
    if symmetric:
        rows, candidates = _ANALYSED_ROWS, _ANALYSED_CANDIDATES
    else:
        rows = max(_FEWEST_ROWS, min(_ROWS_EACH * n_pool, _ENOUGH), n_rows // _ROWS_PART)
        many = min(_SCREENED_EACH * n_pool, _ENOUGH)
        candidates = max(_FEWEST_CANDIDATES, many, n_rows // _CANDIDATES_PART)
        rows, candidates = min(rows, SCREEN_ROWS), min(candidates, SCREEN_CANDIDATES)
    rows, candidates = min(n_rows, rows), min(n_rows, max(candidates, n_pool))
    room = max(max_memory, 8 * n_pool**2)
    share = min(1.0, np.sqrt(room / (4 * rows * candidates)))  # float32
    sizes = max(1, int(share * rows)), max(n_pool, int(share * candidates))
    drawn, weight = draw_sample(n_rows, sizes[0], random_state, batch.weight)
    sample = replace(batch[drawn], weight=weight)
    return sample, *draw_sample(n_rows, sizes[1], random_state, batch.weight)


class Screen:
    """Picks candidates in rounds: inside a shortlist, with all candidates scored anew between them.

    A step of the loop reads every column that it may choose. A round reads the columns of the shortlist
    once, for their inner products, by which it picks; one product with the features of all its picks
    then brings every column up to date.
    """

    def __init__(
        self,
        columns: StoredColumns,
        lengths: np.ndarray,
        targets: np.ndarray,
        criterion: ScoringCriterion,
        n_jobs: int | None = None,
    ) -> None:
        self._columns = columns
        self._n_jobs = n_jobs
        self._criterion = criterion
        self._targets = targets
        self._lengths = lengths
        self._squared_norms, self._products = columns.scan(targets)
        self._eligible = self._squared_norms > 0
        noise = _TARGET_NOISE * float(np.einsum("nq,nq->", targets, targets))
        self._least_explained = noise if criterion.needs.targets else -1.0

    def pick(self, n_pool: int, *, one_round: bool = False) -> np.ndarray:
        """Return as many candidates as asked, or as there are independent ones.

        In one round all candidates are on the shortlist.
        """
        n_rows, n_columns = self._columns.shape
        features = np.empty((n_pool, n_rows), np.float32)
        column_products = np.empty((n_columns, n_pool), np.float32)
        picked = np.empty(0, np.intp)
        while (size := len(picked)) < n_pool:
            n_steps = n_pool - size
            if not one_round:
                n_steps = min(max(size, _FEWEST_STEPS), _MOST_STEPS, n_steps)
            raw = self._columns.raw_squared_norms
            self._eligible &= self._squared_norms > SCREEN_FLOOR * raw
            scores = self._scores(slice(None), self._squared_norms, self._products, self._eligible)
            most = max(_SHORTLISTED_EACH * n_steps, _FEWEST_SHORTLISTED)
            shortlist = np.argsort(-scores, kind="stable")[: n_columns if one_round else most]
            shortlist = np.sort(shortlist[np.isfinite(scores[shortlist])])
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

    def _scores(
        self,
        some: slice | np.ndarray,
        squared_norms: np.ndarray,
        products: np.ndarray,
        eligible: np.ndarray,
    ) -> np.ndarray:
        """Score some of the candidates, by what is left of them."""
        view = View(
            self._criterion,
            residual_squared_norms=squared_norms,
            raw_squared_norms=self._columns.raw_squared_norms[some],
            target_products=products,
            eligible=eligible,
            metric=DiagonalOnly(self._lengths[some]),
        )
        return self._criterion.scores_of_eligible(view)

    def _greedy(self, shortlist: np.ndarray, lines: np.ndarray, n_steps: int) -> np.ndarray:
        """Pick lines one after another, by their inner products alone."""
        gram = (lines @ lines.T).astype(np.float64)
        products = (lines @ self._targets.astype(np.float32)).astype(np.float64)
        squared_norms = np.diagonal(gram).copy()
        raw = self._columns.raw_squared_norms[shortlist]
        floors = np.maximum(SCREEN_FLOOR * raw, _ROUND_FLOOR * np.diagonal(gram))
        eligible = np.ones(len(shortlist), bool)
        factor = np.empty((n_steps, len(shortlist)))
        chosen: list[int] = []
        while len(chosen) < min(n_steps, len(shortlist)):
            eligible &= squared_norms > floors
            scores = self._scores(shortlist, squared_norms, products, eligible)
            pick, known = int(scores.argmax()), factor[: len(chosen)]
            if not eligible[pick]:
                break
            norm = np.sqrt(squared_norms[pick])
            target_products = products[pick] / norm
            if target_products @ target_products <= self._least_explained:
                break
            line = (gram[pick] - known[:, pick] @ known) / norm
            squared_norms -= line * line
            products -= np.multiply.outer(line, target_products)
            factor[len(chosen)] = line
            eligible[pick] = False
            chosen.append(pick)
        return np.array(chosen, dtype=np.intp)

    def _deflate(self, features: np.ndarray) -> np.ndarray:
        """Bring all candidates up to date with new features; return their products with them."""
        lines = self._columns.values.T
        narrow = np.empty((len(lines), features.shape[1]), np.float32)

        def multiply(some: slice) -> None:
            np.dot(lines[some], features, out=narrow[some])

        slices = list(row_slices(len(lines), max(1, _THREAD_PRODUCTS // features.size)))
        run_blocks(multiply, slices, self._n_jobs)
        products, target_products = narrow.astype(np.float64), features.T @ self._targets
        self._squared_norms -= np.einsum("cj,cj->c", products, products)
        np.maximum(self._squared_norms, 0.0, out=self._squared_norms)
        self._products -= products @ target_products
        self._targets = self._targets - features @ target_products
        return products
