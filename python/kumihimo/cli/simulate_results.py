"""Output and files of `kumihimo simulate`."""

from __future__ import annotations

from pathlib import Path

from kumihimo import _goal, _machine, pages
from kumihimo.cli import output, simulate_faults, simulate_page
from kumihimo.cli.simulate_request import Request
from kumihimo.collectives import arguments
from kumihimo.predict import chances, over_time, prediction_errors, simulation
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.predict.subjects import Subject
from kumihimo.text import quantities
from kumihimo.text.errors import wrong_value
from kumihimo.text.sizes import text_of

LATEST = 10  # ranks that --by-rank shows
LEAST_CHANCE = 0.1  # of an algorithm that is named as perhaps the fastest
MOST_LINKS = 5  # that --links shows of each result
WAITING = ("links_waiting_share", "packets_waiting_share")
COLUMNS = (
    *("bytes>", "algorithm", "time>", "90 % within", "rate>", "of bound>", "computing>"),
    *("links waited on>", "packets that waited>", "waiting>", "slowdown>", "messages>", "parameters", "limited by"),
)


def write_files(request: Request, setting: Setting, predictions: list[Prediction], results: list[dict]) -> None:
    """The timeline and the page, which are of one run."""
    if request.timeline is not None:
        write_timeline(request.timeline, the_only("--timeline", predictions).native)
    if request.page is not None:
        found = the_only("--page", predictions)
        network = setting.machine.network if "packets" in found.members else on(setting.job).removeprefix(" on ")
        simulate_page.write(request.page, results[0], map_of(found, setting, results[0]["ranks"]), network)


def the_only(option: str, predictions: list[Prediction]) -> Prediction:
    if len(predictions) != 1:
        raise wrong_value(f"{option} must be of one run", len(predictions), "name one --algorithm and one size")
    return predictions[0]


def write_timeline(path: Path, found: object) -> None:
    output.write(path, found.timeline)
    if left_out := found.timeline_left_out:
        output.message(f"{path} lacks the last {quantities.counted(left_out, 'event')}: take fewer ranks")


def map_of(found: Prediction, setting: Setting, ranks: int) -> pages.HeatMap:
    late = found.native.delays
    if late is not None:
        return over_time.of_noise(late.seconds, late.ranks_of_group, ranks, late.bin_seconds)
    return over_time.of_links(setting.machine, found.native.link_utilisation, found.native.bin_seconds)


def print_all(subject: Subject, setting: Setting, results: list[dict], passed_over: list[dict]) -> None:
    """A table of a collective's algorithms and sizes, or lines about programs that are no collective."""
    first = results[0]
    columns = ("bytes>", "algorithm") if subject.kind == "collective" else ()
    named = {(text_of(r["bytes"]), r["algorithm"]) if columns else (): r for r in results}
    if columns:
        print_head(subject.asked(setting), first)
        print_table(results)
    else:
        print_run(setting, first)
    print_range(setting, results)
    print_fastest(results)
    simulate_faults.print_faults(named, columns)
    if setting.options.get("link_bytes"):
        print_links(setting.machine, named, columns)
    print_by_rank(named, columns)
    print_stages(named, columns)
    output.print_list(
        "May be more than 20 % off:", doubts(results) if columns else list(filter(None, [first["accuracy"]]))
    )
    output.print_list("Not applicable:", simulation.reasons(passed_over))
    simulate_page.print_name(first)


def on(job: _machine.Job | None) -> str:
    return "" if job is None else f" on {job.machine.name} {simulation.shape_of(job.machine)}".rstrip()


def ranks_text(job: _machine.Job | None, ranks: int) -> str:
    """ "512 ranks (4 a node)"."""
    nodes = job.slots.nodes if job else 1
    each = f" ({ranks // nodes} a node)" if nodes > 1 and ranks > nodes and ranks % nodes == 0 else ""
    return quantities.counted(ranks, "rank") + each


def print_head(asked: simulation.CollectiveQuestion, first: dict) -> None:
    """The subject, the place and what disturbs it."""
    job, placed = asked.job, asked.setting.placed
    print(f"{first['collective']}{on(job)}, {ranks_text(job, first['ranks'])}, model {first['model']}")
    print_parameters(first)
    if job is not None and job.machine.family not in ("torus", "single_node"):
        print(job.machine.network)
    if "neighbours" in first:
        print(f"neighbours {first['neighbours']}")
    if placed is not None:
        print(f"ranks placed by {placed.name}: {asked.space}")
    if job is not None and job.machine.losses:
        print(job.machine.losses)
    if "noise" in first:
        print(f"noise {first['noise']}")


