"""What both comparisons with SimGrid's SMPI need: its compiler, its version, and platforms of one network."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
KUMIHIMO = Path(sys.executable).parent / "kumihimo"

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{last}" topology="{topology}" topo_parameters="{parameters}"
           speed="128Gf" bw="5GBps" lat="100ns" loopback_bw="50GBps" loopback_lat="0"/>
</platform>
"""


def write_platform(path: Path, ranks: int, topology: str, parameters: str) -> None:
    path.write_text(PLATFORM.format(last=ranks - 1, topology=topology, parameters=parameters))


def write_hosts(path: Path, ranks: int) -> None:
    path.write_text("".join(f"n{i}\n" for i in range(ranks)))


def compiled(source: str, folder: Path) -> Path:
    """A program of this folder."""
    program = folder / Path(source).stem
    subprocess.run(["smpicc", "-O2", str(HERE / source), "-o", str(program)], check=True)
    return program


def version() -> str:
    """Of SimGrid; ends the script where it is not there."""
    if not shutil.which("smpicc"):
        print("SimGrid's smpicc was not found; install the package libsimgrid-dev", file=sys.stderr)
        raise SystemExit(2)
    shown = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, check=True)
    return shown.stdout.strip().splitlines()[0]
