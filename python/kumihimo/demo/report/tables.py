"""The raw numbers: as tables of the page, and as CSV that a click saves."""

from __future__ import annotations

from collections.abc import Iterable

from kumihimo import pages
from kumihimo.collectives.arguments import parameters_text
from kumihimo.demo.report.folder import Material
from kumihimo.text.json_types import JsonObject

MEASURED = [
    *("space", "collective", "algorithm", "parameters", "ranks", "shape", "bytes", "seconds"),
    *("interval_low", "interval_high", "p10", "p90", "samples", "first_seconds"),
    *("library.seconds", "library.interval_low", "library.interval_high", "library.p10", "library.p90"),
    *("library.samples", "ratio", "ratio_low", "ratio_high", "bound_seconds", "bitwise"),
]
CHOSEN = [
    *("collective", "algorithm", "parameters", "ranks", "shape", "bytes", "seconds", "library.seconds"),
    *("ratio", "ratio_low", "ratio_high", "first_seconds", "samples", "bound_seconds", "bitwise"),
]
SIMULATED = [
    *("machine", "shape", "ranks", "collective", "algorithm", "extension", "parameters", "simd", "bytes"),
    *("declared_segment_bytes", "segments", "seconds", "bytes_per_second", "compute_seconds"),
    *("communication_seconds", "latency_seconds", "transfer_seconds", "reduction_seconds", "steady_seconds"),
    *("bound_seconds", "link_bytes_max", "link_bytes_sum", "links_waiting_share", "limiting", "accuracy"),
    "wall_seconds",
]


def tables(material: Material) -> list[pages.RawTable]:
    """Everything that was measured or simulated."""
    found = []
    if material.measured:
        found.append(_table("measured", "Measured on this machine", MEASURED, material.measured["results"]))
        if material.measured.get("chosen"):
            results = material.measured["chosen"]["results"]
            found.append(_table("chosen", "The choice for each length against the library", CHOSEN, results))
    if material.simulated:
        simulated = material.simulated
        found.append(_table("simulated", "Simulated curves", SIMULATED, simulated["results"]))
        for key, title in (
            ("parts", "Broadcast, reduce and allreduce, with SIMD and without"),
            ("segments", "Segment sizes at 1 GiB"),
            ("tuned", "Tuned segment sizes"),
            ("links", "Link load on the small torus"),
        ):
            if simulated.get(key):
                found.append(_table(key, title, SIMULATED, simulated[key]))
    return found


def _table(name: str, title: str, columns: Iterable[str], results: list[JsonObject]) -> pages.RawTable:
    used = [c for c in columns if any(_cell(r, c) is not None for r in results)]
    return pages.RawTable(name, title, used, [[_cell(r, c) for c in used] for r in results])


def _cell(result: JsonObject, column: str):
    value: object = result
    for key in column.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return parameters_text(value)
    return value
