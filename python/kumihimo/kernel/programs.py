"""Tunes the kernels of a program: starts it, tunes one kernel after the other, and keeps the choices of each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.kernel import choices, search, wisdom
from kumihimo.kernel.candidates import KernelCandidate
from kumihimo.kernel.declaration import check_name
from kumihimo.kernel.hints import parse
from kumihimo.kernel.session import Session
from kumihimo.kernel.tuning import PRECIOUS, KernelTuning, Step, sizes_of
from kumihimo.processes.interrupts import ignoring_signals
from kumihimo.text.errors import Failed, KumihimoError, did_you_mean, missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.launches import BudgetClock

SUFFIX = ".py"


@dataclass
class TunedKernels:
    """Outcome of all kernels; grows while they are tuned, so that Ctrl-C leaves what there is."""

    decisions: list[JsonObject] = field(default_factory=list)
    left: list[JsonObject] = field(default_factory=list)
    choices: list[JsonObject] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # kernels that a failure left untuned
    not_kept: list[str] = field(default_factory=list)  # kernels whose choices could not be written, and why


def is_file_name(word: str) -> bool:
    return word.partition(":")[0].endswith(SUFFIX)


def of_file(word: str) -> tuple[str, list[str]]:
    """FILE.py:KERNEL,KERNEL as path and names."""
    path, _, names = word.partition(":")
    if not Path(path).is_file():
        raise wrong_value("the file of kernels must be there", path)
    return path, [name for name in names.split(",") if name]


def chosen(kernels: Sequence[JsonObject], names: Sequence[str]) -> list[JsonObject]:
    """The kernels of these names, or all."""
    known = [kernel["name"] for kernel in kernels]
    if not known:
        raise missing("a kernel", "declare one (docs/guides/tune-your-kernel.md)")
    for name in known:
        check_name("a kernel", name)
        if known.count(name) > 1:
            raise wrong_value("each kernel of a program must have a name of its own", f"'{name}' twice")
    for name in names:
        if name not in known:
            rule = f"the program has the kernels {', '.join(known)}"
            raise wrong_value(rule, f"'{name}'", did_you_mean(name, known))
    return [kernel for kernel in kernels if not names or kernel["name"] in names]


def steps(session: Session, names: Sequence[str], sizes: Sequence[int]) -> tuple[JsonObject, list[JsonObject], int]:
    """The program's list of kernels, the wanted ones, and the number of their sizes. Raises errors of hints and of
    existing wisdom before any measurement.
    """
    listing = session.listing()
    wanted = chosen(listing["kernels"], names)
    for kernel in wanted:
        wisdom.existing(choices.path_of(kernel["name"]))
    return listing, wanted, sum(len(sizes_of(kernel, parse(kernel["hint"]), sizes)) for kernel in wanted)


def tune(
    session: Session,
    listing: JsonObject,
    wanted: Sequence[JsonObject],
    sizes: Sequence[int],
    strategy: str,
    clock: BudgetClock,
    made: Callable[[], JsonObject],
    step: Step,
    found: TunedKernels,
) -> None:
    """Each kernel has a part of the time by its effort. `made`: the head of the wisdom file."""
    weights = {kernel["name"]: PRECIOUS if parse(kernel["hint"]).precious else 1 for kernel in wanted}
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as folder:
        for kernel in wanted:
            share = weights.pop(kernel["name"])
            seconds = clock.left * share / (share + sum(weights.values()))
            tuning = KernelTuning(session, listing, kernel, Path(folder))
            if reason := why_not(kernel):
                found.left.append({"kernel": kernel["name"], "sizes": [], "reason": reason})
                continue
            tune_one(tuning, listing, sizes, strategy, clock, seconds, made, step, found)


def why_not(kernel: JsonObject) -> str:
    if not kernel["variants"]:
        return "it has no variants"
    return "" if kernel["inputs"] else "it has no inputs or size: give both"


def tune_one(tuning, listing, sizes, strategy, clock, seconds, made, step, found) -> None:
    kernel = tuning.kernel
    wanted = sizes_of(kernel, tuning.hints, sizes)
    search.strategy_for(strategy, 1)
    end = clock.left - seconds
    mine: list[JsonObject] = []
    try:
        for decision in tuning.decisions(wanted, strategy, lambda: clock.left - end, step):
            mine.append(decision)
            found.decisions.append(decision)
    except Failed as error:  # of its golden copy: the others go on
        found.left.append({"kernel": kernel["name"], "sizes": [], "reason": str(error)})
        found.failed.append(kernel["name"])
        return
    finally:
        right = [each for each in mine if not is_wrong(tuning, each)]
        if right:
            try:
                rows = wisdom.rows(tuning, listing, right)
                found.choices += rows
                with ignoring_signals():  # else the file may be there and not be told
                    found.files.append(str(wisdom.extend(kernel["name"], rows, made())))
            except (KumihimoError, OSError) as error:  # the results are shown all the same
                found.not_kept.append(f"{kernel['name']}: {error}")
    reached = {each["size"] for each in mine}
    if left := [size for size in wanted if size not in reached]:
        found.left.append({"kernel": kernel["name"], "sizes": left, "reason": "no time"})


def is_wrong(tuning: KernelTuning, decision: JsonObject) -> bool:
    """Whether the chosen candidate was found to be wrong later, at another size."""
    chosen = decision["chosen"]
    return bool(tuning.faults.get(KernelCandidate(chosen["variant"], tuple(chosen["parameters"].items()))))
