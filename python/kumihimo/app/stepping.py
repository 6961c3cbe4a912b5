"""Applications that make time steps or sweeps: the table that compares directives with hand-written code, as published
(lines changed, time per step, share of the hand-written version's speed), and pictures of a field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kumihimo.app.launches import AppProblem
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import seconds_text, share_text

PAGE_COLUMNS = ("variant", "p×t>", "lines changed>", "step>", "rate>", "of one pass>", "of hand-written>")
COLUMNS = ("variant", "p×t>", "lines>", "step>", "rate>", "pass>", "by hand>")  # 80 characters
LONGEST_NAME = 26  # with its parameters
PICTURES = 24  # of an animation
GPU = "cuda"


def makes_steps(row: JsonObject) -> bool:
    return "seconds_per_step" in row


def with_pictures(problem: AppProblem) -> AppProblem:
    """The same problem with pictures for the page, where the application takes them and the user says no number."""
    takes_them = any(option["name"] == "frames" for option in problem.application.options)
    if not takes_them or "frames" in problem.options:
        return problem
    return replace(problem, options={**problem.options, "frames": str(PICTURES)})


def with_shares(rows: list[JsonObject]) -> list[JsonObject]:
    """Each row with its shares. Of the hand-written version: the CUDA one, or without a GPU the fastest on the same
    ranks and threads. Of one pass: time that memory needs to move everything once a step, over the time of a step;
    temporal blocking may exceed 1."""
    for row in rows:
        if not makes_steps(row):
            continue
        by_hand = hand_written(rows, row)
        if by_hand is not None and row["seconds_per_step"] > 0:
            row["share_of_hand_written"] = by_hand["seconds_per_step"] / row["seconds_per_step"]
        if "rates" in row and row["seconds_per_step"] > 0:
            bound = row["step_bytes"] / row["rates"]["triad_bytes_per_second"]
            row["share_of_one_pass"] = bound / row["seconds_per_step"]
    return rows


def hand_written(rows: Sequence[JsonObject], beside: JsonObject) -> JsonObject | None:
    same = [row for row in rows if makes_steps(row) and row["by_hand"] and row["right"] is not False]
    same = [row for row in same if (row["ranks"], row["threads"]) == (beside["ranks"], beside["threads"])]
    on_gpu = [row for row in same if row["variant"] == GPU]
    return min(on_gpu or same, key=lambda row: row["seconds_per_step"], default=None)


def speed_text(row: JsonObject) -> str:
    """ "16.5 GFLOPS", "2,770 Mcell/s"."""
    rate = row["rate"]
    return f"{rate * 1e-9:.3g} GFLOPS" if row["rate_unit"] == "FLOPS" else f"{rate * 1e-6:,.0f} Mcell/s"


def cells_of(row: JsonObject) -> list[str]:
    """A row of the published table."""
    name = " ".join([row["variant"], *(f"{n}={v}" for n, v in row["parameters"].items())])
    one_pass, by_hand = row.get("share_of_one_pass"), row.get("share_of_hand_written")
    return [
        name,
        f"{row['ranks']}×{row['threads']}",
        str(row["lines_changed"]),
        seconds_text(row["seconds_per_step"]),
        speed_text(row),
        share_text(one_pass) if one_pass else "",
        share_text(by_hand) if by_hand else "",
    ]


def table(rows: Sequence[JsonObject]) -> list[list[str]]:
    return [cells_of(row) for row in rows if makes_steps(row)]


def pictures(rows: Sequence[JsonObject]) -> JsonObject | None:
    """Pictures of the first row that has any: all right rows have the same."""
    return next((row["pictures"] for row in rows if "pictures" in row and row["right"] is not False), None)
