"""Errors that click finds in a command line, as errors of ours."""

from __future__ import annotations

import re
from collections.abc import Callable

import click

from kumihimo.text import errors
from kumihimo.text.errors import BadInput

INTERRUPTED = 130  # what typer makes of Ctrl-C

# Other sentences of click that people see, as the functions of errors.py say it: by the command and the word at fault.
OF_CLICK = {
    r"Got unexpected extra arguments? \((.+)\)": lambda path, found, see: errors.wrong_value(
        f"{path} takes no more arguments", found[1], see
    ),
    r"Option '(.+)' requires an argument\.?": lambda path, found, see: errors.missing(f"the value of {found[1]}", see),
    r"Invalid value for '([^']+)'.*: ('.*') is not a valid float\.?": lambda path, found, see: errors.wrong_value(
        f"{found[1]} must be a number", found[2], see
    ),
    r"Option '(.+)' does not take a value\.?": lambda path, found, see: errors.wrong_value(
        f"{found[1]} takes no value", None, see
    ),
}


def usage(error: click.UsageError) -> str:
    """The error in the command line, and the help page that explains its form."""
    path = error.ctx.command_path if error.ctx else "kumihimo"
    see = f"see {path} --help"
    problem = error.format_message()
    if isinstance(error, click.NoSuchOption):
        nearest = f"; did you mean {error.possibilities[0]}?" if error.possibilities else ""
        problem = f"{path} has no option {error.option_name}{nearest}"
    if isinstance(error, click.MissingParameter):
        is_option = isinstance(error.param, click.Option)
        return str(errors.missing(max(error.param.opts, key=len) if is_option else error.param.metavar, see))
    for pattern, as_error in OF_CLICK.items():
        if match := re.fullmatch(pattern, problem):
            return str(as_error(path, match, see))
    problem = problem[:1].lower() + problem[1:]  # it follows "kumihimo: "
    return f"{problem}{'' if problem.endswith('?') else ';'} see {path} --help".replace(".;", ";")


def run(app: Callable[..., object], arguments: list[str]) -> object:
    """Result of `app` for a command line."""
    try:
        return app(arguments, prog_name="kumihimo", standalone_mode=False)
    except click.UsageError as error:
        raise BadInput(usage(error)) from None
    except click.ClickException as error:  # of a file that click cannot open: only this rank of a launch may meet it
        with errors.errors_of_this_machine():
            raise BadInput(error.format_message()) from None
    except click.Abort:
        return INTERRUPTED
