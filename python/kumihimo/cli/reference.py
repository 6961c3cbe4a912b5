"""The reference of all verbs and options: the end of docs/command.md, made from the command itself."""

from __future__ import annotations

from collections.abc import Iterator

import click

from kumihimo.cli import verbs

MARK = "<!-- From here on made by scripts/document. -->\n"


def updated(page: str) -> str:
    """The page with its reference made anew."""
    return page.partition(MARK)[0] + MARK + "".join(section(*verb) for verb in every_verb())


def every_verb() -> Iterator[tuple[str, click.Command]]:
    """All commands with their full names, sub-commands too."""
    for name in verbs.VERBS:
        command = verbs.load(name)
        if isinstance(command, click.Group):
            for sub, inner in command.commands.items():
                yield f"{name} {sub}", inner
        else:
            yield name, command


def section(name: str, command: click.Command) -> str:
    """One verb: what it does, and a table of its arguments and options."""
    lines = ["", f"### {name}", "", " ".join((command.help or "").split("\n\n")[0].split())]
    parameters = [p for p in command.params if isinstance(p, (click.Argument, click.Option)) and p.name != "help"]
    if parameters:
        lines += ["", "| | |", "|---|---|", *map(row, parameters)]
    return "\n".join(lines) + "\n"


def row(parameter: click.Argument | click.Option) -> str:
    """Names and metavar, help and default."""
    text = getattr(parameter, "help", "") or ""
    text = text if text.endswith("...") else text.rstrip(".")
    if isinstance(parameter, click.Argument):
        return f"| `{parameter.metavar or parameter.name.upper()}` | {text} |"
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    default = "" if parameter.is_flag or parameter.default in (None, ()) else f" (default {parameter.default})"
    names = ", ".join(f"`{option}{value}`" for option in sorted(parameter.opts, key=len, reverse=True))
    return f"| {names} | {text}{default} |"
