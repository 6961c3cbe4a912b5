"""A placement inside a job script: the hosts are those that the scheduler gave, the result is a file for the launcher.

#SBATCH --nodes 8 --ntasks-per-node 2
launch=$(python place_in_job.py)         # such as: mpirun --hostfile hosts.txt ...
${launch/PROGRAM/.\\/solver}
"""

from __future__ import annotations

import sys

import kumihimo


def main(machine: str = "reedbush-u", hosts: str = "env") -> None:
    job = kumihimo.machine(machine).job(allocation=hosts)
    found = kumihimo.place("halo:4x2x2:7", job, effort="fast", budget="30s")
    launch = found.write("hydra", "hosts.txt")
    print(launch)
    share = 1 - found.off_node_bytes / found.to_dict()["bytes"]
    print(f"{share:.0%} of the bytes stay within nodes", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
