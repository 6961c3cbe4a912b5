"""A search for a placement that runs beside its caller, who sees how far it is and may stop it."""

from __future__ import annotations

import time
from collections.abc import Callable

from kumihimo import _mapping
from kumihimo.mapping.request import PlaceRequest

POLL_SECONDS = 0.1


class MappingSearch:
    """Starts at once, on threads of its own."""

    def __init__(self, wanted: PlaceRequest) -> None:
        self._began, self._cpu = time.perf_counter(), time.process_time()
        self._run = wanted.start()

    def wait(
        self, limit: float | None = None, watch: Callable[[_mapping.Progress], object] = lambda seen: None
    ) -> None:
        """Until it ends, or `limit` seconds have passed since its start: then it stops with the best so far. `watch` is
        called ten times a second."""
        while not self._run.wait(POLL_SECONDS):
            watch(self._run.progress())
            if limit is not None and time.perf_counter() - self._began > limit:
                self._run.stop()

    def stop(self) -> None:
        self._run.stop()

    def result(self) -> _mapping.Mapping:
        return self._run.result()

    def seconds(self) -> dict[str, float]:
        """Members of the outcome: the time since the start."""
        wall, cpu = time.perf_counter() - self._began, time.process_time() - self._cpu
        return {"search_seconds": wall, "search_cpu_seconds": cpu}
