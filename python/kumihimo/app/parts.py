"""Applications that time the parts of their kernel: the published table, which says part by part how many times as fast
as one core each variant is."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo.text.json_types import JsonObject


def comparison(rows: Sequence[JsonObject]) -> JsonObject | None:
    """A table of `tables` (docs/applications.md): of all variants that time the same parts as the first that has
    published figures. Times of processors are those of one core: of threads and ranks they are added up."""
    timed = [row for row in rows if row.get("parts") and row["right"] is not False]
    base = next((row for row in timed if "published" in row["parts"] and not row["parts"]["on_accelerator"]), None)
    if base is None:
        return None
    names, published = base["parts"]["names"], base["parts"]["published"]
    others = [row for row in timed if row["parts"]["names"] == names and is_beside(row, base)]
    of_base = with_sum(base["parts"]["seconds"])
    columns = ["class", f"{base['variant']}, ms", *(f"{row['variant']}, ×" for row in others)]
    columns += ["published, ms", "published GPU, ×"]
    cells = [[*names, "all"], [f"{1e3 * s:.1f}" for s in of_base]]
    cells += [ratios(of_base, with_sum(row["parts"]["seconds"])) for row in others]
    cells += [[f"{1e3 * s:.0f}" for s in with_sum(published["seconds"])], [f"{r:.1f}" for r in published["times"]]]
    return {
        "name": "parts",
        "title": "Time by class" + (f", and times as fast as {base['variant']} on one core" if others else ""),
        "columns": columns,
        "rows": [list(row) for row in zip(*cells)],
        "caption": published["of"],
        "of_all": True,
    }


def is_beside(row: JsonObject, base: JsonObject) -> bool:
    return row["variant"] != base["variant"] and (row["ranks"], row["threads"]) == (base["ranks"], base["threads"])


def with_sum(seconds: Sequence[float]) -> list[float]:
    return [*seconds, sum(seconds)]


def ratios(base: Sequence[float], others: Sequence[float]) -> list[str]:
    return [f"{a / b:.1f}" if b > 0 else "" for a, b in zip(base, others)]
