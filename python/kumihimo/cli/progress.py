"""Long native work that Ctrl-C ends at once, and a bar that says how far it is."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from kumihimo.cli import terminal
from kumihimo.cli.output import message
from kumihimo.processes.interrupts import ending_by_signal
from kumihimo.text import odd_bytes

if TYPE_CHECKING:
    from rich.progress import Progress

Value = TypeVar("Value")
POLL_SECONDS = 0.1


class Interruption(contextlib.ExitStack):
    """Ends what it surrounds at Ctrl-C, SIGTERM and SIGHUP, so that what was found can still be kept and shown. `code`:
    of the exit; 0 if none came."""

    code = 0

    def __enter__(self) -> Interruption:
        self.enter_context(ending_by_signal())
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, where: object) -> bool:
        super().__exit__(None, None, None)
        if isinstance(error, KeyboardInterrupt):
            self.code = 1
        elif isinstance(error, SystemExit):
            self.code = int(error.code)
        return self.code != 0


def run_interruptible(work: Callable[[], Value]) -> Value:
    """The value of `work`, done on another thread, since a signal reaches Python only between two native calls. After
    a signal the work is abandoned: it holds no lock and writes no file, and the process ends without waiting for it."""
    ended: dict = {}

    def run() -> None:
        try:
            ended["value"] = work()
        except BaseException as error:
            ended["error"] = error

    worker = threading.Thread(target=run, daemon=True)
    try:
        worker.start()  # which waits for the thread: a signal may come while it does
        while worker.is_alive():
            worker.join(POLL_SECONDS)
    except (KeyboardInterrupt, SystemExit) as ended:
        atexit.register(os._exit, ended.code if isinstance(ended, SystemExit) else 1)
        raise
    if "error" in ended:
        raise ended["error"]
    return ended["value"]


def bars(title: str, transient: bool = False) -> Progress:
    """On stderr; `title` is rich's form of a task's."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    steps = TextColumn("step {task.completed} of {task.total}")
    columns = (TextColumn(title, markup=False), BarColumn(), steps, TimeElapsedColumn())
    return Progress(*columns, console=terminal.console(), transient=transient)


class ProgressLines:
    """Prints a line on stderr for each case, so that a log shows what a long command does."""

    def __init__(self, title: str) -> None:
        self.title, self.case = title, ""

    def __call__(self, what: str) -> None:
        case = what.partition(":")[0]
        if case != self.case:
            message(f"{self.title}: {case}")
        self.case = case


@contextmanager
def bar(title: str, total: int, *, lines: bool = False) -> Iterator[Callable[[str], None]]:
    """advance(what is next) for each of `total` steps; a bar on stderr if that is a terminal and there is more than one
    step. `lines`: elsewhere print a line whenever the part of `what` before its colon changes."""
    if not sys.stderr.isatty() or total < 2:
        yield ProgressLines(title) if lines and not sys.stderr.isatty() else lambda what: None
        return
    with bars("{task.description}", transient=True) as shown:
        task = shown.add_task(odd_bytes.on_one_line(title), total=total)

        def advance(what: str) -> None:
            shown.update(task, advance=1, description=odd_bytes.on_one_line(f"{title} {what}"))

        yield advance
