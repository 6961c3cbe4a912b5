"""An own algorithm from Python: allgather around a ring, written, proved and predicted; then a fault that is found."""

from __future__ import annotations

import tempfile
from pathlib import Path

import kumihimo

RANKS, BLOCK = 8, 1024  # elements of each rank's block


def ring_allgather(fault: int = 0) -> kumihimo.ProgramWriter:
    """Each rank has its block at its own place of the buffer; `fault` shifts what one rank sends."""
    own = kumihimo.ProgramWriter(RANKS, elements=RANKS * BLOCK)
    for rank in range(RANKS):
        own.rank(rank)
        for step in range(RANKS - 1):
            sent, received = (rank - step) % RANKS, (rank - step - 1) % RANKS
            with own.together():
                own.send((rank + 1) % RANKS, (sent + (fault if rank == 3 else 0)) % RANKS * BLOCK, BLOCK)
                own.receive((rank - 1) % RANKS, received * BLOCK, BLOCK)
        for block in range(RANKS):
            own.expect(block * BLOCK, BLOCK, block, block * BLOCK)
    return own


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        right = ring_allgather().write(Path(folder) / "ring.txt")
        wrong = ring_allgather(fault=1).write(Path(folder) / "wrong.txt")
        proof = kumihimo.verify(right)
        time = kumihimo.simulate(right, kumihimo.machine("fugaku").job("2x2x2", ranks_per_node=1))[0].seconds
        print(f"proven: {proof.proven}; {time * 1e6:.1f} us on 2x2x2 nodes of Fugaku")
        print(f"with a fault: {kumihimo.verify(wrong)[0].findings[0].sentence}")


if __name__ == "__main__":
    main()
