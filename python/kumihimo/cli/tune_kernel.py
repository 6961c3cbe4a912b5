"""`kumihimo tune kernel`: the fastest right reduction and copy kernel for each length on this machine, kept as wisdom
for every executor."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import click
import typer

from kumihimo import _plan
from kumihimo.cli import options, output, progress, tune_program
from kumihimo.cli.options import argument, option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.text import quantities
from kumihimo.text.errors import wrong_value
from kumihimo.text.sizes import parse_sizes, text_of
from kumihimo.tune import kernels, wisdom
from kumihimo.tune.kernels import Key
from kumihimo.tune.launches import BudgetClock

USUAL_SIZES = "256,1KiB,4KiB,16KiB,64KiB,256KiB,1MiB,4MiB,16MiB,64MiB"
MOST_BYTES = 2**32  # three arrays of a size are in memory at once


OF_PROGRAMS = "Kernels of a program"
app = typer.Typer()


class Command(typer.core.TyperCommand):
    """The words after -- are another program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            place = args.index("--")
            args, ctx.meta[tune_program.WORDS] = args[:place], args[place + 1 :]
        return super().parse_args(ctx, args)


@app.command(cls=Command)
def command(
    names: argument(
        "[KERNEL...] or FILE.py[:KERNEL] or -- PROGRAM...",
        f"Kernels: {', '.join(kernels.KERNELS)} [default: both], or a Python file or a program with its own.",
        Optional[list[str]],
    ) = None,
    operation: option("--op OP", "Reduction operation [default: all].") = None,
    kind: option("--type TYPE", "Element type [default: all].") = None,
    sizes: option("--bytes -b SIZES", "Sizes of one operand: 64KiB, 256..64MiB.") = USUAL_SIZES,
    out: options.written(
        "--output -o FILE", "Wisdom file to write [default: the one that `run` finds].", WrittenWhole
    ) = None,
    budget: options.Budget = "5m",
    explain: option("--explain", "Show all variants for each size and the reason for each choice.") = False,
    only: option(
        "--kernel NAMES", "Kernels of the program, separated by commas [default: all].", str, OF_PROGRAMS
    ) = None,
    trips: option("--size SIZES", "Sizes to tune: 100,1000 [default: those of the kernel].", str, OF_PROGRAMS) = None,
    strategy: option(
        "--search NAME",
        "exhaustive, random or bayesian [default: exhaustive up to 64 candidates, then bayesian, or random if Optuna "
        "is missing].",
        str,
        OF_PROGRAMS,
    ) = None,
    include: option("--include", "Print the folder of the C++ header and exit.", str, OF_PROGRAMS) = False,
    as_json: options.Json = False,
) -> int:
    """Choose the fastest kernels, of this project or of a program. All variants are checked and measured, and the
    fastest is stored for each size: reduction and copy loops of this machine, or kernels that a program declares.

    Each variant is first compared with the golden copy, a plain loop. `run`, `bench` and `tune` on this machine use the
    choices; so does the program whose kernels they are.

    \b
    Examples:
    kumihimo tune kernel reduce --op sum --type float64 --explain
    kumihimo tune kernel dot.py --explain
    kumihimo tune kernel -- ./program
    """
    if include:
        tune_program.show_include_folder(as_json)
        return 0
    if tune_program.is_wanted(names or []):
        return tune_program.tune(names or [], only, trips, strategy, budget, explain, as_json)
    tune_program.refuse_programs(names or [])
    options.refuse_beside("a kernel of this project", "only", "trips", "strategy")
    wanted = kernels.keys(names or [], operation or "", kind or "")
    lengths = checked_sizes(sizes)
    clock = BudgetClock(budget)
    path = out or wisdom.kernel_path()
    wisdom.check_writable(path)
    old = wisdom.existing(path, None)
    measured: list[tuple[Key, int, dict]] = []
    tuner = _plan.KernelTuner()
    interruption = progress.Interruption()
    steps = sum(len(kernels.sizes_of(key, lengths)) for key in wanted)
    with interruption, progress.bar("tuning", steps) as advance:
        decide = lambda *asked: progress.run_interruptible(lambda: tuner.decide(*asked))  # noqa: E731
        measured.extend(kernels.decisions(wanted, lengths, clock, decide, advance))
    found = report(path, old, clock, wanted, lengths, measured)
    if as_json:
        output.print_json({**found, "interrupted": interruption.code != 0, **output.own_cost()})
    else:
        show(found, explain)
    if interruption.code:
        output.message(f"interrupted; the results so far are in {path}" if found["choices"] else "interrupted")
    return interruption.code or int(bool(found["wrong"]))


