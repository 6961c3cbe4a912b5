"""Steps of a workload's rank, and the recording made from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Union

from kumihimo import _replay
from kumihimo._trace import Kind
from kumihimo.predict.replay import rows
from kumihimo.predict.replay.trace import Trace
from kumihimo.text import files
from kumihimo.text.errors import wrong_value

MOST_EVENTS = 50_000_000  # 40 bytes each
MOST_BYTES = 2**31 - 1  # of a call of MPI


@dataclass(frozen=True)
class ComputingStep:
    """`what`: the region that a replay shows."""

    seconds: float
    what: str


@dataclass(frozen=True)
class ExchangeStep:
    """Non-blocking messages to and from partners, all awaited together. A pair of ranks names each other."""

    partners: Sequence[int]
    sent: Sequence[int]  # bytes to each
    received: Sequence[int]  # bytes from each
    what: str


@dataclass(frozen=True)
class CollectiveStep:
    """A collective. `bytes`: the vector of reductions and broadcasts; all blocks of a rank of an alltoall; the block of
    a rank of an allgather. `members`: ranks in order; empty: all. `root`: a place in members."""

    collective: str
    bytes: int
    what: str
    members: tuple[int, ...] = ()
    root: int = -1


WorkloadStep = Union[ComputingStep, ExchangeStep, CollectiveStep]
StepsOfRank = Callable[[int], Iterator[WorkloadStep]]


def traced(ranks: int, steps: StepsOfRank) -> Trace:
    """The recording of a program in which each rank takes these steps."""
    recording = _replay.Recording(ranks)
    sites: dict[str, int] = {}
    regions: dict[str, int] = {"outside regions": 0}

    def number(name: str, among: dict[str, int]) -> int:
        return among.setdefault(name, len(among))

    groups: dict[tuple[int, ...], int] = {(): 0, tuple(range(ranks)): 0}
    collectives = _replay.collectives()
    computing, events, longest = [], 0, 0.0
    for rank in range(ranks):
        of, total = bytearray(), 0.0
        for step in steps(rank):
            if isinstance(step, ComputingStep):
                of += rows.compute(round(step.seconds * 1e9), number(step.what, regions))
                total += step.seconds
            elif isinstance(step, ExchangeStep):
                of += exchanged(step, number(f"exchange: {step.what}", sites))
            else:
                if step.members not in groups:
                    groups[step.members] = recording.add_communicator(list(step.members))
                row = collectives.index(step.collective)
                of += rows.enter(number(f"{step.collective}: {step.what}", sites))
                of += rows.collective(Kind.collective, 0, step.bytes, step.root, groups[step.members], 0, row)
                of += rows.LEAVE
        events += len(of) // rows.BYTES
        if events > MOST_EVENTS:
            rule = f"a workload may have at most {MOST_EVENTS} events"
            raise wrong_value(rule, f"more on {ranks} ranks", "take fewer ranks, or fewer steps with --set steps=1")
        recording.set(rank, bytes(of))
        computing.append(total)
        longest = max(longest, total)
    recording.name_places(list(sites))
    recording.complete()
    return Trace(recording, list(sites), list(regions), longest, computing, {}, events, generated=True)


def exchanged(step: ExchangeStep, site: int) -> bytes:
    of = bytearray(rows.enter(site))
    for number, _ in enumerate(step.partners, 1):
        of += rows.message(Kind.start_receive, number)
    sends = len(step.partners)
    for number, (partner, size) in enumerate(zip(step.partners, step.sent), sends + 1):
        of += rows.message(Kind.start_send, number, size, partner)
    for number, (partner, size) in enumerate(zip(step.partners, step.received), 1):
        of += rows.message(Kind.end_receive, number, size, partner)
    for number, (partner, size) in enumerate(zip(step.partners, step.sent), sends + 1):
        of += rows.message(Kind.end_send, number, size, partner)
    return bytes(of + rows.LEAVE)


def written(ranks: int, steps: StepsOfRank, folder: Path) -> None:
    """The steps as play.c reads them: a file for each rank, and one for the groups."""
    groups: dict[tuple[int, ...], int] = {(): 0, tuple(range(ranks)): 0}
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        lines = [str(ranks)]
        for step in steps(rank):
            if isinstance(step, ComputingStep):
                lines.append(f"c {step.seconds:.9f}")
            elif isinstance(step, ExchangeStep):
                pairs = zip(step.partners, step.sent, step.received)
                lines.append(f"x {len(step.partners)} " + " ".join(f"{p} {out} {back}" for p, out, back in pairs))
            else:
                if step.bytes > MOST_BYTES:
                    rule = f"a program of a workload has at most {MOST_BYTES} bytes in a call"
                    raise wrong_value(rule, step.bytes, "take more ranks, or a smaller --set")
                number = groups.setdefault(step.members, len(set(groups.values())))
                lines.append(f"g {step.collective} {step.bytes} {number} {step.root}")
        files.write_whole(folder / str(rank), "\n".join(lines) + "\n")
    own = sorted((number, members) for members, number in groups.items() if number)
    text = "".join(f"{len(members)} {' '.join(map(str, members))}\n" for _, members in own)
    files.write_whole(folder / "groups", f"{len(own)}\n{text}")


@dataclass
class WorkloadTraffic:
    """Bytes and messages of each pair of ranks."""

    bytes: Counter[tuple[int, int]] = field(default_factory=Counter)
    messages: Counter[tuple[int, int]] = field(default_factory=Counter)
    collectives: Counter[str] = field(default_factory=Counter)  # calls, whose bytes are in no pair

    def lines(self) -> Iterator[str]:
        """As `place --traffic` reads them: source, destination, bytes, messages."""
        for (source, to), size in sorted(self.bytes.items()):
            yield f"{source} {to} {size} {self.messages[source, to]}"


def traffic(ranks: int, steps: StepsOfRank) -> WorkloadTraffic:
    """Traffic of messages, and the blocks of each pair in alltoalls. Other collectives are counted."""
    found = WorkloadTraffic()
    for rank in range(ranks):
        for step in steps(rank):
            if isinstance(step, ExchangeStep):
                for partner, size in zip(step.partners, step.sent):
                    found.bytes[rank, partner] += size
                    found.messages[rank, partner] += 1
            elif isinstance(step, CollectiveStep):
                members = step.members or range(ranks)
                if step.collective != "alltoall":
                    found.collectives[step.collective] += 1
                    continue
                for partner in members:
                    if partner != rank:
                        found.bytes[rank, partner] += step.bytes // len(members)
                        found.messages[rank, partner] += 1
    return found
