"""CheckpointRequest and restarts of an application: what the user asks for, and of which run a saved state is."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo.app.catalogue import AppCandidate, ApplicationRow
from kumihimo.processes import mpi
from kumihimo.processes.launcher_environment import LaunchPlace
from kumihimo.text.durations import parse_duration
from kumihimo.text.errors import BadInput, did_you_mean, missing, not_applicable, wrong_value
from kumihimo.text.quantities import bytes_text, counted, seconds_text, share_text

FOLDER = "kumihimo-state"  # in the folder at hand
WORDS = ("every", "folder", "partner", "spare", "lose")
BEGINS = b"kumihimo-state-1"  # of a file: src/run/saved_state/state_store.hpp
LONGEST_NAME, LONGEST_ABOUT = 4096, 1 << 24


@dataclass(frozen=True)
class CheckpointRequest:
    every: int = 0  # iterations between two saved states
    every_seconds: float = 0.0  # or time
    folder: Path | None = None
    partner: int = 0  # iterations between two copies in the memory of a partner
    spares: int = 0  # further ranks, which wait until one dies
    lost: tuple[int, int] | None = None  # rank and iteration of a simulated loss
    restart: Path | None = None

    @property
    def saves(self) -> bool:
        return self.every > 0 or self.every_seconds > 0

    def as_task(self) -> dict:
        found: dict = {"every": self.every, "every_seconds": self.every_seconds, "partner": self.partner}
        if self.saves:
            found["folder"] = str(self.folder)
        if self.spares:
            found["spares"] = self.spares
        if self.lost:
            found["lost_rank"], found["lost_at"] = self.lost
        if self.restart:
            found["restart"] = str(self.restart)
        return found


def parse(words: str | None, restart: Path | None) -> CheckpointRequest | None:
    """Request of `--checkpoint every=N,folder=DIR,partner=N,spare=N,lose=RANK@ITERATION` and `--restart DIR`; None:
    neither.
    """
    if words is None:
        return CheckpointRequest(restart=restart) if restart is not None else None
    given: dict[str, str] = {}
    for word in words.split(","):
        name, _, value = word.strip().partition("=")
        if name in WORDS and not value:
            raise wrong_value(f"--checkpoint {name}= must have a value", f"'{word}'")
        if name not in WORDS:
            advice = did_you_mean(name, WORDS, "write for example --checkpoint every=100,folder=DIR")
            if is_number(name):
                advice = f"write every={name} for iterations, or every={name}s for seconds"
            raise wrong_value("--checkpoint takes every=, folder=, partner=, spare= and lose=", f"'{word}'", advice)
        if name in given:
            raise wrong_value("--checkpoint takes each word once", f"{name} again", "leave one of them out")
        given[name] = value
    if "every" not in given and "partner" not in given:
        raise missing("how often to save", "add every=N (iterations), every=TIME or partner=N to --checkpoint")
    if "folder" in given and "every" not in given:
        raise missing("how often to save files", "add every=N or every=TIME to --checkpoint, or leave folder= out")
    if ("lose" in given or "spare" in given) and "partner" not in given:
        raise missing("a copy to bring the state back from", "add partner=N to --checkpoint")
    every = given.get("every", "")
    return CheckpointRequest(
        every=iterations_of(every, "every") if is_number(every) else 0,
        every_seconds=time_of(every) if every and not is_number(every) else 0.0,
        folder=Path(given.get("folder", str(restart or FOLDER))),
        partner=iterations_of(given["partner"], "partner") if "partner" in given else 0,
        spares=spares_of(given["spare"]) if "spare" in given else 0,
        lost=lost_of(given["lose"]) if "lose" in given else None,
        restart=restart,
    )


def is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]+", text) is not None


def iterations_of(text: str, name: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text) or int(text) < 1:
        raise wrong_value(f"--checkpoint {name}= must be a number of iterations from 1 on", f"'{text}'")
    return int(text)


def time_of(text: str) -> float:
    try:
        return parse_duration(text, "every")
    except BadInput:
        rule = "--checkpoint every= must be a number of iterations or a time"
        raise wrong_value(rule, f"'{text}'", "write for example every=100, every=90s or every=5m") from None


def spares_of(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) < 1:
        raise wrong_value("--checkpoint spare= must be a number of ranks from 1 on", f"'{text}'")
    return int(text)


def lost_of(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,7})@([0-9]{1,15})", text)
    if not match:
        raise wrong_value(
            "--checkpoint lose= must be a rank and an iteration", f"'{text}'", "write for example lose=1@50"
        )
    return int(match[1]), int(match[2])


def check(
    asked: CheckpointRequest, application: ApplicationRow, runs: int, variants: Sequence[str], launches: int
) -> None:
    """`variants`: those that are named; none with --variant auto."""
    if not application.saves_state:
        option = "--restart" if asked.restart else "--checkpoint"
        raise not_applicable(f"{application.name} saves no state and takes no {option}", None, "leave it out")
    for number, what, advice in (
        (len(variants), "variants", "name one variant"),
        (runs, "runs", "leave --runs out"),
        (launches, "numbers of ranks or threads", "name one of each"),
    ):
        if number > 1:
            raise wrong_value("checkpoints are of one run of one variant", f"{number} {what}", advice)
    if stateless := [name for name in variants if name in application.stateless_variants]:
        others = [row["name"] for row in application.variants if row["name"] not in application.stateless_variants]
        rule = f"the variant {stateless[0]} of {application.name} saves no state"
        raise not_applicable(rule, None, f"use {', '.join(others)}, or leave --checkpoint out")


def check_spares(installation: mpi.Installation | None, place: LaunchPlace | None) -> None:
    """Whether spare ranks can take over here."""
    advice = "leave spare= out"
    if place is not None and place.ranks > 1:
        rule = "spare ranks are for launches by this command, and a launcher has started it"
        raise not_applicable(rule, None, f"run it without the launcher, with --ranks, or {advice}")
    if installation is None:
        raise wrong_value("spare ranks need at least 2 others", 1, f"use --ranks 2, or {advice}")
    mpi.check_outlives_deaths(installation, advice)


def saved_candidate(folder: Path, application: ApplicationRow) -> AppCandidate | None:
    """The variant of the newest state of rank 0, with its parameters; None if it cannot be read, as the ranks tell."""
    found = [about for end in ("0", "1") if (about := _about(folder / f"{application.name}-0.{end}"))]
    if not found:
        return None
    words = dict(max(found, key=lambda about: about["iteration"])["of_variant"])
    name = words.pop("--variant")
    if name not in (row["name"] for row in application.variants):
        return None
    return AppCandidate(name, tuple(sorted((word.removeprefix("--set "), value) for word, value in words.items())))


def _about(path: Path) -> dict | None:
    """Its array `about`, which is the first one."""
    try:
        with path.open("rb") as file:
            if file.read(len(BEGINS)) != BEGINS:
                return None
            _, arrays = struct.unpack("<QQ", file.read(16))
            lengths: list[int] = []
            for _ in range(min(arrays, LONGEST_NAME)):
                (length,) = struct.unpack("<Q", file.read(8))
                if length > LONGEST_NAME:
                    return None
                file.read((length + 7) // 8 * 8)
                lengths += struct.unpack("<Q", file.read(8))
            if not lengths or lengths[0] > LONGEST_ABOUT:
                return None
            return json.loads(file.read(lengths[0]))
    except (OSError, struct.error, ValueError):
        return None


def lines(found: dict, seconds: float) -> list[str]:
    """Lines for the user about a result's `checkpoints`."""

    def cost(spent: float) -> str:
        return f"{seconds_text(spent)} ({share_text(spent / seconds)} of the run)" if seconds > 0 else ""

    text = []
    if found["restarted_from"] is not None:
        text.append(
            f"restarted from iteration {found['restarted_from']}, read in {seconds_text(found['load_seconds'])}"
        )
    if found["folder"] is not None:
        each = f" of {bytes_text(found['bytes'] / found['saved'])} in {found['folder']}" if found["saved"] else ""
        text.append(f"{counted(found['saved'], 'checkpoint')}{each}: {cost(found['seconds'])}")
    if partner := found["partner"]:
        each = f" of {bytes_text(partner['bytes'] / partner['copies'])}" if partner["copies"] else ""
        copies = f"{partner['copies']} copies" if partner["copies"] != 1 else "1 copy"
        where = f"{counted(partner['on_other_nodes'], 'rank')} with the partner on another node"
        text.append(f"{copies}{each} in memory of partners: {cost(partner['seconds'])}; {where}")
        if partner["never_lost"]:
            text.append("no rank was lost: the run ended before the iteration of lose=")
        if partner["restored"]:
            repeated = counted(partner["repeated_iterations"], "iteration")
            text.append(
                f"a lost state came back from its partner in {seconds_text(partner['restore_seconds'])}; "
                f"{repeated} repeated"
            )
        if partner["deaths"]:
            begin = partner["went_on_from"]
            where = "began anew" if begin is None else f"went on from iteration {begin}"
            text.append(
                f"{counted(partner['deaths'], 'rank')} died; spare ranks took over, and "
                f"{seconds_text(partner['recovery_seconds'])} later the run {where}; "
                f"{counted(partner['repeated_iterations'], 'iteration')} repeated"
            )
    return text
