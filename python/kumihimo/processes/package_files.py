"""Where the files that come with the package are: native programs (`bin`) and described machines (`machines`)."""

from __future__ import annotations

from pathlib import Path

import kumihimo
from kumihimo.text.errors import failed


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
