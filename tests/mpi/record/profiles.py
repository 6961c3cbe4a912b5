"""What the cases of recorded.py share: a program run with the recorder, and the profile that it wrote."""

import json
import subprocess
import tempfile
from pathlib import Path

INT, FLOAT, DOUBLE = 4, 4, 8
WORD = "a line of input\n"


class Profile:
    """What the ranks wrote, each of them and in sums."""

    def __init__(self, folder):
        self.header, self.ranks = None, {}
        paths = [folder / "profile", *sorted(folder.glob("profile.rank*"))]
        for path in paths:
            texts = path.read_text().splitlines(keepends=True) if path.exists() else []
            lines = [json.loads(text) for text in texts if text.endswith("\n")]
            if len(lines) > 1:  # a launcher may kill a rank that writes
                self.header = self.header or lines[0]
                self.ranks |= {line["rank"]: line for line in lines[1:]}

    def calls(self, rank, name, key="calls", where=lambda row: True):
        return sum(row.get(key, 0) for row in self.ranks[rank]["calls"] if row["call"] == name and where(row))

    def names(self, rank):
        return {row["call"] for row in self.ranks[rank]["calls"]}

    def matrix(self, rank):
        return {partner: tuple(rest) for partner, *rest in self.ranks[rank]["partners"]}

    def share(self, rank, name, part="waiting_seconds"):
        return self.calls(rank, name, part) / self.calls(rank, name, "split_seconds")


def equal(found, expected, what):
    if found != expected:
        raise SystemExit(f"{what}: expected {expected}, found {found}")


def check(condition, what):
    if not condition:
        raise SystemExit(what)


# UCX below MPICH now and then reads a rank's address before it is written (pmodels/mpich#7417), in MPI_Init: no program
# of ours has run by then. Only a start that said so is repeated.
LOST_ADDRESS = "failed to unpack address, invalid bandwidth"


def launch(folder, family, ranks, recorder, program, launcher, more=None):
    settings = {"LD_PRELOAD": recorder, "KUMIHIMO_RECORD": str(folder / "profile"), **(more or {})}
    handed = []
    for name, value in settings.items():
        handed += ["-x", f"{name}={value}"] if family == "openmpi" else ["-genv", name, value]
    for _ in range(3):
        ended = subprocess.run(
            [*launcher, *handed, "-n", str(ranks), *program],
            input=WORD,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        if LOST_ADDRESS not in ended.stdout + ended.stderr:
            break
        for path in folder.glob("profile*"):
            path.unlink()
    return ended


def recorded(arguments, more=None, code=0):
    """`code`: the exit status; None: any."""
    _, family, ranks, recorder, program, launcher = arguments
    with tempfile.TemporaryDirectory() as name:
        ended = launch(Path(name), family, ranks, recorder, program, launcher, more)
        if code is not None:
            equal(ended.returncode, code, f"exit status; {ended.stdout}{ended.stderr}")
        return Profile(Path(name)), ended


def compare(profile, ranks, expected):
    """Every call of every rank, and no other."""
    equal(sorted(profile.ranks), list(range(ranks)), "ranks")
    for rank in range(ranks):
        wanted = expected(rank)
        equal(profile.names(rank), set(wanted), f"functions of rank {rank}")
        for name, (calls, size) in wanted.items():
            equal(profile.calls(rank, name), calls, f"calls of {name} on rank {rank}")
            equal(profile.calls(rank, name, "bytes"), size, f"bytes of {name} on rank {rank}")


def has_threads(ended):
    """By the program's own word: a library may give it none."""
    return "threads\n" in ended.stdout
