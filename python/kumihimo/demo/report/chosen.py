"""The choice for each length against the MPI library's own call: ratios with their intervals, and the mean."""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.demo.report import display

LONG_BYTES = 64 * 1024  # from here on bandwidth counts


@dataclass(frozen=True)
class ChosenRow:
    bytes: str
    choice: str
    seconds: str
    library_seconds: str
    ratio: str
    interval: str
    faster: bool


def rows(measured: dict) -> list[ChosenRow]:
    """By length; empty where nothing was chosen."""
    return [_row(r) for r in sorted(_results(measured), key=lambda r: r["bytes"])]


def long_results(measured: dict) -> list[dict]:
    """The results from 64 KiB on."""
    return [r for r in _results(measured) if r["bytes"] >= LONG_BYTES]


def _results(measured: dict) -> list[dict]:
    return (measured.get("chosen") or {}).get("results", [])


def _row(r: dict) -> ChosenRow:
    parameters = " ".join(
        k if v is True else f"{k.replace('_', ' ')} {v}" for k, v in (r.get("parameters") or {}).items()
    )
    return ChosenRow(
        display.bytes_(r["bytes"]),
        " ".join(filter(None, [display.label(r["algorithm"]), f"({parameters})" if parameters else ""])),
        display.seconds(r["seconds"]),
        display.seconds(r["library"]["seconds"]),
        display.ratio(r["ratio"]),
        f"{display.significant(r['ratio_low'])} to {display.ratio(r['ratio_high'])}",
        r["ratio_high"] < 1,
    )
