"""Output of commands: one JSON object, or tables that fit a terminal and stay plain in a pipe."""

from __future__ import annotations

import contextlib
import resource
import shutil
import sys
import textwrap
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kumihimo import cli
from kumihimo.text import files, odd_bytes, quantities
from kumihimo.text.errors import KumihimoError

NARROWEST = 80  # columns of a terminal on which a table has a line below its head


def own_cost() -> dict[str, float]:
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"wall_seconds": round(time.perf_counter() - cli.STARTED, 6), "peak_rss_bytes": peak}


def print_json(value: dict) -> None:
    sys.stdout.write(odd_bytes.to_json(value, allow_nan=False) + "\n")


def print_results_json(results: list[dict], passed_over: Sequence[dict] = ()) -> None:
    """Prints the results of verify and simulate, and why algorithms were passed over."""
    print_json({"results": results, "not_applicable": list(passed_over), **own_cost()})


def message(line: str) -> None:
    """A word of ours beside a program's own streams; in whole words on a terminal."""
    line = f"kumihimo: {line}"
    with contextlib.suppress(OSError):  # nobody listens
        if sys.stderr.isatty():
            first, *rest = wrapped(line, shutil.get_terminal_size().columns) or [line]
            more = wrapped(" ".join(rest), shutil.get_terminal_size().columns, PrintedTable.INDENT)
            line = "\n".join([first, *more])
        print(line, file=sys.stderr)


def interrupted(signals: Sequence[str], kept: str) -> list[str]:
    """Notes about a program that got signals: their names, and the part of its run that is kept."""
    return [f"interrupted ({', '.join(signals)}); {kept}"] if signals else []


def write(path: Path, text: str) -> None:
    files.write_whole(path, text)


def write_json(path: Path, value: dict) -> None:
    write(path, odd_bytes.to_json(value, indent=1) + "\n")


class OwnWork:
    """Work after a program has ended. Whatever goes wrong with it is one sentence, and the exit status is 1 if the
    program's is 0.
    """

    def __init__(self) -> None:
        self.failed = False

    @contextlib.contextmanager
    def step(self, what: str, advice: str = "") -> Iterator[None]:
        try:
            yield
        except KumihimoError as error:
            self.failed = True
            message(str(error))
        except Exception as error:
            self.failed = True
            words = (str(error).strip() or type(error).__name__).splitlines()[0]
            message(f"{what} could not be written: {words}" + (f"; {advice}" if advice else ""))

    def status(self, of_program: int) -> int:
        return of_program or int(self.failed)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], fold: int | None = None) -> None:
    """A table; columns whose name ends in '>' are aligned right. On a terminal too narrow for all of them, the last
    ones follow below each row with their names, so that nothing is ever cut. `fold`: of a longer first cell all but
    its first word follows below the row, in a pipe too."""
    table = PrintedTable(columns, rows, fold)
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    beside = table.columns_within(width)
    if title:
        print(title)
    print(table.line(table.names, beside))
    if terminal and width >= NARROWEST:
        print("─" * table.width(beside))
    for row, rest in zip(table.rows, table.folded):
        print(table.line(row, beside))
        room = max(20, (width or NARROWEST) - len(PrintedTable.INDENT))
        for line in textwrap.wrap(rest, room, break_on_hyphens=False):
            print(PrintedTable.INDENT + line)
        for line in table.below(row, beside, width):
            print(line)


class PrintedTable:
    GAP = "  "
    INDENT = 4 * " "

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[str]], fold: int | None = None) -> None:
        self.names = [name.rstrip(">") for name in columns]
        self.right = [name.endswith(">") for name in columns]
        self.rows = [[odd_bytes.on_one_line(str(cell)) for cell in row] for row in rows]
        self.folded = [""] * len(self.rows)
        for number, row in enumerate(self.rows):
            if fold is not None and len(row[0]) > fold:
                row[0], _, self.folded[number] = row[0].partition(" ")
        self.widths = [max(map(len, column)) for column in zip(self.names, *self.rows)]

    def width(self, columns: int) -> int:
        """Width of the first columns."""
        return sum(self.widths[:columns]) + len(self.GAP) * (columns - 1)

    def columns_within(self, width: int | None) -> int:
        """How many columns fit side by side; one at least."""
        every = len(self.names)
        return every if width is None else max((n for n in range(1, every + 1) if self.width(n) <= width), default=1)

    def line(self, cells: Sequence[str], columns: int) -> str:
        padded = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, self.widths, self.right)]
        return self.GAP.join(padded[:columns]).rstrip()

    def below(self, cells: Sequence[str], columns: int, width: int | None) -> list[str]:
        """The other columns of a row, each with its name."""
        text = "; ".join(f"{name}: {cell}" for name, cell in zip(self.names[columns:], cells[columns:]) if cell)
        return [] if width is None else wrapped(text, width, self.INDENT)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def print_list(title: str, lines: Sequence[str]) -> None:
    """A titled list, or nothing where there is nothing to list."""
    if not lines:
        return
    print(f"\n{title}")
    for line in lines:
        print_line(line, "  ")


def print_line(line: str, indent: str = "") -> None:
    """In whole words on a terminal, and as it is in a pipe."""
    terminal = sys.stdout.isatty()
    print("\n".join(wrapped(line, shutil.get_terminal_size().columns, indent)) if terminal else indent + line)


def print_noise(result: dict) -> None:
    """Prints the noise of a prediction, if it has any."""
    if "noise" in result:
        free = quantities.seconds_text(result["noise_free_seconds"])
        print_line(f"noise {result['noise']}: {result['slowdown']:.3g} times the {free} without")
