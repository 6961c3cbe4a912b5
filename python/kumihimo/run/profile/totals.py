"""A profile summed up over its ranks: by call, place and communicator. Memory goes with call sites and ranks, and with
the pairs of ranks of which the largest are kept; not with ranks squared."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.run.profile import call_sites, reading
from kumihimo.run.profile.call_sites import CallPlace
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted

MOST_PAIRS = 1000
MOST_PASSAGES = 4096  # of a region that are kept, where ranks have different ones
OF_LOOKS = ("rank", "host", "processors", "thread_samples")
SUMMED = ("calls", "bytes", "seconds")
SPLIT = ("split_calls", "split_seconds", "waiting_seconds", "transferring_seconds")  # of blocking collectives
COMPLETION = ("completion_seconds", "completion_waiting_seconds", "overlap_seconds")  # of non-blocking ones


@dataclass
class Calls:
    """The calls of one function, from one place, on like communicators."""

    call: str
    place: CallPlace
    communicator: str
    calls: int = 0
    bytes: int = 0
    seconds: float = 0.0
    timed_calls: int = 0  # if fewer than `calls`, `seconds` is an estimate from these
    error_squares: float = 0.0  # of the ranks' standard errors of `seconds`
    max_seconds: float = 0.0  # of one call
    min_seconds: float = math.inf
    ranks: int = 0  # that made it
    most_seconds: float = 0.0  # of one rank
    most_rank: int = -1
    squares: float = 0.0  # of the ranks' seconds
    blocking_collective: bool = False
    split_calls: int = 0
    split_seconds: float = 0.0
    waiting_seconds: float = 0.0
    transferring_seconds: float = 0.0
    completion_is_split: bool = False
    completion_seconds: float = 0.0
    completion_waiting_seconds: float = 0.0
    overlap_seconds: float = 0.0

    def add(self, rank: int, row: JsonObject, first: bool) -> None:
        for name in SUMMED:
            setattr(self, name, getattr(self, name) + row[name])
        for name in (*SPLIT, *COMPLETION):
            setattr(self, name, getattr(self, name) + row.get(name, 0))
        self.timed_calls += row["timed_calls"] if "timed_calls" in row else row["calls"]
        self.error_squares += row.get("seconds_error", 0.0) ** 2
        self.max_seconds = max(self.max_seconds, row["max_seconds"])
        self.min_seconds = min(self.min_seconds, row["min_seconds"])
        self.ranks += first
        self.blocking_collective |= "split_calls" in row
        self.completion_is_split |= "completion_waiting_seconds" in row

    def rank_took(self, rank: int, seconds: float) -> None:
        self.squares += seconds * seconds
        if seconds > self.most_seconds or self.most_rank < 0:
            self.most_seconds, self.most_rank = seconds, rank

    @property
    def seconds_error(self) -> float:
        """The standard error of `seconds`."""
        return math.sqrt(self.error_squares)

    @property
    def mean_seconds(self) -> float:
        """Over the ranks that made it."""
        return self.seconds / self.ranks if self.ranks else 0.0

    @property
    def imbalance_seconds(self) -> float:
        return self.most_seconds - self.mean_seconds

    @property
    def imbalance_share(self) -> float:
        """(max - mean) / max × N / (N - 1): 1 where one rank alone has all of the time."""
        if self.ranks < 2 or self.most_seconds <= 0:
            return 0.0
        return self.imbalance_seconds / self.most_seconds * self.ranks / (self.ranks - 1)

    @property
    def variation(self) -> float:
        """Standard deviation over mean, of the ranks."""
        if not self.ranks or not self.seconds:
            return 0.0
        return math.sqrt(max(0.0, self.squares / self.ranks - self.mean_seconds**2)) / self.mean_seconds


@dataclass
class PassageTimes:
    """Times of a region. Where all ranks passed it as often, a passage takes as long as on its slowest rank; else those
    of all ranks count alike. A sample of both: the recorder keeps some of many passages, the same ones on all ranks.
    """

    slowest: list[float] | None = None  # None: no rank yet, or ranks differ
    of_any: list[float] = field(default_factory=list)
    stride: int = 1
    shape: tuple | None = None  # passages of a rank, and one in how many of them was kept
    offered: int = 0

    def add(self, row: JsonObject) -> None:
        times = [ns * 1e-9 for ns in row.get("passage_ns", ())]
        shape = (row["passages"], row.get("passage_stride", 1), len(times))
        if self.shape is None:
            self.shape, self.slowest = shape, times
        elif self.slowest is not None:
            self.slowest = [max(pair) for pair in zip(self.slowest, times)] if shape == self.shape else None
        for seconds in times:
            if self.offered % self.stride == 0:
                self.of_any.append(seconds)
            self.offered += 1
            if len(self.of_any) == MOST_PASSAGES:
                self.of_any, self.stride = self.of_any[::2], 2 * self.stride

    @property
    def values(self) -> list[float]:
        return self.of_any if self.slowest is None else self.slowest


@dataclass
class Region:
    name: str
    expectation: str
    passages: int = 0
    seconds: float = 0.0
    mpi_seconds: float = 0.0
    max_seconds: float = 0.0
    max_rank: int = -1
    ranks: int = 0
    unended: int = 0
    waiting_seconds: float = 0.0
    counters: Counter = field(default_factory=Counter)
    place: CallPlace | None = None  # where it begins
    passage_seconds: PassageTimes = field(default_factory=PassageTimes)


@dataclass
class Totals:
    header: JsonObject
    tasks: list[tuple[int, str, float, float]] = field(default_factory=list)  # rank, host, seconds, of them in MPI
    most_threads: int = 1  # of one rank, that made calls
    unfinished: list[int] = field(default_factory=list)  # ranks that did not end MPI
    calls: dict[tuple, Calls] = field(default_factory=dict)
    sizes: dict[str, Counter] = field(default_factory=dict)  # of each collective: calls by least bytes of the class
    pairs: list[tuple[int, int, int, int, int]] = field(default_factory=list)  # bytes, messages, from, to, one-sided?
    traffic: Counter = field(default_factory=Counter)
    regions: dict[tuple[str, str], Region] = field(default_factory=dict)
    unbegun: set[str] = field(default_factory=set)
    counters: Counter = field(default_factory=Counter)
    events_left_out: int = 0
    threads_left_out: int = 0
    looks: list[JsonObject] = field(default_factory=list)  # of each rank, what run/binding judges

    @property
    def seconds(self) -> float:
        """Seconds of all ranks together."""
        return sum(task[2] for task in self.tasks)

    @property
    def mpi_seconds(self) -> float:
        return sum(task[3] for task in self.tasks)

    def by_time(self) -> list[Calls]:
        return sorted(self.calls.values(), key=lambda c: (-c.seconds - c.completion_seconds, c.call, str(c.place)))

    def largest_pairs(self, number: int) -> list[tuple[int, int, int, int, int]]:
        return sorted(self.pairs, reverse=True)[:number]


def of(path: Path) -> Totals:
    lines = reading.lines(path)
    totals = Totals(next(lines))
    seen: set[CallPlace] = set()
    with reading.explained(path):
        for rank in lines:
            add_rank(totals, rank, seen)
        resolve(totals, seen)
        totals.tasks.sort()
        totals.unfinished.sort()
    return totals


def add_rank(totals: Totals, rank: JsonObject, seen: set[CallPlace]) -> None:
    number = rank["rank"]
    totals.tasks.append((number, rank.get("host", ""), rank["seconds"], rank["mpi_seconds"]))
    totals.looks.append({name: rank.get(name) for name in OF_LOOKS})
    totals.most_threads = max(totals.most_threads, rank.get("threads", 1))
    if not rank["finalized"]:
        totals.unfinished.append(number)
    sites = [call_sites.as_recorded(site) for site in rank["sites"]]
    seen.update(sites)
    seconds: Counter = Counter()
    for row in rank["calls"]:
        place = call_sites.NOWHERE if row["site"] is None else sites[row["site"]]
        key = (row["call"], place, communicator_of(rank["communicators"], row["communicator"], sites))
        known = totals.calls.setdefault(key, Calls(row["call"], place, ""))
        known.add(number, row, key not in seconds)
        seconds[key] += row["seconds"]
    for key, spent in seconds.items():
        totals.calls[key].rank_took(number, spent)
    for call, classes in rank["sizes"].items():
        totals.sizes.setdefault(call, Counter()).update(dict(classes))
    add_partners(totals, number, rank["partners"])
    for region in rank["regions"]:
        add_region(totals, number, region, sites)
    totals.unbegun.update(rank.get("regions_without_beginning", ()))
    totals.counters.update(rank.get("counters", {}))
    totals.threads_left_out += rank.get("threads_left_out", 0)
    totals.events_left_out += (rank.get("trace") or {}).get("left_out", 0)


def communicator_of(communicators: list[JsonObject], number: int | None, sites: list[CallPlace]) -> tuple | None:
    """Key of a communicator that is equal on all ranks: its origin and its size."""
    if number is None:
        return None
    c = communicators[number]
    place = None if c["site"] is None else sites[c["site"]]
    return (c["name"], place, c["size"], c["inter"])


def add_partners(totals: Totals, number: int, partners: list[list[int]]) -> None:
    for other, messages, count, one_sided_messages, one_sided_bytes in partners:
        totals.traffic.update(
            messages=messages, bytes=count, one_sided_messages=one_sided_messages, one_sided_bytes=one_sided_bytes
        )
        for one_sided, n, size in ((0, messages, count), (1, one_sided_messages, one_sided_bytes)):
            if n:
                keep = heapq.heappush if len(totals.pairs) < MOST_PAIRS else heapq.heappushpop
                keep(totals.pairs, (size, n, number, other, one_sided))


def add_region(totals: Totals, number: int, row: JsonObject, sites: list[CallPlace]) -> None:
    key = (row["name"], row.get("expectation", ""))
    region = totals.regions.setdefault(key, Region(*key))
    region.passages += row["passages"]
    region.seconds += row["seconds"]
    region.mpi_seconds += row["mpi_seconds"]
    region.ranks += 1
    region.unended += row["unended"]
    region.waiting_seconds += row.get("waiting_seconds", 0.0)
    region.passage_seconds.add(row)
    if region.place is None and "file" in row:
        region.place = CallPlace(file=row["file"], line=row["line"])
    elif region.place is None and row.get("site") is not None:
        region.place = sites[row["site"]]
    region.counters.update(row.get("counters", {}))
    if row["max_seconds"] > region.max_seconds or region.max_rank < 0:
        region.max_seconds, region.max_rank = row["max_seconds"], number


def resolve(totals: Totals, seen: set[CallPlace]) -> None:
    """Places by file and line, where they can be told so; communicators by their names."""
    better = call_sites.resolved(seen)
    for (_, place, communicator), calls in totals.calls.items():
        calls.place = better.get(place, place)
        calls.communicator = name_of(communicator, better)
    for region in totals.regions.values():
        if region.place is not None:
            region.place = better.get(region.place, region.place)


def name_of(communicator: tuple | None, better: dict[CallPlace, CallPlace]) -> str:
    if communicator is None:
        return ""
    name, place, size, inter = communicator
    where = f" at {better.get(place, place)}" if place is not None else ""
    ranks = f"{size} of the other group" if inter else counted(size, "rank")
    return name if name in ("MPI_COMM_WORLD", "MPI_COMM_SELF") else f"{name}{where}, {ranks}"
