"""Results of `kumihimo bench` as text: csv, and the columns of the OSU and Intel MPI benchmarks, which many scripts
read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from kumihimo.collectives.arguments import parameters_text
from kumihimo.text.json_types import JsonObject

CSV_COLUMNS = (
    *("collective", "algorithm", "parameters", "shape", "ranks", "ranks_per_node", "bytes", "type", "operation"),
    *("seconds", "library_seconds", "ratio", "ratio_low", "ratio_high", "samples", "bitwise"),
)


def as_csv(results: list[JsonObject]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for r in results:
        row = {
            **r,
            "parameters": parameters_text(r["parameters"]),
            "library_seconds": r.get("library", {}).get("seconds"),
        }
        writer.writerow(["" if row.get(name) is None else row.get(name) for name in CSV_COLUMNS])
    return out.getvalue()


def by_algorithm(results: list[JsonObject]) -> Iterator[tuple[str, list[tuple[int, float, float, float, int]]]]:
    """For each algorithm, and for the library's own at the end: (bytes, seconds, low, high, samples) by size."""
    columns: dict[str, dict[int, tuple]] = {}
    own: dict[int, tuple] = {}
    for r in results:
        for by_size, side in ((columns.setdefault(r["algorithm"], {}), r), (own, r.get("library"))):
            if side:  # MPI has no call for some collectives
                by_size[r["bytes"]] = (r["bytes"], side["seconds"], side["p10"], side["p90"], side["samples"])
    for name, rows in {**columns, **({"library": own} if own else {})}.items():
        yield name, [rows[size] for size in sorted(rows)]


def as_osu(results: list[JsonObject]) -> str:
    """`# Size  Avg Latency(us)`, a block for each algorithm; the figure is the median of the largest over ranks."""
    lines = []
    for name, rows in by_algorithm(results):
        lines += ["", f"# Kumihimo {results[0]['collective']}, {name} (median of the maximum over ranks)"]
        lines += [f"{'# Size':<10}{'Avg Latency(us)':>20}"]
        lines += [f"{size:<10}{seconds * 1e6:>20.2f}" for size, seconds, _, _, _ in rows]
    return "\n".join(lines[1:]) + "\n"


def as_imb(results: list[JsonObject]) -> str:
    """`#bytes #repetitions t_min t_max t_avg`; as t_min and t_max, the 10th and 90th percentile."""
    lines = []
    for name, rows in by_algorithm(results):
        first = results[0]
        lines += ["", "#" + "-" * 64, f"# Benchmarking {first['collective'].capitalize()} ({name})"]
        lines += [f"# #processes = {first['ranks']}", "#" + "-" * 64]
        lines += [f"{'#bytes':>14}{'#repetitions':>14}{'t_min[usec]':>13}{'t_max[usec]':>13}{'t_avg[usec]':>13}"]
        lines += [
            f"{size:>14}{samples:>14}{low * 1e6:>13.2f}{high * 1e6:>13.2f}{seconds * 1e6:>13.2f}"
            for size, seconds, low, high, samples in rows
        ]
    return "\n".join(lines[1:]) + "\n"


WRITERS = {"csv": as_csv, "osu": as_osu, "imb": as_imb}
FORMATS = ("table", "json", *WRITERS)
