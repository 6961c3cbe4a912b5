"""Predictions of a transform in three dimensions on the ranks of a described machine. The rate of lines is measured
here; exchanges are alltoalls of the registry on all rows, or all columns, of the grid of ranks at once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil, log2, prod

from kumihimo import _collectives, _machine, _programs, _schedule, _topology
from kumihimo.app import catalogue, launches
from kumihimo.collectives import arguments
from kumihimo.kernel import identity
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import wrong_value

FFT, VARIANT = "fft3d", "fused"
MEASURED_SIZE = 96
RUNS = 3
MOST_POINTS = 1 << 20  # along an axis
MOST_MESSAGES = 40_000_000  # of all ranks in an exchange
POINT_NUMBERS = 2  # doubles
SETTINGS = ("decomposition", "exchange", "at_once", "kind")
KINDS = ("complex", "real")


@dataclass(frozen=True)
class LineRate:
    """Of one thread here. Flops a second, by 5 n log2(n) a line, with the copies to and from messages."""

    flops: float
    library: str

    def measured(self) -> dict:
        processor = identity.this_machine()["processor"]
        return {
            "processor": processor,
            "threads": 1,
            "size": MEASURED_SIZE,
            "runs": RUNS,
            "line_gflops": self.flops * 1e-9,
        }


@dataclass(frozen=True)
class FftQuestion:
    points: tuple[int, int, int]
    decomposition: str = "auto"
    exchange: str = "pairwise"
    at_once: int = 1
    kind: str = "complex"

    @property
    def spectrum(self) -> tuple[int, int, int]:
        """Its points: of a real grid half of the frequencies along z."""
        nx, ny, nz = self.points
        return nx, ny, nz // 2 + 1 if self.kind == "real" else nz

    def flops(self, points: float, n: int, halved: bool) -> float:
        """Of lines of n points; `halved`: of a real grid."""
        return (2.5 if halved and self.kind == "real" else 5) * points * log2(max(2, n))

    def grid(self, ranks: int) -> tuple[int, int]:
        """Rows and columns: src/numerics/fft/pencils.hpp."""
        auto = self.decomposition == "auto"
        if self.decomposition == "slab" or (auto and ranks <= min(self.points[:2])):
            return ranks, 1
        if auto or self.decomposition == "pencil":
            columns = max(d for d in range(1, int(ranks**0.5) + 1) if ranks % d == 0)
            return ranks // columns, columns
        rows, columns = map(int, self.decomposition.split("x"))
        if rows * columns != ranks:
            raise wrong_value(f"rows x columns must be the number of ranks, {ranks}", self.decomposition)
        return rows, columns


def question(size: str | None, settings: dict[str, str]) -> FftQuestion:
    """What the options say. BadInput: it is no problem of the application's."""
    for name in settings:
        if name not in SETTINGS:
            known = ", ".join(f"--set {each}=..." for each in SETTINGS)
            raise wrong_value(f"simulate app {FFT} takes {known}", f"'{name}'", "leave it out")
    text = size or catalogue.find(FFT).default_size
    words = text.split("x")
    if len(words) not in (1, 3) or not all(re.fullmatch(r"[0-9]{1,7}", word) for word in words):
        raise wrong_value("--size must be points along x, y and z: 512 or 512x256x256", f"'{text}'")
    points = [int(word) for word in words] * (3 if len(words) == 1 else 1)
    if not all(1 <= n <= MOST_POINTS for n in points):
        raise wrong_value(f"--size must have 1 to {MOST_POINTS} points along each axis", text)
    decomposition = settings.get("decomposition", "auto")
    if decomposition not in ("auto", "slab", "pencil") and not re.fullmatch(
        r"[1-9]\d{0,6}x[1-9]\d{0,6}", decomposition
    ):
        rule = "the decomposition must be auto, slab, pencil, or rows x columns such as 4x2"
        raise wrong_value(rule, f"'{decomposition}'")
    at_once = settings.get("at_once", "1")
    if not re.fullmatch(r"[0-9]{1,5}", at_once) or not 1 <= int(at_once) <= 1 << 16:
        raise wrong_value(f"at_once must be a number of bands from 1 to {1 << 16}", f"'{at_once}'")
    exchange = settings.get("exchange", "pairwise")
    _collectives.find("alltoall", exchange)
    kind = settings.get("kind", "complex")
    if kind not in KINDS:
        raise wrong_value("kind must be complex or real", f"'{kind}'")
    return FftQuestion((points[0], points[1], points[2]), decomposition, exchange, int(at_once), kind)


