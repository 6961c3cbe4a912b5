"""`kumihimo simulate app lu`: a factorisation by HPL's rules on the ranks of a machine, and on fewer of its nodes."""

from __future__ import annotations

from collections.abc import Sequence

from kumihimo import _machine
from kumihimo.app import catalogue, lu_prediction
from kumihimo.app.core_speed import CoreSpeed, peak_here
from kumihimo.app.lu_prediction import LuQuestion, LuRates
from kumihimo.cli import machines, output, progress
from kumihimo.cli.simulate_measured import LIMIT_SECONDS, MeasuredRequest
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.text.errors import wrong_value
from kumihimo.text.quantities import bytes_text, seconds_text, share_text

COLUMNS = ("ranks>", "grid>", "time>", "GFLOPS>", "of updates>", "computing>", "uneven>", "waiting>")


def run(request: MeasuredRequest, as_json: bool) -> None:
    model = request.checked_model()
    asked = lu_prediction.question(request.size, catalogue.settings_of(list(request.settings)), request.variant)
    if asked.peaks:
        return run_unequal(request, asked, model, as_json)
    jobs, left_out = with_memory(asked, request.jobs(alone=asked.grid is not None))
    for job in jobs:
        lu_prediction.check(asked, job.rank_space.ranks, lu_prediction.nodes_of_row(asked, job.rank_space))
    speed = request.speed_of_core(jobs)
    rates = lu_prediction.measure(asked, LIMIT_SECONDS)

    def work() -> list[dict]:
        return [lu_prediction.predicted(asked, rates, job, model, [speed.speed]) for job in jobs]

    results = progress.run_interruptible(work)
    return show(asked, rates, results, speed.text(results[-1]["machine"]), speed.measured(), as_json, left_out)


def with_memory(asked: LuQuestion, jobs: Sequence[_machine.Job]) -> tuple[list[_machine.Job], str]:
    """The jobs that have memory for the matrix, the last one in any case; and what is said of the others."""
    fitting = [job for job in jobs if lu_prediction.has_memory(asked, job)]
    least = len(jobs) - len(fitting)
    size = bytes_text(lu_prediction.matrix_bytes(asked))
    if not fitting:
        return [jobs[-1]], f"the matrix of {size} is larger than the memory of all nodes, {jobs[-1].slots.nodes:,}"
    if not least:
        return fitting, ""
    most = max(job.slots.nodes for job in jobs if not lu_prediction.has_memory(asked, job))
    return fitting, f"left out: numbers of nodes up to {most:,}, whose memory is smaller than the matrix of {size}"


def run_unequal(request: MeasuredRequest, asked: LuQuestion, model: str, as_json: bool) -> None:
    """On nodes of several kinds, with more ranks on faster ones."""
    if request.speed is not None:
        raise wrong_value("--speed has no effect beside --set speeds=...", request.speed, "leave it out")
    loaded = machines.load(request.machine, request.software)
    job, processes, rule = unequal_job(loaded, request.ranks, asked)
    lu_prediction.check(asked, sum(processes), lu_prediction.nodes_of_row(asked, job.rank_space))
    here = peak_here()
    rates = lu_prediction.measure(asked, LIMIT_SECONDS)
    speeds = lu_prediction.speeds_of_ranks(asked.peaks, processes, here)
    results = progress.run_interruptible(lambda: [lu_prediction.predicted(asked, rates, job, model, speeds)])
    results[0]["processes"] = rule
    text = CoreSpeed.of(here, min(speeds) * here).text(f"the slowest rank of {job.machine.name}")
    show(asked, rates, results, text, {"peak_gflops": here * 1e-9}, as_json)


def unequal_job(machine: _machine.Machine, ranks: Ranks, asked: LuQuestion) -> tuple[_machine.Job, list[int], str]:
    """The job, the ranks of each node, and how the rule came to them."""
    if ranks.ranks is not None or ranks.ranks_per_node is not None:
        raise wrong_value("--set speeds=... gives the ranks of each node", "--ranks", "leave it out")
    processes, rule = lu_prediction.ranks_of_nodes(asked, machine)
    part = simulation.on(machine, Ranks(ranks.shape, None, 1)).machine
    if part.nodes != len(processes):
        what = f"there must be speeds of the {part.nodes} nodes of {machine.name}"
        raise wrong_value(what, len(processes), "add --shape, or change the numbers of nodes")
    return _machine.Job.with_node_sizes(part, processes), processes, rule


def show(
    asked: LuQuestion,
    rates: LuRates,
    results: list[dict],
    speed_text: str,
    extra: dict,
    as_json: bool,
    left_out: str = "",
) -> None:
    """`left_out`: a line on rows that are not there."""
    last = results[-1]
    measured = {**rates.measured(), **extra}
    assumed = lu_prediction.assumed(asked, speed_text, last["panels"])
    if as_json:
        told = {"left_out": left_out} if left_out else {}
        members = {"results": results, **told, "measured": measured, "assumed": assumed}
        return output.print_json({**members, **output.own_cost()})
    place = f"{last['machine']} {last['shape']}".strip()
    variant = "" if asked.variant == lu_prediction.VARIANT else f", variant {asked.variant}"
    output.print_line(f"LU of {asked.rows} rows in blocks of {asked.block} on {place}, model {last['model']}{variant}")
    if left_out:
        output.print_line(left_out)
    if "processes" in last:
        output.print_line(last["processes"])
    print()
    output.print_table("", COLUMNS, [row(each) for each in results])
    print()
    output.print_line(measured_text(measured))
    output.print_list("Assumed:", assumed)
    return None


def measured_text(measured: dict) -> str:
    """With the shares of the peak, where that was measured."""

    def rate(name: str) -> str:
        value = measured[name]
        share = f" ({share_text(value / measured['peak_gflops'])} of the peak)" if "peak_gflops" in measured else ""
        return f"{value:.3g} GFLOPS{share}"

    is_busy = measured["update_gflops"] < lu_prediction.BUSY_SHARE * measured.get("peak_gflops", 0)
    return (
        f"Measured here on one thread of {measured['processor']}: updates {rate('update_gflops')}, "
        f"panels {rate('panel_gflops')}; {measured['blas']}"
        f"{'; other programs seem to run here: measure again without them' if is_busy else ''}"
    )


def row(result: dict) -> list[str]:
    times = [seconds_text(result[name]) for name in ("computing_seconds", "uneven_seconds", "waiting_seconds")]
    return [
        str(result["ranks"]),
        "x".join(map(str, result["grid"])),
        seconds_text(result["seconds"]),
        f"{result['gflops']:.4g}",
        share_text(result["share_of_updates"]),
        *times,
    ]
