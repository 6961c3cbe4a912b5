"""The model loggp beside LogGOPSim on the same GOAL files: finish times, events per second and memory.

    python bench/loggp/compare.py [--bench PROGRAM] [--random N]

LogGOPSim, txt2bin and schedgen are found on PATH; without them only our own rows are measured. Both simulators read the
binary file. In the random files every message has its own tag. Operations that may start at once do so in the order of
LogGOPSim, which sorts more than 16 of them with a sort that is not stable.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

PARAMETERS = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535}
OTHERS = (
    PARAMETERS,
    {"L": 1000, "o": 500, "g": 100, "G": 1, "O": 2, "S": 1000},
    {"L": 3000, "o": 200, "g": 1500, "G": 3, "O": 1, "S": 100_000_000},
)
SCHEDULES = (
    ("dissemination", 82_944, 8),
    ("dissemination", 8_192, 8),
    ("binomialtreereduce", 65_536, 1024),
    ("linear_alltoall", 256, 1024),
    ("allreduce_recdoub", 128, 1_048_576),
)
OURS = (
    ("barrier", "dissemination", 82_944, 0),
    ("barrier", "dissemination", 1_048_576, 0),
    ("barrier", "dissemination", 8_388_608, 0),
    ("allreduce", "ring", 1024, 8192),
    ("allreduce", "recursive_doubling", 65_536, 8),
    ("alltoall", "pairwise", 1024, 8192),
    ("gather", "linear", 200000, 8),
)


def goal(seed: int) -> str:
    """Random messages between up to 16 ranks, in an order that no rank's dependencies contradict."""
    draw = random.Random(seed)
    ranks = draw.choice((2, 3, 4, 6, 8, 12, 16))
    operations: list[list[str]] = [[] for _ in range(ranks)]
    for tag in range(draw.randint(1, 60)):
        a, b = draw.randrange(ranks), draw.randrange(ranks)
        if a == b:
            operations[a].append(f"calc {draw.choice((0, 10, 500, 5000, draw.randrange(20000)))}")
            continue
        size = draw.choice((0, 1, 8, 100, 1000, 70_000, 200_000, draw.randrange(1, 100_000)))
        operations[a].append(f"send {size}b to {b} tag {tag}")
        operations[b].append(f"recv {size}b from {a} tag {tag}")
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        lines += [f"l{i}: {operation}" for i, operation in enumerate(operations[rank])]
        dense = draw.choice((0.0, 0.3, 1.0))
        for i in range(1, len(operations[rank])):
            if draw.random() < dense:
                for on in draw.sample(range(i), min(i, draw.choice((1, 1, 2, 3)))):
                    lines.append(f"l{i} {draw.choice(('requires', 'requires', 'irequires'))} l{on}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def ours(bench: str, *words: str) -> list[str]:
    """The row that loggp_bench prints: ranks, graphs, events, made s, run s, M events/s, peak MiB, simulated us."""
    done = subprocess.run([bench, *words], capture_output=True, text=True, check=True)
    return done.stdout.split()[-8:]


def theirs(file: Path, p: dict) -> tuple[str, float, float]:
    """Finish time in us (or why there is none), CPU seconds of the command, peak MiB."""
    options = [word for letter, value in p.items() for word in (f"-{letter}", str(value))]
    with subprocess.Popen(
        ["LogGOPSim", "-f", str(file), *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        text = process.stdout.read()
        _, _, own = os.wait4(process.pid, 0)
        process.returncode = 0
    seconds = own.ru_utime + own.ru_stime
    ends = [int(end) for end in re.findall(r"^Host \d+: (\d+)", text, re.M)]
    ends += [int(end) for end in re.findall(r"Maximum finishing time at host \d+: (\d+)", text)]
    finish = f"{max(ends) / 1000:.3f}" if ends and "contains" not in text else "stops early"
    return finish, seconds, own.ru_maxrss / 1024


def binary(folder: Path, text: Path) -> Path:
    made = folder / f"{text.stem}.bin"
    subprocess.run(["txt2bin", "-i", text, "-o", made], check=True, capture_output=True)
    return made


def check_random(bench: str, count: int, folder: Path) -> None:
    equal = early = 0
    wrong = []
    for seed in range(count):
        text = folder / "random.goal"
        text.write_text(goal(seed), encoding="utf-8")
        file, p = binary(folder, text), OTHERS[seed % len(OTHERS)]
        finish = theirs(file, p)[0]
        own = ours(bench, str(file), ",".join(f"{letter}={value}" for letter, value in p.items()))[-1]
        early += finish == "stops early"
        equal += finish == own
        if finish not in (own, "stops early"):
            wrong.append(f"{seed}: {finish} there, {own} here")
    print(f"\nOf {count} random files {equal} end at the same time, on {early} LogGOPSim stops early.\n")
    for line in wrong:
        print(f"- {line}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bench", default="build/release/bench/loggp/loggp_bench")
    parser.add_argument("--random", type=int, default=300)
    asked = parser.parse_args()
    print("CPU time of one core. An event is a send, a receive or a calc that was completed.\n")
    print("| Schedule | Ranks | Graphs | Events | Made, s | Run, s | M events/s | Peak, MiB | Simulated, us |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in OURS:
        print(f"| {row[0]} {row[1]}, {row[3]} B |", " | ".join(ours(asked.bench, *map(str, row))), "|", flush=True)
    if not all(map(shutil.which, ("LogGOPSim", "txt2bin", "schedgen"))):
        print("\nLogGOPSim, txt2bin and schedgen are not on PATH.")
        return
    print("\nGOAL files of Schedgen, in LogGOPSim and here. CPU seconds are of the whole command.\n")
    print(
        "| Pattern | Ranks | Bytes | Events | LogGOPSim, s | here, s | times | LogGOPSim, MiB | here, MiB | ends, us |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for pattern, ranks, size in SCHEDULES:
            text = folder / "schedule.goal"
            made = subprocess.run(
                ["schedgen", "-p", pattern, "-s", str(ranks), "-d", str(size), "-o", text],
                capture_output=True,
                check=False,
            )
            if made.returncode or not text.exists():
                print(f"| {pattern} | {ranks} | schedgen ended with {made.returncode} |")
                continue
            file = binary(folder, text)
            finish, seconds, peak = theirs(file, PARAMETERS)
            given = ",".join(f"{letter}={value}" for letter, value in PARAMETERS.items())
            _, _, events, read, run, _, own_peak, end = ours(asked.bench, str(file), given)
            own = float(read) + float(run)
            ends = end if end == finish else f"{finish} there, {end} here"
            cells = (
                pattern,
                ranks,
                size,
                events,
                f"{seconds:.2f}",
                f"{own:.2f}",
                f"{seconds / own:.1f}" if own else "",
            )
            print("|", " | ".join(map(str, (*cells, f"{peak:.0f}", own_peak, ends))), "|", flush=True)
        check_random(asked.bench, asked.random, folder)


if __name__ == "__main__":
    main()
