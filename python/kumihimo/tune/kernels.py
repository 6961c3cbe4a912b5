"""Which reduction and copy kernels the executors run: each variant checked against the golden copy and measured by
turns with the others (problem/tuner.hpp), and the choices as rows of wisdom."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from math import inf, isqrt

from kumihimo import _plan
from kumihimo.text.errors import BadInput, NotApplicable, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.ranges import FARTHEST, ranges
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.wisdom import rounded

KERNELS = tuple(_plan.kernels())
REDUCE = "reduce"  # of which --op and --type name a class
SHARED = "other core"  # the reader of copies through memory that ranks share
MOST_SHARED_BYTES = 2**16  # a slot of the ring through which they go
LEAST_SECONDS = 0.02  # of measuring one size, where the budget ends

Key = tuple[tuple[str, str], ...]  # fields and their values, "kernel" first


def keys(kernels: Sequence[str], operation: str = "", kind: str = "") -> list[Key]:
    """Keys of the kernels named, or of all; of reductions, those of one class of operations or types."""
    for kernel in kernels:
        if kernel not in KERNELS:
            raise wrong_value(f"a kernel is {' or '.join(KERNELS)}", f"'{kernel}'")
    wanted = {"operation": "", "type": ""}
    if operation or kind:
        if kernels and REDUCE not in kernels:
            raise not_applicable("--op and --type belong to the kernel reduce", advice="leave them out")
        try:
            wanted["operation"], wanted["type"] = _plan.reduce_class(operation, kind)
        except BadInput:
            if operation and kind:
                raise
            if operation:
                raise wrong_value(
                    "no reduction kernel has this operation", f"--op {operation}", "use sum, prod, max, land or band"
                ) from None
            raise wrong_value(
                "no reduction kernel has this type", f"--type {kind}", "use float64, float32 or int32"
            ) from None
        kernels = [REDUCE]
    every = [tuple(key) for key in _plan.kernel_keys()]
    return [
        key
        for key in every
        if key[0][1] in (kernels or KERNELS) and all(dict(key)[name] == of for name, of in wanted.items() if of)
    ]


def variants_table() -> list[str]:
    """Lines of markdown: every variant that is built, with its parameters."""
    lines = [
        "| Kernel | Variant | What it is | Parameters: values that are tried, the default first |",
        "|---|---|---|---|",
    ]
    for kernel in KERNELS:
        for name, summary, parameters in _plan.kernel_variants(kernel):
            taken = "; ".join(f"`{p}`: {', '.join(map(str, values))}. {what}" for p, what, values in parameters)
            lines.append(f"| `{kernel}` | `{name}` | {summary} | {taken} |")
    return lines


def sizes_of(key: Key, sizes: Sequence[int]) -> list[int]:
    """Sizes to measure for a key."""
    most = MOST_SHARED_BYTES if dict(key).get("reader") == SHARED else max(sizes)
    return sorted({size for size in sizes if size <= most})


def name_of(key: Key) -> str:
    """ "reduce minmax int32"."""
    return " ".join(value for _, value in key)


def candidate_text(candidate: JsonObject) -> str:
    """ "streaming", "streaming prefetch=4096"; parameters at 0, as "none", are left out."""
    given = [f"{name}={value}" for name, value in candidate["parameters"].items() if value]
    return " ".join([candidate["variant"], *given])


def decisions(
    wanted: Sequence[Key],
    sizes: Sequence[int],
    clock: BudgetClock,
    decide: Callable[[Key, int, float], str],
    step: Callable[[str], None] = lambda what: None,
) -> Iterator[tuple[Key, int, JsonObject]]:
    """Decision for each key and size that fits into the time. For a key that this machine cannot measure it is
    {"not_applicable": reason}; those that there is no time for are left out.
    """
    left = [(key, size) for key in wanted for size in sizes_of(key, sizes)]
    unfit: set[Key] = set()
    for number, (key, size) in enumerate(left):
        if clock.left <= 0:
            return
        step(f"{name_of(key)} {size}")
        if key in unfit:
            continue
        seconds = max(LEAST_SECONDS, clock.left / (len(left) - number) / 2)  # the other half is for checks
        try:
            yield key, size, with_bound_that_holds(json.loads(decide(key, size, min(seconds, 0.5))))
        except NotApplicable as reason:
            unfit.add(key)
            yield key, size, {"not_applicable": str(reason)}


def with_bound_that_holds(decision: JsonObject) -> JsonObject:
    """Without the time of reading the operands where a variant takes less: with operands in a cache it is no bound."""
    if any(row.get("seconds", inf) < decision["bound_seconds"] for row in decision["tried"]):
        del decision["bound_seconds"]
    return decision


def choices_of(key: Key, measured: Sequence[tuple[int, JsonObject]]) -> list[JsonObject]:
    """Rows of wisdom: each range with what was measured in it."""
    points = sorted(measured, key=lambda point: point[0])
    if not points:
        return []
    found = []
    by_size = dict(points)
    all_ranges = ranges([(size, decision["chosen"]) for size, decision in points], None)
    for each in all_ranges:
        chosen = {name: value for name, value in each.chosen.items() if value}  # most variants take no parameters
        row = {**dict(key), **chosen, "from_bytes": each.from_bytes, "to_bytes": each.to_bytes}
        row["measured"] = [figures_of(size, by_size[size]) for size in each.sizes]
        found.append(row)
    found[0]["from_bytes"] = first_byte(points[0][0])
    found[-1]["to_bytes"] = points[-1][0] * isqrt(FARTHEST)
    return found


def first_byte(size: int) -> int:
    """From where on the least size that was measured speaks for shorter ones."""
    return size // FARTHEST if size > FARTHEST**3 else 0


def figures_of(size: int, decision: JsonObject) -> JsonObject:
    """Figures of the chosen variant beside the golden copy, what runs untuned, and the bound."""
    chosen = row_of(decision, decision["chosen"])
    plain = decision["tried"][0]
    return rounded(
        {
            "bytes": size,
            "seconds": chosen["seconds"],
            "untuned": candidate_text(decision["untuned"]),
            **{name: chosen[name] for name in ("ratio", "ratio_low", "ratio_high")},
            "plain_seconds": plain["seconds"],
            **{name: decision[name] for name in ("bound_seconds",) if name in decision},
        }
    )


def row_of(decision: JsonObject, candidate: JsonObject) -> JsonObject:
    return next(row for row in decision["tried"] if is_row_of(row, candidate))


def is_row_of(row: JsonObject, candidate: JsonObject) -> bool:
    return all(row[name] == candidate[name] for name in candidate)


def refused(measured: Sequence[tuple[Key, int, JsonObject]]) -> list[str]:
    """Variants that are wrong, each with the input."""
    found = [
        f"{name_of(key)}: {candidate_text(row)}: {row['refused']}"
        for key, _, decision in measured
        for row in decision.get("tried", [])
        if "refused" in row
    ]
    return list(dict.fromkeys(found))


def reason(decision: JsonObject) -> str:
    """Why the variant was chosen, in a few words."""
    chosen, untuned = decision["chosen"], decision["untuned"]
    if chosen != untuned:
        row = row_of(decision, chosen)
        interval = f"[{row['ratio_low']:.2f}, {row['ratio_high']:.2f}]"
        return f"{row['ratio']:.2f} of {candidate_text(untuned)}'s time {interval}"
    others = [row for row in decision["tried"] if "ratio" in row and not is_row_of(row, untuned)]
    if not others:
        return "all other variants are much slower"
    best = min(others, key=lambda row: row["ratio"])
    interval = f"[{best['ratio_low']:.2f}, {best['ratio_high']:.2f}]"
    verdict = "slower" if best["ratio_low"] > 1 else "not clearly less"
    return f"{candidate_text(best)} takes {best['ratio']:.2f} of its time {interval}: {verdict}"
