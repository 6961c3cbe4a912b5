"""The traffic of a recorded program with what its collectives send, which a profile does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Union

from kumihimo import _collectives, _goal, _machine, _placement, _replay, _schedule, _topology, _traffic
from kumihimo.collectives.given import GivenOption
from kumihimo.predict.replay import choices, otf2_calls, sources
from kumihimo.predict.replay.choices import Call, Ground, NodesOfRanks, Wished
from kumihimo.predict.replay.library_calls import Performed
from kumihimo.text.errors import BadInput, NotApplicable, wrong_value
from kumihimo.text.quantities import counted, seconds_text

SUFFIX = ".otf2"

Sends = Union[_goal.Graphs, _replay.ProgramSends]


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
    notes = gaps(trace)
    sends: Sends
    if trace.recording is None:
        sends = trace.graphs
    else:
        of, wished, filled = trace.recording, Wished.read([], wisdom), filled_by(trace.recording, job)
        ground = Ground(filled and filled.rank_space, job and job.machine, trace.mpi)
        calls = calls_on(of, filled)
        chosen = performed(calls, wished, ground, left_out)
        sends = _replay.ProgramSends(of, chosen)
        counts = [(call, of.count_of(i)) for i, (call, by) in enumerate(zip(calls, chosen)) if by is not None]
        notes = [*wished.notes(counts, ground), *notes]
    if left_out:
        notes = [f"left out, since they go along the network in any placement: {', '.join(sorted(left_out))}", *notes]
    try:
        return TracedTraffic(builder_of(sends).build(), tuple(notes))
    except BadInput as error:
        if not left_out:
            raise BadInput(f"{name}: {error.problem}", error.advice) from None
        rule = f"{name} must have messages that a placement changes"
        raise wrong_value(rule, f"only {', '.join(sorted(left_out))}", "any order of the ranks serves") from None


def builder_of(sends: Sends) -> _traffic.Builder:
    """All that is sent, a rank at a time."""
    builder = _traffic.Builder(sends.ranks)
    for rank in range(sends.ranks):
        builder.add_row(rank, *sends.sends(rank))
    return builder


def filled_by(recording: _replay.Recording, job: _machine.Job | None) -> _machine.Job | None:
    """The job, if the ranks take all of its slots, in whatever order."""
    return job if job is not None and job.slots.size == recording.ranks else None


def calls_on(recording: _replay.Recording, job: _machine.Job | None) -> list[Call]:
    """Its collectives. All ranks have the nodes of a job that they fill; of other communicators no nodes are known
    before the ranks are placed."""
    calls = [Call(*each) for each in recording.calls]
    if job is None:
        return calls
    in_turn = _placement.Placement.in_order("block", job.slots, job.machine.shape)
    on = NodesOfRanks.of(in_turn.node_of_rank, job.machine)
    return [replace(call, on=on) if call.of_all else call for call in calls]


def performed(calls: Sequence[Call], wished: Wished, ground: Ground, left_out: set[str]) -> list[Performed | None]:
    """`left_out` gets the names of the algorithms whose messages are left out."""
    by_number = replace(ground, space=None)
    chosen: list[Performed | None] = []
    for call in calls:
        named = wished.of(call, ground)
        if named is not None and follows_network(*named, call, ground.space):
            left_out.add(f"{call.collective} by {named[0].name}")
            chosen.append(None)
        else:
            chosen.append((*choices.chosen_or_usual(wished, call, by_number), 0.0))
    return chosen


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
