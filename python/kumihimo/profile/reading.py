"""A profile file, line by line: a header, then one object a rank. Only one rank is in memory at a time."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kumihimo import files, nested_text, schema
from kumihimo.errors import wrong_value

RULE = "a profile must be one that kumihimo record has written"


def lines(path: Path) -> Iterator[dict]:
    """The header first, then the ranks in the order in which they were written."""
    for number, value in numbered(path):
        if number <= 2:
            check(value, number, path)
        yield value


def numbered(path: Path) -> Iterator[tuple[int, object]]:
    number = 0
    try:
        with io.TextIOWrapper(files.opened(path, "the profile"), encoding="utf-8") as file:
            for number, text in enumerate(file, 1):
                yield number, nested_text.json_of(text)
    except UnicodeDecodeError:
        raise wrong_value(RULE, f"{path}, which is not UTF-8 text") from None
    except nested_text.TooDeepError as error:
        raise wrong_value(RULE, f"{path}, in which line {number} is {error}") from None
    except ValueError:
        raise wrong_value(RULE, f"{path}, in which line {number} is not a complete JSON object") from None
    except OSError as error:
        raise wrong_value(RULE, f"{path}: {error.strerror}") from None
    if number == 0:
        raise wrong_value(RULE, f"{path}, which is empty")


def check(value: object, number: int, path: Path) -> None:
    """Refuses a line that is not as schemas/profile.schema.json says."""
    wrong = schema.fault(value, "profile", "header" if number == 1 else "rank")
    if wrong:
        raise wrong_value(RULE, f"{path}, in which line {number} is wrong: {wrong}")


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Finds the line that made summing up fail. The schema takes milliseconds for a line, more than to sum it up, so
    that only the header and the first rank are checked before."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        for number, value in numbered(path):
            check(value, number, path)
        raise wrong_value(RULE, f"{path}, in which a key is missing or has a value of the wrong type") from error


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


@contextlib.contextmanager
def replacing(output: Path) -> Iterator[None]:
    """Around the run that writes a new profile: moves the files of an earlier one to a folder beside it, and deletes
    them when the run has ended. If the run cannot start, they are moved back. What is no file, as a device, stays."""
    earlier = [path for path in beside(output, r"(\.spawned-\d+)?(\.rank\d+)?") if path.is_file()]
    if not earlier:
        yield
        return
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f"{output.name}.earlier-") as folder:
        moved = [(path, path.rename(Path(folder) / path.name)) for path in earlier]
        try:
            yield
        except BaseException:
            for path, now in moved:
                now.rename(path)
            raise


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
