"""How long the library's own algorithms take, and which is best at which size.

Every algorithm is forced in launches of its own, several times, in an order that is shuffled anew in every round, the
default among them. Launches are the independent samples: a time is the median of the launches' medians, its interval
that of this median (the 2nd to the 8th of 9). From fewer than 6 launches nothing is chosen: no interval of theirs
covers 95 %, and the best of many algorithms would be one that had luck.

Where the time is short there are 6 rounds, whose interval is from the least to the most. So an algorithm of which one
launch took no less than one of the default's, at every size, can win no more, and is launched no more: nothing is lost
by that. Where that is not enough, sizes are given up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from kumihimo import _measure
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.mpi_library.algorithms import AUTO, BLOCK_CALLS, COLLECTIVES, DEFAULT, Catalogue
from kumihimo.tune.mpi_library.fingerprints import Reference, Setup, launch_library, rounds, settings_of

LAUNCHES, LEAST_LAUNCHES = 7, 6
SIZE_SECONDS = 0.1  # of a launch, about, for each of its sizes
SIZES_FROM = 2  # rounds, after which most of what cannot win is out: sizes are given up then at the earliest
HALVES = {f"2 {collective}": collective for collective in COLLECTIVES}
# Of the default, side by side: what guidelines compare.
CALLS = (*COLLECTIVES, "reduce+bcast", *HALVES, *BLOCK_CALLS)


@dataclass(frozen=True)
class LibraryRow:
    """One call of the library's at one size. `launches`: each one's median."""

    call: str
    algorithm: str
    bytes: int
    launches: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return self._statistics.ratio

    @property
    def low(self) -> float:
        return self._statistics.ratio_low

    @property
    def high(self) -> float:
        return self._statistics.ratio_high

    @property
    def _statistics(self) -> _measure.Comparison:
        return _measure.compare([(seconds, 1.0) for seconds in self.launches])

    def beats(self, other: LibraryRow) -> bool:
        """Beyond both intervals."""
        return self.high < other.low


@dataclass
class LibraryTable:
    """All that was measured on one library and number of ranks."""

    ranks: int
    rows: list[LibraryRow] = field(default_factory=list)
    about: JsonObject = field(default_factory=dict)

    def row(self, call: str, algorithm: str, size: int) -> LibraryRow | None:
        wanted = (call, algorithm, size)
        return next((r for r in self.rows if (r.call, r.algorithm, r.bytes) == wanted), None)

    def of(self, call: str, size: int) -> list[LibraryRow]:
        return [r for r in self.rows if r.call == call and r.bytes == size]

    @property
    def sizes(self) -> list[int]:
        return sorted({r.bytes for r in self.rows})


@dataclass(frozen=True)
class MeasuringEffort:
    """`launches` of each, fewer where another round would take longer than `seconds` in all, but no fewer than six."""

    launches: int = LAUNCHES
    case_seconds: float = 0.02
    seconds: float = 3600
    seed: int = 1  # of the order of the launches


Samples = dict[tuple[str, str, int], list[float]]  # by call, algorithm, bytes: each launch's median


def measure(
    setup: Setup, catalogue: Catalogue, reference: Reference, effort: MeasuringEffort | None = None
) -> LibraryTable:
    """Every algorithm at every size where it has a fingerprint, which is where the library does not refuse it; and of
    the default what the guidelines need. Of fewer sizes than were asked for where the time is short."""
    effort = effort or MeasuringEffort()
    shuffle = random.Random(effort.seed).shuffle
    samples: Samples = {}
    table = LibraryTable(setup.ranks)
    tried = rounds(catalogue)
    began, last, short = time.monotonic(), 0.0, False
    for number in range(effort.launches):
        left = effort.seconds - (time.monotonic() - began)
        if number >= LEAST_LAUNCHES and (short or last > left):
            break
        if 1 <= number < LEAST_LAUNCHES:
            short = short or too_long(setup, tried, number, left)
            if short:
                tried = rounds(still_open(catalogue, samples, setup.sizes))
            if short and number >= SIZES_FROM and too_long(setup, tried, number, left):
                setup = replace(setup, sizes=fewer(setup, left / launches_to_come(tried, number)))
        order = list(range(len(tried)))
        shuffle(order)
        last = time.monotonic()
        for done, place in enumerate(order):
            setup.step(f"the library's algorithms: round {number + 1}, launch {done + 1} of {len(tried)}")
            forced = tried[place]
            calls = CALLS if place == 0 else tuple(forced)
            results, about = launch_library(
                setup,
                calls,
                settings_of(forced),
                forced=forced,
                name=f"times {effort.seed}.{number}",
                case_seconds=effort.case_seconds,
                turns_at_least=5,
            )
            table.about.update(about)
            for result in results:
                algorithm = forced[result["call"]].name if result["call"] in forced else DEFAULT
                if algorithm == DEFAULT or (result["call"], algorithm, result["bytes"]) in reference:
                    key = (result["call"], algorithm, result["bytes"])
                    samples.setdefault(key, []).append(result["seconds"])
        last = time.monotonic() - last
    table.rows = [LibraryRow(*key, tuple(seconds)) for key, seconds in samples.items() if key[2] in setup.sizes]
    return table


# --- where the time is short


def least_seconds(setup: Setup, catalogue: Catalogue) -> float:
    """For a file: fingerprints, six rounds, and a launch to see whether it is obeyed; fewer where some fall out."""
    return (len(rounds(catalogue)) * (1 + LEAST_LAUNCHES) + 1) * setup.pace.seconds


def affordable(setup: Setup, catalogue: Catalogue, seconds: float) -> tuple[int, ...]:
    """The sizes to begin with in so many seconds, before anything is known of this library's launches."""
    launches = len(rounds(catalogue)) * (1 + LEAST_LAUNCHES / 2)  # about half of them fall out on the way
    number = int((seconds / launches - setup.launch_seconds) / SIZE_SECONDS)
    return spread_over(sorted(setup.sizes), min(len(setup.sizes), max(1, number)))


