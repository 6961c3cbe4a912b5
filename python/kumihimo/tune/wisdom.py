"""The file of wisdom (docs/wisdom.md), where it lies, and how new choices join those that are there."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime, timezone
from math import inf
from pathlib import Path

from kumihimo import __version__, _plan
from kumihimo.run.wisdom_reading import folder, usual_path
from kumihimo.text import files
from kumihimo.text.documents import read_json
from kumihimo.text.errors import BadInput, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.odd_bytes import to_json
from kumihimo.text.ranges import ranges
from kumihimo.tune.bench.tuned import Choice
from kumihimo.tune.final_comparison import Judged
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.targets import Target

LIBRARY: Choice = ("library", ())
KEY = (  # of a collective, of a kernel
    *("collective", "ranks", "nodes", "ranks_per_node", "shape", "determinism", "emulated", "blocks", "start"),
    *("kernel", "operation", "type", "reader"),
)
PERHAPS_SLOWER = 1.05  # upper end of the ratio's interval, up to which a size goes with the others
FIGURES = ("seconds", "library_seconds", "ratio", "ratio_low", "ratio_high")


def kernel_path() -> Path:
    """Path of the wisdom of kernels on this machine, whatever the MPI library."""
    return usual_path(_plan.KERNEL_SUBJECT)


def machine_object() -> JsonObject:
    machine = _plan.this_machine()
    return {"processor": machine.processor, "processors": machine.processors}


def chosen(target: Target, judged: Judged) -> Choice:
    """Ours where it is faster; where the order must be fixed, the library's own cannot be."""
    if target.fixed_order:
        return LIBRARY if judged.refused or not judged.ours else judged.choice
    return judged.choice if judged.faster else LIBRARY


def choices_of(target: Target, judged: Sequence[Judged]) -> list[JsonObject]:
    """Ranges of sizes, each with the figures of that size in it where the choice does worst."""
    if target.unequal:
        return choice_of_all_sizes(target, judged)
    by_size = {j.bytes: j for j in judged}
    points = [(size, chosen(target, by_size[size])) for size in sorted(by_size)]
    found = []
    for each in ranges(points, LIBRARY):
        name, parameters = each.chosen
        measured = [figures_at(by_size[size]) for size in each.sizes if by_size[size].ours]
        row = {**target.key, "algorithm": name, "parameters": dict(parameters)}
        row |= {"from_bytes": each.from_bytes, "to_bytes": each.to_bytes, **for_user_operations(target)}
        if each.chosen != LIBRARY:
            row["also"] = sorted({label for size in each.sizes for label in by_size[size].also})
        found.append({**row, **figures_of_worst({**row, "measured": measured}), "measured": measured})
    return found


def choice_of_all_sizes(target: Target, judged: Sequence[Judged]) -> list[JsonObject]:
    """Ours if it is faster at some size, and refused or perhaps slower at none."""
    if not judged:
        return []
    is_ours = any(j.faster for j in judged) and all(not j.refused and (j.faster or is_no_slower(j)) for j in judged)
    name, parameters = judged[0].choice if is_ours else LIBRARY
    measured = [figures_at(j) for j in sorted(judged, key=lambda j: j.bytes) if j.ours]
    row = {**target.key, "algorithm": name, "parameters": dict(parameters), "from_bytes": 0}
    row |= for_user_operations(target)
    if is_ours:
        row["also"] = sorted({label for j in judged for label in j.also})
    return [{**row, **figures_of_worst({**row, "measured": measured}), "measured": measured}]


def for_user_operations(target: Target) -> JsonObject:
    """Other choices run no operations of a program: these cost more than those that are measured."""
    return {"user_operations": True} if target.program and target.program.user_operations else {}


def is_no_slower(judged: Judged) -> bool:
    return judged.figures["ratio"] <= 1 and judged.figures["ratio_high"] <= PERHAPS_SLOWER


def figures_at(judged: Judged) -> JsonObject:
    """The measured figures, those of rejected algorithms too."""
    name, parameters = judged.choice
    refused = {"refused": judged.refused} if judged.refused else {}
    found = {
        "bytes": judged.bytes,
        "algorithm": name,
        "parameters": dict(parameters),
        **judged.figures,
        **judged.in_program,
        **refused,
    }
    return rounded(found)


def document(
    choices: list[JsonObject], made: JsonObject, *, machine: JsonObject | None = None, mpi: str | None = None
) -> JsonObject:
    head: dict[str, object] = {"kumihimo_wisdom": _plan.WISDOM_VERSION}
    head |= {name: value for name, value in (("machine", machine), ("mpi", mpi)) if value is not None}
    return {**head, "made": made, "choices": choices}


def joined(old: JsonObject | None, new: JsonObject) -> JsonObject:
    """The new choices, and of the old file all that they do not speak of: choices for other ranks or collectives, and
    for lengths that lie in none of the new ranges (kumihimo.ranges: where nothing near was measured). Since the first
    that fits is taken, those of nodes that are not alike come after those of a number of ranks on each, those without
    a shape after those with one, and those of emulated nodes last."""
    ranges_of: dict[tuple, list[tuple[int, float]]] = {}
    for choice in new["choices"]:
        span = choice.get("from_bytes", 0), choice.get("to_bytes", inf)
        ranges_of.setdefault(key_of(choice), []).append(span)
    kept = (old or {}).get("choices", [])
    for key, spans in ranges_of.items():
        for low, high in spans:
            kept = [p for choice in kept for p in (outside(choice, low, high) if key_of(choice) == key else [choice])]
    return {**new, "choices": sorted([*new["choices"], *kept], key=place_of)}


