"""A time budget in seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Clock:
    """The seconds left of a budget, which may be unlimited."""

    seconds: float | None = None
    started: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        return float("inf") if self.seconds is None else self.seconds - self.elapsed

    @property
    def is_over(self) -> bool:
        return self.left <= 0

    def part(self, share: float) -> Clock:
        """Return a clock for a share of the time left."""
        return Clock(None if self.seconds is None else share * max(0.0, self.left))
