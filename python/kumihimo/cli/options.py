"""The options that several verbs share, each with one name and one sentence of help."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Optional, get_type_hints

import click
import typer
from click.core import ParameterSource

from kumihimo import _collectives
from kumihimo.cli import paths
from kumihimo.collectives import arguments
from kumihimo.collectives import given as given_options
from kumihimo.collectives.given import GivenOption
from kumihimo.text.durations import parse_duration
from kumihimo.text.errors import wrong_value
from kumihimo.text.sizes import parse_size


def option(words: str, help_: str, type_: type = str, group: Optional[str] = None) -> object:
    """An option, as the type of a command's argument. `words`: names, then a metavar; without one it is a flag.
    `group`: the title under which `--help` lists it."""
    *names, last = words.split()
    if last.startswith("-"):
        return Annotated[bool, typer.Option(*names, last, help=help_, rich_help_panel=group)]
    if type_ is int:
        integer = Integer()
        return Annotated[
            Optional[int], typer.Option(*names, metavar=last, help=help_, click_type=integer, rich_help_panel=group)
        ]
    return Annotated[Optional[type_], typer.Option(*names, metavar=last, help=help_, rich_help_panel=group)]


class Integer(click.types.IntParamType):
    """A number that fits in 64 bits. A smaller range is checked where the number is used."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        name = max(param.opts, key=len)
        try:
            number = int(value)
        except ValueError:
            raise wrong_value(f"{name} must be an integer", f"'{value}'") from None
        return arguments.within(name, number, 63)


class Duration(click.ParamType):
    """Seconds, from any of the forms of durations.py."""

    name = "time"

    def __init__(self, may_be_zero: bool, needs_unit: bool) -> None:
        self.may_be_zero = may_be_zero
        self.needs_unit = needs_unit

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        name = max(param.opts, key=len)
        return parse_duration(str(value), name, may_be_zero=self.may_be_zero, needs_unit=self.needs_unit)


def duration(
    words: str, help_: str, *, may_be_zero: bool = False, needs_unit: bool = False, group: Optional[str] = None
) -> object:
    """An option whose value is a duration."""
    *names, metavar = words.split()
    seconds = Duration(may_be_zero, needs_unit)
    return Annotated[
        Optional[float], typer.Option(*names, metavar=metavar, help=help_, click_type=seconds, rich_help_panel=group)
    ]


def written(
    words: str, help_: str, kind: type[paths.WrittenPath] = paths.WrittenPath, group: Optional[str] = None
) -> object:
    """An option that names what the command writes; `kind` says how that is checked before the work."""
    *names, metavar = words.split()
    return Annotated[
        Optional[Path], typer.Option(*names, metavar=metavar, help=help_, click_type=kind(), rich_help_panel=group)
    ]


def argument(metavar: str, help_: str, type_: object = str) -> object:
    """The same for an argument without a name."""
    return Annotated[type_, typer.Argument(metavar=metavar, help=help_)]


CollectiveOrPrograms = argument(
    "COLLECTIVE", "Collective (allreduce, bcast ...), halo exchange (halo:16x16x16) or program file (file:PATH)."
)
CollectiveProgramsOrWorkload = argument(
    "COLLECTIVE",
    "Collective (allreduce, bcast ...), halo exchange (halo:16x16x16), program file (file:PATH) or workload "
    "(workload:NAME, see `workload`).",
)
CollectiveProgramsOrGoal = argument(
    "COLLECTIVE",
    "Collective (allreduce, bcast ...), halo exchange (halo:16x16x16), program file (file:PATH), GOAL file "
    "(goal:PATH) or workload (workload:NAME, see `workload`); the last two with --model loggp, flow, exact or packet.",
)
Algorithm = option("--algorithm -a NAME", "Name of the algorithm, as in docs/algorithms.md.")
AlgorithmOrAll = option("--algorithm -a NAME", "Name of an algorithm, or all.")
Shape = option("--shape -s SHAPE", "Shape of the nodes: 4x3x2 (m for a mesh axis: 4x3mx2), 64, none or node:4.")
ShapeOrThatOfJob = option(
    "--shape -s SHAPE",
    "Shape of the nodes: 4x3x2 (m for a mesh axis: 4x3mx2), 64, none or node:4 [default: what KUMIHIMO_SHAPE says].",
)
ShapeOfJob = option("--shape -s SHAPE", "Shape of the nodes: 4x3x2 (m for a mesh axis: 4x3mx2) or 64.")
Box = option("--box BOX", "Box of Tofu nodes: 4x3x8x2x3x2, or 4x3x8x2x3x2@0,0,1 to start at node group 0,0,1.")
Dead = option("--dead PART", "Failed Tofu node 5,0,3 or cable 5,0,3-6,0,3; may be repeated.", list[str])
Software = option("--software NAME", "State of the machine's software; base: none [default: the machine file's].")
Routing = option(
    "--routing NAME",
    "Routing: minimal or valiant (dragonfly), d_mod_k or ecmp (fat tree), adaptive (--model packet).",
)
Ranks = option("--ranks -p P", "Number of ranks [default: those of --shape].", int)
RanksOfMachine = option("--ranks -p P", "Number of ranks [default: those of the shape, or of the machine].", int)
_RANKS_PER_NODE = "Ranks per node (the last node has the rest), or the ranks of each node: 4,3,5 [default: {}]."
RanksPerNode = option("--ranks-per-node G", _RANKS_PER_NODE.format("1"))
RanksPerNodeOrMachine = option("--ranks-per-node G", _RANKS_PER_NODE.format("the machine's"))
Order = option(
    "--order NAME",
    "Order of ranks on nodes: block, round-robin, folded, axes:AXES, reversed-axes, snake[:AXES], hilbert[:AXES], "
    "blocks:CELLS[:GRID] or random:SEED [default: block].",
)
Placement = option(
    "--placement FILE", "Placement file: lines 'rank node slot', or a map file of a launcher (see `place`).", Path
)
Count = option("--count -n N", "Length of the data in elements, instead of --bytes.", int)
Type = option("--type TYPE", "Element type: float64, int32 ...")
Operation = option("--op OP", "Reduction operation: sum, prod, min, max, land, bor ...")
Root = option("--root R", "Root rank of bcast, reduce, gather or scatter.", int)
InPlace = option("--in-place", "Use one buffer for input and output.")
Counts = option(
    "--counts LIST",
    "Lengths of irregular blocks (allgatherv ...): elements (0,5,1000), bytes (8B,1MiB), or a distribution around the "
    "given size (zeros, one_huge, ramp, random:SEED).",
)
Neighbours = option(
    "--neighbours N", "Neighbours of each rank (neighbor_allgather ...): cart:4x3mx2, graph:FILE or random:SEED."
)
Library = option("--mpi MPI", "MPI library: openmpi, mpich, or its prefix [default: the first found].")
Budget = duration("--budget TIME", "Time limit: 90s, 5m, 1h.")
Json = option("--json", "Print one JSON object.")


