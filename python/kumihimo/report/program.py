"""The unmodified program: where its time went, which algorithms ran its calls, and what became of that time."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.report import wording


@dataclass(frozen=True)
class Site:
    """A call site, of all ranks."""

    call: str
    place: str
    calls: str
    bytes: str
    seconds: str


@dataclass(frozen=True)
class Ran:
    """Calls of one collective and class of lengths."""

    collective: str
    lengths: str
    algorithm: str
    calls: str
    faster: str


def sites(unmodified: dict) -> list[Site]:
    return [
        Site(s["call"], s["place"], f"{s['calls']:,}", wording.bytes_(s["bytes"]), wording.seconds(s["seconds"]))
        for s in unmodified["sites"]
    ]


def ran(unmodified: dict) -> list[Ran]:
    return [
        Ran(
            row["collective"],
            f"{wording.bytes_(row['bytes_from'])} to {wording.bytes_(row['bytes_to'])}",
            "the library's own" if row["algorithm"] == "library" else wording.label(row["algorithm"]),
            f"{row['calls']:,}",
            faster(row.get("times_as_fast")),
        )
        for row in unmodified["ran"]
    ]


def faster(found: list[float] | None) -> str:
    """In tuning."""
    if not found:
        return ""
    low, high = (f"{times:.2f}" for times in found)
    return low if low == high else f"{low} to {high}"
