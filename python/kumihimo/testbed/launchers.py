"""How launchers of MPI libraries start processes in the nodes of a testbed: hostfiles, an agent in place of ssh, and
variables of the environment, so that the user's command names none of them."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

from kumihimo.processes import allocation
from kumihimo.processes.visible import below, command_of, is_running
from kumihimo.testbed.wiring import OWN_INTERFACE, Wiring, address

OF_A_NODE = ("--net", "--uts", "--ipc", "--mount")  # options of nsenter: the namespaces that nodes do not share
DAEMONS = ("orted", "prted", "hydra_pmi_proxy")
# Tells the processes of one command from those of others in the same testbed. `kumihimo run` hands on what does not
# begin with KUMIHIMO.
RUN = "_KUMIHIMO_TESTBED_RUN"
DAEMON_SECONDS = 5.0  # to end after their launcher
UNREACHABLE = "unreachable"  # file of a testbed: pairs of nodes between which no message passes, and why
AGENT = r"""#!/bin/sh
# Runs a command on a node of this testbed, as `ssh HOST COMMAND` would. To a node that no message reaches it says so at
# once, where ssh would after its time limit: launchers would wait for a daemon there, some of them for ever.
while :; do
  case "$1" in
    -l | -o | -p) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=${1#*@}
shift
if ! read -r pid name 2>/dev/null < "%(folder)s/nodes/$host"; then
  echo "kumihimo: this testbed has no node $host" >&2
  exit 255
fi
if [ -s "%(folder)s/%(unreachable)s" ]; then
  read -r here < /proc/sys/kernel/hostname
  while read -r from to why; do
    if [ "$from $to" = "$here $name" ]; then
      echo "kumihimo: $to cannot be reached from $from: $why; run \`kumihimo testbed heal\`" >&2
      exit 255
    fi
  done < "%(folder)s/%(unreachable)s"
fi
exec nsenter --target="$pid" %(namespaces)s -- /bin/sh -c "$*"
"""


def write(folder: Path, wires: Wiring, processes: Sequence[int], slots: int) -> None:
    """The files that environment() names."""
    (folder / "tmp").mkdir()
    nodes = folder / "nodes"
    nodes.mkdir()
    for vertex in range(wires.nodes):
        for name in (wires.name(vertex), address(vertex)):
            (nodes / name).write_text(f"{processes[vertex]} {wires.name(vertex)}\n", encoding="ascii")
    names = [wires.name(vertex) for vertex in range(wires.nodes)]
    (folder / "hostfile").write_text("".join(f"{name} slots={slots}\n" for name in names), encoding="ascii")
    (folder / "hydra-hosts").write_text("".join(f"{name}:{slots}\n" for name in names), encoding="ascii")
    agent = folder / "agent"
    agent.write_text(
        AGENT % {"folder": folder, "unreachable": UNREACHABLE, "namespaces": " ".join(OF_A_NODE)}, encoding="utf-8"
    )
    agent.chmod(0o755)


def environment(folder: Path) -> dict[str, str]:
    """For Open MPI 4 and 5 and for MPICH 4 and 5. What the user has set stays, but for the testbed's own nodes and
    wisdom."""
    agent, hostfile, net = str(folder / "agent"), str(folder / "hostfile"), f"{address(0)}/16"
    own_files = str(folder / "tmp")  # named by host and process, whose numbers are another testbed's, too
    open_mpi = {
        "orte_default_hostfile": hostfile,
        "orte_tmpdir_base": own_files,
        "plm_rsh_agent": agent,
        "plm_rsh_no_tree_spawn": "1",
        "orte_leave_session_attached": "1",  # mpirun sees its daemons end, though their links are cut first
        "oob_tcp_if_include": net,
        "btl_tcp_if_include": net,
        # Messages of more than 64 KiB in both directions of a link took twice their time: the answer to the one waits
        # behind the other in a socket. Sent in pieces, not put as a whole, they do so hardly (ADR 58).
        "btl_tcp_flags": "1",
        "btl_tcp_max_send_size": "32768",
        "osc": "^rdma,ucx",  # windows need what the flags above leave out, or hardware
        "pml": "ob1",  # UCX and libfabric would look for hardware
        "mpi_yield_when_idle": "1",  # nodes share processors
        "hwloc_base_binding_policy": "none",
    }
    prrte = {
        "prte_default_hostfile": hostfile,
        "prte_tmpdir_base": own_files,
        "plm_ssh_agent": agent,
        "plm_ssh_no_tree_spawn": "1",
        "prte_if_include": net,
        "hwloc_default_binding_policy": "none",
    }
    wanted = {
        **{f"OMPI_MCA_{name}": value for name, value in open_mpi.items()},
        **{f"PRTE_MCA_{name}": value for name, value in prrte.items()},
        "PMIX_MCA_ptl_tcp_if_include": net,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",  # of the testbed's user namespace
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "HYDRA_HOST_FILE": str(folder / "hydra-hosts"),
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_IFACE": OWN_INTERFACE,
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": OWN_INTERFACE,
        "UCX_TLS": "self,tcp",
        "UCX_NET_DEVICES": OWN_INTERFACE,
        "UCX_TCP_BRIDGE_ENABLE": "y",  # new versions leave bridges out
        "UCX_WARN_UNUSED_ENV_VARS": "n",  # of old versions, which do not know it
        # Ranks of MPICH 4 poll and never yield, and a rendezvous waits for several turns of them: an allreduce of
        # 500 kB by 27 ranks on 2 processors took 1.8 s, and 0.6 s with messages that are sent at once.
        "UCX_RNDV_THRESH": "inf",
    }
    own = {allocation.HOSTS: hostfile, "KUMIHIMO_WISDOM_FOLDER": str(folder / "wisdom")}
    return {**{name: value for name, value in wanted.items() if name not in os.environ}, **own}


def end_daemons(keeper: int, run: str) -> list[str]:
    """Ends the daemons that a launcher of this run has left, with their ranks, and tells their names: one whose way to
    the launcher led through a node that died waits for ever."""

    def left() -> list[int]:
        return [each for each in below(keeper) if command_of(each) in DAEMONS and is_of_run(each, run)]

    def leave() -> list[int]:
        deadline = time.monotonic() + DAEMON_SECONDS
        while (there := left()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return there

    there = leave()
    names = sorted(map(command_of, there))
    for last in (signal.SIGTERM, signal.SIGKILL):
        for each in set().union(*map(below, there)):
            with contextlib.suppress(OSError):
                os.kill(each, last)
        there = there and leave()
    return names


def is_of_run(pid: int, run: str) -> bool:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return False
    return f"{RUN}={run}".encode() in variables and is_running(pid)
