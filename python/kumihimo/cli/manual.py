"""The manual pages of the command, made from its help: docs/man/kumihimo.1 and a page for each verb."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

import click

from kumihimo.cli import verbs
from kumihimo.cli.reference import commands_of

SECTION = 1


def pages() -> dict[str, str]:
    """The name of each file, and its text."""
    texts = {f"kumihimo.{SECTION}": root_page()}
    texts |= {f"{name_of(verb)}.{SECTION}": verb_page(verb) for verb in verbs.VERBS}
    return texts


def name_of(verb: str) -> str:
    return "kumihimo-" + verb.replace(" ", "-")


def escaped(text: str) -> str:
    """Plain text as troff has it: no letter of it begins a request or an escape."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in plain.splitlines())


def heading(name: str, about: str) -> list[str]:
    lines = [f'.TH {name.upper()} {SECTION} "" Kumihimo "User commands"', ".SH NAME"]
    return [*lines, f"{escaped(name)} \\- {escaped(about.rstrip('.'))}"]


def root_page() -> str:
    root = click.Context(command := verbs_command(), info_name="kumihimo")
    lines = heading("kumihimo", sentence(command.help or ""))
    lines += [".SH SYNOPSIS", ".B kumihimo", "COMMAND [ARGUMENTS]", ".SH DESCRIPTION", *paragraphs(command.help or "")]
    for title, group in verbs.GROUPS.items():
        lines.append(f".SH {title.upper()}")
        for verb in group:
            lines += [".TP", f".BR {escaped(name_of(verb))} ({SECTION})", escaped(verbs.summary(verb))]
    lines += [".SH OPTIONS", *options(command, root)]
    return "\n".join([*lines, *see_also([])])


def verbs_command() -> click.Command:
    import typer

    return typer.main.get_command(verbs.app)


def verb_page(verb: str) -> str:
    commands = list(commands_of(verb))
    lines = heading(name_of(verb), verbs.summary(verb))
    lines.append(".SH SYNOPSIS")
    for name, command in commands:
        context = click.Context(command, info_name=f"kumihimo {name}")
        pieces = " ".join(command.collect_usage_pieces(context))
        lines += [f".B kumihimo {escaped(name)}", escaped(pieces), ".br"]
    lines.pop()
    for name, command in commands:
        context = click.Context(command, info_name=f"kumihimo {name}")
        alone = len(commands) == 1
        lines.append(".SH DESCRIPTION" if alone else f'.SH "KUMIHIMO {escaped(name.upper())}"')
        lines += paragraphs(command.help or "")
        lines += [".SH OPTIONS" if alone else ".SS Options", *options(command, context)]
    others = [other for other in verbs.VERBS if other != verb and other.split()[0] == verb.split()[0]]
    return "\n".join([*lines, *see_also(["kumihimo", *map(name_of, others)])])


def sentence(text: str) -> str:
    return click.utils.make_default_short_help(text, verbs.LONGEST_SUMMARY)


def paragraphs(text: str) -> Iterator[str]:
    """A help text: paragraphs, which troff fills, and lists of lines, which click marks with a backspace."""
    for each in textwrap.dedent(text).replace("\f", "").strip().split("\n\n"):
        if each.startswith("\b\n"):
            title, *lines = each[2:].splitlines()
            yield from (".PP", escaped(title), ".RS 4", ".nf", *(escaped(line) for line in lines), ".fi", ".RE")
        else:
            yield from (".PP", escaped(" ".join(each.split())))


def options(command: click.Command, context: click.Context) -> Iterator[str]:
    """Its arguments and options, each with its help, in the groups of the help text."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            groups.setdefault(getattr(parameter, "rich_help_panel", None) or "", []).append(record)
    for title, records in groups.items():
        if title:
            yield f".SS {escaped(title)}"
        for names, about in records:
            yield from (".TP", f".B {escaped(names)}", escaped(" ".join(about.split())))


def see_also(names: list[str]) -> Iterator[str]:
    yield ".SH EXIT STATUS"
    yield "0: done; 1: a check failed, or it was interrupted; 2: wrong usage or input. 129 and 143: ended by a signal."
    if names:
        yield ".SH SEE ALSO"
        yield ",\n".join(f".BR {escaped(name)} ({SECTION})" for name in names).replace("),\n", ") ,\n")
    yield ""
