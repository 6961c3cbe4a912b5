"""The demo's third part: a program that knows nothing of us, recorded, tuned for, and run with the choices.

It is LAMMPS as Debian packages it (molecular dynamics, linked with Open MPI): 256 atoms of a Lennard-Jones liquid,
whose velocities and density are averaged over time on a grid of 4,096 cells. At every step all ranks sum the values of
the cells (128 KiB and 32 KiB), and the thermostat the temperature (8 bytes). What the whole program and these
collectives take is recorded with and without the choices, in launches by turns; every figure that it prints of the
physical_results must stay the same (with two ranks a sum has one order only).
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from kumihimo.demo.experiment.cases import Progress, silent
from kumihimo.processes import child_output, mpi
from kumihimo.run import preload, wisdom_reading
from kumihimo.run.profile import summary, totals
from kumihimo.text.errors import Failed, OutOfTime, failed
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import text_of
from kumihimo.tune.bench.tuned import ratios_of

PROGRAM, PACKAGE, FAMILY = "lmp", "lammps", "openmpi"
ARGUMENTS = ("-in", "in.liquid", "-log", "log.liquid", "-screen", "none")
RANKS = 2
COLLECTIVES = ("allreduce", "bcast", "reduce")
STAGE = "an unmodified program"
TOLD_SITES = 6
LEAST_LONGEST = 65536  # bytes: tuned to this length even where the program's are shorter
FEWEST_LAUNCHES = 2  # pairs, of which an interval can be made
LONGEST_TURNS = 120.0  # seconds that the pairs of launches may take, where the machine is busy with other things

INPUT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 4 0 4 0 4
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nvt temp 1.0 1.0 0.1
compute cell all chunk/atom bin/3d x lower 0.0625 y lower 0.0625 z lower 0.0625 units reduced nchunk once
fix 2 all ave/chunk 1 1 1 cell vx vy vz density/number norm sample ave running
thermo_style custom step temp epair etotal press f_2[1][4] f_2[1][5] f_2[2048][8]
thermo 250
run 5000
"""


def lacking() -> str | None:
    """Why this part cannot be made here, or None."""
    if shutil.which(PROGRAM) is None:
        return f"no {PROGRAM} on this machine (Debian's package {PACKAGE})"
    try:
        mpi.choose(FAMILY)
        preload.preloaded()
    except Failed as none:  # no such library, or a folder whose name the loader cannot take
        return str(none)
    return None


def run(progress: Progress = silent, *, budget_seconds: int = 40, launches: int = 6, command: str = "") -> JsonObject:
    """Record, tune, run. `launches`: pairs of launches, fewer where the recorded one shows that they would take longer
    than LONGEST_TURNS. Errors: Failed where the program or the tuning does not end well, OutOfTime where a launch takes
    too long for a comparison."""
    steps = 2 + launches
    line = [*mpi.choose(FAMILY).arguments(RANKS), PROGRAM, *ARGUMENTS]
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as name:
        folder = Path(name)
        progress(STAGE, 0, steps)
        began = time.monotonic()
        recorded = launched(line, folder, {})
        pair_seconds = 2 * (time.monotonic() - began)
        launches = min(launches, int(LONGEST_TURNS / pair_seconds))
        if launches < FEWEST_LAUNCHES:
            raise OutOfTime(f"one launch of {PROGRAM} took {pair_seconds / 2:.0f} s, as this machine is busy")
        steps = 2 + launches
        progress(STAGE, 1, steps)
        longest = max(LEAST_LONGEST, longest_of(recorded["profile"]))
        wisdom = folder / "wisdom.json"
        tuned = tune(longest, budget_seconds, wisdom)
        progress(STAGE, 2, steps)
        without, with_choices = [], []
        for number in range(launches):
            without.append(launched(line, folder, {}))
            with_choices.append(launched(line, folder, {"WISDOM": str(wisdom)}))
            progress(STAGE, 3 + number, steps)
    turns = list(zip(without, with_choices))
    results = [one["physical_results"] for one in (recorded, *without, *with_choices)]
    return {
        "form": "kumihimo-unmodified-2",
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "command": command,
        "program": PROGRAM,
        "package": PACKAGE,
        "mpi": recorded["profile"]["mpi"],
        "ranks": RANKS,
        "commands": commands(line, longest),
        "sites": [site(calls) for calls in recorded["profile"]["calls"][:TOLD_SITES]],
        "mpi_share": recorded["profile"]["mpi_seconds"] / recorded["profile"]["seconds"],
        "choices": tuned["results"],
        "ran": ran(with_choices[-1]["summary"], tuned["results"]),
        "launches": launches,
        "program_time": compare(turns, "program_seconds"),
        "collective_time": compare(turns, "collective_seconds"),
        "figures": len(results[0]),
        "same_figures": all(each == results[0] for each in results),
    }


