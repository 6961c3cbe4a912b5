"""Trends of the machines of the past, and how far projections from them would have been off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import median

from kumihimo.predict.projection.files import Assumption, PastMachine, Scaling, past_machines
from kumihimo.text.errors import wrong_value

HORIZONS = (5, 10)  # years
EARLIER_YEARS = (2008, 2011, 2014, 2017, 2020)  # whose projections a page shows
WINDOW = 10.0  # years of a trend: over longer ones it follows growth that has ended
LEAST = 4  # machines for a trend
WATTS = 1.08  # growth of a node's power in a year, which decides how many nodes there are, and nothing else
LATENCY = Assumption(0.97, 0.93, 1.0, "assumed: a message took 3 to 6 us in 2000 and 1 to 2 us in 2022")
FEW = Assumption(1.2, 1.1, 1.3, f"assumed: fewer than {LEAST} machines up to that year tell it")


@dataclass(frozen=True)
class Trend:
    """A factor of a year, by least squares of logarithms. `scatter`: of a machine about it, also a logarithm."""

    factor: float
    low: float
    high: float
    scatter: float
    machines: int
    first: float
    last: float
    middle: float  # year
    height: float  # value of the line in that year

    def at(self, year: float) -> float:
        return self.height * self.factor ** (year - self.middle)

    def assumption(self, times: float = 1.0, words: str = "") -> Assumption:
        """This factor times another, with its range."""
        source = f"fitted: {words or 'the trend'} of {self.machines} machines of {self.first:.0f} to {self.last:.0f}"
        return Assumption(self.factor * times, self.low * times, self.high * times, source)


@dataclass(frozen=True)
class Hindcast:
    """A machine as it would have been projected `horizon` years before, at its power, by the trend of then."""

    machine: PastMachine
    horizon: int
    growth: float  # of the trend, a year
    peak: float  # flop/s

    @property
    def ratio(self) -> float:
        return self.peak / self.machine.peak


def t_quantile(degrees: int) -> float:
    """Quantile of Student's distribution, 95 % one-sided (Cornish and Fisher's expansion; 0.5 % off from 4 degrees)."""
    z = 1.6449
    return (
        z
        + (z**3 + z) / (4 * degrees)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * degrees**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * degrees**3)
    )


def trend(points: Sequence[tuple[float, float]]) -> Trend:
    """Trend of (year, value)."""
    n = len(points)
    years = [year for year, _ in points]
    middle = sum(years) / n
    logs = [log(value) for _, value in points]
    height = sum(logs) / n
    spread = sum((year - middle) ** 2 for year in years)
    slope = sum((year - middle) * (each - height) for year, each in zip(years, logs)) / spread
    off = [each - height - slope * (year - middle) for year, each in zip(years, logs)]
    scatter = sqrt(sum(each * each for each in off) / (n - 2))
    edge = t_quantile(n - 2) * scatter / sqrt(spread)
    return Trend(
        exp(slope), exp(slope - edge), exp(slope + edge), scatter, n, min(years), max(years), middle, exp(height)
    )


def end_of(year: float) -> float:
    """End of a whole year: with its lists of June and November."""
    return year + 0.99 if year == int(year) else year


def trend_until(year: float, what: str) -> Trend | None:
    """Trend of `what` per watt (PastMachine.per_watt) in the WINDOW before a time; None: too few machines tell it."""
    points = [
        (each.year, value)
        for each in past_machines()
        if year - WINDOW <= each.year <= year and (value := each.per_watt(what)) is not None
    ]
    return trend(points) if len(points) >= LEAST else None


def scaling(year: float) -> Scaling:
    """Growth as the machines of the ten years up to a year had it, per watt. All parts keep their shares of a node's
    power, so both models of power give the same."""
    end = end_of(year)
    peak, memory = trend_until(end, "peak"), trend_until(end, "memory")
    if peak is None or memory is None:
        rule = f"--scaling history:YEAR needs {LEAST} machines with peak and memory in the ten years up to that year"
        raise wrong_value(rule, f"{year:g}", "name another year, such as history:2015")
    flops, bits = peak.factor * WATTS, memory.factor * WATTS
    grows = f"assumed: a node's power grows by {WATTS - 1:.0%} a year, and its parts keep their shares"

    def kept(value: float) -> Assumption:
        return Assumption(value, value, value, grows)

    def rate(what: str, words: str) -> Assumption:
        found = trend_until(end, what)
        return FEW if found is None else found.assumption(WATTS, f"{words} per watt, times {WATTS:g},")

    return Scaling(
        f"history:{year:.0f}",
        f"trends of {peak.machines} machines of {peak.first:.0f} to {peak.last:.0f}",
        {
            "peak": peak.assumption(WATTS, f"peak per watt, times {WATTS:g},"),
            "processor_power": kept(WATTS),
            "dram_bits": memory.assumption(WATTS, f"memory per watt, times {WATTS:g},"),
            "dram_power": kept(WATTS),
            "dram_access_energy": kept(WATTS * bits / flops**2),
            "link_energy": kept(WATTS / flops),
            "memory_bandwidth": rate("memory_bandwidth", "memory bandwidth"),
            "link_bandwidth": rate("injection", "bandwidth into the network"),
            "latency": LATENCY,
        },
        peak.scatter,
    )


def hindcasts(horizon: int) -> list[Hindcast]:
    """Hindcasts of all machines with a trend so many years before."""
    found = []
    for each in past_machines():
        line = trend_until(each.year - horizon, "peak")
        if line is not None:
            found.append(Hindcast(each, horizon, line.factor, line.at(each.year) * each.power))
    return found


@dataclass(frozen=True)
class HindcastError:
    """Factor, up or down, by which projections of so many years were off."""

    horizon: int
    machines: int
    typical: float  # median
    worst: float
    too_high: int


def error(of: Sequence[Hindcast]) -> HindcastError:
    off = [max(each.ratio, 1 / each.ratio) for each in of]
    return HindcastError(of[0].horizon, len(of), median(off), max(off), sum(each.ratio > 1 for each in of))


def came(year: float) -> PastMachine | None:
    """The machine with the most Linpack per watt of those that came within a year of this one; None: none did."""
    near = [each for each in past_machines() if abs(each.year - year) <= 1]
    return max(near, key=lambda each: each.linpack / each.power, default=None)
