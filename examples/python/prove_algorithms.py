"""Prove all algorithms of a collective on one shape, with progress; the exit code says whether all are right."""

from __future__ import annotations

import sys

import kumihimo


def show(done: int, total: int, what: str) -> None:
    print(f"{done}/{total} {what}", file=sys.stderr)


def main() -> int:
    proofs = kumihimo.verify("reduce_scatter", "4x3", bytes="6KiB", progress=show)
    for proof in proofs:
        print(f"{proof.algorithm:20} {proof.coverage.steps:6} steps  {'proven' if proof.proven else 'NOT proven'}")
    for each in proofs.not_applicable:
        print(f"{each['algorithm']}: {each['reason']}")
    return 0 if proofs.proven else 1


if __name__ == "__main__":
    sys.exit(main())
