"""Our standard streams. All text goes through them: names of files, machines, hosts and regions as well as ours."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kumihimo.text import odd_bytes

if TYPE_CHECKING:
    from rich.console import Console


class VisibleStream(io.TextIOWrapper):
    """Stream that shows control characters of terminals, and bytes that are not UTF-8, instead of sending them."""

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
        visible = VisibleStream(stream.detach(), errors=odd_bytes.ESCAPES, **kept)
        setattr(sys, name, visible)
        setattr(sys, f"__{name}__", visible)  # of which shutil asks the size of the terminal


def console(name: str = "stderr") -> Console:
    """For bars and what is repainted, which command the terminal; names in them must be made visible before."""
    from rich.console import Console

    stream = getattr(sys, name)
    encoding = getattr(stream, "encoding", None)
    # No context: it shares the file with the stream and leaves it open.
    return Console(file=open(stream.fileno(), "w", encoding=encoding, errors=odd_bytes.ESCAPES, closefd=False))


@contextlib.contextmanager
def repainted() -> Iterator[Callable[[list[str]], None]]:
    """paint(lines) on stdout: on a terminal in place of the lines before, elsewhere below them."""
    if not sys.stdout.isatty():
        yield lambda lines: print("\n".join(lines), flush=True)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=console("stdout"), auto_refresh=False) as live:
        # Lines that are too long for the terminal are cut: wrapped ones would jump.
        yield lambda lines: live.update(
            Text("\n".join(map(odd_bytes.on_one_line, lines)), no_wrap=True, overflow="ellipsis"), refresh=True
        )
