"""`kumihimo simulate --model loggp`: its options, and what it prints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from kumihimo import _goal, _machine, arguments, faults, loggp, noise, programs, quantities, simulation
from kumihimo.arguments import Ranks
from kumihimo.cli import output, progress, simulate_faults, simulate_page
from kumihimo.errors import missing, wrong_value
from kumihimo.sizes import text_of

OF_MACHINE = ("box", "dead", "routing", "given", "order", "placement", "no_simd")
NOT_OF_GOAL = ("sizes", "algorithm", "type_", "operation", "root", "counts", "neighbours")
LATEST = 10  # ranks that --by-rank shows


@dataclass
class Model:
    """The options of the model, as they were given."""

    loggops: str | None
    cpus: int | None
    nics: int | None
    noise: str | None
    by_rank: bool
    timeline: Path | None
    page: Path | None
    as_json: bool
    dies: list[str] = field(default_factory=list)
    settings: loggp.Settings | None = None

    def prepared(
        self, job: _machine.Job | None, simd: bool, ranks: Ranks, placed: simulation.Placed | None = None
    ) -> loggp.Settings:
        made = loggp.settings(job, self.loggops, simd, self.cpus, self.nics)
        named = noise.named(self.noise)
        if self.page is not None and named is None:
            raise missing("--noise", "--page shows how noise spreads; add --noise periodic:10us/1ms")
        given = {
            "noise": named,
            "by_rank": self.by_rank,
            "page": self.page is not None,
            "dying": self.dying(job, ranks, placed),
        }
        self.settings = replace(made, **given, timeline=self.timeline is not None)
        return self.settings

    def dying(self, job: _machine.Job | None, ranks: Ranks, placed: simulation.Placed | None) -> faults.Dying | None:
        each = alone(ranks).ranks_per_node
        if self.dies and job is None and not isinstance(each, int):
            rule = "--dies without --machine needs as many ranks on each node"
            raise wrong_value(rule, ",".join(map(str, each)), "give --ranks-per-node one number")
        return faults.dying(self.dies, job, placed, each)

    def asked(self, of: simulation.Asked, ranks: Ranks) -> loggp.Asked:
        """The same question to this model."""
        return loggp.Asked(**vars(of), ranks=alone(ranks), settings=self.prepared(of.job, of.simd, ranks, of.placed))

    def write_timeline(self) -> None:
        if self.timeline is None:
            return
        runs = self.settings.timelines
        if len(runs) != 1:
            raise wrong_value("--timeline must be of one run", len(runs), "name one --algorithm and one size")
        ((text, left_out),) = runs
        output.write(self.timeline, text)
        if left_out:
            output.message(f"{self.timeline} lacks the last {quantities.counted(left_out, 'event')}: take fewer ranks")

    def write_page(self, result: dict, job: _machine.Job | None) -> None:
        if self.page is not None:
            simulate_page.write(self.page, result, self.settings.maps, on(job).removeprefix(" on "))


def alone(ranks: Ranks) -> Ranks:
    """Without a machine a node has one rank unless more are asked for."""
    return replace(ranks, ranks_per_node=ranks.ranks_per_node or 1)


def simulate_goal(name: str, job: _machine.Job | None, ranks: Ranks, model: Model) -> None:
    settings = model.prepared(job, True, ranks)

    def work() -> dict:
        return loggp.predict_goal(name, read_goal(name, job), settings)

    print_one(progress.run_interruptible(work), job, model)


def read_goal(name: str, job: _machine.Job | None) -> _goal.Graphs:
    """Of a file whose ranks the job has room for."""
    graphs = loggp.read_goal(name)
    if job is not None and graphs.ranks > job.slots.size:
        rule = f"{job.slots.nodes} nodes of {job.machine.name} hold at most {job.slots.size} ranks"
        raise wrong_value(rule, f"{graphs.ranks} in {name}", "give a larger --shape or more --ranks-per-node")
    return graphs


def simulate_programs(
    those: programs.Programs,
    job: _machine.Job | None,
    placed: simulation.Placed | None,
    ranks: Ranks,
    model: Model,
) -> None:
    settings = model.prepared(job, True, ranks, placed)
    placement = placed and placed.placement
    result = progress.run_interruptible(lambda: loggp.predict_programs(those, settings, job, placement))
    print_one(result, job, model)


def print_one(result: dict, job: _machine.Job | None, model: Model) -> None:
    """The result of programs that are no collective."""
    model.write_timeline()
    model.write_page(result, job)
    if job is not None:
        result["machine"] = job.machine.name
    if model.as_json:
        return output.print_results_json([result])
    what, ranks = result["programs"], quantities.counted(result["ranks"], "rank")
    took = quantities.seconds_text(result["seconds"])
    output.print_line(f"{what}{on(job)}, {ranks}, model loggp: {took}, rank {result['last_rank']} last")
    print_parameters(result)
    counts = f"{result['operations']} operations, {quantities.counted(result['messages'], 'message')}"
    output.print_line(f"{counts} of {quantities.bytes_text(result['message_bytes'])} in all")
    output.print_noise(result)
    names = ("computing", "overhead", "noise", "waiting")
    parts = [f"{name} {quantities.seconds_text(result['mean'][f'{name}_seconds'])}" for name in names]
    output.print_line(f"mean of a rank: {', '.join(parts)}")
    simulate_faults.print_faults({(): result})
    print_by_rank({(): result})
    output.print_list("May be more than 20 % off:", [result["accuracy"]] if result["accuracy"] else [])
    simulate_page.print_name(result)
    return None


def print_results(asked: loggp.Asked, results: list[dict], passed_over: list[dict]) -> None:
    """Of a collective: a table of its algorithms and sizes."""
    first = results[0]
    print(f"{first['collective']}{on(asked.job)}, {quantities.counted(first['ranks'], 'rank')}, model loggp")
    print_parameters(first)
    if "noise" in first:
        print(f"noise {first['noise']}")
    if asked.placed is not None:
        print(f"ranks placed by {asked.placed.name}: {asked.space}")
    lengths = arguments.moves_data(first["collective"])
    left_out = () if lengths else ("bytes>", "rate>")
    left_out += () if asked.job else ("of bound>",)
    left_out += () if "noise" in first else ("slowdown>",)
    for title, extension in (("", False), ("Extensions of published algorithms", True)):
        rows = [row(r) for r in results if r["extension"] == extension]
        if rows:
            shown = [name for name in COLUMNS if name not in left_out]
            print()
            output.print_table(title, shown, [[cells[name] for name in shown] for cells in rows])
    named = {(text_of(r["bytes"]), r["algorithm"]): r for r in results}
    simulate_faults.print_faults(named, ("bytes>", "algorithm"))
    print_by_rank(named, ("bytes>", "algorithm"))
    doubts = [f"{r['algorithm']} at {text_of(r['bytes'])}: {r['accuracy']}" for r in results if r["accuracy"]]
    output.print_list("May be more than 20 % off:", doubts)
    output.print_list("Not applicable:", output.reasons(passed_over))
    simulate_page.print_name(first)


COLUMNS = (
    *("bytes>", "algorithm", "time>", "rate>", "of bound>", "computing>", "waiting>", "slowdown>"),
    *("messages>", "parameters"),
)


def row(r: dict) -> dict[str, str]:
    bound = r.get("bound_seconds")
    cells = (
        text_of(r["bytes"]),
        r["algorithm"],
        quantities.seconds_text(r["seconds"]),
        quantities.rate_text(r["bytes_per_second"]),
        quantities.share_text(bound / r["seconds"]) if bound and r["seconds"] else "",
        quantities.share_text(r["compute_share"]),
        quantities.share_text(r["waiting_share"]),
        f"{r['slowdown']:.3g}" if "slowdown" in r else "",
        str(r["messages"]),
        arguments.parameters_text(r["parameters"]),
    )
    return dict(zip(COLUMNS, cells))


def on(job: _machine.Job | None) -> str:
    return "" if job is None else f" on {job.machine.name} {simulation.shape_of(job.machine)}".rstrip()


def print_parameters(result: dict) -> None:
    p = result["loggops"]
    times = [f"{name} {quantities.seconds_text(p[f'{name}_seconds'])}" for name in "Log"]
    rates = [f"{name} {p[f'{name}_seconds_per_byte'] * 1e9:.4g} ns/B" for name in "GO"]
    limit = "no limit" if p["S_bytes"] >= _goal.most_message_bytes else quantities.bytes_text(p["S_bytes"])
    nodes = [quantities.counted(result[name], noun) for name, noun in (("cpus", "CPU"), ("nics", "NIC"))]
    output.print_line(f"{', '.join([*times, *rates])}, S {limit}; {' and '.join(nodes)} a rank")


def print_by_rank(results: dict[tuple[str, ...], dict], columns: tuple[str, ...] = ()) -> None:
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
