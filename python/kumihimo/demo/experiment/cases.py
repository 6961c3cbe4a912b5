"""Many predictions at once: a list of cases, spread over the processors, in the order they were asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.collectives.arguments import CollectiveArguments
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Setting
from kumihimo.processes.mpi import available_processors
from kumihimo.text.errors import NotApplicable
from kumihimo.text.json_types import JsonObject

Progress = Callable[[str, int, int], None]  # what is being done, done, of


def silent(_what: str, _done: int, _of: int) -> None:
    """No progress shown."""


@dataclass
class WantedPrediction:
    """One prediction. `segment_bytes` is declared as the machine's: algorithms that do not pipeline ignore it."""

    machine: _machine.Machine
    algorithm: str
    bytes: int
    collective: str = "allreduce"
    simd: bool = True
    links: bool = False
    segment_bytes: int | None = None


def algorithms(collective: str = "allreduce") -> list[str]:
    """The names of all algorithms, in the registry's order."""
    return [variant.name for variant in simulation.variants(collective, simulation.ALL)]


def predict(wanted: WantedPrediction) -> JsonObject | None:
    """The result, or None where the algorithm does not fit."""
    asked = simulation.CollectiveQuestion(
        Setting(job=_machine.Job(wanted.machine), simd=wanted.simd, options={"link_bytes": wanted.links}),
        arguments=CollectiveArguments(wanted.collective),
        algorithm=simulation.ALL,  # so that a segment size is declared, not demanded
        parameters={} if wanted.segment_bytes is None else {"segment_bytes": wanted.segment_bytes},
    )
    variant = simulation.variants(wanted.collective, wanted.algorithm)[0]
    try:
        result = simulation.predict(asked, simulation.Case(variant, wanted.bytes))
    except NotApplicable:
        return None
    return {**result, "declared_segment_bytes": wanted.segment_bytes or wanted.machine.segment_bytes_of(wanted.bytes)}


def predict_all(what: str, wanted: Iterable[WantedPrediction], progress: Progress = silent) -> list[JsonObject]:
    """The results of all cases that fit, in the order of `wanted`. The native simulation leaves Python's lock free, so
    threads are enough; they are daemons, so that Ctrl-C need not wait for them."""
    work = SharedWork(what, list(wanted), progress)
    threads = [threading.Thread(target=work.do, daemon=True) for _ in range(available_processors())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if work.error is not None:
        raise work.error
    return [result for result in work.results if result is not None]


class SharedWork:
    """Cases that several threads take one after another."""

    def __init__(self, what: str, cases: list[WantedPrediction], progress: Progress) -> None:
        self.results: list[JsonObject | None] = [None] * len(cases)
        self.error: Exception | None = None
        self._what, self._cases, self._progress = what, cases, progress
        self._next, self._done, self._lock = 0, 0, threading.Lock()

    def do(self) -> None:
        """Until no case is left, or one has failed."""
        while (place := self._take()) is not None:
            try:
                self.results[place] = predict(self._cases[place])
            except Exception as error:
                self.error = error
                return
            self._ended()

    def _take(self) -> int | None:
        with self._lock:
            if self.error is not None or self._next == len(self._cases):
                return None
            self._next += 1
            return self._next - 1

    def _ended(self) -> None:
        with self._lock:
            self._done += 1
            self._progress(self._what, self._done, len(self._cases))
