"""The choice for each length against the MPI library's own call: ratios with their intervals, and the mean."""

from __future__ import annotations

from kumihimo import pages
from kumihimo.demo.report import display
from kumihimo.text.json_types import JsonObject

LONG_BYTES = 64 * 1024  # from here on bandwidth counts


def rows(measured: JsonObject) -> list[tuple[str, ...]]:
    """Rows by length; empty where nothing was chosen."""
    return [_row(r) for r in sorted(_results(measured), key=lambda r: r["bytes"])]


def long_results(measured: JsonObject) -> list[JsonObject]:
    """The results from 64 KiB on."""
    return [r for r in _results(measured) if r["bytes"] >= LONG_BYTES]


def _results(measured: JsonObject) -> list[JsonObject]:
    return (measured.get("chosen") or {}).get("results", [])


def _row(r: JsonObject) -> tuple[str, ...]:
    """Length, choice, time, the library's time, ratio, interval."""
    parameters = " ".join(
        k if v is True else f"{k.replace('_', ' ')} {v}" for k, v in (r.get("parameters") or {}).items()
    )
    faster = '<strong class="ok">{}</strong>' if r["ratio_high"] < 1 else "{}"
    return (
        display.bytes_(r["bytes"]),
        " ".join(filter(None, [display.label(r["algorithm"]), f"({parameters})" if parameters else ""])),
        *map(display.seconds, (r["seconds"], r["library"]["seconds"])),
        pages.markup(faster, display.ratio(r["ratio"])),
        f"{display.significant(r['ratio_low'])} to {display.ratio(r['ratio_high'])}",
    )
