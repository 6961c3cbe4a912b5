"""Where the files that come with the package are: native programs (`bin`) and described machines (`machines`)."""

from __future__ import annotations

from pathlib import Path

import kumihimo
from kumihimo.errors import Failed


def folder(name: str) -> Path:
    """The installed folder `name`. In an editable install the package lies in two places; the files are in one."""
    for place in kumihimo.__path__:
        candidate = Path(place) / name
        if candidate.is_dir():
            return candidate
    raise Failed(f"the package holds a folder {name}", "none", "build it again with make build")


def program(name: str) -> Path:
    """The native program `name` (for example a bench driver that mpirun starts)."""
    path = folder("bin") / name
    if not path.is_file():
        raise Failed(f"the package holds the program {name}", "none", "build it again with make build")
    return path
