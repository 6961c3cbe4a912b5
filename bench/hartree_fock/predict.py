#!/usr/bin/env python3
"""One build of G on the ranks of a cluster, predicted from the times of its units of work on this machine.

    .venv/bin/python bench/hartree_fock/predict.py [--molecules gly4] [--ranks 1,2,4] [--machine NAME] [--rounds 3]

Each unit is timed by jk_bench on one thread (the least of the rounds). The units are dealt as UnitQueue deals them,
with messages to and from rank 0; the sum of J and K is an allreduce by recursive doubling. The messages, computations
and their order are one GOAL file, which `kumihimo simulate --model loggp` runs on the machine. One rank a node.
"""

from __future__ import annotations

import argparse
import bisect
import heapq
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BENCH = ROOT / "build/release/bench/hartree_fock/jk_bench"
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
ASKED_S = 5e-6  # a question or an answer under way, for the order in which rank 0 deals; the simulation has its own


@dataclass
class Rank:
    """Operations of a rank in a GOAL file, and its state while the units are dealt."""

    lines: list[str] = field(default_factory=list)
    last: str = ""
    now: float = 0
    units: list[int] = field(default_factory=list)
    asks: int = 0
    answer: str = ""  # label of the receive that brings the next chunk
    chunk: tuple[int, int] | None = None
    complete: bool = False

    def add(self, operation: str, *after: str) -> str:
        label = f"o{len(self.lines)}"
        self.lines.append(f"{label}: {operation}")
        self.lines += [f"{label} requires {other}" for other in after if other]
        return label

    def then(self, operation: str, *after: str) -> None:
        self.last = self.add(operation, self.last, *after)


class Deal:
    """UnitQueue (src/application/unit_queue.cpp) with the times of units."""

    def __init__(self, costs: list[float], seconds: list[float], ranks: int, static_share: float):
        self.seconds, self.count = seconds, len(costs)
        self.before = [0.0]
        for cost in costs:
            self.before.append(self.before[-1] + cost)
        self.ranks = [Rank() for _ in range(ranks)]
        beforehand = self.before[-1] * (1 if ranks == 1 else static_share)
        self.dealt = 0
        while self.dealt < self.count and (ranks == 1 or self.before[self.dealt + 1] <= beforehand):
            self.ranks[self.dealt % ranks].units.append(self.dealt)
            self.dealt += 1
        self.questions: list[tuple[float, int, str]] = []  # when it comes, from whom, label at rank 0

    def cut(self) -> tuple[int, int]:
        begin, total = self.before[self.dealt], self.before[-1]
        end = bisect.bisect_right(self.before, begin + (total - begin) / (2 * len(self.ranks))) - 1
        chunk = (self.dealt, min(self.count, max(end, self.dealt + 1)))
        self.dealt = chunk[1]
        return chunk

    def serve(self) -> list[int]:
        """Rank 0 answers the questions that have come. Returns who was answered."""
        dealer, answered = self.ranks[0], []
        for when, other, label in sorted(self.questions):
            if when > dealer.now:
                continue
            self.questions.remove((when, other, label))
            asker = self.ranks[other]
            asker.chunk = self.cut()
            dealer.then(f"send 16b to {other} tag {2 * asker.asks + 1}", label)
            answered.append(other)
        if not dealer.units:
            begin, end = self.cut()
            dealer.units += range(begin, end)
            dealer.complete = begin == end
        return answered

    def fetch(self, number: int) -> None:
        """Another rank takes the answer that has come, or asks."""
        rank = self.ranks[number]
        if rank.chunk:
            begin, end = rank.chunk
            rank.units += range(begin, end)
            rank.complete, rank.chunk = begin == end, None
            rank.last = rank.add("calc 0", rank.last, rank.answer)
            rank.answer = ""
        if not rank.complete and not rank.answer and len(rank.units) <= 1:
            rank.asks += 1
            rank.then(f"send 16b to 0 tag {2 * rank.asks}")
            rank.answer = rank.add(f"recv 16b from 0 tag {2 * rank.asks + 1}")
            at_dealer = self.ranks[0].add(f"recv 16b from {number} tag {2 * rank.asks}")
            self.questions.append((rank.now + ASKED_S, number, at_dealer))

    def run(self) -> None:
        order = [(0.0, number) for number in range(len(self.ranks))]
        waiting: set[int] = set()
        while order:
            now, number = heapq.heappop(order)
            rank = self.ranks[number]
            rank.now = max(rank.now, now)
            if number == 0:
                for other in self.serve():
                    if other in waiting:
                        waiting.discard(other)
                        heapq.heappush(order, (rank.now + ASKED_S, other))
            else:
                self.fetch(number)
            if rank.units:
                unit = rank.units.pop(0)
                rank.then(f"calc {round(self.seconds[unit] * 1e9)}")
                heapq.heappush(order, (rank.now + self.seconds[unit], number))
            elif number == 0 and not all(other.complete for other in self.ranks[1:]):
                heapq.heappush(order, (min([q[0] for q in self.questions], default=rank.now + ASKED_S), 0))
            elif number != 0 and not rank.complete:
                waiting.add(number)

    def allreduce(self, size: int) -> None:
        """Recursive doubling; the number of ranks is a power of two."""
        step = 1
        while step < len(self.ranks):
            for number, rank in enumerate(self.ranks):
                peer, tag = number ^ step, 1_000_000 + step
                sent = rank.add(f"send {size}b to {peer} tag {tag}", rank.last)
                received = rank.add(f"recv {size}b from {peer} tag {tag}", rank.last)
                rank.last = rank.add(f"calc {round(size / 8)}", sent, received)  # a nanosecond a double
            step *= 2

    def goal(self) -> str:
        text = [f"num_ranks {len(self.ranks)}"]
        for number, rank in enumerate(self.ranks):
            text += [f"rank {number} {{", *rank.lines, "}"]
        return "\n".join(text) + "\n"


