"""On PYTHONPATH while KUMIHIMO_ERROR_LIST names a file: each error that Python code provokes is appended to it."""

import contextlib
import os
from pathlib import Path


def observe() -> None:
    from kumihimo.text import errors

    list_ = Path(os.environ["KUMIHIMO_ERROR_LIST"])
    initialise = errors.KumihimoError.__init__

    def observed(self, problem: str, advice: str = "") -> None:
        initialise(self, problem, advice)
        with list_.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{self.kind}\t{' '.join(str(self).splitlines())}\n")

    errors.KumihimoError.__init__ = observed


if os.environ.get("KUMIHIMO_ERROR_LIST"):
    with contextlib.suppress(ImportError):  # a Python that has no kumihimo
        observe()