def print_table(results: list[dict]) -> None:
    """The published algorithms, and ours; without columns that the model does not know."""
    rows = [row(r) for r in results]
    known = [name for name in COLUMNS if any(cells[name] for cells in rows) or name == "parameters"]
    for title, extension in (("", False), ("Extensions of published algorithms", True)):
        cells_of = [[cells[name] for name in known] for cells, r in zip(rows, results) if r["extension"] == extension]
        if cells_of:
            print()
            output.print_table(title, known, cells_of)


def row(r: dict) -> dict[str, str]:
    share = quantities.share_text
    has_lengths = arguments.moves_data(r["collective"])
    cells = {
        "bytes>": text_of(r["bytes"]) if has_lengths else "",
        "algorithm": r["algorithm"],
        "time>": quantities.seconds_text(r["seconds"]),
        "90 % within": prediction_errors.text_of(r.get("interval")),
        "rate>": quantities.rate_text(r["bytes_per_second"]) if has_lengths else "",
        "of bound>": share(r["bound_seconds"] / r["seconds"]) if "bound_seconds" in r and r["seconds"] > 0 else "",
        "computing>": share(r["compute_share"]) if "compute_share" in r and r["model"] != "cost" else "",
        "waiting>": share(r["waiting_share"]) if "waiting_share" in r else "",
        "slowdown>": f"{r['slowdown']:.3g}" if "slowdown" in r else "",
        "messages>": str(r["messages"]) if "loggops" in r else "",
        "parameters": arguments.parameters_text(r["parameters"]),
        "limited by": r["limiting"],
    }
    if "packets" in r:
        cells["links waited on>"], cells["packets that waited>"] = (share(r[name]) for name in WAITING)
    return {name: cells.get(name, "") for name in COLUMNS}


def print_range(setting: Setting, results: list[dict]) -> None:
    """Where intervals are those of smaller or larger jobs."""
    if any(r.get("interval", {}).get("beyond_measured_jobs") for r in results):
        errors = setting.machine.prediction_errors
        jobs = f"{errors.fewest_nodes} to {errors.most_nodes} nodes"
        print()
        output.print_line(f"90 % within: of jobs of {jobs}, and this one has {setting.nodes}: it may be wider")
    for algorithms, times in few_times(results).items():
        output.print_line(
            f"90 % within, class {algorithms}: by the errors of all classes, as {quantities.counted(times, 'time')} "
            "of its own are too few"
        )


def few_times(results: list[dict]) -> dict[str, int]:
    """Classes of algorithms whose interval is that of all, with the number of their own times."""
    of = [each["interval"] for each in results if each.get("interval", {}).get("pooled")]
    return {each["algorithms"]: each["times"] for each in of}


def print_fastest(results: list[dict]) -> None:
    """With which probability the fastest of each length is the fastest on the machine."""
    by_length: dict[str, list[dict]] = {}
    for each in results:
        if "fastest_probability" in each:
            by_length.setdefault(text_of(each["bytes"]), []).append(each)
    if by_length:
        print()
    for length, alike in by_length.items():
        at = f" at {length}" if len(by_length) > 1 else ""
        output.print_line(f"fastest{at}: {fastest_text(alike)}")


def fastest_text(alike: list[dict]) -> str:
    """Algorithms that are the fastest with at least a tenth of the probability, the likeliest first."""
    ranked = sorted(alike, key=lambda each: -each["fastest_probability"])
    likely = [each for each in ranked if each["fastest_probability"] >= LEAST_CHANCE] or ranked[:1]
    return ", ".join(f"{each['algorithm']} ({chances.text(each['fastest_probability'])})" for each in likely)


