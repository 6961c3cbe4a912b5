"""The demo's third part: a program that knows nothing of us, recorded, tuned for, and run with the choices.

It is HPC Challenge as Debian packages it (hpcc: HPL, PTRANS, RandomAccess, FFT, latency and bandwidth), on Open MPI with
which that is linked. What it spends in the collectives that are taken over is recorded with and without the choices, in
launches by turns; its own checks of its results must come out the same.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from statistics import median

from kumihimo import _measure, mpi, preload
from kumihimo.errors import Failed
from kumihimo.experiment.cases import Progress, silent
from kumihimo.profile import summary, totals
from kumihimo.sizes import text_of
from kumihimo.tune import reading

PROGRAM, PACKAGE, FAMILY = "hpcc", "hpcc", "openmpi"
RANKS = 2
COLLECTIVES = ("allreduce", "bcast", "reduce")
STAGE = "an unmodified program"
TOLD_SITES = 6
LEAST_LONGEST = 65536  # bytes: tuned to this length even where the program's are shorter

INPUT = """HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
800          Ns
1            # of NBs
40           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
0            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
"""


def lacking() -> str | None:
    """Why this part cannot be made here, or None."""
    if shutil.which(PROGRAM) is None:
        return f"no {PROGRAM} on this machine (Debian's package {PACKAGE})"
    try:
        mpi.choose(FAMILY)
    except Failed as none:
        return str(none)
    return None


def run(progress: Progress = silent, *, budget_seconds: int = 40, launches: int = 6, command: str = "") -> dict:
    """Record, tune, run. Errors: Failed where the program or the tuning does not end well."""
    steps = 2 + launches
    line = [*mpi.choose(FAMILY).arguments(RANKS), PROGRAM]
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as name:
        folder = Path(name)
        progress(STAGE, 0, steps)
        recorded = launched(line, folder, {})
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
    pairs = [(b["collective_seconds"], a["collective_seconds"]) for a, b in zip(without, with_choices)]
    compared = _measure.compare(pairs)
    return {
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
        "ran": [ran(row, tuned["results"]) for row in with_choices[-1]["summary"]["calls"]],
        "launches": launches,
        "collective_seconds": {"without": median(b for _, b in pairs), "with": median(a for a, _ in pairs)},
        "ratio": compared.ratio,
        "ratio_low": compared.ratio_low,
        "ratio_high": compared.ratio_high,
        "verdicts": {"without": without[0]["verdicts"], "with": with_choices[0]["verdicts"]},
        "same_verdicts": len({json.dumps(one["verdicts"]) for one in (*without, *with_choices)}) == 1,
    }


def commands(line: list[str], longest: int) -> list[str]:
    """What a user types for the same."""
    program = shlex.join(["mpirun", "-n", str(RANKS), line[-1]])
    return [
        f"kumihimo record -- {program}",
        f"kumihimo tune {' '.join(COLLECTIVES)} --ranks {RANKS} --bytes 8..{text_of(longest)}",
        f"kumihimo run -- {program}",
    ]


def launched(line: list[str], folder: Path, settings: dict) -> dict:
    """One run, recorded; with wisdom our choices run beneath the recorder."""
    (folder / "hpccinf.txt").write_text(INPUT, encoding="utf-8")
    output, profile = folder / "hpccoutf.txt", folder / "profile"
    output.unlink(missing_ok=True)
    objects = (preload.RECORDER, preload.INTERPOSER) if settings else (preload.RECORDER,)
    code, told = preload.run(line, {"RECORD": str(profile), **settings}, objects, folder=folder)
    if code != 0 or not profile.is_file() or not output.is_file():
        raise Failed(f"{PROGRAM} on {RANKS} processes to end well", f"exit code {code}")
    sums = summary.as_object(totals.of(profile))
    taken = {f"MPI_{name.capitalize()}" for name in COLLECTIVES}
    seconds = sum(calls["seconds"] for calls in sums["calls"] if calls["call"] in taken) / RANKS
    text = output.read_text(encoding="utf-8", errors="replace")
    return {"profile": sums, "summary": told, "collective_seconds": seconds, "verdicts": verdicts(text)}


def verdicts(text: str) -> dict:
    """Of the program's own checks."""
    success = re.search(r"^Success=(\d)", text, re.MULTILINE)
    return {"success": bool(success and success[1] == "1"), "failed": len(re.findall(r"\bFAILED\b", text))}


def longest_of(profile: dict) -> int:
    """Of the calls that are taken over: the end of their largest class of sizes."""
    taken = (profile["sizes"].get(f"MPI_{name.capitalize()}", []) for name in COLLECTIVES)
    return max((2 * row["bytes_from"] for rows in taken for row in rows), default=0)


def tune(longest: int, budget_seconds: int, wisdom: Path) -> dict:
    """By the command, as a user does it."""
    words = ["tune", *COLLECTIVES, "--ranks", str(RANKS), "--mpi", FAMILY, "--bytes", f"8..{longest}"]
    words += ["--budget", f"{budget_seconds}s", "--output", str(wisdom), "--json"]
    done = subprocess.run(
        [Path(sys.executable).parent / "kumihimo", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if done.returncode != 0:
        raise Failed("kumihimo tune to end well", (done.stderr.strip().splitlines() or ["nothing said"])[-1])
    return json.loads(done.stdout)


def site(calls: dict) -> dict:
    return {
        name: calls[name] for name in ("call", "place", "communicator", "calls", "bytes", "seconds", "imbalance_share")
    }


def ran(row: dict, choices: list[dict]) -> dict:
    """A row of the interposer's summary, with what tuning found of its choice."""
    speedup = None if row["algorithm"] == "library" else reading.speedup(row, RANKS, choices)
    return {**row, "times_as_fast": list(speedup) if speedup else None}
