"""Measurements, kept on disk launch by launch, so that the same command goes on where an earlier one ended.

Lines of JSON: a head that says of which machine and library, results of cases under the name of their launch, and
targets that are finished. A line that is not whole was being written when the machine failed; it is left out, and so is
what is no line of ours.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
from collections.abc import Iterable
from pathlib import Path

from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject
from kumihimo.text.odd_bytes import to_json

VERSION = 1
FAULTS = "faults"  # of a head: those of a testbed


class Journal:
    """`head` must be equal for results to count: the machine, the library, our version."""

    def __init__(self, path: Path | None, head: JsonObject, fresh: bool = False) -> None:
        self.replaced = ""  # why what was there does not count
        self.unlocked = ""  # why another tuning that writes it as well is not seen
        self._head = json.loads(to_json({"kumihimo_tuning": VERSION, **head}))  # as it is read again
        self._results: dict[tuple[str, str], JsonObject] = {}
        self._finished: dict[str, JsonObject] = {}
        self._path = path
        self._file: io.FileIO | None = None
        if path is not None:
            self._open(path, fresh)

    @property
    def known(self) -> int:
        return len(self._results)

    @property
    def launches(self) -> int:
        return len({name for name, _ in self._results})

    def recall(self, launch: str, case: JsonObject) -> JsonObject | None:
        return self._results.get((launch, text_of(case)))

    def keep(self, launch: str, found: Iterable[tuple[JsonObject, JsonObject]]) -> None:
        """Cases with their results."""
        rows = [{"case": case, "result": result} for case, result in found]
        if rows:
            self._take({"launch": launch, "results": rows})
            self._write({"launch": launch, "results": rows})

    def finished(self, target: JsonObject) -> JsonObject | None:
        return self._finished.get(text_of(target))

    def finish(self, target: JsonObject, outcome: JsonObject) -> None:
        self._take({"target": target, "outcome": outcome})
        self._write({"target": target, "outcome": outcome})

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _open(self, path: Path, fresh: bool) -> None:
        with files.before_writing("--output must be in a folder that can be written to", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("a+b", buffering=0)  # what a full disk refuses is not written again at the end
        self._file = file
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise failed(
                f"another kumihimo command is writing {path}", "", "wait for it, or name another --output"
            ) from None
        except OSError as error:  # of a file system without locks
            why = f"{path} cannot be locked ({error.strerror})"
            self.unlocked = f"{why}; make sure that no other kumihimo tune writes it"
        with files.refused("earlier measurements must be readable", path):
            file.seek(0)
            lines = [] if fresh else list(read(file.readall()))
        if lines and lines[0] != self._head:
            self.replaced = f"earlier measurements are ignored: {difference(lines[0], self._head)}"
            lines = []
        for line in lines[1:]:
            with contextlib.suppress(KeyError, TypeError, AttributeError):  # of another form
                self._take(line)
        if not lines:
            with files.while_writing(path):
                file.truncate(0)
            self._write(self._head)
        else:
            self._append(b"\n")  # after a line that is not whole

    def _take(self, line: JsonObject) -> None:
        for row in line.get("results", []):
            key, result = (str(line["launch"]), text_of(row["case"])), row["result"]
            if isinstance(result, dict):
                self._results[key] = result
        if "target" in line and isinstance(line["outcome"], dict):
            self._finished[text_of(line["target"])] = line["outcome"]

    def _write(self, line: JsonObject) -> None:
        self._append(to_json(line).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        if self._file is not None and self._path is not None:
            with files.while_writing(self._path):
                while line:
                    line = line[self._file.write(line) :]


def difference(before: JsonObject, now: JsonObject) -> str:
    """Why measurements under one head do not count under another."""
    then, today = (", ".join(map(str, head.get(FAULTS) or ["none"])) for head in (before, now))
    if then != today and {**before, FAULTS: None} == {**now, FAULTS: None}:
        return f"the testbed had other faults then ({then}) than now ({today})"
    return "another machine, network, MPI library, its settings, command, program or version of Kumihimo"


def read(data: bytes) -> Iterable[JsonObject]:
    for line in data.split(b"\n"):
        with contextlib.suppress(ValueError):
            found = read_json(line.decode(errors="replace"))
            if isinstance(found, dict):
                yield found


def text_of(value: JsonObject) -> str:
    return to_json(value, sort_keys=True)
