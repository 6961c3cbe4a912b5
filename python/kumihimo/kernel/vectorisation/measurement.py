"""Runs the driver: one process for each loop and size, in which the forms take turns."""

from __future__ import annotations

import json
import signal
import subprocess
import time

from kumihimo import _measure
from kumihimo.kernel.vectorisation import SIZES
from kumihimo.kernel.vectorisation.compiler import Built, ReportingCompiler
from kumihimo.network.node import statistics
from kumihimo.processes import child_output, children
from kumihimo.text.errors import failed
from kumihimo.text.json_types import JsonObject

SAMPLE_SECONDS = 0.001
LIMIT_SECONDS = 300  # of one loop of one size


def bytes_of_sizes(of_caches: tuple[int, int, int], memory: int) -> dict[str, int]:
    """Bytes of all arrays of a loop: half of the first level, half of the second, four times the last, where the memory
    that is free allows it.
    """
    first, second, last = of_caches
    return dict(zip(SIZES, (first // 2, second // 2, min(max(4 * last, 64 * 2**20), memory // 8))))


def list_loops(built: Built) -> list[JsonObject]:
    done = child_output.run([built.driver, "list"])
    if done.returncode != 0:
        raise failed(
            "the compiled loops do not start", ended(done.returncode), "leave out --flags for other processors"
        )
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(
    compiler: ReportingCompiler, built: Built, loop: str, size: str, size_bytes: int, rounds: int
) -> JsonObject:
    """One loop of one size: its forms, each with its samples or the reason why it is refused."""
    words = ["measure", str(rounds), str(SAMPLE_SECONDS), loop, str(SIZES.index(size)), str(size_bytes)]
    return without_crashes(compiler, built, loop, words)


def check(compiler: ReportingCompiler, built: Built, loop: str) -> JsonObject:
    """One loop: its forms, without times."""
    return without_crashes(compiler, built, loop, ["check", loop])


class FormCrashed(Exception):
    """A form, or the driver before the first of them, and how its process ended."""

    def __init__(self, at: str, how: str) -> None:
        super().__init__(at, how)
        self.at, self.how = at, how


def without_crashes(compiler: ReportingCompiler, built: Built, loop: str, words: list[str]) -> JsonObject:
    """A form that crashes is refused, and the others run again without it."""
    crashed: dict[str, str] = {}
    while True:
        try:
            result = run(compiler, built, loop, [*words, *crashed])
        except FormCrashed as crash:
            form = crash.at.partition(", form ")[2]
            if not form or form in crashed:
                text = f"{compiler.text}: {crash.how}"
                raise failed(f"{crash.at} crashed", text, "change --flags, or report it") from None
            crashed[form] = crash.how
            continue
        for row in result["forms"]:
            if row["form"] in crashed:
                row["refused"] = f"crashes ({crashed[row['form']]})"
        return result


def run(compiler: ReportingCompiler, built: Built, loop: str, words: list[str]) -> JsonObject:
    """Output of the driver for one loop. Crashed: its process did not end well."""
    at, result = f"loop {loop}", None
    deadline = time.monotonic() + LIMIT_SECONDS
    process = children.start([str(built.driver), *words], stdout=subprocess.PIPE)
    try:
        for _, line in child_output.lines(process, deadline):
            said = parse(line)
            if "no_memory" in said:
                raise failed("there is not enough memory for this size", f"{said['no_memory']} bytes", "leave it out")
            at, result = said.get("at", at), said if "loop" in said else result
        code = process.wait(max(0.0, deadline - time.monotonic()))
    except (child_output.TimedOut, subprocess.TimeoutExpired):
        raise failed(f"{at} did not end within {LIMIT_SECONDS} s", compiler.text, "leave the loop out") from None
    finally:
        process.kill()
        process.wait()
        child_output.close(process)
    if code != 0 or result is None:
        raise FormCrashed(at, ended(code))
    return result


def parse(line: str) -> JsonObject:
    """Empty for a line that a crash has cut."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def ended(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def with_statistics(result: JsonObject) -> JsonObject:
    """A result of the driver with medians, 95 % intervals, and ratios to the fastest form, by samples of one round.
    Fewer than 6 rounds have no interval."""
    rows = [row for row in result["forms"] if "seconds" in row]
    medians = [_measure.summarise(row["seconds"]).median for row in rows]
    best = rows[medians.index(min(medians))]["seconds"] if rows else []
    forms = []
    for row in result["forms"]:
        if "refused" in row:
            forms.append(row)
            continue
        summary = statistics(row["seconds"])
        has_interval = summary["low"] is not None
        ratio = _measure.compare(list(zip(row["seconds"], best)))
        forms.append(
            {
                "form": row["form"],
                "seconds": summary["median"],
                "seconds_low": summary["low"],
                "seconds_high": summary["high"],
                "samples": summary["samples"],
                "outliers": summary["outliers"],
                "ratio": ratio.ratio,
                "ratio_low": ratio.ratio_low if has_interval else None,
                "ratio_high": ratio.ratio_high if has_interval else None,
                **({"mflops": result["flops"] / summary["median"] * 1e-6} if result["flops"] else {}),
            }
        )
    return {"size": SIZES[result["size"]], "n": result["n"], "forms": forms}
