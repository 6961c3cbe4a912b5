"""The C library of kumihimo/remote_memory.h and its manual page."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.processes import package_files
from kumihimo.text.errors import wrong_value

NAME = "kumihimo_remote_memory"


def answer(arguments: Sequence[str]) -> str:
    if arguments == ["--man"]:
        return str(package_files.folder("man") / f"{NAME}.3")
    if arguments:
        raise wrong_value("python3 -m kumihimo.remote_memory takes --man or nothing", " ".join(arguments))
    return package_files.compiler_options(NAME)
