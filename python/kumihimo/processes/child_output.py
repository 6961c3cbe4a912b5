"""Reads what a child process writes, up to its last byte.

What a process wrote is in its pipes once it has ended, however late the reader comes. So a reader may stop only after
it has seen first that the process has ended and then that the pipes are empty: neither a time of silence nor a time
limit says that. A process that the child left behind can hold the pipes open for ever, so it gets a limited time.
"""

from __future__ import annotations

import fcntl
import os
import selectors
import struct
import subprocess
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from kumihimo.processes import children

SILENCE = 2.0  # seconds without output, after which a reader looks at the process
LAST_SECONDS = 10.0  # of reading what others write to the pipes of a process that has ended
MOST_BYTES = 1 << 18  # of one read


class TimedOut(Exception):
    """The deadline has passed, and the process has not ended."""


def chunks(
    process: subprocess.Popen, deadline: float, silence: float = SILENCE
) -> Iterator[tuple[IO[bytes] | None, bytes]]:
    """The bytes of both pipes as they come, each with its stream; (None, b"") after each `silence` seconds without any.
    Ends when both pipes are closed, or the process has ended and nobody else writes. Then, and if the caller leaves
    early, the pipes stay open: close() closes them."""
    limit, has_ended = deadline, False
    unread: dict[int, int] = {}  # of the process itself, once it has ended: bytes by file descriptor
    with selectors.DefaultSelector() as selector:
        streams = {stream.fileno(): stream for stream in (process.stdout, process.stderr) if stream}
        for stream in streams.values():
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            if not has_ended and process.poll() is not None:  # before the pipes are looked at: all it wrote is in them
                limit, has_ended = time.monotonic() + LAST_SECONDS, True
                unread = {key.fd: bytes_in(key.fd) for key in selector.get_map().values()}
            left = limit - time.monotonic()
            ready = selector.select(max(0.0, min(left, silence)))
            for key, _ in ready:
                found = os.read(key.fd, MOST_BYTES)
                unread[key.fd] = unread.get(key.fd, 0) - len(found)
                if found:
                    yield streams[key.fd], found
                else:
                    selector.unregister(key.fileobj)
            if (
                has_ended
                and (not ready or left <= 0)
                and all(unread[key.fd] <= 0 for key in selector.get_map().values())
            ):
                return
            if left <= 0 and process.poll() is None:
                raise TimedOut
            if not ready:
                yield None, b""


def bytes_in(pipe: int) -> int:
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


class StreamLines:
    """Cuts the chunks of one stream into lines."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []  # pieces of a line that has no end yet

    def take(self, chunk: bytes) -> list[str]:
        """The lines that this chunk completes."""
        *complete, rest = chunk.split(b"\n")
        if complete:
            complete[0] = b"".join([*self._begun, complete[0]])
            self._begun = []
        self._begun.append(rest)
        return [text_of(line) for line in complete]

    def last(self) -> list[str]:
        """The end of the stream, where that is no whole line."""
        rest, self._begun = b"".join(self._begun), []
        return [text_of(rest)] if rest else []


def text_of(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip("\r")


def lines(process: subprocess.Popen, deadline: float, silence: float = SILENCE) -> Iterator[tuple[IO | None, str]]:
    """As chunks(), line by line, also the last one without an end."""
    of_stream = {process.stdout: StreamLines(), process.stderr: StreamLines()}
    for stream, chunk in chunks(process, deadline, silence):
        if stream is None:
            yield None, ""
        else:
            yield from ((stream, line) for line in of_stream[stream].take(chunk))
    for stream, begun in of_stream.items():
        yield from ((stream, line) for line in begun.last())


def close(process: subprocess.Popen) -> None:
    """The pipes."""
    for stream in filter(None, (process.stdout, process.stderr)):
        stream.close()


def read_all(process: subprocess.Popen, deadline: float) -> tuple[bytes, bytes]:
    """Stdout and stderr, whole, and the process ended. TimedOut: it runs on, and the caller must end it."""
    found: dict[IO | None, list[bytes]] = {process.stdout: [], process.stderr: [], None: []}
    for stream, chunk in chunks(process, deadline):
        found[stream].append(chunk)
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimedOut from None
    return b"".join(found[process.stdout]), b"".join(found[process.stderr])


def run(
    command: Sequence[object], *, seconds: float = float("inf"), given: bytes = b"", **options: object
) -> subprocess.CompletedProcess[str]:
    """As subprocess.run with captured texts, but a process that the command left behind holds nobody up. `given`: its
    stdin. Raises TimedOut after it has ended the command, and OSError if that did not start."""
    with file_of(given) as stdin:
        pipes = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        words = [str(word) for word in command]
        process = children.start(words, **pipes, **options)
    try:
        found = read_all(process, time.monotonic() + seconds)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        close(process)
    return subprocess.CompletedProcess(words, process.returncode, *map(decoded, found))


def file_of(given: bytes) -> IO[bytes]:
    """For a stdin: no pipe, which somebody would have to fill."""
    if not given:
        return Path(os.devnull).open("rb")
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(given)
    file.seek(0)
    return file


def decoded(text: bytes) -> str:
    return text.decode("utf-8", errors="replace")
