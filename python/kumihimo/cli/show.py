"""`kumihimo show`: one schedule, as text that people read or as JSON that programs do."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Optional

from kumihimo import _collectives, _export, _topology
from kumihimo.cli import machines, options, output
from kumihimo.cli.options import option
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.guarantees import words
from kumihimo.network import placement as placements
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.odd_bytes import to_json
from kumihimo.text.sizes import parse_size


@options.with_parameters()
def command(
    collective: options.CollectiveOrPrograms,
    algorithm: options.Algorithm = None,
    shape: options.ShapeOrThatOfJob = None,
    ranks: options.Ranks = None,
    ranks_per_node: options.RanksPerNode = None,
    order: options.Order = None,
    placement: options.Placement = None,
    rank: option("--rank -r R", "Rank whose program to show.", int) = 0,
    count: options.Count = None,
    bytes_: option("--bytes -b SIZE", f"Size of the data [default: {arguments.DEFAULT_BYTES}].") = None,
    type_: options.Type = "float64",
    operation: options.Operation = "sum",
    root: options.Root = 0,
    in_place: options.InPlace = False,
    parameters: Optional[dict] = None,
    counts: options.Counts = None,
    neighbours: options.Neighbours = None,
    expand: option("--expand", "Print all steps of all ranks; needs --count and --json.") = False,
    save_placement: options.written("--save-placement FILE", "Write the placement of the ranks to FILE.") = None,
    as_json: options.Json = False,
) -> None:
    """Show the program of one rank: its lanes, rounds and steps.

    \b
    Example:
    kumihimo show allreduce --shape 4x3x2 --algorithm trinaryx3 --rank 7
    """
    shape = shape or machines.shape_of_job(ranks, ranks_per_node)
    if arguments.names_programs(collective):
        options.refuse_beside_programs("rank", "expand", "order", "placement", "save_placement")
        if expand and not as_json:
            raise wrong_value("--expand needs --json", advice="add it")
        each = arguments.ranks_per_node_named(ranks_per_node or "1")
        named = program_sets.named(collective)
        space = arguments.rank_space(named.ranks(arguments.Ranks(shape, ranks, each)))
        seats = _Seats(space, placements.wanted(order, placement), save_placement, ranks)
        _show(named.on(seats.space), seats, rank, expand, as_json)
        return
    if algorithm is None:
        arguments.variants(collective, arguments.ALL)  # the name of the collective first
        raise missing(f"the algorithm of {collective}", "add --algorithm NAME")
    sized = count is not None or arguments.is_listed(counts) or not arguments.moves_data(collective)
    if expand and not (as_json and sized):
        raise wrong_value("--expand needs --count and --json", advice="add both")
    variant = _collectives.find(collective, algorithm)
    options.refuse_beside_collective(collective)
    asked = arguments.CollectiveArguments(collective, count, None, type_, operation, root, in_place, counts)
    if bytes_ is not None or (count is None and not arguments.is_listed(counts)):
        asked.bytes = parse_size(arguments.DEFAULT_BYTES if bytes_ is None else bytes_)
    asked.neighbours = arguments.neighbours_named(neighbours)
    each = arguments.ranks_per_node_named(ranks_per_node or "1")
    space = arguments.rank_space(arguments.Ranks(shape, ranks, each))
    seats = _Seats(space, placements.wanted(order, placement), save_placement, ranks)
    space = seats.space
    schedule = variant.build(
        arguments.collective(asked, space),
        space,
        arguments.parameters(**parameters),
    )
    rank = arguments.rank_of(rank, space.ranks)
    seats.save()
    if expand:
        print(_export.expanded_json(schedule))
    elif as_json:
        named = {
            "parameters": arguments.parameters_of(schedule.parameters),
            "guarantees": variant.guarantees(schedule.collective),
        }
        output.print_json({**json.loads(_export.program_json(schedule, rank)), **named, **seats.about()})
    else:
        promised = f"same bits   on all {words(variant.guarantees(schedule.collective))}\n"
        program = _export.program_text(schedule, space, rank)
        sys.stdout.write(_export.header_text(schedule, space) + promised + seats.line(rank) + "\n" + program)


def _show(named: program_sets.Programs, seats: _Seats, rank: int, expand: bool, as_json: bool) -> None:
    arguments.rank_of(rank, named.space.ranks)
    with program_sets.unchanged(named.sets):
        if expand:
            text = _export.expanded_json(named.sets) + "\n"
        elif as_json:
            text = to_json({**json.loads(_export.program_json(named.sets, rank)), **seats.about()}) + "\n"
        else:
            header = _export.header_text(named.sets, named.space) + seats.line(rank)
            text = header + "\n" + _export.program_text(named.sets, named.space, rank)
    seats.save()
    sys.stdout.write(text)


class _Seats:
    """Where the ranks sit, as they are asked to be placed, and what is shown of it. `file`: to write it to. `ranks`:
    how many were asked for; None: any number."""

    def __init__(
        self, space: _topology.RankSpace, wanted: placements.Wanted | None, file: Path | None, ranks: int | None
    ) -> None:
        self.wanted = wanted
        self.file = file
        in_order = placements.Wanted("block") if file is not None else None
        self.space, self.placed = placements.placed(space, wanted or in_order, ranks)

    def save(self) -> None:
        if self.file is not None:
            output.write(self.file, str(self.placed))

    def about(self) -> dict:
        if self.wanted is None:
            return {}
        seats = {"node_of_rank": self.placed.node_of_rank, "slot_of_rank": self.placed.slot_of_rank}
        return {"placement": str(self.wanted), **seats}

    def line(self, rank: int) -> str:
        if self.wanted is None:
            return ""
        node, slot = self.placed.node_of_rank[rank], self.placed.slot_of_rank[rank]
        return f"placed by   {self.wanted}; rank {rank} is on node {node}, slot {slot}\n"
