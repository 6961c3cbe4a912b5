"""Published figures of Blue Waters (Cray XE6, Gemini): one-sided communication of UPC and OpenSHMEM, beside ours.

Messages have 4 bytes unless a row says otherwise. A put of UPC includes a fence, so it is beside `put_quiet`.
"""

from __future__ import annotations

from dataclasses import dataclass

from kumihimo.text.json_types import JsonObject

SOURCE = "Blue Waters (Cray XE6), UPC and OpenSHMEM"


@dataclass(frozen=True)
class PublishedTime:
    """`measure` and `place` as ours; `ranks`: of collectives."""

    language: str
    measure: str
    place: str
    seconds: float
    bytes: int = 4
    ranks: int = 2
    note: str = ""


ROWS = (
    PublishedTime("UPC", "put_quiet", "node", 0.13e-6, note="includes a fence"),
    PublishedTime("UPC", "put_quiet", "network", 2.34e-6, note="includes a fence"),
    PublishedTime("UPC", "get", "node", 0.07e-6),
    PublishedTime("UPC", "get", "network", 1.17e-6),
    PublishedTime("OpenSHMEM", "put", "node", 0.12e-6),
    PublishedTime("OpenSHMEM", "put", "network", 1.04e-6),
    PublishedTime("OpenSHMEM", "get", "node", 0.05e-6),
    PublishedTime("OpenSHMEM", "get", "network", 1.41e-6),
    PublishedTime("OpenSHMEM", "get", "network", 763e-6, bytes=512 << 10),
    PublishedTime("UPC", "barrier", "all", 186e-6, bytes=0, ranks=32768),
    PublishedTime("UPC", "broadcast", "all", 13e-6, ranks=32768),
    PublishedTime("UPC", "reduce", "all", 5.4e-6, ranks=32768),
    PublishedTime("OpenSHMEM", "barrier", "all", 138.64e-6, bytes=0, ranks=16384),
    PublishedTime("OpenSHMEM", "broadcast", "all", 72.3e-6, ranks=16384),
    PublishedTime("OpenSHMEM", "reduce", "all", 210e-6, ranks=16384),
    PublishedTime("OpenSHMEM", "collect", "all", 319.3e-3, ranks=16384),
)


def beside(results: list[JsonObject]) -> list[JsonObject]:
    """Each published row with ours of the same measure, place and size."""
    found = []
    for row in ROWS:
        same = [
            {"library": r["library"], "mpi": r["mpi"], "seconds": r["seconds"], "ranks": r["ranks"]}
            | {name: r[name] for name in ("window_kind", "synchronisation") if name in r}
            for r in results
            if "seconds" in r and (r["measure"], r["place"], r["bytes"]) == (row.measure, row.place, row.bytes)
        ]
        found.append({**vars(row), "ours": same})
    return found
