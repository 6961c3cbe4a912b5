"""Puts parts into one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from kumihimo.pages.parts import DrawnPart, FoldedParts, PagePart, PageSection
from kumihimo.text.json_types import JsonObject
from kumihimo.text.odd_bytes import to_json

FOLDER = Path(__file__).parent
OUTER = (FoldedParts, PageSection)  # parts that hold parts
FOOTER = "Made by Kumihimo. This page needs no network."


def page(title: str, parts: Sequence[PagePart], heading: str = "", about: str = "", footer: str = FOOTER) -> str:
    """`title`: of the window. `heading`, by default the title, and `about` stand at the top. Parts that have nothing to
    show are left out."""
    import jinja2

    parts = kept(parts)
    drawn = [part for part in within(parts) if isinstance(part, DrawnPart)]
    data = {part.key(): part for part in drawn}
    assert len(data) == len(drawn), "two parts of a page have one name"
    wanted = dict.fromkeys(["base", *(name for part in drawn for name in (*part.needed_scripts(), part.kind))])
    # A kind may be drawn by the script of another.
    given = {"base", *(name for part in drawn for name in part.needed_scripts())}
    named = [(name, FOLDER / "scripts" / f"{name}.js") for name in wanted]
    files = [file for name, file in named if name in given or file.exists()]
    loader = jinja2.FileSystemLoader(FOLDER)
    options = {"autoescape": True, "undefined": jinja2.StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    return (
        jinja2.Environment(loader=loader, **options)
        .get_template("page.html.j2")
        .render(
            title=title,
            heading=heading or title,
            about=about,
            footer=footer,
            parts=parts,
            sections=[part for part in parts if isinstance(part, PageSection)],
            # JSON that cannot end the script element it stands in.
            data=to_json(data, allow_nan=False, separators=(",", ":"), default=members).replace("<", "\\u003c"),
            script="\n".join(file.read_text(encoding="utf-8") for file in files),
        )
    )


def kept(parts: Iterable[PagePart]) -> list[PagePart]:
    """Without tables, lists and charts of nothing, and sections that have nothing else but a lead."""
    found = [replace(part, parts=kept(part.parts)) if isinstance(part, OUTER) else part for part in parts]
    return [part for part in found if shows_something(part)]


def shows_something(part: PagePart) -> bool:
    if isinstance(part, OUTER):
        return any(getattr(each, "look", "") != "lead" for each in part.parts)
    return all(getattr(part, name, True) for name in ("text", "rows", "items", "facts", "charts"))


def within(parts: Iterable[PagePart]) -> Iterator[PagePart]:
    """The parts and those in them."""
    for part in parts:
        yield part
        if isinstance(part, OUTER):
            yield from within(part.parts)


def members(part: Any) -> JsonObject:
    """Members of a part, or of what it is made of, without those that say nothing."""
    values = {each.name: (getattr(part, each.name), each.default) for each in fields(part)}
    known = {name: v for name, (v, default) in values.items() if v or v != default or type(v) in (int, float)}
    return {"kind": part.kind, **known} if isinstance(part, PagePart) else known
