"""The traffic of a recorded program with what its collectives send, which a profile does not tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from kumihimo import _collectives, _goal, _machine, _replay, _schedule, _topology, _traffic
from kumihimo.collectives.given import GivenOption
from kumihimo.predict.replay import choices, otf2_calls, sources
from kumihimo.predict.replay.choices import Call, Ground, Wished
from kumihimo.predict.replay.trace import Trace
from kumihimo.text.errors import BadInput, NotApplicable, wrong_value
from kumihimo.text.quantities import counted, seconds_text

SUFFIX = ".otf2"


@dataclass(frozen=True)
class TracedTraffic:
    """`notes`: what a user should know of it."""

    traffic: _traffic.Traffic
    notes: tuple[str, ...]


def is_trace(name: str) -> bool:
    path = Path(name)
    return name.startswith(sources.GOAL) or path.suffix == SUFFIX or path.is_dir()


def traffic_of(name: str, wisdom: Path | None, job: _machine.Job | None) -> TracedTraffic:
    """Bytes that each rank of a trace sends to each other. Its collectives are performed by a file of tune, else as the
    MPI library of the recording does. Algorithms that are built on the nodes' places go along the network in any
    placement, so that they are left out. `job`: where the ranks are to be placed.

    Raises BadInput where nothing is left.
    """
    trace = sources.trace_of(name, [] if wisdom is None else [GivenOption("wisdom", "--wisdom", wisdom)])
    left_out: set[str] = set()
    graphs = trace.graphs or performed(trace, Wished.read([], wisdom), job, left_out).graphs
    builder = _traffic.Builder(graphs.ranks)
    for rank in range(graphs.ranks):
        builder.add_row(rank, *graphs.sends(rank))
    told = f"left out, since they go along the network in any placement: {', '.join(sorted(left_out))}"
    notes = [*([told] if left_out else []), *gaps(trace)]
    try:
        return TracedTraffic(builder.build(), tuple(notes))
    except BadInput as error:
        if not left_out:
            raise BadInput(f"{name}: {error.problem}", error.advice) from None
        rule = f"{name} must have messages that a placement changes"
        raise wrong_value(rule, f"only {', '.join(sorted(left_out))}", "any order of the ranks serves") from None


def performed(trace: Trace, wished: Wished, job: _machine.Job | None, left_out: set[str]) -> _replay.Program:
    """`left_out` gets the names of the algorithms whose messages are left out."""
    recording = trace.recording
    assert recording is not None  # a GOAL file has graphs
    space = job.rank_space if job is not None and job.rank_space.ranks == recording.ranks else None
    ground = Ground(space, None if job is None else job.machine, trace.mpi)
    by_number = replace(ground, space=None)
    chosen: list[tuple[_collectives.Variant, _collectives.Parameters, float] | None] = []
    for call in [Call(*each) for each in recording.calls]:
        named = wished.of(call, ground)
        if named is not None and follows_network(*named, call, space):
            left_out.add(f"{call.collective} by {named[0].name}")
            chosen.append(None)
        else:
            chosen.append((*choices.chosen_or_usual(wished, call, by_number), 0.0))
    return _replay.program_of(recording, chosen, _goal.WorkRates())


def follows_network(
    variant: _collectives.Variant, parameters: _collectives.Parameters, call: Call, space: _topology.RankSpace | None
) -> bool:
    """Whether its messages depend on where the nodes are, and not on numbers of ranks alone. `space`: None where the
    places of all ranks are not known before they are placed."""
    if not call.of_all:
        return False
    collective = choices.collective_of(call)
    try:
        by_places = None if space is None else variant.build(collective, space, parameters)
    except NotApplicable:
        return False  # the MPI library performs it
    try:
        by_number = variant.build(collective, _topology.RankSpace.row(call.ranks), parameters)
    except NotApplicable:
        return True
    return by_places is not None and not sends_as(by_number, by_places)


def sends_as(first: _schedule.Schedule, second: _schedule.Schedule) -> bool:
    """Whether both send the same bytes and messages between the same ranks."""
    one, other = sent_by(first), sent_by(second)
    return one == other if one is not None and other is not None else one is other


def sent_by(schedule: _schedule.Schedule) -> _traffic.Traffic | None:
    """None: the schedule moves no byte."""
    try:
        return _traffic.of_programs(schedule)
    except BadInput:
        return None


def gaps(trace: Trace) -> list[str]:
    """Parts of the program that the trace lacks."""
    lacking = [name for name in trace.silent if otf2_calls.moves_data(name)]
    found = [f"the trace gives no data of {', '.join(lacking)}: they are left out"] if lacking else []
    if trace.left_out > 0:
        found.append(f"the recorder had no room for {counted(trace.left_out, 'event')}: they are left out")
    if trace.off > 0:
        found.append(f"recording was off for {seconds_text(trace.off)}: messages of that time are left out")
    return found


def describe(name: str, traffic: _traffic.Traffic, wisdom: Path | None) -> str:
    by = "" if wisdom is None else f", collectives by {wisdom}"
    return f"trace of {counted(traffic.ranks, 'rank')} in {name}{by}"
