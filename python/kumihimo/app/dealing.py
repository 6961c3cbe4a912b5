"""Units of work that ranks ask for, as operations of a GOAL file: what application/unit_queue.cpp does, with the
time of each unit and the same rule (UnitDeal). Rank 0 deals between its own units."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from kumihimo._base import UnitDeal

CHUNK_BYTES = 16
SHORTEST = 1e-9  # seconds of a message: time must go on
THREADS = 1  # of a rank: its units are one after the other
SUM = "s"  # begins the labels of a sum, whose tags are 0; those of chunks begin at 2


@dataclass
class DealtRank:
    """Operations so far, and the state while units are dealt."""

    lines: list[str] = field(default_factory=list)
    last: str = ""  # label of its last operation
    now: float = 0.0
    computing_ns: int = 0  # of its units
    units: list[int] = field(default_factory=list)
    asks: int = 0
    answer: str = ""  # label of the receive that brings the next chunk
    chunk: range | None = None  # that rank 0 has sent
    complete: bool = False  # knows that none is left

    def add(self, operation: str, *after: str) -> str:
        label = f"o{len(self.lines)}"
        self.lines.append(f"{label}: {operation}")
        self.lines += [f"{label} requires {other}" for other in after if other]
        return label

    def then(self, operation: str, *after: str) -> None:
        self.last = self.add(operation, self.last, *after)


class Deal:
    """Units of falling cost. `message_seconds`: of a question or an answer under way, for the order in which rank 0
    deals; the messages' own times are the simulator's."""

    def __init__(
        self,
        costs: Sequence[float],
        seconds: Sequence[float],
        ranks: int,
        static_share: float,
        message_seconds: float,
    ):
        self.seconds, self.message_seconds = seconds, max(message_seconds, SHORTEST)
        self.rule = UnitDeal(costs, ranks, static_share)
        self.ranks = [DealtRank() for _ in range(ranks)]
        self.questions: dict[int, tuple[float, str]] = {}  # by rank: when it comes, and its label at rank 0
        for unit in range(self.rule.beforehand):
            self.ranks[self.rule.rank_of(unit)].units.append(unit)
        for rank in self.ranks:
            rank.complete = self.rule.all_dealt
        self.run()

    def serve(self) -> list[int]:
        """Rank 0 answers the questions that have come, in the order of ranks. Returns who was answered."""
        dealer = self.ranks[0]
        answered = sorted(rank for rank, (when, _) in self.questions.items() if when <= dealer.now)
        for other in answered:
            _, label = self.questions.pop(other)
            asker = self.ranks[other]
            asker.chunk = range(*self.rule.cut())
            dealer.then(f"send {CHUNK_BYTES}b to {other} tag {2 * asker.asks + 1}", label)
        if not dealer.units and not dealer.complete:
            chunk = range(*self.rule.cut())
            dealer.units += chunk
            dealer.complete = not chunk
        return answered

    def fetch(self, number: int) -> None:
        """Another rank takes the answer that has come, or asks."""
        rank = self.ranks[number]
        if rank.chunk is not None:
            rank.units += rank.chunk
            rank.complete = not rank.chunk
            rank.last = rank.add("calc 0", rank.last, rank.answer)
            rank.answer, rank.chunk = "", None
        if not rank.complete and not rank.answer and UnitDeal.asks(len(rank.units), THREADS):
            rank.asks += 1
            rank.then(f"send {CHUNK_BYTES}b to 0 tag {2 * rank.asks}")
            rank.answer = rank.add(f"recv {CHUNK_BYTES}b from 0 tag {2 * rank.asks + 1}")
            at_dealer = self.ranks[0].add(f"recv {CHUNK_BYTES}b from {number} tag {2 * rank.asks}")
            self.questions[number] = (rank.now + self.message_seconds, at_dealer)

    def run(self) -> None:
        order = [(0.0, number) for number in range(len(self.ranks))]
        waiting: set[int] = set()
        while order:
            now, number = heapq.heappop(order)
            rank = self.ranks[number]
            rank.now = max(rank.now, now)
            if number > 0:
                self.fetch(number)
            else:
                for other in waiting.intersection(self.serve()):
                    waiting.discard(other)
                    heapq.heappush(order, (rank.now + self.message_seconds, other))
            if rank.units:
                unit = rank.units.pop(0)
                nanoseconds = round(self.seconds[unit] * 1e9)
                rank.then(f"calc {nanoseconds}")
                rank.computing_ns += nanoseconds
                heapq.heappush(order, (rank.now + self.seconds[unit], number))
            elif number > 0:
                if not rank.complete:
                    waiting.add(number)
            elif not all(other.complete for other in self.ranks):
                after_next = order[0][0] + self.message_seconds if order else 0.0
                heapq.heappush(order, (min((when for when, _ in self.questions.values()), default=after_next), 0))

    def then(self, sums: str) -> None:
        """After its units each rank does what this GOAL text says of it."""
        number, waits = 0, set[str]()
        added: list[list[str]] = [[] for _ in self.ranks]
        for line in sums.splitlines():
            words = line.split()
            if words[:1] == ["rank"]:
                number, waits = int(words[1]), set()
            elif words == ["}"]:
                labels = [each.split(":")[0] for each in added[number] if ":" in each]
                last = self.ranks[number].last
                added[number] += [f"{label} requires {last}" for label in labels if last and label not in waits]
            elif "requires" in words:
                waits.add(SUM + words[0])
                added[number].append(f"{SUM}{words[0]} {words[1]} {SUM}{words[2]}")
            elif words and words[0].endswith(":"):
                added[number].append(SUM + line.strip())
        for rank, lines in zip(self.ranks, added):
            rank.lines += lines

    def goal(self) -> str:
        text = [f"num_ranks {len(self.ranks)}"]
        for number, rank in enumerate(self.ranks):
            text += [f"rank {number} {{", *rank.lines, "}"]
        return "\n".join(text) + "\n"
