"""`kumihimo bench workload:NAME`: the communication of a published program on the MPI processes of this machine."""

from __future__ import annotations

from kumihimo.cli import asserts, options, output, progress
from kumihimo.predict.workloads import catalogue
from kumihimo.processes import mpi
from kumihimo.processes.launcher_environment import LaunchPlace
from kumihimo.text import quantities
from kumihimo.text.errors import wrong_value
from kumihimo.tune.bench import workloads

MOST_LAUNCHES = 1000
TAKEN = ("ranks", "library", "launches", "format_", "asserts_file", "junit", "as_json", "collective")


def run(
    name: str,
    ranks: int | None,
    library: str | None,
    launches: int,
    format_: str,
    keeps: asserts.AssertCheck,
    place: LaunchPlace | None,
) -> int:
    options.refuse_all_but("a workload", *TAKEN)
    if format_ not in ("table", "json"):
        raise wrong_value("--format of a workload must be table or json", f"'{format_}'")
    if place is not None:
        raise wrong_value("a workload is measured by processes that this command starts", "mpirun", "run it alone")
    if launches > MOST_LAUNCHES:
        raise wrong_value(f"--launches must be at most {MOST_LAUNCHES}", launches)
    call = catalogue.asked(name, ranks)
    installation = mpi.choose(library)
    with progress.bar("measuring", launches) as advance:
        found = workloads.measure(call, installation, launches, lambda: advance(call.workload.name))
    code = keeps.judge_results(found)
    if format_ == "json":
        output.print_json({**found, **output.own_cost()})
    else:
        show(found)
    return code


def show(found: dict) -> None:
    (result,) = found["results"]
    seconds = quantities.seconds_text
    mpi_library = found["about"].get("mpi", "").split(",")[0]
    output.print_line(f"workload:{result['workload']} on {result['ranks']} ranks, {mpi_library}")
    rounds = quantities.counted(result["samples"], "round")
    output.print_line(
        f"communication alone, {rounds} in {quantities.counted(found['launches'], 'launch')}; all that came is right"
    )
    print()
    whole = result["seconds"]
    rows = [(kind, seconds(each), quantities.share_text(each / whole)) for kind, each in result["steps"].items()]
    spread = f"{seconds(result['low'])} to {seconds(result['high'])}"
    output.print_table("", ("step", "mean of a rank>", "of the time>"), rows)
    print()
    output.print_line(f"time of the slowest rank: {seconds(whole)} (median; {spread})")
