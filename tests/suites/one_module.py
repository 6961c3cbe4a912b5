"""One module of mpi4py's own tests on this rank, started by an MPI launcher; each test's verdict is a line of a file.

one_module.py TESTS MODULE FOLDER SECONDS     TESTS: their folder; after SECONDS a rank tells where it is, and ends
"""

from __future__ import annotations

import faulthandler
import json
import sys
import unittest
from pathlib import Path


class Told(unittest.TestResult):
    """Written at once, so that what a test that never ends was, is known."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.file = path.open("w", encoding="utf-8", buffering=1)

    def tell(self, test: unittest.TestCase, verdict: str, why: str = "") -> None:
        self.file.write(json.dumps([test.id(), verdict, why]) + "\n")

    def startTest(self, test) -> None:  # noqa: N802
        super().startTest(test)
        self.tell(test, "unfinished")

    def addSuccess(self, test) -> None:  # noqa: N802
        self.tell(test, "passed")

    def addError(self, test, err) -> None:  # noqa: N802
        super().addError(test, err)
        self.tell(test, "error", self.errors[-1][1])

    def addFailure(self, test, err) -> None:  # noqa: N802
        super().addFailure(test, err)
        self.tell(test, "failed", self.failures[-1][1])

    def addSkip(self, test, reason) -> None:  # noqa: N802
        self.tell(test, "skipped", reason)

    def addExpectedFailure(self, test, err) -> None:  # noqa: N802
        self.tell(test, "failed as expected")

    def addUnexpectedSuccess(self, test) -> None:  # noqa: N802
        self.tell(test, "passed unexpectedly")

    def addSubTest(self, test, subtest, err) -> None:  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell(test, "failed", str(subtest))


def main() -> int:
    tests, module, folder, seconds = sys.argv[1:]
    faulthandler.dump_traceback_later(float(seconds), exit=True)
    sys.dont_write_bytecode = True
    for absent in ("cupy", "numba"):  # as the suite's own main does unless asked for them
        sys.modules[absent] = None
    sys.path.insert(0, tests)
    from mpi4py import MPI

    result = Told(Path(folder) / f"rank{MPI.COMM_WORLD.rank}.jsonl")
    unittest.defaultTestLoader.loadTestsFromName(module).run(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