OF_ALGORITHMS = "Parameters of algorithms (docs/algorithms.md lists which algorithm takes which)"
OF_PROGRAMS = ("collective", "shape", "ranks", "ranks_per_node", "as_json")


def refuse_beside_programs(*taken: str) -> None:
    """Refuses what the command line gives and programs that are no collective do not heed. `taken`: the arguments of
    the verb, beside those of OF_PROGRAMS, that they do."""
    given_options.refuse_beside_programs(given(), (*OF_PROGRAMS, *taken))


def refuse_beside(reason: str, *refused: str) -> None:
    """Refuses these arguments of the verb where the command line gives them. `reason`: why, before "takes no --x"."""
    given_options.refuse(given(), f"{reason} takes", refused)


def refuse_all_but(reason: str, *taken: str) -> None:
    """Refuses all that the command line gives but these arguments of the verb."""
    given_options.refuse_all_but(given(), f"{reason} takes", taken)


def refuse_beside_model(model: str, subject: str) -> None:
    """Refuses a model that does not accept the subject, and what the command line gives and it does not understand."""
    from kumihimo.predict import models  # with all models: not at the start of each verb

    models.refuse(model, subject, given())


def refuse_beside_collective(collective: str) -> None:
    """Refuses what the command line gives and this collective does not have."""
    given_options.refuse_beside_collective(given(), collective)


def given() -> Iterator[GivenOption]:
    """Options on the command line, values joined if an option was repeated."""
    context = click.get_current_context()
    for option in context.command.params:
        if context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            value = context.params[option.name]
            value = ", ".join(map(str, value)) if isinstance(value, tuple) else value
            yield GivenOption(option.name, max(option.opts, key=len), None if value is True else value)


def with_parameters(*, hints: bool = False) -> Callable[[Callable], Callable]:
    """Gives a command an option for each parameter of algorithms, in place of its argument `parameters`: a dictionary
    of those that are given. `hints`: with those that only an execution heeds."""

    def decorated(command: Callable) -> Callable:
        declared = [_option(each) for each in _collectives.declared_parameters() if hints or each.kind != "hint"]
        return _expanded(command, "parameters", declared, _given)

    return decorated


def gathered(command: Callable) -> Callable:
    """Gives a command the fields of a dataclass as options, in place of its argument of that type."""
    name, of = next((name, of) for name, of in get_type_hints(command).items() if dataclasses.is_dataclass(of))
    types = get_type_hints(of, include_extras=True)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    fields = [
        inspect.Parameter(each.name, kind, default=each.default, annotation=types[each.name])
        for each in dataclasses.fields(of)
    ]
    return _expanded(command, name, fields, lambda given: of(**given))


def check_software(state: str | None, machine: str | None) -> None:
    """Refuses --software where no option names a machine."""
    if state is not None and machine is None:
        raise wrong_value("--software needs a machine", f"'{state}'", "add --machine, or leave it out")


def _expanded(
    command: Callable, name: str, into: list[inspect.Parameter], gather: Callable[[dict], object]
) -> Callable:
    """A command with several arguments in place of one, which `gather` makes of them."""
    written = inspect.signature(command)
    types = get_type_hints(command, include_extras=True)
    signature = []
    for each in written.parameters.values():
        signature += into if each.name == name else [each.replace(annotation=types[each.name])]

    @functools.wraps(command)
    def called(**given: object) -> object:
        asked = {each.name: given.pop(each.name) for each in into}
        return command(**given, **{name: gather(asked)})

    called.__signature__ = written.replace(parameters=signature)
    called.__annotations__ = {each.name: each.annotation for each in signature}
    return called


def _option(declared: _collectives.ParameterDeclaration) -> inspect.Parameter:
    is_flag = declared.kind in ("flag", "hint")
    is_text = declared.kind == "choice" or declared.symbol == "SIZE"
    name = f"--{declared.name.replace('_', '-')}" + ("" if is_flag else f" {declared.symbol or 'NAME'}")
    annotation = option(name, declared.meaning + ".", str if is_text else int, OF_ALGORITHMS)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(declared.name, kind, default=False if is_flag else None, annotation=annotation)


def _given(asked: dict) -> dict:
    sizes = {each.name for each in _collectives.declared_parameters() if each.symbol == "SIZE"}
    return {
        name: parse_size(value) if name in sizes else value
        for name, value in asked.items()
        if value is not None and value is not False
    }
