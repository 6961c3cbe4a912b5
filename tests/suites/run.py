#!/usr/bin/env python3
"""Suites that are not ours, with the interposer and without: they must say the same.

    tests/suites/run.py [CASE...] [--ranks 2,3] [--modules REGEX] [--seconds 120] [--again | --table] [--output FILE]

Cases, all of them by default, are those of CASES below. Each module of mpi4py's tests is a launch of its own; where the
two differ both are launched again, and a difference that does not come back is told apart. What was run is kept under
build/suites, so that the same command goes on where it was ended (--again: from the beginning). The table goes to
bench/results/suites.md. Exit code 1 where there is a difference.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import mpi4py_wheel  # noqa: E402
import outside  # noqa: E402
import table  # noqa: E402
import verdicts  # noqa: E402
from verdicts import Verdicts  # noqa: E402

from kumihimo.processes import mpi  # noqa: E402
from kumihimo.text.errors import BadInput, Failed  # noqa: E402

FOLDER = outside.ROOT / "build/suites"
KUMIHIMO = Path(sys.executable).with_name("kumihimo")
# An algorithm for every kind that is caught, so that all calls that can be taken over are.
FORCED = (
    "barrier=binomial,bcast=binomial,reduce=binary,allreduce=ring,scan=chain,exscan=chain,gather=binomial,"
    "scatter=binomial,allgather=ring,reduce_scatter=ring,alltoall=linear,"
    "neighbor_allgather=direct,neighbor_alltoall=direct"
)
INPUT_OF_HPCC = """HPLinpack benchmark input file
by kumihimo
HPL.out
8
1
{size}
1
80
0
1
{rows}
{columns}
16.0
1
2
1
4
1
2
1
1
1
1
1
0
2
64
0
0
1
8
# of PTRANS, besides
1
{size}
1
40
"""


@dataclass(frozen=True)
class Case:
    """A suite on an MPI library, and on how many ranks; `modules`: of mpi4py's tests, by their names."""

    suite: str
    library: str
    ranks: tuple[int, ...]
    modules: str = ""

    @property
    def name(self) -> str:
        return f"{self.suite}-{self.library}" + ("-some" if self.modules else "")


CASES = (
    Case("mpi4py", "openmpi", (2, 3, 4)),
    Case("mpi4py", "mpich-pypi", (2,)),
    Case("mpi4py", "mpich-pypi", (3, 4), r"test_cco_|test_op$"),
    Case("hpcc", "openmpi", (2, 3, 4)),
    Case("hpcc", "mpich", (2,)),
)


def installation_of(library: str) -> mpi.Installation:
    return outside.mpich_of_pypi(FOLDER) if library == "mpich-pypi" else mpi.choose(library)


def environment_of(installation: mpi.Installation, ranks: int) -> dict[str, str]:
    """MPICH's ranks give each other processors only where they are asked to: without it more ranks than processors take
    several times as long, and tests end by the time limit."""
    settings = installation.environment(ranks)
    if installation.family == "mpich" and ranks > mpi.available_processors():
        settings |= {"MPIR_CVAR_ENABLE_HEAVY_YIELD": "1", "MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}
    return settings


def launched(
    line: Sequence[str], ours: bool, folder: Path, settings: dict[str, str], seconds: float
) -> tuple[str, int, int]:
    """A line of an MPI launcher, with the interposer or without: how it ended, and what of it was ours."""
    summary = folder / "ran.json"
    before = [str(KUMIHIMO), "run", "-a", FORCED, "--json", str(summary), "--"] if ours else []
    with (folder / "said.txt").open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [*before, *line], cwd=folder, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, stdout=said,
            stderr=said, start_new_session=True,
        )  # fmt: skip
        try:
            ended = str(process.wait(seconds))
        except subprocess.TimeoutExpired:
            ended = verdicts.NEVER_ENDED
            stopped(process)
        except BaseException:
            stopped(process)
            raise
    return ended, *verdicts.taken_over(summary)


def stopped(process: subprocess.Popen) -> None:
    """With all that it started: a launcher ends its processes when it is asked to, and may hang."""
    for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            process.wait(seconds)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


class Mpi4py:
    """Its own tests, a launch for each module."""

    def __init__(self, installation: mpi.Installation, arguments: argparse.Namespace) -> None:
        self.installation, self.seconds = installation, arguments.seconds
        self.tests = outside.tests_of_mpi4py(FOLDER)

    def parts(self, modules: str) -> list[str]:
        return [path.stem for path in sorted(self.tests.glob("test_*.py")) if re.search(modules, path.stem)]

    def run(self, module: str, ranks: int, ours: bool, folder: Path) -> Verdicts:
        settings = environment_of(self.installation, ranks) | mpi4py_wheel.environment(self.installation, FOLDER)
        program = [sys.executable, str(HERE / "one_module.py"), str(self.tests), module, str(folder)]
        line = [*self.installation.arguments(ranks), *program, str(self.seconds)]
        ended, ours_of, calls = launched(line, ours, folder, settings, self.seconds + 30)
        if "Timeout (" in (folder / "said.txt").read_text(encoding="utf-8", errors="replace"):
            ended = verdicts.NEVER_ENDED
        return Verdicts(ended, verdicts.of_ranks(folder), ours_of, calls)


