"""Collectives of a profile: the program's calls, their time, the part spent waiting, and the late ranks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kumihimo import _schedule
from kumihimo.run.profile import call_sites, reading
from kumihimo.run.profile.call_sites import CallPlace
from kumihimo.text.errors import not_applicable
from kumihimo.text.json_types import JsonObject

BLOCKING, NON_BLOCKING, PERSISTENT = "blocking", "non-blocking", "persistent"
INTER, ALONE = "intercommunicators", "communicators of one rank"


def _calls() -> dict[str, tuple[str, str, bool]]:
    """The collective of each MPI call, how it is started, and whether its blocks may differ in size."""
    found = {}
    for kind in _schedule.collectives():
        regular, *others = _schedule.meaning(kind).mpi_calls or [""]
        for call in filter(None, (regular, *others)):
            irregular = call in others
            found[call] = (kind, BLOCKING, irregular)
            found[f"MPI_I{call[4:].lower()}"] = (kind, NON_BLOCKING, irregular)
            found[f"{call}_init"] = (kind, PERSISTENT, irregular)
    return found


@dataclass(frozen=True)
class Form:
    """Other properties of a call that an algorithm may depend on. None: a derived type or none; no reduction."""

    type: str | None
    operation: str | None
    in_place: bool


Key = TypeVar("Key")


class SecondsBy(dict[Key, float]):
    """Sums of seconds."""

    def add(self, key: Key, seconds: float) -> None:
        self[key] = self.get(key, 0.0) + seconds

    def falling(self) -> list[tuple[Key, float]]:
        """The most first."""
        return sorted(self.items(), key=lambda each: -each[1])


@dataclass
class Use:
    """Calls of one collective in one size class, on communicators of so many ranks; sums over ranks. Sizes are of the
    vector, or of one block."""

    collective: str
    start: str  # BLOCKING ...
    irregular: bool  # its blocks may differ in size
    ranks: int
    bytes_from: int
    smallest: int
    largest: int
    calls: int = 0
    seconds: float = 0.0
    split_seconds: float = 0.0
    waiting_seconds: float = 0.0
    apart_seconds: float = 0.0  # since the MPI calls before
    completion_seconds: float = 0.0  # of `seconds`: in the calls that complete non-blocking ones
    overlap_seconds: float = 0.0  # from the beginning of non-blocking calls to these
    forms: SecondsBy[Form] = field(default_factory=SecondsBy)
    places: SecondsBy[CallPlace] = field(default_factory=SecondsBy)

    @property
    def blocking(self) -> bool:
        return self.start == BLOCKING

    @property
    def waiting_share(self) -> float:
        """0 where none of its calls was sampled."""
        return self.waiting_seconds / self.split_seconds if self.split_seconds else 0.0

    @property
    def waits(self) -> float:
        """Seconds of all calls, by those that were sampled. Non-blocking ones wait in their completion."""
        return self.waiting_share * (self.seconds if self.blocking else self.completion_seconds)

    @property
    def transferring_seconds(self) -> float:
        """Seconds that an algorithm may change at most; unknown for persistent calls."""
        return self.seconds - self.waits if self.start != PERSISTENT else 0.0

    @property
    def apart(self) -> bool:
        """Whether there is mostly other work between these calls and the MPI calls before them."""
        return self.apart_seconds > self.seconds

    def add(self, row: JsonObject) -> None:
        self.smallest, self.largest = min(self.smallest, row["smallest_bytes"]), max(self.largest, row["largest_bytes"])
        self.calls += row["calls"]
        self.seconds += seconds_of(row)
        split, waiting = split_of(row)
        self.split_seconds += split
        self.waiting_seconds += waiting
        self.apart_seconds += row["apart_seconds"]
        self.completion_seconds += row.get("completion_seconds", 0.0)
        self.overlap_seconds += row.get("overlap_seconds", 0.0)
        self.forms.add(Form(row["type"], row["operation"], row["in_place"]), seconds_of(row))


@dataclass
class Late:
    """One call site on like communicators. The rank that spends the least time there is the one for which the others
    wait, as all leave together."""

    collective: str
    call: str
    place: CallPlace
    seconds: float = 0.0  # of all ranks
    waiting_seconds: float = 0.0
    ranks: int = 0
    rank: int = -1  # with the least time
    least_seconds: float = 0.0

    def add(self, rank: int, seconds: float, waiting: float) -> None:
        self.seconds += seconds
        self.waiting_seconds += waiting
        self.ranks += 1
        if self.rank < 0 or seconds < self.least_seconds:
            self.rank, self.least_seconds = rank, seconds

    @property
    def is_known(self) -> bool:
        """Whether the times here say who is late: all wait for all, and all call here."""
        meaning = _schedule.meaning(self.collective)
        return self.ranks > 1 and not meaning.has_root and meaning.contributors in ("all", "nobody")

    @property
    def whom(self) -> str:
        """For whom is waited, as words of a sentence; empty where that is not known."""
        if _schedule.meaning(self.collective).has_root:
            return "for the root" if _schedule.meaning(self.collective).contributors == "root" else "at the root"
        return f"for rank {self.rank}" if self.is_one_rank else "for different ranks" if self.is_known else ""

    @property
    def is_one_rank(self) -> bool:
        """Whether one rank is late for most of what the others wait: else they are late by turns."""
        if not self.is_known:
            return False
        others = (self.seconds - self.least_seconds) / (self.ranks - 1)
        return others - self.least_seconds > 0.5 * self.waiting_seconds / (self.ranks - 1)


@dataclass
class Collectives:
    """Collectives of a program. `seconds`: of all its ranks together, as all times here; `ranks`: number of ranks in
    the profile, of `expected`. `library`: the path of the MPI library, if known; `srun_mpi`: --mpi of the srun that
    started the ranks, None where another launcher did. `message_bytes`: that ranks send to single others.
    """

    mpi: str
    program: str
    ranks: int
    expected: int
    hosts: int
    seconds: float
    uses: list[Use]  # the most transferring first
    late: list[Late]  # the most waiting first
    others: SecondsBy[str] = field(default_factory=SecondsBy)  # of collectives that are no Use, by reason
    library: str = ""
    srun_mpi: str | None = None
    message_bytes: int = 0

    def share(self, seconds: float) -> float:
        return seconds / self.seconds if self.seconds else 0.0

    @property
    def split_seconds(self) -> float:
        """Seconds of the calls whose waiting and transferring are separate."""
        return sum(use.seconds for use in self.uses if use.start != PERSISTENT)

    @property
    def collective_seconds(self) -> float:
        """Also of calls that are persistent, or no Use."""
        return sum(use.seconds for use in self.uses) + sum(self.others.values())

    @property
    def transferring_seconds(self) -> float:
        return sum(use.transferring_seconds for use in self.uses)

    @property
    def waiting_seconds(self) -> float:
        return sum(use.waits for use in self.uses)


def seconds_of(row: JsonObject) -> float:
    """Seconds of an entry, with the completion of non-blocking calls."""
    return row["seconds"] + row.get("completion_seconds", 0.0)


def split_of(row: JsonObject) -> tuple[float, float]:
    """Seconds of an entry that are divided into waiting and transferring, and the waiting: of non-blocking calls, those
    of their completion.
    """
    if "completion_waiting_seconds" in row:
        return row["completion_seconds"], row["completion_waiting_seconds"]
    return row.get("split_seconds", 0.0), row.get("waiting_seconds", 0.0)


def waits_of(row: JsonObject) -> float:
    """Seconds of an entry: what was sampled is not exactly as long."""
    split, waiting = split_of(row)
    seconds: float = row["completion_seconds"] if "completion_seconds" in row else row["seconds"]
    return seconds * waiting / split if split else 0.0


def of(path: Path) -> Collectives:
    """Raises BadInput where the file is no profile, and NotApplicable where an older version wrote it."""
    lines = reading.lines(path)
    header = next(lines)
    with reading.explained(path):
        return _summed(header, lines, path)


def _summed(header: JsonObject, ranks: Iterable[JsonObject], path: Path) -> Collectives:
    known = _calls()
    uses: dict[tuple, Use] = {}
    late: dict[tuple, Late] = {}
    hosts, seconds, count, message_bytes = set(), 0.0, 0, 0
    others: SecondsBy[str] = SecondsBy()
    for rank in ranks:
        count += 1
        hosts.add(rank.get("host", ""))
        seconds += rank["seconds"]
        message_bytes += sum(sent + one_sided for _, _, sent, _, one_sided in rank["partners"])
        sites = [call_sites.as_recorded(site) for site in rank["sites"]]
        times: dict[tuple[str, str, CallPlace, str, int], list[float]] = {}  # at each call site: in all, waiting
        for row in rank["calls"]:
            kind, start, irregular = known.get(row["call"], ("", "", False))
            if not kind or row["communicator"] is None:
                continue
            if "bytes_from" not in row:
                rule = "the profile must say what collectives were asked for"
                raise not_applicable(rule, f"{path}, of an earlier version of kumihimo", "record again")
            communicator = rank["communicators"][row["communicator"]]
            if communicator["inter"] or communicator["size"] < 2:
                others.add(INTER if communicator["inter"] else ALONE, seconds_of(row))
                continue
            place = call_sites.NOWHERE if row["site"] is None else sites[row["site"]]
            key = (kind, start, irregular, communicator["size"], row["bytes_from"])
            use = uses.setdefault(key, Use(*key, row["smallest_bytes"], row["largest_bytes"]))
            use.add(row)
            use.places.add(place, seconds_of(row))
            here = times.setdefault((kind, row["call"], place, communicator["name"], communicator["size"]), [0.0, 0.0])
            here[0] += seconds_of(row)
            here[1] += waits_of(row)
        for there, (spent, waiting) in times.items():
            late.setdefault(there, Late(there[0], there[1], there[2])).add(rank["rank"], spent, waiting)
    better = call_sites.resolved(
        {each.place for each in late.values()} | {p for use in uses.values() for p in use.places}
    )
    for use in uses.values():
        use.places = SecondsBy({better.get(place, place): spent for place, spent in use.places.items()})
    for each in late.values():
        each.place = better.get(each.place, each.place)
    return Collectives(
        header["mpi"],
        header.get("program") or "",
        count,
        header["ranks"],
        len(hosts),
        seconds,
        sorted(
            uses.values(), key=lambda use: (-use.transferring_seconds, -use.seconds, use.collective, use.bytes_from)
        ),
        sorted(late.values(), key=lambda each: -each.waiting_seconds),
        others,
        header.get("library") or "",
        header.get("srun_mpi"),
        message_bytes,
    )
