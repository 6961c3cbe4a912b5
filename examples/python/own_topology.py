"""An own network from Python: two switches with four nodes each, joined by one cable, then by four."""

from __future__ import annotations

import kumihimo

TOPOLOGY = """
family = "graph"
nodes = 8
switches = 2
edges = ["0..3-8", "4..7-9", "8-9 x{cables}"]
"""


def main() -> None:
    numbers = kumihimo.machine("reedbush-u")  # whose nodes and cables the network has
    for cables in (1, 4):
        machine = numbers.with_topology(TOPOLOGY.format(cables=cables), f"two-switches-{cables}")
        best = kumihimo.best("alltoall", machine.job(ranks_per_node=1), "1MiB")
        print(f"{cables} cables: alltoall of {best.ranks} ranks by {best.algorithm} in {best.seconds * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
