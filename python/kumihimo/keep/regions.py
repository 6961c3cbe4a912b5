"""Regions of a Python program, and what is asserted of them. Without `kumihimo record` they do nothing."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def region(name: str, asserts: str = "") -> Iterator[None]:
    """Marks what is done within, as kumihimo_begin and kumihimo_end of kumihimo.h do:

    from kumihimo import keep

    with keep.region("solve", "seconds <= 0.5"):
        ...
    """
    begin, end = recorder()
    if begin is None or end is None:
        yield
        return
    frame = sys._getframe(2)  # behind this one there is that of contextlib
    begin(name.encode(), asserts.encode(), frame.f_code.co_filename.encode(), frame.f_lineno)
    try:
        yield
    finally:
        end(name.encode())


@functools.cache
def recorder() -> tuple:
    """Its two functions, which are in the process if `record` started it."""
    process = ctypes.CDLL(None)
    names = ("kumihimo_region_begin_at", "kumihimo_region_end")
    return tuple(getattr(process, name, None) for name in names)
