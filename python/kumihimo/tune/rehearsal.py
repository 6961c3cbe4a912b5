"""Does a program gain? Judging measures calls that all ranks begin together and that nothing comes between. A program's
calls pay for being hooked, follow one another at once, or find caches full of other work. So what was judged faster is
run as a program runs it: by the MPI library's names, in processes with the choices and without, by turns. What is not
faster back to back and between other work stays the library's."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from kumihimo.processes import mpi
from kumihimo.run import preload
from kumihimo.text.errors import OutOfTime
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import times_apart
from kumihimo.tune import wisdom
from kumihimo.tune.bench.cases import BenchCase
from kumihimo.tune.bench.job import run_rehearsal
from kumihimo.tune.bench.tuned import Choice
from kumihimo.tune.final_comparison import Judged
from kumihimo.tune.launches import Measure

PAIRS = 3  # of launches, one with the choices and one without
LEAST_PAIRS = 2  # that a verdict needs
# By so much a call must take less time. A rehearsal is one program, and others differ from it: LAMMPS lost 0.2 us a
# call of 8 bytes by a choice that had gained a little here.
LEAST_GAIN_SECONDS = 0.2e-6
BACK_TO_BACK, BETWEEN, OVER_COMPUTATION = "back_to_back_seconds", "between_seconds", "over_computation_seconds"
WAYS = {BACK_TO_BACK: "back to back", BETWEEN: "between other work", OVER_COMPUTATION: "over computation"}
NO_TIME = "no time for the rehearsal in a program"  # which says nothing of the choice
USUAL_WAYS = (BACK_TO_BACK, BETWEEN)  # of blocking calls

# Results of all sizes in the launch of this number, with the choices or without; None where time ended first.
Launch = Callable[[int, bool], list]
# How processes are measured with these choices (True) and without.
Stage = Callable[[list[JsonObject]], AbstractContextManager[dict[bool, Measure]]]


@dataclass
class Rehearsed:
    """One size: how much less time its calls took with the choice, in each pair of launches; and the ratios of both
    times."""

    bytes: int
    choice: Choice
    ways: tuple[str, ...] = USUAL_WAYS  # in which a program may call
    trouble: str = ""
    gains: dict[str, list[float]] = field(default_factory=dict)
    ratios: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gains, self.ratios = {way: [] for way in self.ways}, {way: [] for way in self.ways}

    @property
    def pairs(self) -> int:
        return min(map(len, self.gains.values()))

    @property
    def refused(self) -> str:
        """Why a program would not gain; empty where it does."""
        if self.trouble or self.pairs < LEAST_PAIRS:
            return self.trouble or NO_TIME
        lost = [WAYS[way] for way in self.ways if median(self.gains[way]) < LEAST_GAIN_SECONDS]
        return f"no gain in the rehearsal at {self.bytes} bytes: {', '.join(lost)}" if lost else ""

    def take(self, ours: JsonObject, theirs: JsonObject) -> None:
        self.trouble = self.trouble or ours.get("not_applicable", "") or theirs.get("not_applicable", "")
        if not self.trouble:
            for way, gains in self.gains.items():
                gains.append(theirs[way] - ours[way])
                self.ratios[way].append(ratio_of(ours[way], theirs[way]))

    @property
    def figures(self) -> JsonObject:
        """The ratio in a program that calls in these ways, one as often as the other: median, least and most of the
        pairs."""
        means = [sum(pair) / len(pair) for pair in zip(*(self.ratios[way] for way in self.ways))]
        if not means:
            return {}
        return {"program_ratio": median(means), "program_ratio_low": min(means), "program_ratio_high": max(means)}


def ratio_of(ours: float, theirs: float) -> float:
    """Ratio of both times: the time that a call adds to computation may be zero, and by chance negative."""
    return max(0.0, ours) / theirs if theirs > 0 else 1.0


def rehearse(faster: Sequence[tuple[int, Choice]], launch: Launch, ways: Sequence[str] = USUAL_WAYS) -> list[Rehearsed]:
    """`ways`: those in which the program calls."""
    found = [Rehearsed(*each, ways=tuple(ways)) for each in faster]
    try:
        for number in range(PAIRS):
            results = {hooked: launch(number, hooked) for hooked in ((False, True) if number % 2 else (True, False))}
            for each, ours, theirs in zip(found, results[True], results[False]):
                if ours and theirs:
                    each.take(ours, theirs)
    except OutOfTime:
        pass  # those without a pair are refused
    return found


def of_each_choice(judged: Iterable[Judged]) -> list[Judged]:
    """The faster ones to rehearse: powers of two, or their substitutes in a choice."""
    faster = [each for each in judged if each.faster]
    powers = [each for each in faster if each.bytes & (each.bytes - 1) == 0]
    rest = {each.choice: each for each in faster if each.choice not in {other.choice for other in powers}}
    return sorted([*powers, *rest.values()], key=lambda each: each.bytes)


def refuse(judged: Iterable[Judged], rehearsed: Sequence[Rehearsed]) -> None:
    """Each judged size takes the answer of the nearest one at which its choice was rehearsed."""
    for each in judged:
        own = [found for found in rehearsed if found.choice == each.choice]
        if not own or not each.faster:
            continue
        nearest = min(own, key=lambda found: times_apart(found.bytes, each.bytes))
        each.refused = nearest.refused
        each.in_program = nearest.figures
        each.also = () if each.refused else (*each.also, *(WAYS[way] for way in nearest.ways))


def on_this_machine(installation: mpi.Installation) -> Stage:
    """Rehearses with MPI processes. Raises Failed where our object cannot be loaded before the library."""
    ours = preload.preloaded((preload.INTERPOSER,), preload.suffix_of(installation.library))

    @contextmanager
    def stage(choices: list[JsonObject]) -> Iterator[dict[bool, Measure]]:
        with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
            path, summary = Path(folder) / "wisdom.json", Path(folder) / "summary.json"
            path.write_text(wisdom.as_text(wisdom.document(choices, {})), encoding="utf-8")
            hooked = {
                preload.OF_PROGRAM: ours,
                f"{preload.OURS}WISDOM": str(path),
                f"{preload.OURS}SUMMARY": str(summary),
            }
            yield {True: seen(measured_by(installation, hooked), summary), False: measured_by(installation, {})}

    return stage


def measured_by(installation: mpi.Installation, of_processes: dict[str, str]) -> Measure:
    def measure(
        cases: Sequence[BenchCase], ranks: int, seconds: float, limit: float, on_result: Callable[[JsonObject], None]
    ) -> None:
        run_rehearsal(
            cases,
            ranks=ranks,
            installation=installation,
            of_processes=of_processes,
            case_seconds=seconds,
            on_result=on_result,
            seconds=limit,
        )

    return measure


def seen(measure: Measure, summary: Path) -> Measure:
    """Reports only what really ran by our algorithm, as the interposer's summary says: else nothing was compared."""

    def measured(
        cases: Sequence[BenchCase], ranks: int, seconds: float, limit: float, on_result: Callable[[JsonObject], None]
    ) -> None:
        results: list[JsonObject] = []
        summary.unlink(missing_ok=True)
        try:
            measure(cases, ranks, seconds, limit, results.append)
        finally:
            rows = calls_of(summary)
            for result in results:
                on_result(
                    result if rows is None or any(is_row_of(row, result) for row in rows) else as_not_applicable(result)
                )

    return measured


def calls_of(summary: Path) -> list[JsonObject] | None:
    """None where the launch was ended before it was written."""
    try:
        return json.loads(summary.read_text(encoding="utf-8"))["calls"]
    except (OSError, ValueError, KeyError):
        return None


def is_row_of(row: JsonObject, result: JsonObject) -> bool:
    called = result["collective"] if result.get("overlap_seconds") is None else f"i{result['collective']}"
    same = row["collective"] == called and row["algorithm"] == result["algorithm"]
    if result.get("counts"):  # the run counts the first block, the result tells the mean
        return same
    return same and row["bytes_from"] <= result["bytes"] <= row["bytes_to"]


def as_not_applicable(result: JsonObject) -> JsonObject:
    return {**result, "not_applicable": "the MPI library ran the call in the rehearsal"}
