"""The vectorisation check: basic loops in equivalent forms, compiled by the user's compiler, compared and timed.

`loops/NAME.c` holds one loop in all its forms; `loops/suite.h` says how to write one. `driver.c` checks and times them
in a process of its own, so that a form that crashes, or flags that change the arithmetic of a process, harm nobody.
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
LOOPS = HERE / "loops"
SIZES = ("small", "middle", "large")
FLAGS = "-O3 -march=native"

# What was published for such suites, by the tables of W. Gropp's talks on the performance of compilers on POWER7.
PUBLISHED = (
    "POWER7: forms of the same loop more than 5 times apart",
    "POWER7: matrix product left to the compiler from 1,818 MFLOPS (N = 100) to 335 MFLOPS (N = 1,000)",
)


def loop_names(folder: Path = LOOPS) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.c"))
