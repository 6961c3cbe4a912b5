"""What would make a program faster: a replay with one thing changed at a time. The trace is a generated workload;
a folder of `kumihimo record --trace` is read in the same way."""

from __future__ import annotations

import sys

import kumihimo


def main(trace: str = "workload:npb-cg") -> None:
    found = kumihimo.replay(trace, "fugaku", ranks=16, what_if=True)
    print(f"{found.ranks} ranks on {found.machine}: {found.seconds:.3f} s, computing {found.computing_seconds:.3f} s")
    print(f"parallel efficiency {found.efficiencies.parallel:.0%}")
    for change in found.changes[:3]:
        print(f"{change.name}: {found.seconds / change.seconds:.2f} times as fast")


if __name__ == "__main__":
    main(*sys.argv[1:])
