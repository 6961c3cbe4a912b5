"""The table of the suites, from what was kept of each launch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from verdicts import NEVER_ENDED, Verdicts, differences

RIGHT = ("passed", "skipped", "failed as expected")


def tries(row: dict) -> list[list[str]]:
    """The differences of each try."""
    return [differences(Verdicts.read(t["alone"]), Verdicts.read(t["interposed"])) for t in row["tries"]]


def stays(row: dict) -> list[str]:
    """What differs in every try."""
    found = tries(row)
    return [line for line in found[-1] if all(line in others for others in found)]


def went(row: dict) -> list[str]:
    """What differed once, and not again."""
    return sorted({line for found in tries(row) for line in found} - set(stays(row)))


def short(row: dict) -> str:
    last = row["tries"][-1]
    alone = Verdicts.read(last["alone"])
    said = dict(Counter(alone.of.values())) if row["suite"] == "mpi4py" else f"{len(alone.of)} verdicts"
    found = tries(row)[-1]
    return f"{said}, {last['interposed']['ours']} calls were ours; " + ("; ".join(found[:5]) or "no difference")


def late(row: dict) -> Iterable[str]:
    """What the time limit ended in the last try, and where it was."""
    for way, whose in (("alone", "without us"), ("interposed", "with us")):
        last = Verdicts.read(row["tries"][-1][way])
        if last.ended == NEVER_ENDED:
            tests = sorted({test_of(name) for name, said in last.of.items() if said == "unfinished"})
            yield f"{row['part']} {whose}{', in ' if tests else ''}{', '.join(tests)}"


def test_of(name: str) -> str:
    return name.rsplit(" on rank ", 1)[0]


def wrong_in_both(row: dict) -> Iterable[str]:
    """What the library does not do by itself, either."""
    last = Verdicts.read(row["tries"][-1]["alone"])
    if row["suite"] == "mpi4py":
        tests = {test_of(name) for name, said in last.of.items() if said not in RIGHT and not last.was_late(said)}
        yield from (f"{test}: {say(last, test)}" for test in sorted(tests))


def say(verdicts: Verdicts, test: str) -> str:
    return ", ".join(sorted({said for name, said in verdicts.of.items() if test_of(name) == test}))


def markdown(rows: Sequence[dict], absent: Sequence[str], machine: str, forced: str) -> str:
    groups: dict[tuple, list[dict]] = defaultdict(list)
    for row in rows:
        groups[row["suite"], row["library"], row["ranks"]].append(row)
    lines = ["# Suites that are not ours, with the interposer and without", "", machine, "", "    make suites", ""]
    lines += [
        f"With the interposer: `kumihimo run -a {forced}`.",
        "A verdict is that of one test on one rank (mpi4py),",
    ]
    lines += ["or a residual, a count of errors or the like in the report (hpcc). *Ours*: collective calls that were"]
    lines += ["taken over, of those that were counted (programs that ended by an abort count none).", ""]
    lines += ["| suite | library | ranks | date | commit | modules | verdicts | right | differ | ours |"]
    lines += ["|---|---|---:|---|---|---:|---:|---:|---:|---:|"]
    for (suite, library, ranks), members in groups.items():
        alone = [Verdicts.read(row["tries"][-1]["alone"]) for row in members]
        interposed = [Verdicts.read(row["tries"][-1]["interposed"]) for row in members]
        right = sum(is_right(suite, said) for one in alone for said in one.of.values())
        ours = f"{sum(one.ours for one in interposed)} of {sum(one.calls for one in interposed)}"
        dates = sorted({row["date"] for row in members})
        commits = ", ".join(sorted({row["ours"] for row in members}))
        cells = [suite, library, ranks, dates[-1], commits, len(members), sum(len(one.of) for one in alone), right]
        cells += [sum(len(stays(row)) for row in members), ours]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    lines += told("Differences", rows, stays, "None.")
    lines += told("Differed once, and not when both were run again", rows, went, "None.")
    lines += told("Ended by the time limit", rows, late, "None.")
    lines += told("Not right with and without us alike", rows, wrong_in_both, "None.")
    return "\n".join([*lines, *(["", "## Left out", "", *(f"- {line}" for line in absent)] if absent else [])]) + "\n"


def is_right(suite: str, said: str) -> bool:
    return said in RIGHT if suite == "mpi4py" else "FAILED" not in said and "failed)" not in said


def told(title: str, rows: Sequence[dict], of, otherwise: str) -> list[str]:
    found: dict[str, list[str]] = defaultdict(list)  # where by what
    for row in rows:
        for line in of(row):
            found[line].append(f"{row['library']} on {row['ranks']}")
    return [
        "",
        f"## {title}",
        "",
        *([f"- {line} ({', '.join(where)})" for line, where in found.items()] or [otherwise]),
    ]