def checked_sizes(text: str) -> list[int]:
    sizes = sorted(set(parse_sizes(text)))
    for size in sizes:
        if size % 8:
            raise wrong_value("--bytes must be a multiple of 8", size)
    if sizes[-1] > MOST_BYTES:
        raise wrong_value("--bytes must be at most 4GiB", text_of(sizes[-1]))
    return sizes


def report(
    path: Path,
    old: dict | None,
    clock: BudgetClock,
    wanted: list[Key],
    sizes: list[int],
    measured: list[tuple[Key, int, dict]],
) -> dict:
    """Writes the choices, and says what was found."""
    choices = []
    left = []
    for key in wanted:
        of_key = [(size, decision) for k, size, decision in measured if k == key]
        choices += kernels.choices_of(key, [(size, d) for size, d in of_key if "chosen" in d])
        missing = [size for size in kernels.sizes_of(key, sizes) if size not in dict(of_key)]
        unfit = next((d["not_applicable"] for _, d in of_key if "not_applicable" in d), None)
        if unfit or missing:
            left.append(
                {"kernel": kernels.name_of(key), "bytes": [] if unfit else missing, "reason": unfit or "no time"}
            )
    made = wisdom.made_by(clock)
    wisdom.extend(path, old, wisdom.document(choices, made, machine=wisdom.machine_object()))
    rows = [{**dict(key), "bytes": size, **decision} for key, size, decision in measured if "chosen" in decision]
    return {
        "wisdom": str(path),
        "made": made,
        "results": rows,
        "choices": choices,
        "wrong": kernels.refused(measured),
        "left_untuned": left,
    }


def show(found: dict, explain: bool) -> None:
    if explain:
        show_variants(found["results"])
    output.print_table("", ("kernel", "bytes", "variant", "time>", "of plain>", "of bound>", "why"), summary(found))
    output.print_list("Wrong results (differ from the golden copy), never chosen:", found["wrong"])
    output.print_list("Left untuned:", [left_text(each) for each in found["left_untuned"]])
    usual = Path(found["wisdom"]).absolute() == wisdom.kernel_path().absolute()
    users = "every run on this machine uses them" if usual else f"kumihimo run --wisdom {found['wisdom']} uses them"
    print()
    output.print_line(f"The choices are in {found['wisdom']}; {users}.")
    output.print_line(
        "of plain: time / time of the golden copy. of bound: time to read the operands / time; empty if that exceeds "
        "100 % (operands in cache)."
    )


def summary(found: dict) -> list[list[str]]:
    return [
        [
            kernels.name_of(key_of(row)),
            text_of(row["bytes"]),
            kernels.candidate_text(row["chosen"]),
            *times(row, kernels.row_of(row, row["chosen"])),
            kernels.reason(row),
        ]
        for row in found["results"]
    ]


def show_variants(rows: list[dict]) -> None:
    lines = []
    for row in rows:
        for each in row["tried"]:
            mark = "*" if kernels.is_row_of(each, row["chosen"]) else ""
            mark += " untuned" if kernels.is_row_of(each, row["untuned"]) else ""
            note = each.get("refused") or ("dropped: much slower than the fastest" if each["dropped"] else "")
            cells = times(row, each) if "seconds" in each else ["", "", ""]
            interval = f"[{each['ratio_low']:.2f}, {each['ratio_high']:.2f}]" if "ratio" in each else ""
            lines.append(
                [
                    kernels.name_of(key_of(row)),
                    text_of(row["bytes"]),
                    kernels.candidate_text(each),
                    mark.strip(),
                    *cells,
                    interval,
                    note,
                ]
            )
    columns = ("kernel", "bytes", "variant", "", "time>", "of plain>", "of bound>", "of untuned", "")
    output.print_table("All variants; * was chosen", columns, lines)
    print()


def times(row: dict, variant: dict) -> list[str]:
    """The time; over the golden copy's; the bound's over it."""
    seconds, plain = variant["seconds"], row["tried"][0].get("seconds")
    return [
        quantities.seconds_text(seconds),
        f"{seconds / plain:.2f}" if plain else "",
        quantities.share_text(row["bound_seconds"] / seconds) if "bound_seconds" in row else "",
    ]


def key_of(row: dict) -> Key:
    return tuple((name, row[name]) for name in ("kernel", "operation", "type", "reader") if name in row)


def left_text(left: dict) -> str:
    sizes = ", ".join(map(text_of, left["bytes"]))
    return f"{left['kernel']}{' of ' + sizes if sizes else ''}: {left['reason']}"
