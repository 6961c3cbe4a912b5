"""The communication of workloads on real MPI: a C program plays their steps and checks what comes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from kumihimo.predict.workloads.catalogue import WorkloadCall
from kumihimo.predict.workloads.steps import CollectiveStep, ExchangeStep
from kumihimo.processes import child_output, host_memory, mpi
from kumihimo.run import launch
from kumihimo.text import quantities
from kumihimo.text.errors import failed, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench.job import LaunchResults

ROUNDS = 11
COMPILE_SECONDS = 120.0
LAUNCH_SECONDS = 600.0


def measure(call: WorkloadCall, installation: mpi.Installation, launches: int, step: Callable[[], None]) -> JsonObject:
    """{results, launches, about, notes}: one result, whose times are medians of all rounds. What is computed is left
    out. Failed: it does not compile, or something that came is wrong."""
    launch.check_ranks(installation, call.ranks)
    check_memory(call)
    runs: list[LaunchResults] = []
    with tempfile.TemporaryDirectory(prefix="kumihimo-") as name:
        folder = Path(name)
        call.write_program(folder)
        program = compiled(installation, folder)
        for _ in range(launches):
            runs.append(launched(installation, call.ranks, [program, folder / "steps", str(ROUNDS)]))
            step()
    result = joined(call, [run.results for run in runs])
    return {"results": [result], "launches": launches, "about": runs[0].about, "notes": []}


def launched(installation: mpi.Installation, ranks: int, command: list[str | Path]) -> LaunchResults:
    found = LaunchResults(about={"launcher": str(installation.launcher)})

    def take(said: JsonObject) -> None:
        if "about" in said:
            found.about.update(said["about"])
        else:
            found.results.append(said)

    launch.run(installation, ranks, command, seconds=LAUNCH_SECONDS, on_object=take)
    if len(found.results) != ROUNDS:
        raise failed(f"the workload told {len(found.results)} rounds instead of {ROUNDS}")
    return found


def joined(call: WorkloadCall, launches: list[list[JsonObject]]) -> JsonObject:
    """Medians over all rounds; with several launches the median of each, too."""
    rounds = [each for rounds in launches for each in rounds]
    times = sorted(each["seconds"] for each in rounds)
    of_launches = [median(each["seconds"] for each in rounds) for rounds in launches]
    return {
        "workload": call.workload.name,
        "ranks": call.ranks,
        "numbers": dict(call.values),
        "seconds": median(times),
        "low": times[0],
        "high": times[-1],
        "samples": len(times),
        **({"seconds_of_launches": of_launches} if len(launches) > 1 else {}),
        "right": True,
        "steps": {kind: median(each["steps"][kind] for each in rounds) for kind in rounds[0]["steps"]},
    }


def compiled(installation: mpi.Installation, folder: Path) -> Path:
    """`folder`/play.c, by the compiler of the MPI library."""
    program = folder / "play"
    compiler = compiler_of(installation)
    try:
        done = child_output.run([compiler, "-O2", "-o", program, folder / "play.c"], seconds=COMPILE_SECONDS)
    except (OSError, child_output.TimedOut) as error:
        raise failed(f"{compiler} did not compile the workload", str(error) or "it did not end") from None
    if done.returncode != 0 or not program.is_file():
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        reason = next((line for line in said if "error" in line), said[-1] if said else "no message")
        raise failed(f"{compiler} did not compile the workload", reason)
    return program


def compiler_of(installation: mpi.Installation) -> Path:
    """Beside the library's own launcher."""
    names = (f"mpicc.{installation.family}", "mpicc")
    for name in names:
        found = shutil.which(name, path=str((installation.own_launcher or installation.launcher).parent))
        if found:
            return Path(found)
    raise failed(
        f"there is no C compiler of the MPI library beside {installation.own_launcher or installation.launcher}",
        f"no {' and no '.join(names)}",
        "install it (Debian: libopenmpi-dev or libmpich-dev), or name another library by --mpi",
    )


def check_memory(call: WorkloadCall) -> None:
    """Checks that the buffers of all ranks fit into memory, if all ranks are on this machine."""
    need = sum(buffers_of(call, rank) for rank in range(call.ranks))
    free = host_memory.free_memory()
    if need > free:
        raise wrong_value(
            f"the messages of workload:{call.workload.name} on {call.ranks} ranks must fit the memory",
            f"{quantities.bytes_text(need)}, with {quantities.bytes_text(free)} free",
            "make one of its numbers smaller, as workload:NAME,NUMBER=VALUE",
        )


def buffers_of(call: WorkloadCall, rank: int) -> int:
    """As play.c takes them: the longest that is sent, and the longest that comes."""
    sent, received = 0, 0
    for step in call.steps(rank):
        if isinstance(step, ExchangeStep):
            sent, received = max(sent, sum(step.sent)), max(received, sum(step.received))
        elif isinstance(step, CollectiveStep):
            members = len(step.members) or call.ranks
            sent = max(sent, step.bytes)
            received = max(received, step.bytes * (members if step.collective == "allgather" else 1))
    return sent + received