def check(asked: FftQuestion, ranks: int) -> None:
    """BadInput: it does not fit the ranks, or is too long to simulate."""
    messages = ranks * max(asked.grid(ranks))
    if messages > MOST_MESSAGES:
        rule = f"a prediction of {FFT} has at most {MOST_MESSAGES} messages in an exchange"
        raise wrong_value(rule, messages, "use pencils that are more equal, or fewer ranks")


def measure(seconds: float) -> LineRate:
    """Runs the application on one thread. Raises what it says."""
    options = {"transforms": "4"}
    problem = launches.AppProblem(catalogue.find(FFT), str(MEASURED_SIZE), options, "", most_iterations=4)
    alone = launches.Resources(1, 1, None, seconds=seconds)
    runs = launches.run(problem, [catalogue.AppCandidate(VARIANT, ())], alone, turns=RUNS, check=False).results
    best = min(runs, key=lambda run: run["seconds"])
    lines = [kernel for kernel in best["kernels"] if kernel["flops"] > 0]
    rate = sum(kernel["flops"] for kernel in lines) / sum(kernel["seconds"] for kernel in lines)
    return LineRate(rate, best["facts"]["lines by"])


@dataclass(frozen=True)
class FftExchange:
    """All groups of `members` ranks that are `stride` apart exchange blocks of so many points."""

    members: int
    stride: int
    points: int


def exchanges(asked: FftQuestion, ranks: int) -> list[FftExchange]:
    """Of the forward transform, with the longest blocks of any rank. The backward one has the same."""
    rows, columns = asked.grid(ranks)
    nx, ny, nz = asked.spectrum
    part = [ceil(nx / rows), ceil(ny / columns), ceil(nz / columns), ceil(ny / rows)]
    all_of_them = [
        FftExchange(columns, 1, part[0] * part[1] * part[2]),  # from lines along z to lines along y
        FftExchange(rows, columns, part[0] * part[3] * part[2]),  # and on to lines along x
    ]
    return [each for each in all_of_them if each.members > 1]


def exchange_seconds(asked: FftQuestion, exchange: FftExchange, setting: Setting) -> float:
    """Of one band, where `at_once` bands go together."""
    numbers = POINT_NUMBERS * exchange.points * asked.at_once
    collective = _schedule.Collective("alltoall", exchange.members, numbers)
    space = _topology.RankSpace.row(exchange.members)
    schedule = _collectives.find("alltoall", asked.exchange).build(collective, space, arguments.parameters())
    programs = _programs.on_groups(schedule, setting.ranks.ranks, exchange.stride)
    return setting.predict(programs).seconds / asked.at_once


def predicted(asked: FftQuestion, rate: LineRate, job: _machine.Job, model: str, speed: float) -> dict:
    """A transform of one band on the ranks of a job, one way. `speed`: of a core there, relative to one here."""
    ranks = job.rank_space.ranks
    rows, columns = asked.grid(ranks)
    nx, ny, nz = asked.points
    half = asked.spectrum[2]
    of_rank = [  # points while lines along z, y and x are transformed
        (ceil(nx / rows) * ceil(ny / columns) * nz, nz, True),
        (ceil(nx / rows) * ny * ceil(half / columns), ny, False),
        (nx * ceil(ny / rows) * ceil(half / columns), nx, False),
    ]
    computing = sum(asked.flops(*lines) for lines in of_rank) / (rate.flops * speed)
    setting = Setting(model, job)
    waits = [exchange_seconds(asked, each, setting) for each in exchanges(asked, ranks)]
    seconds = computing + sum(waits)
    points = prod(asked.points)
    return {
        "application": FFT,
        "ranks": ranks,
        "grid": [rows, columns],
        "points": list(asked.points),
        "exchange": asked.exchange,
        "at_once": asked.at_once,
        "kind": asked.kind,
        "seconds": seconds,
        "gflops": asked.flops(points, points, True) * 1e-9 / seconds,
        "computing_seconds": computing,
        "exchange_seconds": waits,
        "machine": job.machine.name,
        "shape": simulation.shape_of(job.machine),
        "model": model,
    }


def assumed(speed_text: str) -> list[str]:
    """What the times rest on beside measurements."""
    return [
        f"{speed_text}, and each rank has one thread",
        "lines and exchanges take turns: nothing overlaps",
        "lines run at the same rate whatever their length and whatever memory the machine has",
    ]
