"""A Slurm for the tests, which nobody else uses: munged, slurmctld and slurmd with files in one folder.

It has one node, or several. Then each slurmd has a port of its own and runs in a namespace in which this machine has
the node's name, so slurmd need not be built for several nodes on one machine (--enable-multiple-slurmd). There, too,
each has a folder of its own for PMIx: its plugin gives the folder of a job step the same name on all nodes.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import named_nodes

DAEMONS = ("munged", "slurmctld", "slurmd")
CPUS = 4  # that the node claims to have
# Open MPI's files of shared memory have the names of host, user and job number. Two Slurms on this machine, both with a
# node1, get different numbers of jobs (FirstJobId).
JOB_NUMBERS = 60_000_000  # Slurm's own most is 67,043,328
CONFIGURATION = """
ClusterName=kumihimo
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
JobRequeue=1
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1
FirstJobId={first_job}
{topology}
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = "NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN"


def lacking(of_several_nodes: bool = False) -> str:
    """Why there can be none here, of one node or of several; empty if there can. Where KUMIHIMO_REQUIRE_SLURM is set
    (make test-slurm) a reason is a failure."""
    reason = _lacking() or (named_nodes.lacking() if of_several_nodes else "")
    if reason and os.environ.get("KUMIHIMO_REQUIRE_SLURM"):
        raise RuntimeError(f"make test-slurm needs Slurm: {reason}")
    return reason


def _lacking() -> str:
    path = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    absent = [name for name in (*DAEMONS, "srun", "salloc") if shutil.which(name, path=path) is None]
    if absent:
        return f"no {', '.join(absent)} on this machine (Debian: slurm-wlm)"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def on(name: str, pmix: Path) -> list[str]:
    """The beginning of the line of a slurmd, whose folder `pmix` is its own; of a single node: nothing."""
    if not name:
        return []
    script = 'hostname "$0" && mount -t tmpfs none "$1" && shift && exec "$@"'
    return ["unshare", "--uts", "--mount", "sh", "-c", script, name, str(pmix)]


def free_ports(number: int) -> list[int]:
    """Below the ports of outgoing connections (ip_local_port_range), which may be taken before slurmd opens them."""
    found: list[int] = []
    with contextlib.ExitStack() as open_sockets:
        for port in random.sample(range(20000, 32768), 2000):
            each = open_sockets.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                each.bind(("127.0.0.1", port))
                found.append(port)
            if len(found) == number:
                return found
    raise RuntimeError(f"no {number} free ports from 20000 to 32767")


@contextlib.contextmanager
def running(folder: Path, nodes: Sequence[str] = (), topology: str = "") -> Iterator[Path]:
    """Its slurm.conf. `nodes`: their names; by default one, as this machine is called. `topology`: the text of a
    topology.conf. Raises RuntimeError, with what the daemons wrote, where it does not start."""
    for name in ("state", "munge", "pmix"):
        (folder / name).mkdir(mode=0o700)
    (folder / "mpi.conf").write_text(f"PMIxCliTmpDirBase={folder}/pmix\n", encoding="utf-8")
    (folder / "topology.conf").write_text(topology, encoding="utf-8")
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    host = socket.gethostname().partition(".")[0]
    control_port, *ports = free_ports(1 + max(1, len(nodes)))
    of_nodes = [NODE.format(name=name, port=port, cpus=CPUS) for name, port in zip(nodes or [host], ports)]
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            host=host,
            user="root",
            control_port=control_port,
            first_job=random.randrange(1, JOB_NUMBERS),
            topology="TopologyPlugin=topology/tree" if topology else "",
            nodes="\n".join(of_nodes),
        ),
        encoding="utf-8",
    )
    files = {name: folder / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
    munged = [
        f"--{option}={files[name]}" for option, name in zip(("socket", "pid-file", "log-file", "seed-file"), files)
    ]
    lines = (
        ["munged", "--foreground", "--force", f"--key-file={key}", *munged],
        ["slurmctld", "-D", "-f", configuration],
        *([*on(name, folder / "pmix"), "slurmd", "-D", "-f", configuration] for name in nodes or [""]),
    )
    path = os.pathsep.join((os.environ["PATH"], "/usr/sbin", "/sbin"))
    environment = {**os.environ, "PATH": path, "SLURM_CONF": str(configuration)}
    daemons = []
    with (folder / "daemons.log").open("wb") as log:
        try:
            for line in lines:
                program = shutil.which(line[0], path=path)
                daemons.append(
                    subprocess.Popen(
                        [program, *line[1:]],
                        env=environment,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                    )
                )
                if line[0] == "munged":
                    wait_until(files["socket"].exists, daemons)
            wait_until(lambda: are_idle(environment, len(of_nodes)), daemons)
            yield configuration
        except TimeoutError:
            said = "\n".join(path.read_text(errors="replace")[-600:] for path in sorted(folder.glob("*.log")))
            raise RuntimeError(f"Slurm did not start: {said}") from None
        finally:
            for daemon in reversed(daemons):
                daemon.send_signal(signal.SIGTERM)
            for daemon in reversed(daemons):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    daemon.wait(10)
                daemon.kill()
                daemon.wait()


def wait_until(holds, daemons: list[subprocess.Popen], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline or any(daemon.poll() is not None for daemon in daemons):
            raise TimeoutError
        time.sleep(0.1)


def are_idle(environment: dict[str, str], nodes: int) -> bool:
    words = ["sinfo", "--noheader", "--Node", "--format=%t"]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:  # the machine is busy
        return False
    return done.stdout.split() == ["idle"] * nodes
