"""When the command itself was started by mpirun or srun, on every rank: the bench drivers are these processes.

Rank 0 runs its bench driver as a child and reads what it says; on the others the bench driver takes this process's
place. A bench driver finds its launcher by what it inherits: variables of the environment, and with MPICH an open file.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from kumihimo.processes import child_output, children
from kumihimo.processes.launcher_environment import LaunchPlace
from kumihimo.run import launch
from kumihimo.text.errors import OutOfTime, failed
from kumihimo.text.json_types import JsonObject


def run(place: LaunchPlace, worker: Path, task: str, seconds: float, on_object: Callable[[JsonObject], None]) -> None:
    """The bench driver on this rank. Does not return on ranks other than 0."""
    memory = os.memfd_create("task", 0)  # a file that goes with the last process that has it open
    os.write(memory, task.encode())
    command = [str(worker), f"/proc/self/fd/{memory}"]
    if place.rank != 0:
        os.execv(command[0], command)
    process = children.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=False)
    try:
        output = launch.Output(process)
        output.read(time.monotonic() + seconds, on_object)
        if not launch.ended(process, launch.LAST_SECONDS):
            last = f"within {launch.LAST_SECONDS:.3g} s after it had closed its output"
            raise failed(f"the bench driver of rank 0 did not exit {last}")
    except child_output.TimedOut:
        raise OutOfTime(f"the bench driver did not end within {seconds:.3g} s") from None
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        child_output.close(process)
    if process.returncode != 0:
        raise failed("the bench driver of rank 0 failed", launch.what_happened(output, process.returncode, "it"))
