"""Place ranks by a numpy matrix of what each sends to each other: here pairs of ranks that are far apart."""

from __future__ import annotations

import numpy as np

import kumihimo

RANKS = 16


def main() -> None:
    traffic = np.zeros((RANKS, RANKS), np.int64)
    for rank in range(RANKS):
        partner = (rank + RANKS // 2) % RANKS
        traffic[rank, partner] = 1 << 20
    found = kumihimo.place(traffic, kumihimo.machine("k-computer").job("4x2x2"), effort="fast")
    nodes = found.to_numpy()
    print(f"average hops {found.average_hops:.2f}, in the usual order {found.usual_hops:.2f}")
    print("ranks 0 and 8 are on nodes", nodes[0], "and", nodes[8])


if __name__ == "__main__":
    main()