def place_of(choice: JsonObject) -> tuple[bool, bool, bool]:
    unlike = choice.get("nodes", 0) > 1 and not choice.get("ranks_per_node")
    return bool(choice.get("emulated")), unlike, "shape" not in choice


def outside(choice: JsonObject, low: int, high: float) -> list[JsonObject]:
    """The rest of a choice without the lengths from `low` to `high`."""
    first, last = choice.get("from_bytes", 0), choice.get("to_bytes", inf)
    if last < low or high < first:
        return [choice]
    below = [cut(choice, first, low - 1)] if first < low else []
    return below + ([cut(choice, high + 1, last)] if high < last else [])


def cut(choice: JsonObject, first: float, last: float) -> JsonObject:
    """With the figures of these lengths alone."""
    of_all = ("measured", "figures_of_bytes", "to_bytes", *FIGURES)
    row = {name: value for name, value in choice.items() if name not in of_all}
    row |= {"from_bytes": first, **({"to_bytes": last} if last < inf else {})}
    with contextlib.suppress(KeyError, TypeError):  # people may have written them
        measured = [each for each in choice["measured"] if first <= each["bytes"] <= last]
        return {**row, **figures_of_worst({**row, "measured": measured}), "measured": measured}
    return row


def figures_of_worst(choice: JsonObject) -> JsonObject:
    """Figures of the length where it does worst beside the MPI library, which kernels and predictions are not compared
    with.
    """
    is_compared = "kernel" not in choice and not choice.get("simulated") and choice["algorithm"] != LIBRARY[0]
    if not is_compared or not choice["measured"]:
        return {}
    worst = max(choice["measured"], key=lambda each: each["ratio_high"])
    return {"figures_of_bytes": worst["bytes"], **{figure: worst[figure] for figure in FIGURES}}


def key_of(choice: JsonObject) -> tuple:
    return tuple(choice.get(name) for name in KEY)


def existing(path: Path, mpi: str | None, simulated: JsonObject | None = None) -> JsonObject | None:
    """The file that is there, if there is one, after a look at whether it may be written over: by choices measured with
    this MPI library, by what the simulator says of the machine `simulated` (as `made` names it), or, without an MPI
    library, by choices of kernels."""
    if not path.exists():
        return None
    text = files.read_text(path, "the wisdom file of --output")
    try:
        if mpi is None:
            _plan.read_kernel_wisdom(text, _plan.this_machine())
        else:
            _plan.read_wisdom(text, _plan.this_machine(), mpi)
        file = json_of(text)
        check_source(file, simulated)
    except BadInput as error:
        raise wrong_value(f"--output {path} cannot be extended: {error}", None, "name another, or remove it") from None
    return file


def json_of(text: str) -> JsonObject:
    """Parses a text that the native side has read as JSON, with a limit of its own."""
    try:
        return read_json(text)
    except ValueError as error:
        raise wrong_value("a wisdom file must be JSON", error) from None


def check_source(file: JsonObject, simulated: JsonObject | None) -> None:
    """Measured figures and those of the simulator do not stand in one file."""
    made = file.get("made")
    theirs = made.get("simulated") if isinstance(made, dict) else None
    if theirs is not None and not isinstance(theirs, dict):
        raise wrong_value("the machine that the wisdom was simulated for must be an object", repr(theirs)[:80])
    if theirs is None and any(choice.get("simulated") for choice in file["choices"]):
        theirs = {}
    if simulated is None and theirs is not None:
        raise wrong_value("the wisdom must be measured", "simulated choices")
    if simulated is not None and theirs != simulated and (theirs is not None or file["choices"]):
        text = ", ".join(f"{name} {value}" for name, value in simulated.items())
        other = ", ".join(f"{name} {value}" for name, value in (theirs or {}).items()) or "of another machine"
        raise wrong_value(f"the wisdom must be simulated for {text}", "measured choices" if theirs is None else other)


def check_writable(path: Path) -> None:
    """Found before measuring, not after. A folder of ours is made."""
    files.check_regular_or_new(path, "--output")
    files.check_writable(path, "--output", make=folder() in path.parents)


def extend(path: Path, old: JsonObject | None, new: JsonObject) -> None:
    """Writes the new choices and what is kept of the old file, unless nothing changes."""
    file = joined(old, new)
    if new["choices"] and (old is None or file["choices"] != old["choices"]):
        write(path, file)


def write(path: Path, file: JsonObject) -> None:
    files.write_whole(path, as_text(file))  # a program may be reading it


def as_text(file: JsonObject) -> str:
    """JSON with a line for each choice and for each size that was measured."""
    head = {name: value for name, value in file.items() if name != "choices"}
    lines = [f" {to_json(name)}: {to_json(value)}," for name, value in head.items()]
    return "{\n" + "\n".join(lines) + '\n "choices": [\n' + ",\n".join(map(choice_text, file["choices"])) + "\n ]\n}\n"


def choice_text(choice: JsonObject) -> str:
    measured = choice.get("measured")
    if not measured:
        return "  " + to_json(choice)
    rows = ",\n".join("    " + to_json(row) for row in measured)
    rest = to_json({name: value for name, value in choice.items() if name != "measured"})
    return f'  {rest[:-1]}, "measured": [\n{rows}\n  ]}}'


def rounded(row: JsonObject) -> JsonObject:
    return {name: float(f"{value:.5g}") if isinstance(value, float) else value for name, value in row.items()}


def made_by(clock: BudgetClock) -> JsonObject:
    return {
        "command": shlex.join(["kumihimo", *sys.argv[1:]]),
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "kumihimo": __version__,
        "seconds": round(clock.spent, 1),
        "budget_seconds": clock.seconds,
    }
