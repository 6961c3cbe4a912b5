"""The process of a program under tuning. A variant may end it or never return: then the next request starts another."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from kumihimo.kernel.declaration import TUNING
from kumihimo.text.errors import BadInput, Failed, failed
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import seconds_text

START_SECONDS = 300.0  # for a program to call its first kernel
MOST_OF_AN_ANSWER = 64 << 20  # bytes
MOST_OF_A_LINE = 400  # characters
# Python puts the current folder first in the import path: a colorsys.py there is not ours.
WORKER = "import sys; sys.path[:1] = sys.path[:1] if sys.path[0] else []; "
WORKER += "from kumihimo.kernel import worker; worker.main(sys.argv[1])"
TUNE_AGAIN = "tune it again"
NO_KERNEL = "call a kernel, or kumihimo::kernel::tuning_point(), with these arguments"


class Ended(Exception):
    """The process did not answer: why, as words of a sentence about the variant."""


class Crashed(Ended):
    pass


class Changed(Failed):
    """A process that was started again is not the program that was tuned."""


class Session:
    def __init__(self, command: Sequence[str], start_seconds: float = START_SECONDS) -> None:
        self.command, self.start_seconds = list(command), start_seconds
        self.process: subprocess.Popen | None = None
        self.hashes: JsonObject | None = None  # of the first listing
        self.starts = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *of_error: object) -> None:
        self.close()

    def listing(self) -> JsonObject:
        """The kernels of the program. Failed: it does not start, or ends before it calls one."""
        self.close()
        try:
            answer = self._start()
            if "wrong" in answer:  # a value in the file
                raise BadInput(answer["wrong"], answer["advice"])
            self.hashes = hashes_of(answer)
            return answer
        except Ended as error:
            said = self.last_words
            advice = NO_KERNEL if not said else ""
            raise failed(f"the program {self.command[-1]} {error} before it called a kernel", said, advice) from None

    def ask(self, request: JsonObject, seconds: float) -> JsonObject:
        """The answer. Ended: the process ended, or did not answer within `seconds`, and is gone."""
        if self.process is None:
            self._start_again()
        return self._ask(request, seconds)

    def _ask(self, request: JsonObject, seconds: float) -> JsonObject:
        deadline = time.monotonic() + seconds
        try:
            os.write(self.asking, (json.dumps(request) + "\n").encode())
            line = self._line(deadline)
        except BrokenPipeError:
            line = b""
        except BaseException:  # Ctrl-C: an answer that comes later would be taken for the next one
            self.close()
            raise
        if line is None:
            self.close()
            raise Ended(f"did not return within {seconds_text(seconds)}")
        try:
            answer = json.loads(line)
        except ValueError:
            raise Crashed(self._how_it_ended()) from None
        return answer

    def close(self) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        for descriptor in (self.asking, self.answering):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)  # with what its variants started
        process.wait()
        self.errors.seek(0)
        said = self.errors.read(100_000).decode("utf-8", "replace").strip().splitlines()
        self.errors.close()
        self.last_words = said[-1][:MOST_OF_A_LINE] if said else ""

    def _start_again(self) -> None:
        """Changed: the program was edited since the first listing, or a constant in it is another in each process."""
        try:
            hashes = hashes_of(self._start())
        except Ended as error:
            raise Changed(f"the program {error} when it was started again", TUNE_AGAIN) from None
        first = self.hashes
        if first is not None and first != hashes:
            self.close()
            name = next(name for name in {**hashes, **first} if hashes.get(name) != first.get(name))
            raise Changed(f"the kernel {name} changed while the program was tuned", TUNE_AGAIN)

    def _start(self) -> JsonObject:
        """Until it serves, which is at its first call of a kernel; what it says of its kernels."""
        theirs_in, self.asking = os.pipe()
        self.answering, theirs_out = os.pipe()
        self.errors, self.buffer, self.last_words = tempfile.TemporaryFile(), b"", ""  # noqa: SIM115
        environment = {**os.environ, TUNING: f"{theirs_in},{theirs_out}"}
        try:
            self.process = subprocess.Popen(
                self.command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.errors,
                pass_fds=(theirs_in, theirs_out),
                start_new_session=True,
            )
        except OSError as error:
            self.errors.close()
            for descriptor in (self.asking, self.answering):
                os.close(descriptor)
            raise failed(f"the program {self.command[0]} did not start", error.strerror or str(error)) from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        self.starts += 1
        return self._ask({"do": "list"}, self.start_seconds)

    def _line(self, deadline: float) -> bytes | None:
        """Up to the end of a line; what there is where the process ends; None where the time is over."""
        while b"\n" not in self.buffer and len(self.buffer) < MOST_OF_AN_ANSWER:
            left = max(0.0, deadline - time.monotonic())  # an answer that is there counts, however late it is read
            if not select.select([self.answering], [], [], left)[0]:
                return None
            more = os.read(self.answering, 1 << 16)
            if not more:
                return self.buffer
            self.buffer += more
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def _how_it_ended(self) -> str:
        try:
            code = self.process.wait(2) if self.process else None
        except subprocess.TimeoutExpired:
            code = None
        self.close()
        if code is None:
            return "closed the pipe to the tuner"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"ended by {signal.Signals(-code).name}"
            return f"ended by signal {-code}"
        return f"ended the process with exit code {code}"


def hashes_of(listing: JsonObject) -> JsonObject:
    """Hashes of the golden copies and variants."""
    return {
        each["name"]: (each["compiler"], each["golden"], [(row["name"], row["hash"]) for row in each["variants"]])
        for each in listing.get("kernels", [])
    }


def of_file(path: str, start_seconds: float = START_SECONDS) -> Session:
    return Session([sys.executable, "-c", WORKER, path], start_seconds)
