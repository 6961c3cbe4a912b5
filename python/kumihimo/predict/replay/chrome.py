"""A predicted run in the JSON format of Chrome's trace viewer, which Perfetto opens, too."""

from __future__ import annotations

from kumihimo.predict.replay.study import Replay
from kumihimo.text.odd_bytes import to_json

UNIT = 1e6  # microseconds


def text(prediction: Replay) -> str:
    trace = prediction.question.trace
    events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "predicted by kumihimo replay"}}]
    for rank in range(0, prediction.question.ranks, prediction.question.every):
        events.append({"ph": "M", "name": "thread_name", "pid": 0, "tid": rank, "args": {"name": f"rank {rank}"}})
    for rank, place, is_call, start, end in prediction.times.intervals:
        name, kind = (trace.sites[place], "MPI") if is_call else (trace.regions[place], "computing")
        times = {"ts": round(start * UNIT, 6), "dur": round((end - start) * UNIT, 6)}
        events.append({"ph": "X", "name": name, "cat": kind, "pid": 0, "tid": rank, **times})
    return to_json({"traceEvents": events, "displayTimeUnit": "ns"}, separators=(",", ":"))
