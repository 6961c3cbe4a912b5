"""The reference of the library: the end of docs/python.md, made from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import kumihimo

COLUMNS = 100  # of a line of prose
MARK = "<!-- Made by scripts/document from here on. -->\n"
TITLES = {
    "machines": "Machines and jobs",
    "predictions": "Predictions",
    "proofs": "Proofs",
    "programs": "Algorithms and schedules",
    "placements": "Placements",
    "replays": "Recorded programs",
    "recordings": "Profiles and campaigns",
}


def updated(page: str) -> str:
    """The page with its reference made again."""
    return page.partition(MARK)[0] + MARK + "".join(map(section, TITLES))


def section(module: str) -> str:
    found = [(name, getattr(kumihimo, name)) for name in kumihimo.LIBRARY[module]]
    functions = [function(name, each) for name, each in found if inspect.isfunction(each)]
    types = [type_(name, each) for name, each in found if inspect.isclass(each)]
    return f"\n## {TITLES[module]}\n" + "".join([*functions, *types])


def function(name: str, of: object) -> str:
    return f"\n### kumihimo.{name}\n\n{signature(name, of)}\n\n{prose(inspect.getdoc(of) or '')}\n"


def signature(name: str, of: object) -> str:
    """As a block of code, an argument a line where they do not fit on one."""
    found = inspect.signature(of)  # type: ignore[arg-type]  # callers give functions
    arguments = [argument(each) for each in found.parameters.values() if each.name != "self"]
    star = next((i for i, each in enumerate(found.parameters.values()) if each.kind is each.KEYWORD_ONLY), None)
    if star is not None:
        arguments.insert(star - ("self" in found.parameters), "*")
    returns = "" if found.return_annotation is found.empty else f" -> {found.return_annotation}"
    line = f"{name}({', '.join(arguments)}){returns}"
    if len(line) <= COLUMNS - 4:
        return f"    {line}"
    lines = [f"        {each},\n" for each in arguments]
    return f"    {name}(\n{''.join(lines)}    ){returns}"


def argument(of: inspect.Parameter) -> str:
    text = f"{of.name}: {of.annotation}" if of.annotation is not of.empty else of.name
    return text if of.default is of.empty else f"{text} = {of.default!r}"


def prose(text: str) -> str:
    """Paragraphs of a docstring, as Markdown."""
    paragraphs = (" ".join(each.split()) for each in text.split("\n\n"))
    return "\n\n".join(textwrap.fill(each, COLUMNS, break_on_hyphens=False) for each in paragraphs)


def type_(name: str, of: type) -> str:
    text = f"\n### kumihimo.{name} (type)\n\n{prose(inspect.getdoc(of) or '')}\n"
    if dataclasses.is_dataclass(of):
        comments = comments_of(of)
        rows = [
            f"| `{each.name}` | `{str(each.type).replace('|', chr(92) + '|')}` | {comments.get(each.name, '')} |"
            for each in dataclasses.fields(of)
            if not each.name.startswith("_") and each.name not in ("native", "members")
        ]
        text += "\n".join(["", "| Member | Type | Meaning |", "|---|---|---|", *rows, ""])
    for method, each in members_of(of):
        if isinstance(each, property):
            text += f"\n{prose(f'`{method}`: {inspect.getdoc(each)}')}\n"
        else:
            text += f"\n{signature(method, each)}\n\n{prose(inspect.getdoc(each) or '')}\n"
    return text


def members_of(of: type) -> Iterator[tuple[str, object]]:
    """Its own public methods and properties that have a docstring."""
    for name, each in vars(of).items():
        is_shown = isinstance(each, property) or inspect.isfunction(each)
        if is_shown and not name.startswith("_") and each.__doc__:
            yield name, each


def comments_of(of: type) -> dict[str, str]:
    """The comment behind `#` of each member."""
    lines = Path(inspect.getsourcefile(of) or "").read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if re.match(rf"class {of.__name__}\b", line))
    found: dict[str, str] = {}
    for line in lines[begin + 1 :]:
        if line and not line.startswith(" "):
            break
        if match := re.match(r"    (\w+): .*?  # (.*)$", line):
            found.setdefault(match[1], match[2])
    return found
