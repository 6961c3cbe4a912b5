"""A profile file, line by line: a header, then one object a rank. Only one rank is in memory at a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from kumihimo.errors import BadInput

FORMAT = 1
KEYS = (
    "rank",
    "finalized",
    "seconds",
    "mpi_seconds",
    "calls",
    "communicators",
    "sites",
    "sizes",
    "partners",
    "regions",
)


def lines(path: Path) -> Iterator[dict]:
    """The header first, then the ranks in the order in which they were written."""
    expected = "a profile that kumihimo record has written"
    try:
        with path.open(encoding="utf-8") as file:
            number = 0
            for number, text in enumerate(file, 1):
                try:
                    value = json.loads(text)
                except ValueError:
                    raise BadInput(expected, f"line {number} of {path}, which is not whole") from None
                yield header(value, path) if number == 1 else rank(value, number, path)
            if number == 0:
                raise BadInput(expected, f"{path}, which is empty")
    except UnicodeDecodeError:
        raise BadInput(expected, f"{path}, which is no text") from None
    except OSError as error:
        raise BadInput(expected, f"{path}: {error.strerror}") from None


def header(value: object, path: Path) -> dict:
    if not isinstance(value, dict) or "kumihimo_profile" not in value:
        raise BadInput("a profile that kumihimo record has written", f"{path}, which begins otherwise")
    if value["kumihimo_profile"] != FORMAT:
        raise BadInput(f"a profile of format {FORMAT}", f"format {value['kumihimo_profile']} in {path}")
    return value


def rank(value: object, number: int, path: Path) -> dict:
    if not isinstance(value, dict) or any(key not in value for key in KEYS):
        raise BadInput("a profile that kumihimo record has written", f"line {number} of {path}, which is no rank's")
    return value


def parts_of(output: Path) -> list[Path]:
    """What ranks wrote by themselves, since they did not end MPI."""
    return beside(output, r"\.rank\d+")


def spawned(output: Path) -> list[Path]:
    """The profiles of the worlds that the program's processes have started: each has a name of its own. Their parts are
    put to them."""
    own = r"\.spawned-\d+"
    worlds = {path.with_name(re.sub(r"\.rank\d+$", "", path.name)) for path in beside(output, own + r"(\.rank\d+)?")}
    return sorted(world for world in worlds if gather(world))


def beside(output: Path, form: str) -> list[Path]:
    """The files whose names are that of `output` and then such an end; others are the user's."""
    name = re.compile(re.escape(output.name) + form)
    return sorted((p for p in output.parent.iterdir() if name.fullmatch(p.name)), key=lambda p: (len(p.name), p.name))


def forget(output: Path) -> None:
    """Of an earlier run. What is no file, as a device, stays."""
    for path in (output, *beside(output, r"(\.spawned-\d+)?(\.rank\d+)?")):
        if path.is_file():
            path.unlink(missing_ok=True)


def gather(output: Path) -> bool:
    """Append the parts to the profile, and remove them. Whether there is a profile at all."""
    parts = parts_of(output)
    for part in parts:
        texts = part.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        whole = [text for text in texts if text.endswith("\n")]
        if len(whole) == 2:
            with output.open("a", encoding="utf-8") as file:
                file.writelines(whole if os.fstat(file.fileno()).st_size == 0 else whole[1:])
        part.unlink()
    return output.exists() and output.stat().st_size > 0
