"""Computes points on all cores of this machine, or on all ranks of an MPI launch (mpi4py.futures).

Both are executors of concurrent.futures. This process hands out points, few at a time, and writes results as they come;
so only it touches the database.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from kumihimo.predict.campaign.database import FAILED
from kumihimo.processes import launcher_environment, mpi
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject

Predict = Callable[[Sequence[str], str], JsonObject]  # words of the command line, folder of relative paths -> outcome
Store = Callable[[list[tuple[str, JsonObject]]], None]
AHEAD = 2  # points handed out for each worker: one at work, one waiting
DIED = "the process that computed this point died, as from lack of memory; take fewer --workers or a smaller case"


def is_under_launcher() -> bool:
    place = launcher_environment.place()
    return place is not None and place.ranks > 1


@contextlib.contextmanager
def ranks() -> Iterator[Any]:
    """The executor on the first rank of the launch; None on the others, which have served it when they get here."""
    try:
        from mpi4py import MPI
        from mpi4py.futures import MPICommExecutor
    except (ImportError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise failed("a campaign under mpirun or srun needs mpi4py", reason, "pip install mpi4py") from None
    place = launcher_environment.place()
    launched = place.ranks if place else 1
    if MPI.COMM_WORLD.Get_size() != launched:  # each process would be the first of its own world
        found = f"{MPI.Get_library_version().split(',')[0]} sees {MPI.COMM_WORLD.Get_size()} of {launched} ranks"
        raise failed("mpi4py must use the MPI library of the launcher", found, "use the mpirun of that library")
    with MPICommExecutor() as executor:
        yield executor


def compute(todo: Sequence[tuple[str, list[str]]], folder: str, predict: Predict, store: Store, workers: int) -> None:
    """On processes of this machine. `todo`: keys with words."""
    left = deque(todo)
    while left:
        before = len(left)
        unknown = _on_processes(left, folder, predict, store, workers)
        if len(left) == before:
            raise failed("no process could be started for the points", "", "take fewer --workers")
        for key, words in unknown:  # one of them ended a process: each alone, to see which
            if _on_processes(deque([(key, words)]), folder, predict, store, 1):
                store([(key, {"status": FAILED, "error": DIED})])


def compute_on_ranks(
    executor: Any,  # of mpi4py
    todo: Sequence[tuple[str, list[str]]],
    folder: str,
    predict: Predict,
    store: Store,
) -> None:
    """On the other ranks of the launch."""
    serve(executor, executor.num_workers * AHEAD, deque(todo), folder, predict, store)


def _on_processes(
    left: deque[tuple[str, list[str]]], folder: str, predict: Predict, store: Store, workers: int
) -> list[tuple[str, list[str]]]:
    """Takes from `left` until it is empty or a process has died: then the points that were handed out."""
    context = multiprocessing.get_context("spawn")  # this process may have threads
    number = max(1, min(workers, len(left)))
    executor = concurrent.futures.ProcessPoolExecutor(number, context, begin_worker)
    try:
        unknown = serve(executor, number * AHEAD, left, folder, predict, store)
        executor.shutdown()
        return unknown
    except BaseException:
        end_workers()
        executor.shutdown(wait=False, cancel_futures=True)
        raise


def serve(
    executor: concurrent.futures.Executor,
    ahead: int,
    left: deque[tuple[str, list[str]]],
    folder: str,
    predict: Predict,
    store: Store,
) -> list[tuple[str, list[str]]]:
    """`ahead`: most points that are handed out at once. The points that are lost with a broken pool."""
    pending: dict[concurrent.futures.Future, tuple[str, list[str]]] = {}
    lost: list[tuple[str, list[str]]] = []
    while left or pending:
        while left and len(pending) < ahead and not lost:
            point = left[0]
            try:
                pending[executor.submit(predict, point[1], folder)] = point
            except BrokenProcessPool:
                break
            left.popleft()
        if not pending:
            break
        done, _ = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
        ended = []
        for future in done:
            key, words = pending.pop(future)
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                lost.append((key, words))
            elif error is not None:
                raise error
            else:
                ended.append((key, future.result()))
        if ended:
            store(ended)
    return lost


def begin_worker() -> None:
    """Leaves Ctrl-C to the process that hands out points, and ends with it however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def leave_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()


def end_workers() -> None:
    for process in multiprocessing.active_children():
        process.terminate()


def default_workers() -> int:
    return mpi.available_processors()
