"""What commands print: one JSON object, or tables that fit a terminal and stay plain in a pipe."""

from __future__ import annotations

import json
import resource
import shutil
import sys
import time
from collections.abc import Iterable, Sequence

from kumihimo import cli

NARROWEST = 80  # columns of a terminal on which a table is drawn with lines


def own_cost() -> dict[str, float]:
    """What this command itself took so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"wall_seconds": round(time.perf_counter() - cli.STARTED, 6), "peak_rss_bytes": peak}


def print_json(value: dict) -> None:
    """One object and a newline."""
    json.dump(value, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table; columns whose name ends in '>' are aligned right."""
    rows = [[str(cell) for cell in row] for row in rows]
    if sys.stdout.isatty() and shutil.get_terminal_size().columns >= NARROWEST:
        _draw(title, columns, rows)
    else:
        _print_plain(title, columns, rows)


def _draw(title: str, columns: Sequence[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        table.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False).print(table)


def _print_plain(title: str, columns: Sequence[str], rows: list[list[str]]) -> None:
    names = [name.rstrip(">") for name in columns]
    widths = [max(map(len, column)) for column in zip(names, *rows)]
    right = [name.endswith(">") for name in columns]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right))
        return "  ".join(padded).rstrip()

    if title:
        print(title)
    for cells in (names, *rows):
        print(line(cells))


def print_list(title: str, lines: Sequence[str]) -> None:
    """A titled list, or nothing where there is nothing to list."""
    if not lines:
        return
    print(f"\n{title}")
    for line in lines:
        print(f"  {line}")


def reasons(passed_over: list[dict]) -> list[str]:
    """One line an algorithm and reason."""
    return list(dict.fromkeys(f"{p['algorithm']}: {p['reason']}" for p in passed_over))


def seconds_text(seconds: float) -> str:
    """Three digits in the unit that suits: "152 ms"."""
    for unit, factor in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= factor:
            return f"{_digits(seconds / factor)} {unit}"
    return f"{_digits(seconds / 1e-9)} ns"


def rate_text(bytes_per_second: float | None) -> str:
    """Three digits in powers of 1000: "7.12 GB/s"."""
    if bytes_per_second is None:
        return ""
    for unit, factor in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bytes_per_second >= factor:
            return f"{_digits(bytes_per_second / factor)} {unit}"
    return f"{_digits(bytes_per_second)} B/s"


def share_text(share: float) -> str:
    """In percent: "56 %", "0.3 %"."""
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.1f} %"


def _digits(number: float) -> str:
    return f"{number:.0f}" if number >= 99.95 else f"{number:.3g}"
