"""The model that a replay is asked for: the options of `kumihimo replay` about the machine and the model."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

from kumihimo import _machine, _replay
from kumihimo.collectives import arguments
from kumihimo.collectives import given as given_options
from kumihimo.collectives.given import GivenOption
from kumihimo.network import placement
from kumihimo.network.placement import Placed, Wanted
from kumihimo.predict import faults, models, noise, packet, simulation
from kumihimo.predict.prediction import Setting
from kumihimo.predict.replay.models import ReplayModel
from kumihimo.processes import allocation
from kumihimo.processes.allocation import Allocation
from kumihimo.text.errors import KumihimoError, missing, wrong_value

MOST_FREE = 3  # nodes of a part for each node that the ranks need
OF_MACHINE = ("software", "shape", "box", "dead", "routing", "ranks_per_node", "given", "order", "placement")


@dataclass
class ReplayModelRequest(ABC):
    """The options, as they were given."""

    model: str
    machine: str | None = None
    shape: str | None = None
    box: str | None = None
    dead: list[str] = field(default_factory=list)
    routing: str | None = None
    ranks_per_node: str | None = None
    given: str | None = None
    order: str | None = None
    placement: Path | None = None
    loggops: str | None = None
    noise: str | None = None
    packet_bytes: int | None = None
    buffer_packets: int | None = None
    packet_seed: int = 1
    dies: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    software: str | None = None
    whole: bool = False  # the machine is that of the job, whose nodes the ranks fill in order

    @abstractmethod
    def loaded_machine(self) -> _machine.Machine:
        """The machine that `machine` names."""

    def explicit(self) -> Iterator[GivenOption]:
        """Options that differ from their defaults."""
        for each in fields(ReplayModelRequest):
            value = getattr(self, each.name)
            if value not in (each.default, []) and each.name not in ("model", "whole"):
                flag = "--allocation" if each.name == "given" else f"--{each.name.replace('_', '-')}"
                yield GivenOption(each.name, flag, value)

    def check(self) -> None:
        models.refuse(self.model, "recording", self.explicit())
        if self.model != "loggp" and self.machine is None:
            raise missing("the machine", "add --machine, whose network the messages take")
        if self.machine is None:
            given_options.refuse(self.explicit(), "the model loggp without --machine takes", OF_MACHINE)

    def on(self, ranks: int) -> ReplayModel:
        """The model, with so many ranks on the machine."""
        of_packets = self.routing if self.model == "packet" and self.routing in packet.ROUTINGS else None
        options: dict[str, object] = {"loggops": self.loggops}
        if self.model == "packet":
            options["packets"] = packet.options(of_packets, self.packet_bytes, self.buffer_packets, self.packet_seed)
        job, name, placed, hosts = None, "a machine", None, None
        if self.machine is not None:
            wanted, hosts = placement.wanted(self.order, self.placement), self.hosts()
            job, name, placed = self.job(ranks, None if of_packets else self.routing, hosts, wanted)
        deaths = faults.deaths(self.dies, None if job is None else job.machine)
        disturbed = noise.named(self.noise)
        slow = bool(self.slow)
        setting = Setting(self.model, job, placed, True, disturbed, deaths, has_slow_parts=slow, options=options)
        return ReplayModel(setting, name, hosts is None)

    def slots(self) -> int | None:
        """Slots of the nodes that the options name; None: they name none."""
        if self.machine is None or not (self.whole or self.shape or self.box or self.given):
            return None
        asked = arguments.Ranks(self.shape, None, arguments.ranks_per_node_named(self.ranks_per_node))
        part = simulation.PartOfMachine(self.box, self.dead)
        return simulation.on(self.loaded_machine(), asked, part, self.hosts()).slots.size

    def hosts(self) -> Allocation | None:
        return None if self.given is None else allocation.read(self.given, os.environ)

    def job(
        self, ranks: int, routing: str | None, hosts: Allocation | None, wanted: Wanted | None
    ) -> tuple[_machine.Job, str, Placed | None]:
        """The nodes and slots of so many ranks, what to call them, and the placement."""
        each = arguments.ranks_per_node_named(self.ranks_per_node)
        loaded = self.loaded_machine()
        part = simulation.PartOfMachine(self.box, self.dead, routing, self.slow)
        if self.whole or hosts is not None or self.box is not None or self.shape is not None:
            asked: Iterable[arguments.Ranks] = [arguments.Ranks(self.shape, None, each)]
        else:
            asked = shapes_for(loaded, ranks, each)
        shape, job = first_job(asked, lambda of: simulation.on(loaded, of, part, hosts))
        found = hosts is None and self.box is None and self.shape is None
        placed: Placed | None
        if found and self.placement is None and job.slots.size > ranks:
            placed = simulation.with_free_slots(job, self.order or "block", ranks)
        else:
            placed = simulation.placed(job, wanted, hosts)
        on_them = placed.placement.ranks if placed else job.slots.size
        if on_them != ranks:
            advice = "give another --placement" if self.placement else "leave out --shape, or give one of as many"
            raise wrong_value("the machine must have as many ranks as the program", f"{on_them} for {ranks}", advice)
        return job, f"{job.machine.name} {shape or simulation.shape_of(job.machine)}".strip(), placed


def first_job(
    asked: Iterable[arguments.Ranks], on: Callable[[arguments.Ranks], _machine.Job]
) -> tuple[str | None, _machine.Job]:
    """The first job that the machine can have; the error is that of the first one asked."""
    errors: list[KumihimoError] = []
    for each in asked:
        try:
            return each.shape, on(each)
        except KumihimoError as error:
            errors.append(error)
    raise errors[0]


def shapes_for(machine: _machine.Machine, ranks: int, each: int | tuple[int, ...] | None) -> Iterator[arguments.Ranks]:
    """Parts of a machine with as many nodes as the ranks need, of a torus or mesh in proportion; the best come first.
    Those with free nodes come last."""
    if machine.family == "single_node" or isinstance(each, tuple):
        yield arguments.Ranks(None, ranks, each)
        return
    most = machine.default_ranks_per_node if each is None else each
    if machine.on_switches:
        if each is None:
            yield from (arguments.Ranks(None, ranks, on_node) for on_node in range(most, 0, -1) if ranks % on_node == 0)
        else:
            yield arguments.Ranks(None, ranks, each)
        return
    check_fits(machine, ranks, most)
    axes = [axis.length for axis in machine.shape.axes]
    on_nodes = [of for of in (range(most, 0, -1) if each is None else (each,)) if ranks % of == 0]
    for on_node in on_nodes:
        yield from (arguments.Ranks(shape, None, on_node) for shape in shapes_of(axes, ranks // on_node))
    for on_node in range(most if each is None else 1, 1, -1):  # the last node has fewer
        nodes = -(-ranks // on_node)
        evened = -(-ranks // nodes)
        yield from (arguments.Ranks(shape, ranks, evened) for shape in shapes_of(axes, nodes))
    needed = -(-ranks // most)
    for nodes in range(needed + 1, min(MOST_FREE * needed, machine.nodes) + 1):
        yield from (arguments.Ranks(shape, None, -(-ranks // needed)) for shape in shapes_of(axes, nodes))
    yield arguments.Ranks(None, None, -(-ranks // needed))  # all of it


def check_fits(machine: _machine.Machine, ranks: int, each: int) -> None:
    if ranks > machine.nodes * each:
        rule = f"{machine.name} takes 1 to {machine.nodes * each} ranks, {each} on each of {machine.nodes} nodes"
        raise wrong_value(rule, ranks, "give more --ranks-per-node, or fewer --ranks")


def shapes_of(axes: list[int], nodes: int) -> list[str]:
    grid = _replay.scaled_grid(axes, nodes)
    shapes = ["x".join(map(str, grid)), "x".join(f"{length}m" if length > 1 else "1" for length in grid)]
    if len(axes) > 1 and nodes % axes[-1] == 0:  # nodes of a router are on the last axis
        shapes.append("x".join(map(str, [*_replay.scaled_grid(axes[:-1], nodes // axes[-1]), axes[-1]])))
    return shapes
