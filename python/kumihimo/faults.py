"""Nodes that die while a program runs, and parts of a machine that are slow, as the user names them (ADR 45)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kumihimo import _goal, _loggp, _machine, placement
from kumihimo.durations import parse_duration
from kumihimo.errors import wrong_value

DIES = "--dies must be NODE@TIME, as in 5@20us, or NODE@SHARE of the time without faults, as in 5@50%"
LATEST = 1e6  # seconds
SLOW = "--slow must be NODE=FACTOR, as in 5=0.5, or a link, FROM-TO=FACTOR, as in 5-6=0.1"
WORD = r"[0-9]{1,9}(?:,[0-9]{1,9})*"  # a node: its number, or its coordinates


@dataclass(frozen=True)
class Death:
    """At a time in seconds, or at a share of the time that the program takes without faults."""

    node: int
    seconds: float | None
    share: float | None = None


@dataclass(frozen=True)
class Dying:
    """Which nodes die, and on which node each rank is: `nodes` by rank; none: `each` ranks on a node."""

    deaths: tuple[Death, ...]
    nodes: tuple[int, ...] | None = None
    each: int = 1

    def times(self, ranks: int, undisturbed: float) -> list[tuple[int, int]]:
        """Nodes, and when they die in picoseconds. `undisturbed`: the time of the program without faults."""
        used = set(self.node_of_rank(ranks))
        for death in self.deaths:
            if death.node not in used:
                rule = f"--dies must name a node that has ranks, one of {min(used)} to {max(used)}"
                raise wrong_value(rule, death.node)
        return [(d.node, round((d.seconds if d.share is None else d.share * undisturbed) * 1e12)) for d in self.deaths]

    def node_of_rank(self, ranks: int) -> list[int]:
        if self.nodes is None:
            return [rank // self.each for rank in range(ranks)]
        return list(self.nodes[:ranks])

    def of_ranks(self, ranks: int, times: Sequence[tuple[int, int]]) -> list[int]:
        """When each rank dies, in picoseconds."""
        of_node: dict[int, int] = {}
        for node, time in times:
            of_node[node] = min(time, of_node.get(node, time))
        return [of_node.get(node, _loggp.never) for node in self.node_of_rank(ranks)]


def dying(
    texts: Sequence[str], job: _machine.Job | None, placed: placement.Placed | None = None, each: int = 1
) -> Dying | None:
    """What --dies asks for; none: nothing dies. `each`: ranks of a node without a machine."""
    if not texts:
        return None
    deaths = tuple(_death(text, job and job.machine) for text in texts)
    if len({death.node for death in deaths}) < len(deaths):
        raise wrong_value("--dies must name a node once", ", ".join(texts), "leave one of them out")
    if job is None:
        return Dying(deaths, None, each)
    if placed is not None:
        return Dying(deaths, tuple(placed.placement.node_of_rank))
    return Dying(deaths, tuple(node for node, size in enumerate(job.slots.sizes) for _ in range(size)))


def _death(text: str, machine: _machine.Machine | None) -> Death:
    match = re.fullmatch(rf"({WORD})@(.+)", text)
    if match is None:
        raise wrong_value(DIES, f"'{text}'")
    node, when = node_of(match[1], machine, "--dies"), match[2].strip()
    share = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,9})?) *%", when)
    if share is not None:
        return Death(node, None, float(share[1]) / 100)
    seconds = parse_duration(when, "the time of --dies", may_be_zero=True)
    if seconds > LATEST:
        raise wrong_value(f"the time of --dies must be at most {LATEST:.0f} s", f"'{when}'")
    return Death(node, seconds)


def node_of(word: str, machine: _machine.Machine | None, option: str) -> int:
    """The number of a node, which may be given by its coordinates in the shape of the job, `1,0,1`."""
    numbers = [int(each) for each in word.split(",")]
    if len(numbers) == 1:
        return numbers[0]
    lengths = [] if machine is None or machine.on_switches else [axis.length for axis in machine.shape.axes]
    if len(numbers) != len(lengths) or any(at >= length for at, length in zip(numbers, lengths)):
        shape = "x".join(map(str, lengths)) or "no axes"
        raise wrong_value(f"a node of {option} must be a number, or a place in the shape of nodes ({shape})", word)
    node = 0
    for at, length in zip(numbers, lengths):
        node = node * length + at
    return node


def with_slow(machine: _machine.Machine, texts: Sequence[str]) -> _machine.Machine:
    """The machine (as the job sees it) with the parts that --slow names."""
    nodes: list[tuple[int, float]] = []
    links: list[tuple[int, int, float]] = []
    for text in texts:
        match = re.fullmatch(rf"({WORD})(?:-({WORD}))?=([0-9]{{1,6}}(?:\.[0-9]{{1,12}})?)", text)
        if match is None:
            raise wrong_value(SLOW, f"'{text}'")
        factor = float(match[3])
        if not 0 < factor <= 1:
            raise wrong_value("the factor of --slow must be more than 0 and at most 1", match[3])
        ends = [node_of(word, machine, "--slow") for word in match.groups()[:2] if word is not None]
        if len(ends) == 1:
            nodes.append((ends[0], factor))
        else:
            links.append((ends[0], ends[1], factor))
    return machine.with_slow(nodes, links) if nodes or links else machine


def about(of: _goal.Aftermath, dying: Dying, times: Sequence[tuple[int, int]]) -> dict:
    """The member `faults` of a result."""
    shares = {death.node: death.share for death in dying.deaths}
    dies = [
        {"node": node, "seconds": time * 1e-12, **({} if shares[node] is None else {"share": shares[node]})}
        for node, time in times
    ]
    return {
        "dies": dies,
        "ranks_complete": of.complete,
        "ranks_died": of.died,
        "ranks_waiting": of.waiting_directly + of.waiting_indirectly,
        "waiting_directly": of.waiting_directly,
        "waiting_indirectly": of.waiting_indirectly,
        "complete_seconds": of.complete_until,
        "stuck_seconds": of.stuck_from,
        "last_progress_seconds": of.last_progress,
        "operations": of.operations,
        "operations_done": of.operations_done,
        "operations_lost": of.operations_lost,
        "computing_seconds": of.computing,
        "computing_done_seconds": of.computing_done,
        "computing_lost_seconds": of.computing_lost,
        "chain": of.chain,
        "chain_at": [{"rank": rank, "operation": operation} for rank, operation in of.chain_at],
        "chain_ends_at_rank": of.chain_end if of.chain else None,
        "by_rank": [{"state": state, "waits": waits, "seconds": last} for state, waits, last in of.ranks],
    }