def print_run(setting: Setting, r: dict) -> None:
    """The time of programs that are no collective, and where it goes."""
    last = f", rank {r['last_rank']} last" if "mean" in r else ""
    took = quantities.seconds_text(r["seconds"])
    ranks = ranks_text(setting.job, r["ranks"])
    output.print_line(f"{r['programs']}{on(setting.job)}, {ranks}, model {r['model']}: {took}{last}")
    if r["limiting"]:
        output.print_line(f"limited by {r['limiting']}")
    print_parameters(r)
    if "mean" in r:
        counts = f"{r['operations']} operations, {quantities.counted(r['messages'], 'message')}"
        output.print_line(f"{counts} of {quantities.bytes_text(r['message_bytes'])} in all")
    output.print_noise(r)
    if "mean" in r:
        names = ("computing", "overhead", "noise", "waiting")
        parts = [f"{name} {quantities.seconds_text(r['mean'][f'{name}_seconds'])}" for name in names]
        output.print_line(f"mean of a rank: {', '.join(parts)}")


def print_parameters(result: dict) -> None:
    """Prints the parameters of LogGOPS, if that is the model."""
    p = result.get("loggops")
    if p is None:
        return
    times = [f"{name} {quantities.seconds_text(p[f'{name}_seconds'])}" for name in "Log"]
    rates = [f"{name} {p[f'{name}_seconds_per_byte'] * 1e9:.4g} ns/B" for name in "GO"]
    limit = "no limit" if p["S_bytes"] >= _goal.most_message_bytes else quantities.bytes_text(p["S_bytes"])
    nodes = [quantities.counted(result[name], noun) for name, noun in (("cpus", "CPU"), ("nics", "NIC"))]
    output.print_line(f"{', '.join([*times, *rates])}, S {limit}; {' and '.join(nodes)} a rank")


def doubts(results: list[dict]) -> list[str]:
    """Each reason once, with the rows that it is of; the one of most rows last where all others have theirs."""
    rows_of: dict[str, dict[str, list[str]]] = {}
    for r in results:
        if r.get("accuracy"):
            rows_of.setdefault(r["accuracy"], {}).setdefault(r["algorithm"], []).append(text_of(r["bytes"]))
    counts = {reason: sum(map(len, rows.values())) for reason, rows in rows_of.items()}
    most = max(counts, key=counts.__getitem__, default=None)
    if sum(counts.values()) < len(results) or most is None or counts[most] < 2:
        most = None
    lines = []
    for reason, rows in rows_of.items():
        named = "; ".join(f"{name} at {', '.join(sizes)}" for name, sizes in rows.items())
        lines += [f"{named}: {reason}"] if reason != most else []
    rest = "all others" if lines else "all"
    return lines if most is None else [*lines, f"{rest}: {most}"]


def print_links(machine: _machine.Machine, results: dict[tuple[str, ...], dict], columns: tuple[str, ...]) -> None:
    """The links that carry most in each result; `columns`: what the cells that name it are."""
    rows = []
    for cells, r in results.items():
        loads = sorted(enumerate(r.get("link_bytes", [])), key=lambda item: -item[1])[:MOST_LINKS]
        rows += [(*cells, machine.link_name(i), quantities.bytes_text(load)) for i, load in loads]
    if rows:
        print()
        output.print_table("Busiest links", (*columns, "link", "carries>"), rows)


def print_stages(results: dict[tuple[str, ...], dict], columns: tuple[str, ...]) -> None:
    """Prints the work of each stage of the model flow."""
    rows = []
    for cells, r in results.items():
        for each in r.get("stages", []):
            took = quantities.seconds_text(each["seconds"]) if each["seconds"] > 0 else ""
            rows.append((*cells, each["stage"], "off" if each["is_off"] else took, each["what"]))
    if rows:
        output.print_line("")
        output.print_table("Stages", (*columns, "stage", "took>", "what it did"), rows)


def print_by_rank(results: dict[tuple[str, ...], dict], columns: tuple[str, ...]) -> None:
    names = ("end", "computing", "overhead", "noise", "waiting")
    rows = []
    for cells, r in results.items():
        each = sorted(enumerate(r.get("by_rank", [])), key=lambda of: -of[1]["end_seconds"])[:LATEST]
        for rank, of in each:
            times = [quantities.seconds_text(of[f"{name}_seconds"]) for name in names]
            rows.append((*cells, str(rank), *times, str(of["operations"])))
    if rows:
        output.print_line("")
        head = (*columns, "rank>", *(f"{name}>" for name in names), "operations>")
        output.print_table("Ranks that end last", head, rows)
