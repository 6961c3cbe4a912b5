"""The speed of a core of a described machine, relative to one thread here."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo import _machine, _node
from kumihimo.text.errors import wrong_value
from kumihimo.text.json_types import JsonObject

PEAK_ROUNDS = 15


@dataclass(frozen=True)
class CoreSpeed:
    """Speed of a rank relative to one thread here, with the peaks that it follows from, in flops a second."""

    speed: float
    peak_here: float | None = None
    peak_there: float | None = None

    @classmethod
    def by_peak(cls, job: _machine.Job) -> CoreSpeed:
        """Kernels reach the share of the peak that they reach here."""
        flops, _ = job.machine.compute_rates
        if not flops:
            raise wrong_value("--speed peak needs a machine file with flop_rate", job.machine.name, "add it")
        return cls.of(peak_here(), flops / max(job.slots.sizes))

    @classmethod
    def of(cls, here: float, there: float) -> CoreSpeed:
        return cls(there / here, here, there)

    def text(self, machine: str) -> str:
        if self.peak_here and self.peak_there:
            return (
                f"kernels reach the same share of the peak on {machine}, {self.peak_there * 1e-9:.4g} GFLOPS of a "
                f"rank, as here, {self.peak_here * 1e-9:.4g} GFLOPS of a thread"
            )
        as_fast = "as fast as" if self.speed == 1 else f"{self.speed:g} times as fast as"
        return f"a core of {machine} is {as_fast} the one here (--speed)"

    def measured(self) -> JsonObject:
        """Members of JSON."""
        return {} if self.peak_here is None else {"peak_gflops": self.peak_here * 1e-9}


def peak_here() -> float:
    """Peak of one thread, by multiply-adds in registers: the best of some rounds, since other programs only slow it
    down.
    """
    return max(_node.measure_peak(1, PEAK_ROUNDS).gflops) * 1e9