def launches_to_come(tried: Sequence[JsonObject], number: int) -> int:
    """From round `number` on, if none falls out any more."""
    return len(tried) * (LEAST_LAUNCHES - number)


def too_long(setup: Setup, tried: Sequence[JsonObject], number: int, seconds: float) -> bool:
    return launches_to_come(tried, number) * setup.pace.seconds > seconds


def still_open(catalogue: Catalogue, samples: Samples, sizes: Sequence[int]) -> Catalogue:
    """Without the algorithms that can win no more at any of these sizes; what they are compared with stays."""

    def can_win(collective: str, name: str) -> bool:
        mine = [(samples[collective, name, size], size) for size in sizes if (collective, name, size) in samples]
        bases = (DEFAULT, AUTO)
        return any(
            max(times) < min(samples.get((collective, base, size), [0.0])) for times, size in mine for base in bases
        )

    kept = {
        collective: tuple(a for a in found if a.name in (DEFAULT, AUTO) or can_win(collective, a.name))
        for collective, found in catalogue.candidates.items()
    }
    return replace(catalogue, candidates=kept)


def fewer(setup: Setup, launch_seconds: float) -> tuple[int, ...]:
    """As many of the sizes as a launch of so many seconds has time for, from all over their range; one at least."""
    sizes, empty = sorted(setup.sizes), setup.launch_seconds
    each = max(0.0, setup.pace.seconds - empty) / len(sizes)
    number = min(len(sizes), max(1, int((launch_seconds - empty) / each))) if each > 0 else len(sizes)
    return spread_over(sizes, number)


def spread_over(sizes: Sequence[int], number: int) -> tuple[int, ...]:
    """`number` of the sizes, equally far apart, the last among them."""
    return tuple(sizes[-1 - place * len(sizes) // number] for place in reversed(range(number)))


# --- the best


def best(table: LibraryTable, family: str) -> dict[str, dict[int, str]]:
    """The algorithm by collective and size: the default unless another beats it beyond both intervals."""
    return {collective: best_of(table, collective, family) for collective in COLLECTIVES}


def best_of(table: LibraryTable, collective: str, family: str) -> dict[int, str]:
    chosen = {size: winner(table.of(collective, size), DEFAULT) for size in table.sizes}
    if family != "mpich" or set(chosen.values()) == {DEFAULT}:
        return chosen
    return without_device(table, collective) or dict.fromkeys(table.sizes, DEFAULT)


def winner(rows: Iterable[LibraryRow], baseline: str) -> str:
    rows = [row for row in rows if len(row.launches) >= LEAST_LAUNCHES]
    base = next((r for r in rows if r.algorithm == baseline), None)
    if base is None:
        return DEFAULT
    better = [r for r in rows if r.beats(base)]
    return min(better, key=lambda r: r.seconds).algorithm if better else baseline


def without_device(table: LibraryTable, collective: str) -> dict[int, str] | None:
    """MPICH's device is put aside for all sizes of a collective or for none: what is best then, unless it loses against
    the default at some size."""
    chosen = {}
    for size in table.sizes:
        rows = [r for r in table.of(collective, size) if r.algorithm != DEFAULT]
        name = winner(rows, AUTO)
        default, mine = table.row(collective, DEFAULT, size), table.row(collective, name, size)
        if default is None or mine is None or default.beats(mine):
            return None
        chosen[size] = name
    return chosen
