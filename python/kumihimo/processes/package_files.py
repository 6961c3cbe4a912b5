"""Where the files that come with the package are: native programs (`bin`), libraries and headers for programs of users
(`lib`, `include`), described machines (`machines`)."""

from __future__ import annotations

from pathlib import Path

import kumihimo
from kumihimo.text.errors import failed

NEEDED = {"kumihimo_remote_memory": "libfabric-dev"}  # packages without which a library is not built


def folder(name: str) -> Path:
    """The installed folder `name`. In an editable install the package lies in two places; the files are in one."""
    for place in kumihimo.__path__:
        candidate = Path(place) / name
        if candidate.is_dir():
            return candidate
    raise failed(f"the package has no folder {name}", "", "build it again with make build")


def program(name: str) -> Path:
    """The native program `name` (for example a bench driver that mpirun starts)."""
    path = folder("bin") / name
    if not path.is_file():
        raise failed(f"the package has no program {name}", "", "build it again with make build")
    return path


def library(name: str) -> Path:
    """The shared library lib`name`.so, for programs of users."""
    path = folder("lib") / f"lib{name}.so"
    if not path.is_file():
        needed = f"install {NEEDED[name]} and " if name in NEEDED else ""
        raise failed(f"the package has no library {path.name}", "", f"{needed}build it again with make build")
    return path


def compiler_options(name: str) -> str:
    """For the compiler and the linker of a C or C++ program that uses the library `name`."""
    place = library(name).parent
    return f"-I{folder('include')} -L{place} -Wl,-rpath,{place} -l{name}"
