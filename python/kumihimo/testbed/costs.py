"""What messages cost in a testbed, measured in it: its nodes share the processors of this machine."""

from __future__ import annotations

import json

from kumihimo.processes import child_output
from kumihimo.testbed import machine_file
from kumihimo.testbed.testbeds import Testbed
from kumihimo.testbed.wiring import payload_rate
from kumihimo.text.errors import failed, not_applicable

MOST_SECONDS = 300.0  # of a launch
LAUNCHES = 3  # of which the fastest counts: another program makes some slower, and none faster
BLOCK = 32 << 10  # bytes to each neighbour, without a rendezvous in any library
MOSTLY = 0.85  # of what the links let through, or more: they are the limit


def measured(testbed: Testbed, kumihimo: str) -> str:
    """The machine file of the testbed with its costs. `kumihimo`: the path of the command. This process enters the
    testbed."""
    ranks = testbed.wiring.nodes * testbed.plan.slots
    if ranks < 2:
        raise not_applicable("--measure needs a testbed with 2 ranks", ranks)
    testbed.enter()
    text = machine_file.with_step(testbed.plan.machine, step(testbed, kumihimo, ranks), ranks)
    rate = total(testbed, kumihimo)
    return machine_file.with_total(text, rate) if rate else text


def step(testbed: Testbed, kumihimo: str, ranks: int) -> float:
    """Seconds of a step of a ring of all ranks, in which each sends and receives 8 bytes."""
    found = seconds(testbed, kumihimo, "allreduce", "-a", "ring", "-p", str(ranks), "-b", str(8 * ranks))
    return found / (2 * (ranks - 1))


def total(testbed: Testbed, kumihimo: str) -> float | None:
    """Bytes a second of all links together while each node of a torus or mesh sends to all of its neighbours. None
    where nearly all of it is what the links let through, or not every rank has a node."""
    described, links = testbed.plan.described, len(testbed.wiring.ends)
    if described.family != "torus" or described.switches or testbed.plan.slots > 1:
        return None
    on = ["-p", str(testbed.wiring.nodes), "--neighbours", machine_file.neighbours_of(str(described.shape))]
    rate = links * BLOCK / seconds(testbed, kumihimo, "neighbor_alltoall", "-a", "direct", *on, "-b", str(BLOCK))
    return rate if rate < MOSTLY * links * payload_rate(testbed.plan.rate) else None


def seconds(testbed: Testbed, kumihimo: str, *asked: str) -> float:
    return min(launch(testbed, kumihimo, *asked) for _ in range(LAUNCHES))


def launch(testbed: Testbed, kumihimo: str, *asked: str) -> float:
    command = testbed.within(0, [kumihimo, "bench", *asked, "--json"])
    found = child_output.run(command, seconds=MOST_SECONDS, env=testbed.environment)
    if found.returncode:
        raise failed("the costs of messages could not be measured", found.stderr.strip().rpartition("\n")[2])
    (result,) = json.loads(found.stdout)["results"]
    return result["seconds"]
