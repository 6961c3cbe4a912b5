"""Costs of messages in a testbed, measured in it: its nodes share the processors of this machine."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field

from kumihimo.processes import child_output, other_work
from kumihimo.testbed import machine_file
from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import payload_rate
from kumihimo.text.errors import Failed, failed, not_applicable

MOST_SECONDS = 300.0  # of a launch
LAUNCHES = 3  # of which the fastest counts: another program makes some slower, and none faster
BLOCK = 32 << 10  # bytes to each neighbour, without a rendezvous in any library
MOSTLY = 0.85  # of what the links let through, or more: they are the limit
SPREAD = 1.5  # times the fastest launch, which the slowest takes less than on an idle machine


@dataclass
class OtherWork:
    """`busy`: processors that other programs used before and after the launches; `launches`: seconds of each, by what
    was measured."""

    busy: list[float] = field(default_factory=list)
    launches: list[list[float]] = field(default_factory=list)

    def look(self) -> None:
        found = other_work.busy_processors()
        if found is not None:
            self.busy.append(found)

    @property
    def notes(self) -> list[str]:
        """Notes about the costs for the user; empty where nothing disturbed them."""
        what = []
        busy = max(self.busy, default=0.0)
        if busy > other_work.BUSY:
            what.append(f"other programs used {busy:.1f} of {os.cpu_count()} processors")
        spread = max((max(each) / min(each) for each in self.launches), default=1.0)
        if spread > SPREAD:
            what.append(f"the slowest launch took {spread:.1f} times as long as the fastest")
        if not what:
            return []
        return [f"the costs may be too high: {' and '.join(what)}; measure again on an idle machine"]


def measured(testbed: Testbed, kumihimo: str) -> tuple[str, list[str]]:
    """The machine file of the testbed with its costs, and notes on them. `kumihimo`: the path of the command. This
    process enters the testbed."""
    ranks = testbed.wiring.nodes * testbed.plan.slots
    if ranks < 2:
        raise not_applicable("--measure needs a testbed with 2 ranks", ranks)
    testbed.enter()
    disturbed = OtherWork()
    disturbed.look()
    text = machine_file.with_step(testbed.plan.machine, step(testbed, kumihimo, ranks, disturbed), ranks)
    rate = total(testbed, kumihimo, disturbed)
    disturbed.look()
    return (machine_file.with_total(text, rate) if rate else text), disturbed.notes


def step(testbed: Testbed, kumihimo: str, ranks: int, disturbed: OtherWork) -> float:
    """Seconds of a step of a ring of all ranks, in which each sends and receives 8 bytes."""
    asked = ("allreduce", "-a", "ring", "-p", str(ranks), "-b", str(8 * ranks))
    found = seconds(testbed, kumihimo, disturbed, *asked)
    return found / (2 * (ranks - 1))


def total(testbed: Testbed, kumihimo: str, disturbed: OtherWork) -> float | None:
    """Bytes a second of all links together while each node of a torus or mesh sends to all of its neighbours. None
    where nearly all of it is what the links let through, or not every rank has a node."""
    described, links = testbed.plan.described, len(testbed.wiring.ends)
    if described.family != "torus" or described.switches or testbed.plan.slots > 1:
        return None
    on = ["-p", str(testbed.wiring.nodes), "--neighbours", machine_file.neighbours_of(str(described.shape))]
    asked = ("neighbor_alltoall", "-a", "direct", *on, "-b", str(BLOCK))
    rate = links * BLOCK / seconds(testbed, kumihimo, disturbed, *asked)
    return rate if rate < MOSTLY * links * payload_rate(testbed.plan.rate) else None


def seconds(testbed: Testbed, kumihimo: str, disturbed: OtherWork, *asked: str) -> float:
    try:
        found = [launch(testbed, kumihimo, *asked) for _ in range(LAUNCHES)]
    except Failed as error:
        disturbed.look()
        raise Failed(error.problem, "; ".join([error.advice, *disturbed.notes]).strip("; ")) from None
    disturbed.launches.append(found)
    return min(found)


def launch(testbed: Testbed, kumihimo: str, *asked: str) -> float:
    command = testbed.within(0, [kumihimo, "bench", *asked, "--json"])
    found = child_output.run(command, seconds=MOST_SECONDS, env=testbed.environment)
    if found.returncode:
        raise failed("the costs of messages could not be measured", found.stderr.strip().rpartition("\n")[2])
    (result,) = json.loads(found.stdout)["results"]
    return result["seconds"]
