"""The suites and libraries that are not ours: where they are here, or fetched into a folder under build/ by the package
managers. Nothing of theirs is kept in the repository."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from kumihimo.processes import mpi
from kumihimo.text.errors import Failed

ROOT = Path(__file__).resolve().parents[2]
KEYRINGS = ("debian-archive-keyring.gpg", "ubuntu-archive-keyring.gpg")
# How HPL's makefiles are told of a machine: the compiler wrapper of the MPI library, and the system's BLAS.
MAKE_HPCC = """
SHELL = /bin/sh
CD = cd
CP = cp
LN_S = ln -s
MKDIR = mkdir -p
RM = /bin/rm -f
TOUCH = touch
ARCH = $(arch)
TOPdir = ../../..
INCdir = $(TOPdir)/include
BINdir = $(TOPdir)/bin/$(ARCH)
LIBdir = $(TOPdir)/lib/$(ARCH)
HPLlib = $(LIBdir)/libhpl.a
F2CDEFS = -DAdd_ -DF77_INTEGER=int -DStringSunStyle
HPL_DEFS = $(F2CDEFS) -I$(INCdir) -I$(INCdir)/$(ARCH)
HPL_LIBS = $(HPLlib) -lblas -lm
CC = {compiler}
CCNOOPT = $(HPL_DEFS)
CCFLAGS = $(HPL_DEFS) -O2 -w
LINKER = {compiler}
LINKFLAGS =
ARCHIVER = ar
ARFLAGS = rc
RANLIB = ranlib
"""


def ran(command: Sequence[str | Path], log: Path, cwd: Path | None = None) -> bool:
    """Whether it ended well; what it said is in `log`."""
    with log.open("a", encoding="utf-8") as said:
        print(*command, file=said, flush=True)
        return subprocess.run(command, stdout=said, stderr=said, cwd=cwd, check=False).returncode == 0


def tests_of_mpi4py(folder: Path) -> Path:
    """The folder of mpi4py's tests, which its source distribution holds and its wheel does not: of the same version."""
    try:
        version = importlib.metadata.version("mpi4py")
    except importlib.metadata.PackageNotFoundError:
        raise Failed("this Python has no mpi4py", "run make suites, which installs it") from None
    name = f"mpi4py-{version}"
    tests = folder / name / "test"
    if not tests.is_dir():
        archive = folder / f"{name}.tar.gz"
        download = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "mpi4py"]
        if not archive.is_file() and not ran([*download, "-d", folder, f"mpi4py=={version}"], folder / "pip.log"):
            raise Failed(f"pip cannot get the source of {name}", f"see {folder / 'pip.log'}")
        with tarfile.open(archive) as source:
            source.extractall(folder, members=[m for m in source if m.name.startswith(f"{name}/test/")])
    return tests


def mpich_of_pypi(folder: Path) -> mpi.Installation:
    """The MPICH of requirements/suites.txt under a prefix of its own."""
    requirements = ROOT / "requirements/suites.txt"
    prefix = folder / "mpich"
    stamp = prefix / "requirements.txt"
    if not stamp.is_file() or stamp.read_bytes() != requirements.read_bytes():
        shutil.rmtree(prefix, ignore_errors=True)
        install = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--ignore-installed", "--prefix", prefix]
        if not ran([*install, "-r", requirements], folder / "pip.log"):
            raise Failed("pip cannot install the MPICH of requirements/suites.txt", f"see {folder / 'pip.log'}")
        shutil.copy(requirements, stamp)
    return mpi.choose(str(prefix))


def hpcc_of(installation: mpi.Installation, folder: Path) -> Path:
    """Debian's for its Open MPI, and for MPICH one that is built from Debian's source."""
    if installation.family == "openmpi":
        found = shutil.which("hpcc")
        if found is None:
            raise Failed("this system has no hpcc", "install the package hpcc")
        return Path(found)
    compiler = shutil.which("mpicc.mpich")
    if compiler is None:
        raise Failed("this system has no mpicc.mpich to build hpcc with", "install the package libmpich-dev")
    log = folder / "hpcc.log"
    source = unpacked(hpcc_source(folder, log), folder)
    program = source / "hpcc"
    if not program.is_file():
        (source / "hpl/Make.kumihimo").write_text(MAKE_HPCC.format(compiler=compiler), encoding="utf-8")
        if not ran(["make", "arch=kumihimo"], log, source) or not program.is_file():
            raise Failed("hpcc does not build on MPICH", f"see {log}; it needs the package libblas-dev")
    return program


def hpcc_source(folder: Path, log: Path) -> Path:
    """The archive of Debian's source package, asked for with lists of our own: the system's may name no sources."""
    if not any(folder.glob("hpcc_*.orig.tar.gz")):
        said = "$(SITE) $(RELEASE)"
        ask = ["apt-get", "indextargets", "--format", said, "Identifier: Packages", "Component: main"]
        places = subprocess.run(ask, capture_output=True, text=True, check=False) if shutil.which("apt-get") else None
        keys = [path for name in KEYRINGS if (path := Path("/usr/share/keyrings") / name).is_file()]
        by = f"[signed-by={keys[0]}] " if keys else ""
        lists = folder / "apt"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        first = places.stdout.splitlines()[:1] if places else []
        (lists / "sources.list").write_text("".join(f"deb-src {by}{place} main\n" for place in first), encoding="utf-8")
        own = {"Etc::sourcelist": lists / "sources.list", "Etc::sourceparts": "-", "State::lists": lists}
        own["Cache"] = lists / "cache"
        options = [word for name, value in own.items() for word in ("-o", f"Dir::{name}={value}")]
        ran(["apt-get", *options, "-q", "update"], log)
        # Its patches for packaging are not needed: a mirror may lack them.
        ran(["apt-get", *options, "-q", "source", "--download-only", "hpcc"], log, folder)
    for archive in sorted(folder.glob("hpcc_*.orig.tar.gz")):
        return archive
    raise Failed("apt-get cannot get Debian's source of hpcc", f"see {log}, or put hpcc_*.orig.tar.gz into {folder}")


def unpacked(archive: Path, folder: Path) -> Path:
    with tarfile.open(archive) as source:
        top = source.getnames()[0].split("/")[0]
        if not (folder / top / "Makefile").is_file():
            source.extractall(folder)
    return folder / top


def version_of_ours() -> str:
    """The commit that is checked out; a star where files differ from it."""
    ask = ["git", "describe", "--always", "--dirty=*", "--exclude=*"]
    said = subprocess.run(ask, capture_output=True, text=True, cwd=ROOT, check=False).stdout.strip()
    return said or "an unknown version"


def processor_and_system() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    name = next((line.split(": ", 1)[1] for line in lines if line.startswith("model name")), "an unknown processor")
    return f"{name}, {mpi.available_processors()} processors, Linux {os.uname().release}"
