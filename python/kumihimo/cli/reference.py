"""The reference of the verbs: the tables at the end of docs/reference/VERB.md, made from the command itself."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

import click

from kumihimo.cli import verbs
from kumihimo.predict import models

COLUMNS = 100  # of a line of prose
KERNELS = "tune kernel"
SIMULATE, REPLAY = "simulate", "replay"
MARK = "<!-- Made by scripts/document from here on. -->\n"


def page_of(verb: str) -> str:
    return verb.replace(" ", "-") + ".md"


def updated(page: str, verb: str) -> str:
    """A verb's page with its tables made again."""
    tables = "".join(section(*command) for command in commands_of(verb))
    more = {KERNELS: variants, SIMULATE: models_table}
    return page.partition(MARK)[0] + MARK + tables + (more[verb]() if verb in more else "")


def variants() -> str:
    from kumihimo.tune import kernels

    return "\n".join(["", "## Variants", "", *kernels.variants_table(), ""])


def models_table() -> str:
    """Which models accept which subjects, and understand which options for them."""
    subjects = ("collective", "programs", "goal", "recording")
    flags = {each.name: max(each.opts, key=len) for verb in (REPLAY, SIMULATE) for each in verbs.load(verb).params}

    def cells(models_of: Callable[[str], list[str]]) -> str:
        return " | ".join(", ".join(models_of(subject)) or "none" for subject in subjects)

    head = " | ".join(models.SUBJECTS[subject].partition(" ")[2] for subject in subjects)
    lines = ["", "## Models", "", "| Model | What it knows |", "|---|---|"]
    lines += [f"| `{each.name}` | {each.fidelity} |" for each in models.MODELS]
    lines += ["", "## Models and their options", "", f"| | {head} |", f"|{'---|' * (len(subjects) + 1)}"]
    lines += [f"| `--model` | {cells(models.of)} |"]
    names = set().union(*map(models.understood, subjects))
    lines += [
        f"| `{flag}` | {cells(lambda subject, name=name: models.with_option(name, subject))} |"
        for name, flag in flags.items()
        if name in names
    ]
    return "\n".join([*lines, ""])


def commands_of(verb: str) -> Iterator[tuple[str, click.Command]]:
    """The verb, or its sub-commands, with full names."""
    command = verbs.load(verb)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield f"{verb} {name}", inner
    else:
        yield verb, command


def section(name: str, command: click.Command) -> str:
    """Section of a command: its purpose, and a table of its arguments and options."""
    about = textwrap.wrap((command.help or "").split("\n\n")[0], COLUMNS, break_on_hyphens=False)
    lines = ["", f"## kumihimo {name}", "", *about]
    parameters = [p for p in command.params if isinstance(p, (click.Argument, click.Option)) and p.name != "help"]
    if parameters:
        lines += ["", "| Option | Meaning |", "|---|---|", *map(row, parameters)]
    return "\n".join(lines) + "\n"


def row(parameter: click.Argument | click.Option) -> str:
    text = getattr(parameter, "help", "") or ""
    text = text if text.endswith("...") else text.rstrip(".")
    if isinstance(parameter, click.Argument):
        return f"| `{parameter.metavar or parameter.name.upper()}` | {text} |"
    value = "" if parameter.is_flag else f" {parameter.metavar or parameter.name.upper()}"
    default = "" if parameter.is_flag or parameter.default in (None, (), "") else f" [default: {parameter.default}]"
    names = ", ".join(f"`{option}{value}`" for option in sorted(parameter.opts, key=len, reverse=True))
    return f"| {names} | {text}{default} |"
