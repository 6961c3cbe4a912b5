"""The outcome of a replay as one object: what --json prints."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.predict.replay import otf2_calls
from kumihimo.predict.replay.models import ReplayModel
from kumihimo.predict.replay.study import Change, Replay, ReplayQuestion
from kumihimo.predict.replay.trace import Trace
from kumihimo.text import quantities


def as_object(prediction: Replay, changes: Sequence[Change], name: str) -> dict:
    question, times = prediction.question, prediction.times
    trace = question.trace
    of = prediction.efficiencies
    chosen = zip(question.calls(), question.chosen())
    sites = [vars(site) for site in prediction.sites]
    regions = [
        {"region": name, "seconds": seconds, "most_seconds": most, "slowest_rank": rank}
        for name, (count, seconds, most, rank, _) in zip(trace.regions, times.regions)
        if count > 0
    ]
    origin: dict[str, object] = {"programs": name}
    if trace.recording is not None and not trace.generated:
        origin = {"recorded_ranks": trace.recording.ranks, "recorded_seconds": trace.seconds}
    return {
        "model": question.model.name,
        "machine": question.model.machine,
        **question.model.about(prediction.prediction),
        "ranks": question.ranks,
        **({} if question.model.job is None else {"nodes": question.model.job.slots.nodes}),
        **origin,
        "seconds": times.total,
        **({} if prediction.interval is None else {"interval": prediction.interval}),
        "last_rank": times.last_rank,
        "computing_seconds": sum(times.computing) / len(times.computing),
        "communication_seconds": times.total - sum(times.computing) / len(times.computing),
        "ideal_network_seconds": prediction.ideal.total,
        "efficiencies": vars(of),
        "largest_loss": of.largest_loss(),
        "messages": times.messages,
        "message_bytes": times.bytes,
        "operations": times.operations,
        "graphs": prediction.graphs,
        "sites": sites,
        "regions": regions,
        "collectives": [
            {
                "collective": c.collective,
                "ranks": c.ranks,
                "bytes": c.bytes,
                "algorithm": variant.name,
                **({"more_seconds": more} if more > 0 else {}),
            }
            for c, (variant, _, more) in chosen
        ],
        "changes": [vars(change) for change in changes],
        "left_out": trace.silent,
        "warnings": [*of_recording(trace), *of_gaps(trace), *of_crowding(question.model), *of_wisdom(question)],
    }


def of_wisdom(question: ReplayQuestion) -> list[str]:
    return [f"{note[0].upper()}{note[1:]}." for note in question.notes()]


def of_crowding(model: ReplayModel) -> list[str]:
    """A warning where ranks of a node compute at the same time, though it has fewer processors."""
    if model.job is None:
        return []
    most = max(model.job.slots.sizes)
    if most <= model.job.machine.cores or model.takes_turns:
        return []
    had = f"{quantities.counted(most, 'rank')} on {quantities.counted(model.job.machine.cores, 'processor')}"
    return [
        f"A node has {had}, but in this model each rank computes as if it had a processor of its own: the time is too "
        "short. Only --model loggp on a single node with [copies] lets ranks take turns."
    ]


def of_recording(trace: Trace) -> list[str]:
    if trace.crowded is None:
        return []
    host, ranks, processors = trace.crowded
    if trace.shared:  # computing is what each rank had of a processor
        return []
    had = f"{quantities.counted(ranks, 'rank')} on {quantities.counted(processors, 'processor')}"
    return [
        f"While it was recorded, {host} ran {had}: computing also has the time in which other ranks had the processor. "
        "Record at most one rank a processor."
    ]


def of_gaps(trace: Trace) -> list[str]:
    """Warnings about calls that left no trace."""
    lacking = [name for name in trace.silent if otf2_calls.moves_data(name)]
    warnings = []
    if lacking:
        what = f"The trace gives no data of {', '.join(lacking)}: these calls take no time here. "
        warnings.append(f"{what}Record with kumihimo record --trace, or with Score-P.")
    if trace.left_out > 0:
        left_out = quantities.counted(trace.left_out, "event")
        warnings.append(f"The recorder had no room for {left_out}: what came after its last ones counts as computing.")
    if trace.off > 0:
        off = quantities.seconds_text(trace.off)
        warnings.append(f"Recording was off for {off}: what the program did meanwhile takes no time here.")
    return warnings


def ranks_of(prediction: Replay) -> dict:
    rows = zip(prediction.times.end, prediction.times.computing)
    return {"by_rank": [{"end_seconds": end, "computing_seconds": computing} for end, computing in rows]}
