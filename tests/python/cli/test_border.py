"""The command's border: every failure a user can cause is one line on stderr and an exit code, never a stack trace."""

from __future__ import annotations

import sys
import types
from typing import Annotated

import pytest
import typer

from kumihimo import _base, cli
from kumihimo.cli import verbs


@pytest.fixture
def verb(monkeypatch):
    """Register a verb for one test, as a file cli/<name>.py and a row of VERBS would."""

    def register(name: str, **attributes) -> None:
        module = types.ModuleType(f"kumihimo.cli.{name}")
        for key, value in attributes.items():
            setattr(module, key, value)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(verbs, "VERBS", (*verbs.VERBS, name))

    return register


def one_line(text: str) -> bool:
    return text.count("\n") == 1 and "Traceback" not in text


@pytest.mark.parametrize(("kind", "code"), [("BadInput", 2), ("NotApplicable", 2), ("Failed", 1)])
def test_a_native_failure_is_one_sentence_and_its_exit_code(verb, capsys, kind, code):
    verb("twist", command=lambda: _base.fail(kind, "a shape is like 4x3x2 (got 4x)", "give every length"))
    assert cli.carry_out(["twist"]) == code
    assert capsys.readouterr().err == "kumihimo: a shape is like 4x3x2 (got 4x); give every length\n"


@pytest.mark.parametrize(
    ("raised", "code", "told"),
    [
        (KeyboardInterrupt(), 1, "interrupted"),
        (PermissionError(13, "Permission denied", "/report"), 2, "Permission denied: /report"),
        (typer.Exit(1), 1, ""),
        (typer.BadParameter("must be positive"), 2, "must be positive"),
    ],
)
def test_what_a_command_raises_ends_with_its_code(verb, capsys, raised, code, told):
    def command() -> None:
        raise raised

    verb("twist", command=command)
    assert cli.carry_out(["twist"]) == code
    err = capsys.readouterr().err
    assert told in err
    assert not err or one_line(err)


def test_a_bug_keeps_its_stack_trace(verb):
    def command() -> None:
        raise ZeroDivisionError

    verb("twist", command=command)
    with pytest.raises(ZeroDivisionError):
        cli.carry_out(["twist"])


def test_a_command_may_return_its_exit_code(verb):
    verb("twist", command=lambda: 1)
    assert cli.carry_out(["twist"]) == 1
    verb("braid", command=lambda: None)
    assert cli.carry_out(["braid"]) == 0


def test_options_and_help_come_from_the_function(verb, capsys):
    seen = []

    def command(ranks: Annotated[int, typer.Option(help="Number of processes.")]) -> None:
        """Twist the strands."""
        seen.append(ranks)

    verb("twist", command=command)
    assert cli.carry_out(["twist", "--ranks", "4"]) == 0
    assert seen == [4]
    assert cli.carry_out(["twist", "--help"]) == 0
    out = capsys.readouterr().out
    assert "Number of processes." in out and "Twist the strands." in out
    assert cli.carry_out(["twist", "--ranks", "four"]) == 2
    assert one_line(capsys.readouterr().err)


def test_a_verb_may_have_sub_commands(verb, capsys):
    machine = typer.Typer()
    machine.command("list")(lambda: print("listed"))
    machine.command("show")(lambda: print("shown"))
    verb("loom", app=machine)
    assert cli.carry_out(["loom", "list"]) == 0
    assert capsys.readouterr().out == "listed\n"
    assert cli.carry_out(["loom"]) == 2
    assert one_line(capsys.readouterr().err)
    assert cli.carry_out(["loom", "burn"]) == 2
    assert one_line(capsys.readouterr().err)


def test_every_registered_verb_has_help(kumihimo):
    for name in verbs.VERBS:
        ended = kumihimo(name, "--help")
        assert (ended.code, ended.err) == (0, "")
        assert f"kumihimo {name}" in ended.out


@pytest.mark.parametrize("arguments", [["no-such-verb"], ["--no-such-option"]])
def test_usage_errors_of_the_installed_command(kumihimo, arguments):
    ended = kumihimo(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert one_line(ended.err)


def test_help_cuts_no_description(kumihimo):
    assert "..." not in kumihimo("--help").out.partition("Commands:")[2]


def test_help_lists_the_parameters_of_algorithms_apart(kumihimo):
    usual, _, of_algorithms = kumihimo("show", "--help").out.partition("Parameters of algorithms")
    assert "--rank " in usual and "--trees " not in usual
    assert "--trees " in of_algorithms and "--help" not in of_algorithms


def test_without_arguments_it_shows_help(kumihimo):
    ended = kumihimo()
    assert ended.code == 2
    assert "Usage: kumihimo" in ended.out
