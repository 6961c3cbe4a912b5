"""`place`: which rank goes to which node."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from kumihimo import _placement, _traffic
from kumihimo.api.machines import On, job_of
from kumihimo.collectives import arguments
from kumihimo.mapping import outcome, outputs, request, search
from kumihimo.mapping.request import JobNetwork, PlaceRequest
from kumihimo.mapping.sources import TrafficSource
from kumihimo.predict import simulation
from kumihimo.processes import allocation
from kumihimo.text.durations import parse_duration
from kumihimo.text.errors import wrong_value
from kumihimo.text.records import ResultRecord, array_of

if TYPE_CHECKING:
    import numpy

    from kumihimo.api.common import Progress

Traffic = Union[str, "numpy.ndarray"]  # what --traffic names, or a matrix: bytes from each rank to each other


@dataclass(frozen=True)
class PlacementChoice(ResultRecord):
    """A placement and its measures. `to_dict()` has all that `kumihimo place --json` tells."""

    chosen: str  # what the placement comes from
    ranks: int
    nodes: int
    average_hops: float  # of a byte
    hop_bytes: float  # bytes times hops, summed
    link_bytes_max: float  # of the busiest link
    off_node_bytes: int
    usual_hops: float  # average_hops of the usual order
    usual_link_bytes_max: float
    seconds: float | None  # one exchange of the traffic by the flow model; None: no machine, or above 4,096 ranks
    usual_seconds: float | None  # the same in the usual order
    complete: bool  # False: the search was stopped before its end
    node_of_rank: tuple[int, ...] = field(repr=False)
    slot_of_rank: tuple[int, ...] = field(repr=False)  # number of the slot on the node
    members: Mapping[str, Any] = field(repr=False, compare=False)
    _placement: _placement.Placement = field(repr=False, compare=False)
    _request: PlaceRequest = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As `kumihimo place --json` has it, without its outputs (schemas/place.schema.json)."""
        return dict(self.members)

    def to_numpy(self) -> numpy.ndarray:
        """The node of each rank. Raises Failed where numpy is not installed."""
        return array_of(self.node_of_rank, "int64")

    def write(self, format: str, path: str | os.PathLike[str] | None = None) -> str:
        """Write a map file of a launcher (openmpi5, hydra, slurm, cray ..., see `kumihimo place --help`); returns the
        command line that starts PROGRAM by it, or an empty text.

        Raises BadInput where the format cannot express the placement.
        """
        (wanted,) = outputs.wanted([format])
        wanted = wanted if path is None else replace(wanted, file=Path(path))
        alike = not self._request.within_node
        return str(outputs.written(wanted, self._placement, self._request.network, alike)["launch"])


