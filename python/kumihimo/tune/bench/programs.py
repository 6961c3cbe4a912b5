"""Real runs of program sets that are no collective, beside the same exchange written by hand over MPI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kumihimo.collectives import program_sets
from kumihimo.collectives.arguments import Ranks
from kumihimo.network.placement import Wanted
from kumihimo.text.errors import failed, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.tune.bench import tuned
from kumihimo.tune.bench.cases import MOST_BYTES, NODE, NONE, BenchCase, check_ranks
from kumihimo.tune.bench.job import Launcher, LaunchResults, order_of, run_task


@dataclass(frozen=True)
class ProgramCase:
    """`shape`: the grid of the ranks. `ranks_per_node` emulates nodes of consecutive ranks, `parameters` are hints.
    `rates` of compute steps that say how much they do: flops and bytes a second of a node, which its ranks
    share; 0: refuse such steps."""

    text: str
    ranks: int
    shape: str = NODE
    ranks_per_node: int | tuple[int, ...] | None = None
    parameters: JsonObject = field(default_factory=dict)
    placement: Wanted | None = None
    rates: tuple[float, float] = (0.0, 0.0)

    @property
    def programs(self) -> program_sets.Programs:
        shape = None if self.shape in (NODE, NONE) else self.shape
        return program_sets.on(self.text, Ranks(shape, self.ranks, 1))


def check(case: ProgramCase, launcher: Launcher, repeats: int = 3, **options) -> list[JsonObject]:
    """Run the programs and compare with the golden copy: one result with `right` and `found`."""
    return _launched(case, launcher, {"task": "check", "repeats": repeats, **options}).results


def measure(
    case: ProgramCase, launcher: Launcher, launches: int = 1, step: Callable[[], None] = lambda: None, **options
) -> JsonObject:
    """{results, geometric_mean, launches, about, notes}, as of a collective: a result for each way to write it by hand,
    which is its `library`."""
    runs = []
    for _ in range(launches):
        run = _launched(case, launcher, {"task": "measure", "bound": False, **options})
        runs.append(
            LaunchResults(run.about, [_beside(run.results[0], other) for other in run.results[0]["beside"]], run.notes)
        )
        step()
    results = [tuned.joined_results(launches) for launches in zip(*(run.results for run in runs))]
    return tuned.of_launches(results, runs)


def _beside(ours: JsonObject, other: JsonObject) -> JsonObject:
    shared = {name: value for name, value in ours.items() if name != "beside"}
    return {**shared, "library": other, "ratio": ours["seconds"] / other["seconds"]}


def _launched(case: ProgramCase, launcher: Launcher, task: JsonObject) -> LaunchResults:
    check_ranks(case.ranks)
    named = case.programs
    if named.sets.buffer_bytes > MOST_BYTES:
        raise wrong_value(f"a buffer can have at most {MOST_BYTES} bytes", named.sets.buffer_bytes)
    if case.text.startswith(program_sets.FILE):
        _refuse_wrong(named)
    lengths, wraps = program_sets.grid(named.space)
    text = _absolute(case.text)
    described: dict[str, object] = {"programs": text, "lengths": lengths, "wraps": wraps, "parameters": case.parameters}
    described["flop_rate"], described["memory_bandwidth"] = case.rates
    order = _order(case)
    task = {**task, "programs": [{**described, "ranks_per_node": case.ranks_per_node}]}
    if order is not None:
        task["process_of_rank"] = order
    run = run_task(task, [], launcher)
    if order is not None:
        run.about["placement"] = str(case.placement)
    for result in run.results:
        result |= {"programs": named.sets.name, "space": str(named.space)}
    return run


def _absolute(text: str) -> str:
    """Ranks may start in another folder."""
    path = text.removeprefix(program_sets.FILE)
    return text if path == text else program_sets.FILE + str(Path(path).absolute())


def _refuse_wrong(named: program_sets.Programs) -> None:
    """Real ranks would wait for ever for a message that never comes."""
    found = program_sets.verified(named).findings
    if found:
        raise failed(f"{named.sets.name} fails verification", found[0].sentence, "see kumihimo verify")


def _order(case: ProgramCase) -> list[int] | None:
    """The process of each rank; None: the same."""
    shape = case.shape if case.ranks_per_node is None else NODE
    placed = BenchCase("barrier", "", shape=shape, ranks_per_node=case.ranks_per_node, placement=case.placement)
    return order_of([placed], case.ranks)
