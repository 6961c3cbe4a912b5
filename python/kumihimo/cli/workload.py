"""`kumihimo workload`: the communication of published programs, to replay and to place."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Optional

from kumihimo.cli import options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.predict.workloads import catalogue
from kumihimo.predict.workloads.catalogue import Workload, WorkloadCall
from kumihimo.predict.workloads.steps import ComputingStep, ExchangeStep
from kumihimo.text import files
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.quantities import bytes_text, seconds_text


def command(
    words: argument(
        "[list] [[show] NAME]", "Workload to show [default: the list of workloads].", Optional[list[str]]
    ) = None,
    ranks: option("--ranks -p P", "Number of ranks [default: the workload's].", int) = None,
    numbers: option("--set NAME=VALUE", "Number of the workload; may be repeated.", list[str]) = None,
    rank: option("--rank R", "Rank whose steps are shown.", int) = 0,
    traffic: options.written("--traffic FILE", "Write the bytes of each pair of ranks.", WrittenWhole) = None,
    program: option("--program FOLDER", "Write an MPI program (C) that plays it, and its steps.") = None,
    as_json: options.Json = False,
) -> None:
    """Show the communication of a published program, generated for any number of ranks. `replay`, `place` and
    `project` take it by workload:NAME.

    \b
    Examples:
    kumihimo workload list
    kumihimo workload show rsdft --ranks 512
    kumihimo replay workload:rsdft,steps=4 --ranks 512 --machine k-computer --what-if
    kumihimo place --traffic workload:nicam --shape 32x32
    kumihimo workload lattice-qcd --ranks 4 --program qcd
    """
    name = name_in(words or [])
    if name is None:
        options.refuse_beside("the list", "ranks", "numbers", "rank", "traffic", "program")
        return list_all(as_json)
    asked = catalogue.asked(",".join([name, *(numbers or [])]), ranks)
    if not 0 <= rank < asked.ranks:
        raise wrong_value(f"--rank must be from 0 to {asked.ranks - 1}", rank)
    found = progress.run_interruptible(lambda: rows_of(asked, rank))
    if traffic is not None:
        lines = progress.run_interruptible(lambda: list(asked.traffic().lines()))
        output.write(traffic, "\n".join(lines) + "\n")
    folder = None if program is None else Path(program)
    if folder is not None:
        with files.refused("the program must be writable", folder):
            progress.run_interruptible(lambda: asked.write_program(folder))
    if as_json:
        return output.print_results_json([as_object(asked, rank, found)])
    show(asked, rank, found)
    if folder is not None:
        play = shlex.quote(str(folder / "play"))
        print()
        output.print_line(f"mpicc -O2 -o {play} {play}.c")
        output.print_line(f"mpirun -n {asked.ranks} {play} {shlex.quote(str(folder / 'steps'))}")
    return None


def name_in(words: list[str]) -> Optional[str]:
    """None: the list."""
    if words == ["show"]:
        raise missing("the workload", "kumihimo workload list has all")
    if words[:1] == ["show"]:
        words = words[1:]
    if len(words) > 1:
        raise wrong_value("kumihimo workload takes one workload", " ".join(words), "see kumihimo workload --help")
    return None if words in ([], ["list"]) else words[0]


def rows_of(asked: WorkloadCall, rank: int) -> list[dict]:
    """The different steps of a rank, in order, and how often each comes."""
    times: Counter[tuple] = Counter()
    for step in asked.steps(rank):
        if isinstance(step, ComputingStep):
            times["computing", step.what, 1, round(step.seconds, 12)] += 1
        elif isinstance(step, ExchangeStep):
            times["exchange", step.what, len(step.partners), sum(step.sent)] += 1
        else:
            times[step.collective, step.what, len(step.members) or asked.ranks, step.bytes] += 1
    return [
        {"step": kind, "what": what, "ranks": many, "seconds" if kind == "computing" else "bytes": size, "times": count}
        for (kind, what, many, size), count in times.items()
    ]


def as_object(asked: WorkloadCall, rank: int, steps: list[dict]) -> dict:
    of = asked.workload
    return {
        "workload": of.name,
        "source": of.source,
        "ranks": asked.ranks,
        "numbers": {key: {"value": asked.values[key], "source": asked.source_of(key)} for key in of.numbers},
        "rank": rank,
        "steps": steps,
    }


def show(asked: WorkloadCall, rank: int, steps: list[dict]) -> None:
    of: Workload = asked.workload
    output.print_line(f"{of.name}: {of.summary}")
    output.print_line(of.source)
    print()
    rows = [(key, f"{asked.values[key]:g}", each.meaning, asked.source_of(key)) for key, each in of.numbers.items()]
    output.print_table("", ("number", "value>", "meaning", "source"), rows)
    print()
    table = [
        (
            f"{each['times']}x",
            each["step"],
            each["what"],
            "" if each["step"] == "computing" else str(each["ranks"]),
            seconds_text(each["seconds"]) if each["step"] == "computing" else bytes_text(each["bytes"]),
        )
        for each in steps
    ]
    columns = ("times>", "step", "what", "ranks>", "time or bytes>")
    output.print_table(f"Steps of rank {rank} of {asked.ranks}", columns, table)


def list_all(as_json: bool) -> None:
    if as_json:
        rows = [{"name": each.name, "summary": each.summary, "source": each.source} for each in catalogue.WORKLOADS]
        return output.print_json({"workloads": rows, **output.own_cost()})
    output.print_table("", ("workload", "what it is"), [(each.name, each.summary) for each in catalogue.WORKLOADS])
    return None
