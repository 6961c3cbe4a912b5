"""Choices of variants on disk: one file for this machine, beside those of collectives and kernels.

A choice holds for an application, a class of sizes, ranks, threads, a method, a tolerance, options, grid, sums, an MPI
library and the compiler of the variants. It also holds for one golden copy: the hash of its source is part of the
choice, so that an edited golden copy has no tuned variants until they are measured again. Other versions of Kumihimo
and other commands use the same file, so a choice that this one does not understand is kept, and not used.
"""

from __future__ import annotations

import os
import re
from math import floor, log2, prod
from pathlib import Path

from kumihimo import _plan
from kumihimo.app.catalogue import AppCandidate, ApplicationRow
from kumihimo.app.launches import AppProblem, Resources
from kumihimo.kernel.wisdom import existing, locked
from kumihimo.processes import mpi
from kumihimo.run.wisdom_reading import usual_path
from kumihimo.text import files
from kumihimo.text.errors import BadInput, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.odd_bytes import to_json

SUBJECT = "applications"
KEY = (
    *("application", "size_class", "ranks", "threads", "method", "tolerance", "options", "grid", "sums"),
    *("library", "compiler"),
)
ADVICE = "correct or remove it"


def path() -> Path:
    return usual_path(SUBJECT)


def size_class(problem: AppProblem) -> str:
    """Sizes within a factor of two in unknowns share choices: "2^21". A file is a class of its own: its path, length
    and time of modification."""
    if problem.file is not None:
        file = files.real(Path(problem.file))
        try:
            found = file.stat()
        except OSError:
            return str(file)
        return f"{file}, {found.st_size} bytes, modified at {found.st_mtime_ns} ns"
    size = problem.size
    if match := re.fullmatch(r"([0-9]{1,9})(?:x([0-9]{1,9})x([0-9]{1,9}))?", size):
        numbers = [int(number) for number in match.groups() if number]
        unknowns = prod(numbers) if len(numbers) == 3 else numbers[0] ** 3
        return f"2^{floor(log2(max(1, unknowns)))}"
    return size


def threads_of(resources: Resources) -> int:
    """The number that a rank gets, also without --threads: jobs with other numbers of processors have other choices."""
    return resources.threads or max(1, len(os.sched_getaffinity(0)) // resources.ranks)


def key_of(problem: AppProblem, resources: Resources) -> JsonObject:
    """A file that replaces the size is part of the class of sizes, and no option: its path may be written in several
    ways."""
    files_of = {row["name"] for row in problem.application.options if row.get("replaces_size")}
    return {
        "application": problem.application.name,
        "size_class": size_class(problem),
        "ranks": resources.ranks,
        "threads": threads_of(resources),
        "method": problem.method,
        "tolerance": problem.tolerance,
        "options": {name: value for name, value in sorted(problem.options.items()) if name not in files_of},
        "grid": resources.grid,
        "sums": resources.sums,
        "library": library_of(resources.installation),
        "compiler": problem.application.compiler,
    }


def library_of(installation: mpi.Installation | None) -> str | None:
    """Two installations of one version may have been configured in different ways."""
    if installation is None:
        return None
    return f"{installation.family} {installation.version}".strip() + f", {installation.library.resolve()}"


def this_machine() -> JsonObject:
    machine = _plan.this_machine()
    return {"processor": machine.processor, "processors": machine.processors}


def extendable(where: Path) -> JsonObject | None:
    """A file that can be extended; None: there is none. BadInput: it is damaged, of another version or of another
    machine; nothing is written over."""
    try:
        file = existing(where)
    except BadInput:
        rule = f"the wisdom file of applications must be readable JSON of version {_plan.WISDOM_VERSION} with choices"
        raise wrong_value(rule, where, ADVICE) from None
    if file is not None and file.get("machine") != this_machine():
        raise wrong_value("the wisdom file of applications must be for this machine", where, ADVICE)
    return file


def read(where: Path) -> list[JsonObject]:
    """The choices of a file; none where there is none for this machine or it cannot be read."""
    try:
        file = extendable(where)
    except BadInput:
        return []
    return [choice for choice in (file or {}).get("choices", []) if all(name in choice for name in KEY)]


def choice_for(problem: AppProblem, resources: Resources, where: Path | None = None) -> JsonObject | None:
    """The choice of this case, if it was made for the golden copy that is built, and its variant is built, too."""
    key = key_of(problem, resources)
    for choice in read(where or path()):
        same = all(choice[name] == key[name] for name in KEY)
        same = same and choice.get("golden_hash") == problem.application.golden_hash
        if same and is_known(choice, problem.application):
            return choice
    return None


def known_candidates(problem: AppProblem, resources: Resources, where: Path | None = None) -> list[AppCandidate]:
    """Candidates chosen on the same ranks and threads in other cases of the application, the most similar first. Not
    the golden copy, which only tiny problems choose.
    """
    key, application = key_of(problem, resources), problem.application
    alike = [
        choice
        for choice in read(where or path())
        if all(choice[name] == key[name] for name in ("application", "compiler", "ranks", "threads"))
        and choice.get("golden_hash") == application.golden_hash
        and is_known(choice, application)
        and choice["variant"] != application.golden
    ]
    alike.sort(key=lambda choice: -sum(choice[name] == key[name] for name in KEY))
    return list(dict.fromkeys(map(candidate_of, alike)))


def is_known(choice: JsonObject, application: ApplicationRow) -> bool:
    """Whether the application has this variant with these parameters."""
    variant = next((row for row in application.variants if row["name"] == choice.get("variant")), None)
    parameters = choice.get("parameters")
    if variant is None or not isinstance(parameters, dict):
        return False
    limits = {row["name"]: (row["min"], row["max"]) for row in variant["parameters"]}
    return all(
        name in limits and type(value) is int and limits[name][0] <= value <= limits[name][1]
        for name, value in parameters.items()
    )


def check_writable(where: Path | None = None) -> None:
    """Before a search: its choice can be kept. BadInput otherwise."""
    where = where or path()
    files.check_folder(where.parent, "the folder of wisdom must be writable", "set XDG_DATA_HOME")
    extendable(where)


def keep(choice: JsonObject, where: Path | None = None) -> Path:
    """In place of an earlier choice of the same case, also one for another golden copy. It takes a lock, so that
    searches at the same time lose no choice."""
    where = where or path()
    check_writable(where)
    with locked(where):
        old = (extendable(where) or {}).get("choices", [])
        kept = [each for each in old if any(name not in each or each[name] != choice[name] for name in KEY)]
        document = {
            "kumihimo_wisdom": _plan.WISDOM_VERSION,
            "machine": this_machine(),
            "choices": [*kept, choice],
        }
        files.write_whole(where, to_json(document, indent=1) + "\n")
    return where


def candidate_of(choice: JsonObject) -> AppCandidate:
    return AppCandidate(choice["variant"], tuple(sorted(choice["parameters"].items())))
