"""The times of a job beside others: repeats with different seeds, alone and beside them, and what they say together."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import queue
import statistics
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kumihimo import _measure, _packet, _predict
from kumihimo.predict.background import allocation
from kumihimo.predict.background.allocation import Allocator
from kumihimo.processes import launcher_environment, mpi
from kumihimo.text.json_types import JsonObject

LEAST_OF_INTERVAL = 6  # samples of a 95 % interval of the median (src/foundation/measure)
LEAST_OF_P99 = 100
LEAST_OFFERED = 400  # messages, of a share that is delivered: fewer are known to 5 % at best
MOST_REPEATS = 100_000

Task = TypeVar("Task")
Value = TypeVar("Value")


Simulate = Callable[
    [object, str, int], tuple[JsonObject, JsonObject]
]  # a case, spread and seed: a repeat, and about the case


def beside(found: _predict.Prediction) -> JsonObject:
    """Members of a prediction about the jobs beside it."""
    return {"start_seconds": found.start_seconds, "background": found.background}


@dataclass(frozen=True)
class Study:
    """`packets`: options of the model, whose seed is that of the first repeat."""

    allocator: Allocator
    packets: _packet.Options
    repeats: int
    warm_up: float | None = None

    @property
    def seeds(self) -> range:
        return range(self.packets.seed, self.packets.seed + self.repeats)

    def repeat(self, spread: str, seed: int, simulate: Callable[..., JsonObject]) -> JsonObject:
        """simulate(placed, options, background): the job watched, with what beside() tells."""
        placed, others = self.allocator.made(spread, seed)
        options = self.packets.with_seed(seed)
        quiet = simulate(placed, options, _packet.Background())
        found = simulate(placed, options, allocation.background_of(others, seed, self.warm_up))
        return {
            "seed": seed,
            "seconds": found["seconds"],
            "quiet_seconds": quiet["seconds"],
            "packets_waiting_share": found["own_packets_waiting_share"],
            "quiet_packets_waiting_share": quiet["packets_waiting_share"],
            "links_waiting_share": found["links_waiting_share"],
            "start_seconds": found["start_seconds"],
            "background": [
                {
                    "offered_bytes": use.offered,
                    "delivered_bytes": use.delivered,
                    "runs": use.runs,
                    "message_bytes": None if other.graphs is not None else other.spec.bytes,
                }
                for use, other in zip(found["background"], others)
            ],
        }


def summary(repeats: Sequence[JsonObject]) -> JsonObject:
    """The members of a result. The median and its interval are order statistics; the 99th percentile is the time that
    99 of 100 repeats do not exceed, and None of fewer. `accepted_share` is of sources, and None where few messages were
    offered while the job ran."""
    times = sorted(repeat["seconds"] for repeat in repeats)
    found = _measure.summarise(times)
    quiet = statistics.median(repeat["quiet_seconds"] for repeat in repeats)
    sources = [use for repeat in repeats for use in repeat["background"] if use["message_bytes"] is not None]
    offered, delivered = (sum(use[name] for use in sources) for name in ("offered_bytes", "delivered_bytes"))
    messages = sum(use["offered_bytes"] // use["message_bytes"] for use in sources)
    has_interval = len(times) >= LEAST_OF_INTERVAL
    return {
        "seconds": found.median,
        "low_seconds": found.low if has_interval else None,
        "high_seconds": found.high if has_interval else None,
        "p99_seconds": times[math.ceil(0.99 * len(times)) - 1] if len(times) >= LEAST_OF_P99 else None,
        "max_seconds": times[-1],
        "quiet_seconds": quiet,
        "slowdown": found.median / quiet if quiet else 1.0,
        "packets_waiting_share": mean_of(repeats, "packets_waiting_share"),
        "quiet_packets_waiting_share": mean_of(repeats, "quiet_packets_waiting_share"),
        "links_waiting_share": mean_of(repeats, "links_waiting_share"),
        "start_seconds": mean_of(repeats, "start_seconds"),
        "offered_messages": messages,
        "offered_bytes": offered,
        "delivered_bytes": delivered,
        "accepted_share": delivered / offered if messages >= LEAST_OFFERED else None,
        "repeats": list(repeats),
    }


def mean_of(repeats: Sequence[JsonObject], name: str) -> float:
    return statistics.fmean(repeat[name] for repeat in repeats)


def processors() -> int:
    """A worker of a campaign has one."""
    if multiprocessing.parent_process() is not None or launcher_environment.place() is not None:
        return 1
    return mpi.available_processors()


def in_parallel(
    work: Callable[[Task], Value], tasks: Sequence[Task], threads: int
) -> Iterator[tuple[Task, Value | None, Exception | None]]:
    """Each task with its value or its error, as they end. Closing it ends the threads after their tasks of the moment,
    and they never keep the process from ending."""
    todo: queue.SimpleQueue = queue.SimpleQueue()
    ended: queue.SimpleQueue = queue.SimpleQueue()
    for task in tasks:
        todo.put(task)

    def serve() -> None:
        while True:
            try:
                task = todo.get_nowait()
            except queue.Empty:
                return
            try:
                ended.put((task, work(task), None))
            except Exception as error:
                ended.put((task, None, error))

    serving = [threading.Thread(target=serve, daemon=True) for _ in range(min(threads, len(tasks)))]
    for thread in serving:
        thread.start()
    try:
        for _ in tasks:
            yield ended.get()
    finally:
        with contextlib.suppress(queue.Empty):
            while True:
                todo.get_nowait()
        for thread in serving:
            thread.join()
