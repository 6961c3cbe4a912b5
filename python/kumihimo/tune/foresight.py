"""Predictions on a described machine before any measurement: algorithms that are predicted far slower than the best are
not tried. On a slow network one launch of all algorithms takes longer than a usual budget: 4 MiB by `one_shot` on 4x4
nodes takes 17 times as long as by the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kumihimo.tune.bench.cases import BenchCase

FAR_SLOWER = 10.0  # times the best: short messages cost processors, which a machine file may not have measured
ALWAYS_TRIED = 6  # of the best
TRIED_BEFORE_RUNS = 3  # of the best, where whole runs follow, which need the time
LONG_SECONDS = 0.05  # of a call: from there on only those are tried

# Predicted, of a case on so many ranks; None where there is no prediction.
PredictSeconds = Callable[[BenchCase, int], float | None]


@dataclass
class Foresight:
    """`always`: so many of the best are tried at least. `left_out`: algorithms that were not tried, with the collective
    and the bytes."""

    machine: str
    seconds: PredictSeconds
    always: int = ALWAYS_TRIED
    left_out: set[tuple[str, str, int | None]] = field(default_factory=set)

    def worth_trying(self, cases: Sequence[BenchCase], ranks: int) -> list[BenchCase]:
        """In their order. Where nothing is predicted, all."""
        by_size: dict[int | None, list[BenchCase]] = {}
        for case in cases:
            by_size.setdefault(case.bytes, []).append(case)
        far = [case for of_size in by_size.values() for case in self._far_slower(of_size, ranks)]
        self.left_out |= {(case.collective, case.algorithm, case.bytes) for case in far}
        return [case for case in cases if case not in far]

    def _far_slower(self, cases: Sequence[BenchCase], ranks: int) -> list[BenchCase]:
        known = [(seconds, case) for case in cases if (seconds := self.seconds(case, ranks)) is not None]
        ranked = sorted(known, key=lambda each: each[0])
        if len(ranked) <= self.always:
            return []
        best = ranked[0][0]
        most = 0.0 if best >= LONG_SECONDS else FAR_SLOWER * best
        return [case for seconds, case in ranked[self.always :] if seconds > most]

    @property
    def notes(self) -> list[str]:
        """One line, where anything was left out."""
        names = sorted({algorithm for _, algorithm, _ in self.left_out})
        if not names:
            return []
        return [f"not tried at all sizes, since {self.machine} is predicted far slower with them: {', '.join(names)}"]
