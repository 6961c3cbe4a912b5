"""Choose an algorithm in a program's start-up, once for each length that the program uses.

A program would take the number of ranks from its communicator and keep the table for its own implementation of
the collective. Predictions need a description of the machine: by name, or from `kumihimo machine measure`.
"""

from __future__ import annotations

import kumihimo

LENGTHS = (8, 64 * 1024, 16 * 1024 * 1024)  # bytes: a residual, a halo's sum, a gradient


def chosen_algorithms(machine: str, shape: str) -> dict[int, str]:
    job = kumihimo.machine(machine).job(shape)
    return {length: kumihimo.best("allreduce", job, length).algorithm for length in LENGTHS}


def algorithm_for(length: int, table: dict[int, str]) -> str:
    """That of the nearest length above, as the program calls it at each allreduce."""
    return table[min((known for known in table if known >= length), default=max(table))]


def main() -> None:
    table = chosen_algorithms("fugaku", "4x4x4")
    for length in (8, 1000, 1_000_000):
        print(f"allreduce of {length} bytes: {algorithm_for(length, table)}")


if __name__ == "__main__":
    main()