def compare(turns: list[tuple[JsonObject, JsonObject]], what: str) -> JsonObject:
    """Medians, and the ratio of with to without with its interval: above 1 the choices lose."""
    seconds = [(chosen[what], plain[what]) for plain, chosen in turns]
    ours, plain = (median(side) for side in zip(*seconds))
    return {"without": plain, "with": ours, **ratios_of(seconds)}


def commands(line: list[str], longest: int) -> list[str]:
    """Commands that a user types for the same."""
    program = shlex.join(["mpirun", "-n", str(RANKS), *line[line.index(PROGRAM) :][:3]])
    return [
        f"kumihimo record -- {program}",
        f"kumihimo tune {' '.join(COLLECTIVES)} --ranks {RANKS} --bytes 8..{text_of(longest)}",
        f"kumihimo run -- {program}",
    ]


def launched(line: list[str], folder: Path, settings: JsonObject) -> JsonObject:
    """One run, recorded; with wisdom our choices run beneath the recorder."""
    (folder / "in.liquid").write_text(INPUT, encoding="utf-8")
    output, profile = folder / "log.liquid", folder / "profile"
    output.unlink(missing_ok=True)
    objects = (preload.RECORDER, preload.INTERPOSER) if settings else (preload.RECORDER,)
    code, run_summary, _ = preload.run(line, {"RECORD": str(profile), **settings}, objects, folder=folder)
    if code != 0 or not profile.is_file() or not output.is_file():
        raise failed(f"{PROGRAM} on {RANKS} processes failed", f"exit code {code}")
    sums = summary.as_object(totals.of(profile))
    taken = {f"MPI_{name.capitalize()}" for name in COLLECTIVES}
    seconds = sum(calls["seconds"] for calls in sums["calls"] if calls["call"] in taken) / RANKS
    text = output.read_text(encoding="utf-8", errors="replace")
    return {
        "profile": sums,
        "summary": run_summary,
        "program_seconds": sums["seconds"],
        "collective_seconds": seconds,
        "physical_results": physical_results(text),
    }


def physical_results(log: str) -> list[str]:
    """The numbers of its tables: step, temperature, energies, pressure; and of the energy minimised. Not the times."""
    rows = (line.split() for line in log.splitlines())
    return [word for row in rows if row and all(re.fullmatch(r"-?[0-9.e+-]+", word) for word in row) for word in row]


def longest_of(profile: JsonObject) -> int:
    """Longest call that is taken over: the end of the largest class of sizes."""
    taken = (profile["sizes"].get(f"MPI_{name.capitalize()}", []) for name in COLLECTIVES)
    return max((2 * row["bytes_from"] for rows in taken for row in rows), default=0)


def tune(longest: int, budget_seconds: int, wisdom: Path) -> JsonObject:
    """Tunes with the command, as a user does."""
    words = ["tune", *COLLECTIVES, "--ranks", str(RANKS), "--mpi", FAMILY, "--bytes", f"8..{longest}"]
    words += ["--budget", f"{budget_seconds}s", "--output", str(wisdom), "--json"]
    done = child_output.run([sys.executable, "-c", "from kumihimo.cli import main; main()", *words])
    if done.returncode != 0:
        raise failed("kumihimo tune failed", (done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout)


def site(calls: JsonObject) -> JsonObject:
    return {
        name: calls[name] for name in ("call", "place", "communicator", "calls", "bytes", "seconds", "imbalance_share")
    }


def ran(summary: JsonObject, choices: list[JsonObject]) -> list[JsonObject]:
    """The calls of the interposer's summary, with what tuning found of their choices."""
    shapes, rows = wisdom_reading.shapes_of_communicators(summary), []
    for row in summary["calls"]:
        ours = row["algorithm"] != "library"
        speedup = wisdom_reading.speedup(row, RANKS, choices, shapes=shapes) if ours else None
        rows.append({**row, "times_as_fast": list(speedup) if speedup else None})
    return rows