class Hpcc:
    """HPC Challenge on a matrix that is small enough for a test: the residuals and counts of errors in its report."""

    def __init__(self, installation: mpi.Installation, arguments: argparse.Namespace) -> None:
        self.installation, self.size, self.seconds = installation, arguments.size, 15 * arguments.seconds
        self.program = outside.hpcc_of(installation, FOLDER)

    def parts(self, modules: str) -> list[str]:
        return ["hpcc"] if re.search(modules, "hpcc") else []

    def run(self, module: str, ranks: int, ours: bool, folder: Path) -> Verdicts:
        rows = 2 if ranks % 2 == 0 and ranks > 2 else 1
        text = INPUT_OF_HPCC.format(size=self.size, rows=rows, columns=ranks // rows)
        (folder / "hpccinf.txt").write_text(text, encoding="utf-8")
        line = [*self.installation.arguments(ranks), str(self.program)]
        settings = environment_of(self.installation, ranks)
        ended, ours_of, calls = launched(line, ours, folder, settings, self.seconds)
        output = folder / "hpccoutf.txt"
        said = output.read_text(encoding="utf-8", errors="replace") if output.is_file() else ""
        return Verdicts(ended, verdicts.of_hpcc(said), ours_of, calls)


SUITES: dict[str, Callable] = {"mpi4py": Mpi4py, "hpcc": Hpcc}


def run(case: Case, ranks: int, arguments: argparse.Namespace, absent: list[str]) -> Iterator[dict]:
    """Each part with and without us, once more where the two differ; `absent` gets a line where some were not run."""
    installation = installation_of(case.library)
    suite = SUITES[case.suite](installation, arguments)
    left_out = []
    for part in suite.parts(arguments.modules or case.modules):
        kept = FOLDER / "kept" / f"{case.suite}-{case.library}-{ranks}-{part}.json"
        if kept.is_file() and not arguments.again:
            yield json.loads(kept.read_text(encoding="utf-8"))
        elif arguments.table:
            left_out.append(part)
        if arguments.table or (kept.is_file() and not arguments.again):
            continue
        row = {"suite": case.suite, "library": f"{case.library} {installation.version}", "ranks": ranks, "part": part}
        row |= {"date": datetime.now(timezone.utc).date().isoformat(), "ours": outside.version_of_ours()}
        row["tries"] = []
        for _ in range(2):
            tried = {}
            for way, ours in (("alone", False), ("interposed", True)):
                with tempfile.TemporaryDirectory(prefix="kumihimo-suite-") as folder:
                    tried[way] = suite.run(part, ranks, ours, Path(folder)).written()
                    logs = FOLDER / "logs" / f"{case.suite}-{case.library}-{ranks}-{part}-{way}.txt"
                    logs.parent.mkdir(parents=True, exist_ok=True)
                    logs.write_bytes((Path(folder) / "said.txt").read_bytes())
            row["tries"].append(tried)
            found = verdicts.differences(Verdicts.read(tried["alone"]), Verdicts.read(tried["interposed"]))
            print(f"{row['library']}, {ranks} ranks, {part}: {table.short(row)}", file=sys.stderr, flush=True)
            if not found:
                break
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(row, indent=1), encoding="utf-8")
        yield row
    if left_out:
        absent.append(f"{case.name} on {ranks} ranks: {len(left_out)} modules were not run yet ({', '.join(left_out)})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(case.name for case in CASES))
    parser.add_argument("--ranks", default="", help="some of the numbers of ranks of the cases: 2,3")
    parser.add_argument("--modules", default="", metavar="REGEX", help="of mpi4py's tests, instead of the case's own")
    parser.add_argument("--seconds", type=float, default=120, help="for one module; hpcc has 15 times as long")
    parser.add_argument("--size", type=int, default=1000, help="of hpcc's matrix")
    parser.add_argument("--again", action="store_true", help="run what was run before, too")
    parser.add_argument("--table", action="store_true", help="of what was run before, and run nothing")
    parser.add_argument("--output", type=Path, default=outside.ROOT / "bench/results/suites.md")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # and what was launched ends, too
    FOLDER.mkdir(parents=True, exist_ok=True)
    ranks = [int(number) for number in arguments.ranks.split(",") if number]
    names = {case.name for case in CASES}
    if unknown := [name for name in arguments.cases if name not in names]:
        parser.error(f"unknown case {unknown[0]}: use one of {', '.join(sorted(names))}")
    rows, absent = [], []
    for case in CASES:
        if arguments.cases and case.name not in arguments.cases:
            continue
        for number in case.ranks:
            if ranks and number not in ranks:
                continue
            try:
                rows += run(case, number, arguments, absent)
            except (Failed, BadInput) as why:
                absent.append(f"{case.name} on {number} ranks was left out: {why}")
                print(absent[-1], file=sys.stderr)
    text = table.markdown(rows, absent, outside.processor_and_system(), FORCED)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return 1 if absent or any(table.stays(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
