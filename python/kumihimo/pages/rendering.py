"""Puts parts into one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from kumihimo.odd_bytes import to_json
from kumihimo.pages.parts import DrawnPart, PagePart, PageSection

FOLDER = Path(__file__).parent
FOOTER = "Made by Kumihimo. This page needs no network."


def page(title: str, parts: Sequence[PagePart], heading: str = "", about: str = "", footer: str = FOOTER) -> str:
    """`title`: of the window. `heading`, by default the title, and `about` stand at the top."""
    import jinja2

    drawn = [part for part in within(parts) if isinstance(part, DrawnPart)]
    data = {part.name: part for part in drawn}
    assert len(data) == len(drawn), "two parts of a page have one name"
    scripts = dict.fromkeys(["base", *(name for part in drawn for name in part.needed_scripts())])
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(
        title=title,
        heading=heading or title,
        about=about,
        footer=footer,
        parts=parts,
        sections=[part for part in parts if isinstance(part, PageSection)],
        data=json_in_script(data),
        script="\n".join((FOLDER / "scripts" / f"{name}.js").read_text(encoding="utf-8") for name in scripts),
    )


def within(parts: Iterable[PagePart]) -> Iterator[PagePart]:
    """The parts and those in them."""
    for part in parts:
        yield part
        yield from within(getattr(part, "parts", ()))


def json_in_script(data: object) -> str:
    """JSON that cannot end the script element it stands in."""
    return to_json(data, allow_nan=False, separators=(",", ":"), default=members).replace("<", "\\u003c")


def members(part: object) -> dict:
    """Of a part or what it is made of, without those that say nothing."""
    values = {each.name: (getattr(part, each.name), each.default) for each in fields(part)}
    known = {name: v for name, (v, default) in values.items() if v or v != default or type(v) in (int, float)}
    return {"kind": part.kind, **known} if hasattr(part, "kind") else known
