"""`kumihimo completion`: the scripts, read by the shells that are here, complete verbs and options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PRESSED = {  # what is typed before the TAB -> some of the words that are offered, and one that is not
    "kumihimo sim": ({"simulate", "simulate app", "simulate memory"}, "show"),
    "kumihimo place --al": ({"--allocation"}, "--shape"),
    "kumihimo simulate app --": ({"--machine"}, "--background"),
    "kumihimo machine ca": ({"calibrate"}, "list"),
}
PRESS = {  # prints a line for each word that is offered; $1: the words so far
    "bash": """eval "$(kumihimo completion bash)"; IFS=" " read -ra COMP_WORDS <<<"$1"
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        [[ $(complete -p kumihimo) == *"-F _kumihimo_completion kumihimo" ]] || exit 1
        _kumihimo_completion kumihimo; printf '%s\\n' "${COMPREPLY[@]}" """,
    "zsh": """autoload -Uz compinit; compinit -u -D; eval "$(kumihimo completion zsh)"
        _arguments() { :; }; _describe() { print -l -- "$@" }
        _TYPER_COMPLETE_ARGS="$1" _KUMIHIMO_COMPLETE=complete_zsh kumihimo""",
    "fish": """kumihimo completion fish | source; complete --do-complete $argv[1]""",
}


def pressed(shell: str, words: str, home: Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    line = [shell, "-c", PRESS[shell], *([] if shell == "fish" else ["press"]), words]
    environment = {**os.environ, "PATH": path, "HOME": str(home)}
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", PRESSED)
@pytest.mark.parametrize("shell", PRESS)
def test_a_tab_offers_what_fits(shell: str, words: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    out = pressed(shell, words, tmp_path)
    offered, other = PRESSED[words]
    assert all(word in out for word in offered), out
    if shell == "bash":
        assert offered <= set(out.splitlines())
    assert other not in out.split()


@pytest.mark.parametrize("shell", PRESS)
def test_a_script_names_the_command(kumihimo, shell: str) -> None:
    ended = kumihimo("completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert f"_KUMIHIMO_COMPLETE=complete_{shell}" in ended.out


def test_another_shell_is_refused(kumihimo) -> None:
    ended = kumihimo("completion", "tcsh")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "kumihimo: the shell must be bash, zsh or fish (got tcsh)\n"
