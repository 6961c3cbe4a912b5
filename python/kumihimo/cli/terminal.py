"""Our standard streams. All text goes through them: names of files, machines, hosts and regions as well as ours."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

from kumihimo.text import odd_bytes

if TYPE_CHECKING:
    from rich.console import Console


class VisibleStream(io.TextIOWrapper):
    """What would command a terminal, or is not UTF-8, is shown instead."""

    def write(self, text: str) -> int:
        super().write(odd_bytes.visible(text))
        return len(text)


def open_streams() -> None:
    """Once, in the command's own process."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller, as by `>&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115
            continue
        kept = {
            "encoding": stream.encoding,
            "line_buffering": stream.line_buffering,
            "write_through": stream.write_through,
        }
        setattr(sys, name, VisibleStream(stream.detach(), errors=odd_bytes.ESCAPES, **kept))


def console() -> Console:
    """On stderr, for bars, which command the terminal; names in them must be made visible before."""
    from rich.console import Console

    encoding = getattr(sys.stderr, "encoding", None)
    # No context: it shares the file with sys.stderr and leaves it open.
    return Console(file=open(sys.stderr.fileno(), "w", encoding=encoding, errors=odd_bytes.ESCAPES, closefd=False))
