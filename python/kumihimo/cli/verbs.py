"""The verbs of the command. A verb is a word in GROUPS and one file `cli/<verb>.py` (of two words `cli/<a_b>.py`) that
defines

    app = typer.Typer(help=...) with sub-commands (`machine list`), or
    def command(...) -> None    a function typer makes a command of; its docstring is the help.

A command returns nothing, or its exit code. A verb's file is imported only when that verb is called, so a heavy import
in one costs the others nothing. `--help`, which lists all verbs, reads their first sentences in the files.
"""

from __future__ import annotations

import importlib
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Optional

import click
import typer
from typer.core import TyperGroup

from kumihimo.cli.paths import GIVEN, VALUES, NamedPath
from kumihimo.processes.interrupts import leaving
from kumihimo.text import odd_bytes
from kumihimo.text.errors import did_you_mean, wrong_value

# By what they are for, in the order of use; `--help` shows them so. A verb may have two words.
GROUPS: dict[str, tuple[str, ...]] = {
    "Getting started": ("demo", "report", "completion"),
    "Your program": ("record", "replay", "binding", "place", "tune", "run", "optimise", "compare"),
    "Algorithms": ("show", "verify"),
    "Predictions": (
        *("simulate", "simulate app", "simulate memory", "campaign", "campaign show", "workload", "published"),
        *("project", "checkpoint"),
    ),
    "Machines": ("machine", "testbed", "bench", "bench node", "bench files", "bench checkpoint", "bench pgas"),
    "Kernels and applications": ("tune kernel", "bench vectorisation", "app"),
}
VERBS: tuple[str, ...] = tuple(verb for group in GROUPS.values() for verb in group)

LONGEST_SUMMARY = 200  # characters


class Verbs(TyperGroup):
    """Finds the commands in the files of VERBS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """In their groups, with whole sentences, which click cuts to a line."""
        width = max(map(len, VERBS))  # one for all groups
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary(name)) for name in group], col_max=width)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if " ".join(args[:2]) in VERBS:
            args = [" ".join(args[:2]), *args[2:]]
        if not printable(args[0]):
            raise click.UsageError(f"'{odd_bytes.printable(args[0])}' is not UTF-8.", ctx)
        if args[0] not in VERBS:
            problem = f"there is no command {args[0]}"
            raise click.UsageError("; ".join(filter(None, (problem, did_you_mean(args[0], VERBS)))), ctx)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        return load(cmd_name)


HELP = re.compile(
    r'^app = typer\.Typer\(help="(.+?)"\)|^def command\(.*?\) -> [^\n]+:\n    """(.+?)"""', re.DOTALL | re.MULTILINE
)


def file_of(verb: str) -> str:
    return verb.replace(" ", "_")


def summary(verb: str) -> str:
    """The first sentence of the verb's help, as its file has it: to import all verbs takes twenty times as long."""
    text = Path(__file__).with_name(f"{file_of(verb)}.py").read_text(encoding="utf-8")
    return click.utils.make_default_short_help(next(filter(None, HELP.search(text).groups())), LONGEST_SUMMARY)


def load(verb: str) -> click.Command:
    with leaving():
        module = importlib.import_module(f"kumihimo.cli.{file_of(verb)}")
    verb_app = getattr(module, "app", None)
    if verb_app is None:
        verb_app = typer.Typer()
        verb_app.command()(module.command)
    verb_app.rich_markup_mode = None  # plain text, one style of help for all verbs
    verb_app._add_completion = False
    command = typer.main.get_command(verb_app)
    command.name = verb
    for each in (command, *getattr(command, "commands", {}).values()):
        take_utf8(each)
        refuse_missing_values(each)
        list_in_groups(each)
    return command


def list_in_groups(command: click.Command) -> None:
    """`--help` lists the options that belong to a group (rich_help_panel) under the title of this group."""

    def format_options(ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list] = {"Arguments": [], "Options": []}
        for each in command.get_params(ctx):
            usual = "Arguments" if each.param_type_name == "argument" else "Options"
            record = each.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(each, "rich_help_panel", None) or usual, []).append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    if not isinstance(command, click.Group):
        command.format_options = format_options


def refuse_missing_values(command: click.Command) -> None:
    """The parser takes whatever follows an option for its value, also the next option or the -- before a program."""
    parse = command.parse_args
    options = {name: each for each in command.params if isinstance(each, click.Option) for name in each.opts}

    def parse_args(ctx: click.Context, args: list[str]) -> list[str]:
        left = iter(zip(args, [*args[1:], ""]))
        for word, after in left:
            option = options.get(word)
            if word == "--" or (option is None and not word.startswith("-") and not ctx.allow_interspersed_args):
                break  # from here on the words are another program's
            name = word.partition("=")[0]
            if not ctx.allow_interspersed_args and name.startswith("--") and name not in (*options, "--help"):
                raise click.NoSuchOption(name, possibilities=get_close_matches(name, options, 1), ctx=ctx)
            if option is None or option.is_flag:
                continue
            if after == "--" or after in options:
                value = VALUES.get(option.metavar, f"a value, {option.metavar}")
                raise click.UsageError(f"{word} needs {value} (got {after})", ctx)
            next(left, None)
        return parse(ctx, args)

    command.parse_args = parse_args


class Utf8(click.types.StringParamType):
    """Text that can be printed, written as JSON and handed to native code. Other bytes of a command line are there as
    surrogates, which all three refuse."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx)
        if not printable(text):
            self.fail(f"'{odd_bytes.printable(text)}' is not UTF-8.", param, ctx)
        if not text and isinstance(param, click.Option) and ctx.get_parameter_source(param.name) in GIVEN:
            raise wrong_value(f"{max(param.opts, key=len)} must have a value", "''", "leave it out or give one")
        return text


def take_utf8(command: click.Command) -> None:
    """All texts but the command line of another program, which it gets as it is. Paths may have any bytes."""
    for parameter in command.params:
        if isinstance(parameter.type, click.Path) and not isinstance(parameter.type, NamedPath):
            parameter.type = NamedPath()
        if isinstance(parameter.type, click.types.StringParamType) and parameter.name != "program":
            parameter.type = Utf8()


def printable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


app = typer.Typer(
    cls=Verbs,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(wanted: bool) -> None:
    if wanted:
        from kumihimo import __version__

        typer.echo(f"kumihimo {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        Optional[bool],
        typer.Option("--version", callback=show_version, is_eager=True, help="Print the version."),
    ] = None,
) -> None:
    """Measure and record MPI programs, choose and prove their collective algorithms and placements, run them, and
    predict them on machines that you do not have.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)
