"""Ctrl-C while the program is still being loaded: the exception that Python raises would come out of an import, with a
stack trace, or into the middle of a native module, which does not survive it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

EXIT_CODE = 1


def leave(number: int, frame: object) -> None:
    """End at once: nothing has been started yet."""
    os.write(2, b"kumihimo: interrupted\n")
    os._exit(EXIT_CODE)


@contextlib.contextmanager
def leaving() -> Iterator[None]:
    """While it lasts Ctrl-C ends the process; afterwards it is Python's exception again, if it was before."""
    usual = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
