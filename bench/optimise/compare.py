#!/usr/bin/env python3
"""What `kumihimo optimise` predicts beside what whole runs show, as a table.

    bench/optimise/compare.py                 # programs whose time in collectives is known (synthetic.c)
    bench/optimise/compare.py programs.txt    # lines of: name | folder | command

Prints Markdown. `known` is what the synthetic program measured of itself in a run without us."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from kumihimo.processes import mpi

HERE = Path(__file__).parent
KUMIHIMO = Path(sys.executable).parent / "kumihimo"
# Iterations, computation, lateness (us), doubles at most, memory written (KiB).
SYNTHETIC = {
    "short calls back to back": (400_000, 1, 0, 512, 0),
    "30 % in collectives, random lengths": (12_000, 150, 0, 16_384, 0),
    "the same, one late rank, cold caches": (10_000, 150, 100, 16_384, 1024),
    "hardly any collectives": (3_000, 1000, 0, 64, 0),
}
COLUMNS = ("program", "s", "known: waiting, transferring", "waiting", "transferring", "predicted", "measured", "pairs")
COLUMNS += ("kept", "s in all")


def main() -> None:
    print(row(*COLUMNS), row(*["---"] * len(COLUMNS)), sep="\n")
    with tempfile.TemporaryDirectory(prefix="kumihimo-bench-") as place:
        programs = listed(Path(sys.argv[1])) if sys.argv[1:] else synthetic(Path(place))
        for number, (name, folder, command) in enumerate(programs):
            print(result(name, folder, command, Path(place) / str(number)), flush=True)


def listed(path: Path) -> list[tuple[str, Path, list[str]]]:
    lines = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [(name.strip(), Path(folder.strip()), shlex.split(command)) for name, folder, command in lines]


def synthetic(place: Path) -> list[tuple[str, Path, list[str]]]:
    found = []
    for installation in mpi.discover():
        compiler = installation.launcher.with_name(f"mpicc.{installation.family}")
        if not compiler.exists():
            compiler = installation.launcher.with_name("mpicc")
        program = place / f"synthetic-{installation.family}"
        subprocess.run([compiler, "-O2", "-o", program, HERE / "synthetic.c"], check=True)
        for name, arguments in SYNTHETIC.items():
            command = [*installation.arguments(2), str(program), *map(str, arguments)]
            found.append((f"{name}, {installation.family}", place, command))
    return found


def result(name: str, folder: Path, command: list[str], output: Path) -> str:
    known = known_of(command, folder) if "synthetic" in " ".join(command) else "-"
    line = [str(KUMIHIMO), "optimise", "--fresh", "--json", "--output", str(output), "--", *command]
    ended = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        return row(name, "-", known, *["-"] * 6, ended.stderr.strip().splitlines()[-1])
    found = json.loads(ended.stdout)
    profile, gain = found["profile"], found["gain"]
    predicted = interval(*(profile["predicted_gain"][key] for key in ("share", "low", "high")))
    turns = found["comparisons"]
    shown = gain or (turns[0] if turns and "ratio" in turns[0] else None)
    measured = interval(*(1 - shown[key] for key in ("ratio", "ratio_high", "ratio_low"))) if shown else "-"
    kept = [found["candidates"][choice] for choice in found["kept"]]
    return row(
        name,
        f"{profile['seconds']:.1f}",
        known,
        percent(profile["waiting_share"]),
        percent(profile["transferring_share"]),
        predicted,
        measured,
        str(turns[0]["pairs"] if turns else 0),
        ", ".join(sorted({choice["collective"] for choice in kept})) or f"nothing: {short(found['nothing_to_gain'])}",
        f"{found['wall_seconds']:.0f}",
    )


def known_of(command: list[str], folder: Path) -> str:
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    waiting, transferring = map(float, re.search(r"waiting (\S+) transferring (\S+)", said).groups())
    return f"{percent(waiting)}, {percent(transferring)}"


def short(reason: str) -> str:
    return re.split(r"[;,(]", reason)[0]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def interval(middle: float, low: float, high: float) -> str:
    return f"{percent(middle)} ({percent(low)} to {percent(high)})"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
