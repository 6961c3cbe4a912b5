"""Commands that do with a file what none may do: the checker must say so (test_reading.py)."""

from __future__ import annotations

import mmap
import os
import sys
import time
from pathlib import Path


def one_sentence(file: bytes) -> int:
    print("kumihimo: the file must be right; mend it", file=sys.stderr)
    return 2


def two_lines(file: bytes) -> int:
    print("kumihimo: the file must be right\nmend it", file=sys.stderr)
    return 2


def nothing_said(file: bytes) -> int:
    return 2


def stack_trace(file: bytes) -> int:
    raise RecursionError(file)


def stack_trace_but_code_0(file: bytes) -> int:
    import traceback

    try:
        stack_trace(file)
    except RecursionError:
        traceback.print_exc()
    return 0


def null_pointer(file: bytes) -> int:
    import ctypes

    return ctypes.string_at(0)[0]


def abort(file: bytes) -> int:
    os.abort()


def endless_loop(file: bytes) -> int:
    while True:
        pass


def endless_wait(file: bytes) -> int:
    time.sleep(3600)
    return 0


def too_much_memory(file: bytes) -> int:
    mmap.mmap(-1, 3 << 30)
    return 0


def escape_sequence(file: bytes) -> int:
    print(f"kumihimo: the name must be known (got '{file.decode()}')", file=sys.stderr)
    return 2


def escape_sequence_in_the_result(file: bytes) -> int:
    print(file.decode())
    return 0


def whole_file_in_the_sentence(file: bytes) -> int:
    print(f"kumihimo: the name must be known (got '{'x' * 100_000}')", file=sys.stderr)
    return 2


def system_failure(file: bytes) -> int:
    print("kumihimo: the machine failed", file=sys.stderr)
    return 1


def process_left_behind(file: bytes) -> int:
    if os.fork() == 0:
        time.sleep(3600)
    return 0


def main() -> int:
    _, reader, file = sys.argv
    return globals()[reader](Path(file).read_bytes())