def place(
    traffic: Traffic,
    on: On | None = None,
    *,
    shape: str | None = None,
    ranks_per_node: int | None = None,
    wisdom: str | os.PathLike[str] | None = None,
    objective: str = "hop-bytes",
    effort: str = "standard",
    grid: str | None = None,
    within_node: str | os.PathLike[str] | None = None,
    link_cap: bool = True,
    seed: int = 1,
    threads: int | None = None,
    budget: str | float | None = None,
    progress: Progress | None = None,
) -> PlacementChoice:
    """Choose the node of each rank for a communication pattern, as `kumihimo place` does.

    `traffic`: a trace (with `wisdom`: its collectives by this file of tune), a profile, "halo:16x16x16:27",
    "file:PROGRAM", "allgather:bruck:1KiB", or a matrix of bytes (ranks x ranks). `on`: a job, a machine or its name;
    None: a torus of `shape` with `ranks_per_node` slots. `objective`: hop-bytes, links, time or off-node. `effort`:
    fast, standard or thorough. `budget`: "10s" or seconds, after which the best so far is taken. `progress` gets
    permille done, 1000, and the phase, ten times a second; an exception that it raises ends the search.

    Raises BadInput for wrong arguments.
    """
    if threads is not None and not 1 <= threads <= arguments.MOST_RANKS:
        raise wrong_value("threads must be 1 or more", threads, "leave it out for all processors")
    if seed < 0:
        raise wrong_value("seed must be 0 or more", seed)
    network = network_of(on, shape, ranks_per_node)
    request.check_choices(objective, effort, network)
    if isinstance(traffic, str):
        source = request.traffic_on(traffic, network, None if wisdom is None else Path(wisdom))
    elif wisdom is not None:
        raise wrong_value("wisdom needs a trace as traffic", "a matrix")
    else:
        source = of_matrix(traffic, network)
    levels = request.levels_of(None if within_node is None else Path(within_node), network)
    wanted = PlaceRequest(
        source, network, objective, effort, seed, request.grid_of(grid, source), link_cap, threads or 0, [], levels
    )
    limit = parse_duration(budget, "budget") if isinstance(budget, str) else budget
    run = search.MappingSearch(wanted)
    try:
        run.wait(limit, lambda seen: progress and progress(round(1000 * seen.done), 1000, seen.phase))
    except BaseException:
        run.stop()
        raise
    found = run.result()
    members = {**outcome.of_search(wanted, found), **run.seconds()}
    members["predicted"], members["outputs"] = outcome.predicted(wanted, found.placement), []
    return choice_of(wanted, members, found.placement)


def choice_of(wanted: PlaceRequest, members: dict[str, Any], chosen: _placement.Placement) -> PlacementChoice:
    both, before = members["predicted"], members["before"]
    return PlacementChoice(
        members["chosen"],
        members["ranks"],
        members["nodes"],
        members["average_hops"],
        members["hop_bytes"],
        members["link_bytes_max"],
        members["off_node_bytes"],
        before["average_hops"],
        before["link_bytes_max"],
        both and both["after"]["seconds"],
        both and both["before"]["seconds"],
        members["complete"],
        tuple(members["node_of_rank"]),
        tuple(members["slot_of_rank"]),
        members,
        chosen,
        wanted,
    )


def network_of(on: On | None, shape: str | None, ranks_per_node: int | None) -> JobNetwork:
    if on is None:
        return request.network(None, shape, simulation.PartOfMachine(), ranks_per_node, None)
    if shape is not None or ranks_per_node is not None:
        raise wrong_value("shape and ranks_per_node are for places without a machine", shape or ranks_per_node)
    job = job_of(on)
    asked = job.asked
    if asked.order is not None or asked.placement is not None or asked.ranks is not None:
        raise wrong_value("a job to place ranks on must have no order, placement or ranks", None, "leave them out")
    part = simulation.PartOfMachine(asked.box, list(asked.dead), asked.routing, list(asked.slow))
    each = arguments.ranks_per_node_named(asked.ranks_per_node)
    given = None if asked.allocation is None else allocation.read(asked.allocation, os.environ)
    return request.network(job.machine.native, asked.shape, part, each, given)


def of_matrix(matrix: Sequence[Sequence[int]] | numpy.ndarray, network: JobNetwork) -> TrafficSource:
    """Traffic from a matrix of bytes."""
    rows = array_of(matrix, "int64")
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or rows.size == 0:
        raise wrong_value("the traffic must be a square matrix of bytes", f"shape {rows.shape}")
    if rows.shape[0] > network.job.slots.size:
        raise wrong_value(
            f"the job has {network.job.slots.size} slots", f"{rows.shape[0]} ranks", "take a larger shape"
        )
    builder = _traffic.Builder(rows.shape[0])
    for rank, row in enumerate(rows):
        to = row.nonzero()[0]
        builder.add_row(rank, to.tolist(), row[to].tolist(), [1] * len(to))
    return TrafficSource(builder.build(), f"a matrix of {rows.shape[0]} ranks")


__all__ = ["PlacementChoice", "Traffic", "place"]
