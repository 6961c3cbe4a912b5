"""What else would help a program."""

from __future__ import annotations

from pathlib import Path

from kumihimo.processes import allocation
from kumihimo.run.profile.call_sites import CallPlace
from kumihimo.run.profile.collectives import Collectives, Late, Use
from kumihimo.tune.optimise import advice

HERE = CallPlace(file="/a/solver.c", line=3)


FILE = Path("folder/profile.jsonl")


def profile(*uses: Use, late: tuple[Late, ...] = (), hosts: int = 1, messages: int = 0) -> Collectives:
    return Collectives("an MPI", "solver-1", 4, 4, hosts, 100.0, list(uses), list(late), message_bytes=messages)


def use(seconds: float, size: int, waiting: float = 0.0) -> Use:
    found = Use("allreduce", "blocking", False, 4, size, size, size, seconds=seconds, split_seconds=1.0)
    found.waiting_seconds = waiting
    return found


def test_balance_where_ranks_wait():
    late = Late("allreduce", "MPI_Allreduce", HERE)
    for rank, seconds in enumerate((5.0, 5.0, 0.1, 5.0)):
        late.add(rank, seconds, seconds)
    (line,) = advice.of(profile(use(15.0, 4096, waiting=0.9), late=(late,)), FILE)
    assert line.startswith("balance the load, first of rank 2 before MPI_Allreduce at solver.c:3: ranks wait for late")
    assert line.endswith("14 % of the time")


def test_fewer_calls_or_overlap_by_the_length_of_the_calls():
    (line,) = advice.of(profile(use(20.0, 64)), FILE)
    assert line.startswith("fewer and longer calls: 20 % of the time is in calls of less than 1024 bytes")
    (line,) = advice.of(profile(use(20.0, 4096)), FILE)
    assert line.startswith("overlap with computation by non-blocking calls: 20 %")
    begun = use(20.0, 4096)
    begun.start = "non-blocking"
    assert advice.of(profile(begun), FILE) == []


def test_placement_on_several_nodes_and_computation_without_communication(monkeypatch):
    for name in (allocation.SHAPE, allocation.MACHINE):
        monkeypatch.delenv(name, raising=False)
    (*_, line) = advice.of(profile(use(20, 4096), hosts=3, messages=8), FILE)
    assert line.startswith("placement: the ranks are on 3 nodes; `kumihimo place --traffic folder/profile.jsonl --sha")
    monkeypatch.setenv(allocation.SHAPE, "3x3x3")
    (*_, line) = advice.of(profile(use(20, 4096), hosts=3, messages=8), FILE)
    assert line.endswith("profile.jsonl` chooses the node of each")
    only_collectives = advice.of(profile(use(20, 4096), hosts=3), FILE)
    assert not any("placement" in line for line in only_collectives), "`place` would refuse it"
    assert advice.of(profile(use(1.0, 64)), FILE) == ["look at the computation: 99 % of the time is not in collectives"]
