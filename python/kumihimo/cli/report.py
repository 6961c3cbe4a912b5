"""`kumihimo report`: one page with pictures from the results in a folder."""

from __future__ import annotations

from pathlib import Path

from kumihimo.cli import options, output
from kumihimo.cli.options import argument
from kumihimo.demo import report
from kumihimo.demo.report import numbers
from kumihimo.demo.report.folder import PAGE, Material


def command(
    folder: argument("DIR", "Folder that `kumihimo demo` has written.", Path),
    as_json: options.Json = False,
) -> None:
    """Write the page of `kumihimo demo` again. It is made from the measurements and predictions in DIR.

    \b
    Example:
    kumihimo report report
    """
    print_summary(make(folder), as_json)


def make(folder: Path) -> tuple[Path, Material]:
    """Write the page of a folder; where it is, and what it shows."""
    material = report.read(folder)
    return report.write(folder / PAGE, report.render(material)), material


def print_summary(made: tuple[Path, Material], as_json: bool) -> None:
    """Where the page is, and the five most important numbers."""
    page, material = made
    found = numbers.numbers(material)
    if as_json:
        output.print_json(
            {
                "page": str(page.resolve()),
                "page_bytes": page.stat().st_size,
                "numbers": numbers.as_dicts(found),
                "missing": list(material.absent),
                "left_out": dict(material.left_out),
                **output.own_cost(),
            }
        )
        return
    for number in found:
        print(f"{number.value:>12}  {number.meaning}")
        print(f"{'':>12}  ({number.how})")
    for name, reason in material.absent.items():
        print(
            f"{name}.json is missing: {reason}." if reason else f"{name}.json is missing; run kumihimo demo to make it."
        )
    print(f"\nThe page: {page.resolve()}")
