"""`kumihimo completion`: what a shell reads to complete verbs, options and file names."""

from __future__ import annotations

from kumihimo.cli.options import argument
from kumihimo.text.errors import wrong_value

SHELLS = ("bash", "zsh", "fish")


def command(shell: argument("SHELL", "bash, zsh or fish.")) -> None:
    """Print what bash, zsh or fish needs to complete the verbs and options of this command.

    \b
    Examples:
    eval "$(kumihimo completion bash)"
    kumihimo completion zsh > ~/.zfunc/_kumihimo
    kumihimo completion fish > ~/.config/fish/completions/kumihimo.fish
    """
    if shell not in SHELLS:
        raise wrong_value("the shell must be bash, zsh or fish", shell, "")
    from click.shell_completion import get_completion_class
    from typer.completion import completion_init

    from kumihimo.cli import VARIABLE_OF_SHELLS, verbs

    completion_init()  # typer's scripts, in place of click's
    print(get_completion_class(shell)(verbs.app, {}, "kumihimo", VARIABLE_OF_SHELLS).source())
