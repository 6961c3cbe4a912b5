"""The options that several verbs share, each with one name and one sentence of help."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Optional, get_type_hints

import typer

from kumihimo import _collectives
from kumihimo.sizes import parse_size

Collective = Annotated[str, typer.Argument(metavar="COLLECTIVE", help="Collective: allreduce, bcast, reduce ...")]
CollectiveOrPrograms = Annotated[
    str, typer.Argument(metavar="COLLECTIVE", help="Collective: allreduce, bcast ..., or halo:16x16x16, or file:PATH")
]
OptionalAlgorithm = Annotated[
    Optional[str],
    typer.Option("--algorithm", "-a", metavar="NAME", help="Name of the algorithm, as in docs/algorithms.md."),
]
Algorithm = Annotated[
    str, typer.Option("--algorithm", "-a", metavar="NAME", help="Name of the algorithm, as in docs/algorithms.md.")
]
Shape = Annotated[
    Optional[str],
    typer.Option(
        "--shape",
        "-s",
        metavar="SHAPE",
        help="Shape of the nodes: 4x3x2 (4x3mx2 with a mesh axis), 64, none or node:4.",
    ),
]
ShapeOfJob = Annotated[
    Optional[str],
    typer.Option("--shape", "-s", metavar="SHAPE", help="Shape of the nodes: 4x3x2 (4x3mx2 with a mesh axis) or 64."),
]
Box = Annotated[
    Optional[str],
    typer.Option(
        "--box", metavar="BOX", help="Box of Tofu nodes: 4x3x8x2x3x2, or 4x3x8x2x3x2@0,0,1 with its first group."
    ),
]
Dead = Annotated[
    Optional[list[str]],
    typer.Option("--dead", metavar="PART", help="Dead node 5,0,3 or dead cable 5,0,3-6,0,3 of Tofu; may be repeated."),
]
Routing = Annotated[
    Optional[str],
    typer.Option(
        "--routing", metavar="NAME", help="Routing: minimal or valiant (dragonfly), d_mod_k or ecmp (fat tree)."
    ),
]
Ranks = Annotated[
    Optional[int], typer.Option("--ranks", "-p", metavar="P", help="Number of ranks; in a row if no shape is given.")
]
RanksOfMachine = Annotated[
    Optional[int],
    typer.Option(
        "--ranks", "-p", metavar="P", help="Number of ranks [default: those of the shape, or of the machine]."
    ),
]
RanksPerNode = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks per node (the last node has the rest), or the ranks of each node: 4,3,5 [default: 1].",
    ),
]
RanksPerNodeOrMachine = Annotated[
    Optional[str],
    typer.Option(
        "--ranks-per-node",
        metavar="G",
        help="Ranks per node (the last node has the rest), or the ranks of each node: 4,3,5 [default: the machine's].",
    ),
]
Order = Annotated[
    Optional[str],
    typer.Option(
        "--order",
        metavar="NAME",
        help="Order of ranks on nodes: block, round-robin, reversed-axes or random:SEED [default: block].",
    ),
]
Placement = Annotated[
    Optional[Path],
    typer.Option("--placement", metavar="FILE", help="File with lines 'rank node slot', or an Open MPI rankfile."),
]
AlgorithmOrAll = Annotated[str, typer.Option("--algorithm", "-a", metavar="NAME", help="Name of an algorithm, or all.")]
Count = Annotated[Optional[int], typer.Option("--count", "-n", metavar="N", help="Number of elements.")]
Type = Annotated[str, typer.Option("--type", metavar="TYPE", help="Element type: float64, int32 ...")]
Operation = Annotated[
    str, typer.Option("--op", metavar="OP", help="Reduction operation: sum, prod, min, max, land, bor ...")
]
Root = Annotated[int, typer.Option("--root", metavar="R", help="Root rank of bcast, reduce, gather or scatter.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Use one buffer for input and output.")]
Counts = Annotated[
    Optional[str],
    typer.Option(
        "--counts",
        metavar="LIST",
        help="Irregular blocks (allgatherv ...): their elements as 0,5,1000 or bytes as 8B,1MiB; or a distribution "
        "around the given size: zeros, one_huge, ramp, random:SEED.",
    ),
]
Neighbours = Annotated[
    Optional[str],
    typer.Option(
        "--neighbours",
        metavar="N",
        help="Neighbours of each rank (neighbor_allgather ...): cart:4x3mx2, graph:FILE or random:SEED.",
    ),
]
Library = Annotated[
    Optional[str],
    typer.Option("--mpi", metavar="MPI", help="MPI library: openmpi, mpich, or its prefix [default: the first found]."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def with_parameters(*, hints: bool = False) -> Callable[[Callable], Callable]:
    """Gives a command an option for each parameter of algorithms, in place of its argument `parameters`: a dictionary
    of those that are given. `hints`: with those that only an execution heeds."""

    def decorated(command: Callable) -> Callable:
        options = [_option(each) for each in _collectives.declared_parameters() if hints or each.kind != "hint"]
        types = get_type_hints(command, include_extras=True)
        written = inspect.signature(command)
        signature = []
        for each in written.parameters.values():
            signature += options if each.name == "parameters" else [each.replace(annotation=types[each.name])]

        @functools.wraps(command)
        def called(**given: object) -> object:
            asked = {option.name: given.pop(option.name) for option in options}
            return command(**given, parameters=_given(asked))

        called.__signature__ = written.replace(parameters=signature)
        called.__annotations__ = {each.name: each.annotation for each in signature}
        return called

    return decorated


def _option(declared: _collectives.ParameterDeclaration) -> inspect.Parameter:
    is_flag = declared.kind in ("flag", "hint")
    is_text = declared.kind == "choice" or declared.symbol == "SIZE"
    type_ = bool if is_flag else Optional[str] if is_text else Optional[int]
    option = typer.Option(
        f"--{declared.name.replace('_', '-')}",
        metavar=None if is_flag else declared.symbol or "NAME",
        help=declared.meaning + ".",
    )
    return inspect.Parameter(
        declared.name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=False if is_flag else None,
        annotation=Annotated[type_, option],
    )


def _given(asked: dict) -> dict:
    sizes = {each.name for each in _collectives.declared_parameters() if each.symbol == "SIZE"}
    return {
        name: parse_size(value) if name in sizes else value
        for name, value in asked.items()
        if value is not None and value is not False
    }
