"""Machines by name or file, and jobs on them: which nodes, how many ranks, and where each rank sits."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from kumihimo import _machine
from kumihimo.api.loading import load, search

if TYPE_CHECKING:
    from kumihimo.collectives.arguments import Ranks
    from kumihimo.network.placement import Placed, Wanted
    from kumihimo.processes.allocation import Allocation


@dataclass(frozen=True)
class JobOptions:
    """The request for a job, by the names of the options of `kumihimo simulate`."""

    shape: str | None = None  # None here and below: it was not asked for
    ranks: int | None = None
    ranks_per_node: str | None = None  # "4", or of each node: "4,3,5"
    box: str | None = None
    dead: tuple[str, ...] = ()
    routing: str | None = None
    slow: tuple[str, ...] = ()
    allocation: str | None = None
    order: str | None = None
    placement: Path | None = None  # a map file


@dataclass(frozen=True)
class Machine:
    """A described machine: a topology and the numbers that predictions need. `machine()` makes it."""

    name: str
    summary: str
    family: str  # of the topology: torus, tofu, fat_tree, dragonfly, graph, routes, single_node ...
    nodes: int
    cores: int  # of a node
    ranks_per_node: int  # by default
    shape: str  # as `job()` takes it; empty: a single node
    software: str  # the state of its software; empty: base
    native: _machine.Machine = field(repr=False, compare=False)

    @classmethod
    def of(cls, native: _machine.Machine) -> Machine:
        shape = str(native.nodes) if native.on_switches else str(native.shape)
        each = native.default_ranks_per_node
        return cls(
            native.name,
            native.summary,
            native.family,
            native.nodes,
            native.cores,
            each,
            shape,
            native.software_state,
            native,
        )

    def job(
        self,
        shape: str | None = None,
        *,
        ranks: int | None = None,
        ranks_per_node: int | Sequence[int] | None = None,
        box: str | None = None,
        dead: Sequence[str] = (),
        routing: str | None = None,
        slow: Sequence[str] = (),
        allocation: str | None = None,
        order: str | None = None,
        placement: str | os.PathLike[str] | None = None,
    ) -> Job:
        """Nodes of the machine with ranks on them.

        `shape`: of the nodes, "8x8x8", or their number on switches; None: all nodes. `ranks_per_node`: a number, or
        one for each node. `box`, `dead`: of Tofu machines. `routing`: another way of routing. `slow`: "5=0.5" (node)
        or "5-6=0.1" (link). `allocation`: "env" (the hosts of Slurm, Flux, PBS or LSF), a hostfile or a host list.
        `order`, `placement`: where ranks sit, by the name of an order or a map file.

        Raises BadInput where the machine has no such part.
        """
        each = None if ranks_per_node is None else words_of(ranks_per_node)
        file = None if placement is None else Path(placement)
        asked = JobOptions(
            shape, ranks, each, box, tuple(dead), routing, tuple(slow), allocation, order, file,
        )  # fmt: skip
        job = Job(self, asked)
        _ = job.native, job.ranks  # so that what is wrong is said here
        return job

    def with_topology(self, topology: str, name: str) -> Machine:
        """A machine with the same numbers on another network. `topology`: the lines below [topology] of a machine file,
        such as 'family = "torus"' and 'shape = "8x8"' (docs/machines.md).

        Raises BadInput where the lines are wrong or the numbers do not fit them.
        """
        head = f'name = "{name}"\nsummary = "{self.name} on another network"\n[topology]\n{topology}\n'
        made = machine_of_text(head + self.native.numbers_to_toml(), name)
        return replace(made, software=self.software)  # whose numbers they are

    def to_dict(self) -> dict[str, Any]:
        """All numbers with their units and sources, as `kumihimo machine show --json` has them."""
        return dict(json.loads(self.native.to_json()))


@dataclass(frozen=True)
class Job:
    """Nodes that a job has of a machine, with the ranks on them. `Machine.job()` makes it."""

    machine: Machine
    asked: JobOptions

    @cached_property
    def native(self) -> _machine.Job:
        from kumihimo.predict import packet, simulation

        asked = self.asked
        routing = None if asked.routing in packet.ROUTINGS else asked.routing
        part = simulation.PartOfMachine(asked.box, list(asked.dead), routing, list(asked.slow))
        return simulation.with_places(self.machine.native, self.asked_ranks, part, self._hosts, self._wanted)

    @cached_property
    def placed(self) -> Placed | None:
        """Its ranks where `order`, `placement` or `allocation` puts them; None: in block order."""
        from kumihimo.predict import simulation

        return simulation.placed(self.native, self._wanted, self._hosts, self.asked.ranks)

    @property
    def asked_ranks(self) -> Ranks:
        from kumihimo.collectives import arguments

        asked = self.asked
        return arguments.Ranks(asked.shape, asked.ranks, arguments.ranks_per_node_named(asked.ranks_per_node))

    @cached_property
    def _hosts(self) -> Allocation | None:
        from kumihimo.processes import allocation

        return None if self.asked.allocation is None else allocation.read(self.asked.allocation, os.environ)

    @cached_property
    def _wanted(self) -> Wanted | None:
        from kumihimo.network import placement

        return placement.wanted(self.asked.order, self.asked.placement)

    @property
    def ranks(self) -> int:
        """How many ranks there are: those that a placement file places, or one in each slot of the nodes."""
        placed = None if self.asked.placement is None else self.placed
        return self.native.slots.size if placed is None else placed.placement.ranks

    @property
    def nodes(self) -> int:
        """How many nodes the job has, with those that have no rank."""
        return self.native.slots.nodes

    @property
    def shape(self) -> str:
        """Shape of its nodes, as `Machine.job()` takes it."""
        return Machine.of(self.native.machine).shape

    @property
    def network(self) -> str:
        """The network in words: "torus 8x8x8"."""
        return self.native.machine.network


On = Union[Job, Machine, str, "os.PathLike[str]"]  # where something runs; a text or path is that of `machine()`


def machine(name_or_path: str | os.PathLike[str], software: str | None = None) -> Machine:
    """A machine by name (`machines()` lists them), or from the path of a machine file. "this-machine" measures the
    machine at hand. `software`: a state of its software that the file describes; None: the file's default.

    Raises BadInput where there is no such machine or state, or the file is wrong.
    """
    return Machine.of(load(os.fspath(name_or_path), software))


def machine_of_text(text: str, name: str = "machine", software: str | None = None) -> Machine:
    """A machine from the text of a machine file (docs/machines.md). `name`: what errors call the file. `software`: a
    state of its software, as `machine()` takes it.

    Raises BadInput where the text is wrong or has no such state.
    """
    return Machine.of(_machine.parse(text, name, software or ""))


def machines() -> list[str]:
    """The names of the machines that come with Kumihimo."""
    return list(_machine.names(search()))


def job_of(on: On) -> Job:
    """All nodes of a machine, unless it is a job already."""
    if isinstance(on, Job):
        return on
    return Job(on if isinstance(on, Machine) else machine(on), JobOptions())


def words_of(ranks_per_node: int | Sequence[int]) -> str:
    """As --ranks-per-node has it."""
    return str(ranks_per_node) if isinstance(ranks_per_node, int) else ",".join(map(str, ranks_per_node))


__all__ = ["Job", "JobOptions", "Machine", "On", "machine", "machine_of_text", "machines"]