def units_of(molecule: str, basis: str, rounds: int) -> tuple[list[float], list[float], int]:
    """Costs and least seconds of the units, and the number of functions."""
    commands = "scf\n" + "units\n" * rounds
    ended = subprocess.run([str(BENCH), molecule, basis], input=commands, capture_output=True, text=True, check=True)
    lines = ended.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("functions"))
    functions = int(lines[at].split()[1])
    count = int(lines[at + 1])
    costs: list[float] = []
    seconds = [float("inf")] * count
    for start in range(at + 2, len(lines), count + 1):
        rows = [tuple(map(float, line.split())) for line in lines[start : start + count]]
        costs = [row[0] for row in rows]
        seconds = [min(least, row[1]) for least, row in zip(seconds, rows)]
    return costs, seconds, functions


def simulated(goal: str, machine: str) -> float:
    """Seconds of a GOAL file on a machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "build.goal"
        path.write_text(goal)
        command = [str(KUMIHIMO), "simulate", f"goal:{path}", "--model", "loggp", "--machine", machine, "--json"]
        ended = subprocess.run([*command, "--ranks-per-node", "1"], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise SystemExit(f"predict.py: {' '.join(command)}: {ended.stderr[-500:]}")
        return seconds_in(json.loads(ended.stdout))


def seconds_in(told: dict) -> float:
    """The time of the only result."""
    (result,) = told["results"]
    return result["seconds"]


def predict(molecule: str, asked: argparse.Namespace) -> None:
    """Print the table of a molecule."""
    costs, seconds, functions = units_of(molecule, asked.basis, asked.rounds)
    print(f"\n{molecule}, {asked.basis}: {functions} functions, {len(costs)} units, {sum(seconds):.4f} s of work\n")
    print("| Ranks | Predicted, ms | Speed-up | Efficiency |\n|---|---|---|---|")
    alone = sum(seconds)
    for ranks in map(int, asked.ranks.split(",")):
        deal = Deal(costs, seconds, ranks, asked.static_share)
        deal.run()
        deal.allreduce(16 * functions * functions)
        took = simulated(deal.goal(), asked.machine)
        print(f"| {ranks} | {1e3 * took:.2f} | {alone / took:.2f} | {100 * alone / took / ranks:.0f} % |")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--molecules", default="benzene,w8,gly4")
    parser.add_argument("--basis", default="6-31g")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--machine", default="fugaku")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--static-share", type=float, default=0.5)
    asked = parser.parse_args()
    for molecule in asked.molecules.split(","):
        predict(molecule, asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
