"""The command `kumihimo`: a file a verb, and one border where failures become a sentence and an exit code.

Exit codes: 0 done, 1 a check failed or interrupted, 2 usage or bad input; 129 and 143 of SIGHUP and SIGTERM.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import time
from typing import NoReturn

from kumihimo.processes.interrupts import leaving

with leaving():
    from kumihimo.cli import terminal
    from kumihimo.text import errors
    from kumihimo.text.errors import BadInput, KumihimoError, NotApplicable

INTERRUPTED = 1
VERSION = ["--version"]
VARIABLE_OF_SHELLS = "_KUMIHIMO_COMPLETE"  # set at a TAB, by what `kumihimo completion` prints
UNTIL_TOLD = 0.5  # seconds: a launcher ends all ranks when one has failed, and so before the first one has said why
OF_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # what the disk refuses, not a name
STARTED = time.perf_counter()  # of the command


def main() -> NoReturn:
    """Entry point of the console script."""
    terminal.open_streams()
    sys.exit(carry_out(sys.argv[1:]))


def carry_out(arguments: list[str]) -> int:
    """Run one command line and return its exit code; whatever the user can cause ends as one line on stderr."""
    try:
        code = print_version() if arguments == VERSION else carry_out_verb(arguments)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except (BadInput, NotApplicable) as error:
        report = print_error if error.of_machine else refuse
        return report(str(error), error.exit_code)
    except KumihimoError as error:
        return print_error(str(error), error.exit_code)
    except BrokenPipeError:  # the reader of our output went away, as `| head` does
        forget_output()
        return 1
    except ImportError as error:  # a native module or a dependency that is not there
        return print_error(sentence_of_missing(missing(error)), 1)
    except MemoryError:
        return print_error("there is not enough memory for this case; use fewer ranks or a smaller size", 1)
    except OSError as error:
        if error.filename is None and error.errno in OF_DISK:  # those of files are sentences already
            forget_output()
            reason = error.strerror or str(error)
            return print_error(str(errors.failed("standard output was not written", reason, "make space")), 1)
        code = 1 if error.errno in OF_DISK else 2
        return print_error(f"{error.strerror or error}" + (f": {error.filename}" if error.filename else ""), code)


def print_version() -> int:
    """Without the verbs: to import what parses their options takes three times as long as this."""
    from kumihimo import __version__

    print(f"kumihimo {__version__}")
    return 0


def carry_out_verb(arguments: list[str]) -> object:
    with leaving():
        from kumihimo.cli import click_errors, verbs
    if VARIABLE_OF_SHELLS in os.environ:
        from typer.completion import completion_init

        completion_init()  # what answers must be of the kind that asks, also where completion is no option
    code = click_errors.run(verbs.app, arguments)
    return print_error("interrupted", INTERRUPTED) if code == click_errors.INTERRUPTED else code


def forget_output() -> None:
    """Drops unwritten output, which would fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def missing(error: ImportError) -> str:
    """The module that cannot be imported. `from kumihimo import _verify` names only the package, and a native module
    that imports another says only that it failed, with the reason as its cause."""
    while isinstance(error.__cause__, ImportError):
        error = error.__cause__
    inner = re.match(r"cannot import name '(\w+)' from", str(error))
    return f"{error.name}.{inner[1]}" if inner else error.name or "module"


def sentence_of_missing(module: str) -> str:
    if module.partition(".")[0] == __name__.partition(".")[0]:
        return f"the package is not completely built ({module} is missing); run make build"
    return f"the Python module {module} is missing; install the packages that pip check names"


def print_error(sentence: str, code: int) -> int:
    """One sentence on one line of stderr, whatever values it shows."""
    print(f"kumihimo: {errors.one_line(sentence)}", file=sys.stderr)
    return code


def refuse(sentence: str, code: int) -> int:
    """The same; of the ranks of one launch, which all refuse the same command line, the first says it."""
    from kumihimo.processes.launcher_environment import is_first

    if is_first():
        return print_error(sentence, code)
    time.sleep(UNTIL_TOLD)
    return code
