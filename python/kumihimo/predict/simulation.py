"""Predictions: one collective, several algorithms and sizes, on one machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kumihimo import _collectives, _machine, _placement, _predict, _schedule, _topology
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import ALL, CollectiveArguments, Ranks, variants
from kumihimo.network.placement import Placed, Wanted, check_places_all
from kumihimo.predict import faults, prediction_errors
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.processes import allocation
from kumihimo.processes.allocation import Allocation
from kumihimo.text.errors import NotApplicable, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject

MOST_RANKS = 2**20  # a prediction holds about 10 kB a rank
MOST_RANKS_OF_A_NODE = 4096  # of one with fewer cores


@dataclass
class CollectiveQuestion:
    """A collective in a model. `parameters` are those of arguments.parameters."""

    setting: Setting
    arguments: CollectiveArguments
    algorithm: str
    parameters: JsonObject

    @property
    def job(self) -> _machine.Job | None:
        return self.setting.job

    @property
    def machine(self) -> _machine.Machine | None:
        return self.setting.machine

    @property
    def space(self) -> _topology.RankSpace:
        return self.setting.ranks

    @property
    def needs_algorithm(self) -> bool:
        return self.setting.model != "bound" or self.algorithm != ALL

    def cases(self, sizes: Sequence[int | None]) -> list[Case]:
        if not self.needs_algorithm:
            return [Case(None, size) for size in sizes]
        return [Case(each, size) for size in sizes for each in variants(self.arguments.collective, self.algorithm)]


def space_of(job: _machine.Job, placed: Placed | None) -> _topology.RankSpace:
    return job.rank_space_of(placed.placement) if placed else job.rank_space


@dataclass
class PartOfMachine:
    """Part of a machine that a job has. On Tofu: in a box of its six axes, without what died of its torus there: nodes
    by their coordinates (`5,0,3`), cables by their ends (`5,0,3-6,0,3`). On switches: by which way of routing. `slow`:
    nodes and links of it, with their factors (`5=0.5`, `5-6=0.1`).
    """

    box: str | None = None
    dead: list[str] = field(default_factory=list)
    routing: str | None = None
    slow: list[str] = field(default_factory=list)


@dataclass
class Case:
    """One schedule to predict."""

    variant: _collectives.Variant | None  # None: any, of models that need none
    bytes: int | None  # None: the blocks' counts are listed


def on(
    machine: _machine.Machine, asked: Ranks, part: PartOfMachine | None = None, given: Allocation | None = None
) -> _machine.Job:
    """A job of these ranks on the machine, or of those that a scheduler has given; what is not asked for stays the
    machine's."""
    if given is not None and (asked.ranks, asked.ranks_per_node) != (None, None):
        raise wrong_value("--allocation excludes --ranks and --ranks-per-node", "both", "leave them out")
    part = part or PartOfMachine()
    job = _on(machine, asked, part) if given is None else allocation.job_on(_part_of(machine, asked, part), given)
    if job.slots.size > MOST_RANKS:
        raise wrong_value(
            f"a prediction has at most {MOST_RANKS} ranks",
            f"{job.slots.size} on {job.slots.nodes} nodes",
            "take a smaller shape or fewer ranks per node",
        )
    _check_ranks_of_a_node(job)  # looks at each node
    return job


def _on(machine: _machine.Machine, asked: Ranks, part: PartOfMachine) -> _machine.Job:
    if asked.shape == "none":
        raise wrong_value(
            "--shape must be a shape of the machine's nodes", "none", "leave it out for the whole machine"
        )
    if machine.family == "single_node" and replace(part, slow=[]) == PartOfMachine():
        return _on_node(faults.with_slow(machine, part.slow), asked)
    return _with_ranks(_part_of(machine, asked, part), asked)


def _part_of(machine: _machine.Machine, asked: Ranks, part: PartOfMachine) -> _machine.Machine:
    """The nodes that the job sees, with the network between them."""
    for option, given in (("--box", part.box), ("--dead", ", ".join(part.dead))):
        if given and machine.family != "tofu":
            rule = f"{option} needs a machine of the tofu family"
            raise wrong_value(rule, f"{machine.name}, family {machine.family}", "leave it out")
    if part.routing is not None:
        machine = machine.with_routing(part.routing)
    shape = None if asked.shape is None else _topology.Shape.parse(asked.shape)
    if part.box is not None:
        machine = machine.with_box(part.box, shape)
    elif shape is not None:
        machine = machine.with_shape(shape)
    if part.dead:
        parts = [_dead_part(text) for text in part.dead]
        machine = machine.without([p[0] for p in parts if len(p) == 1], [(p[0], p[1]) for p in parts if len(p) == 2])
    return faults.with_slow(machine, part.slow)


def _check_ranks_of_a_node(job: _machine.Job) -> None:
    """All ranks of a node share its memory, so that each may wait for all others: a prediction of a million of them on
    one node would take hours."""
    most = max(job.machine.cores, MOST_RANKS_OF_A_NODE)
    each = max(job.slots.sizes)
    if each > most:
        cores = f"{job.machine.cores} core{'s' if job.machine.cores > 1 else ''}"
        raise wrong_value(
            f"a node of {job.machine.name}, which has {cores}, takes at most {most} ranks", each, "take fewer ranks"
        )


def placed(
    job: _machine.Job, wanted: Wanted | None, given: Allocation | None = None, ranks: int | None = None
) -> Placed | None:
    """The job's ranks as the user wants them placed, or in the order of the hosts that a scheduler has given. `ranks`:
    how many were asked for; None: any number."""
    by_hosts = None if given is None else allocation.placement_on(job, given)
    if wanted is None:
        return None if by_hosts is None else Placed("--allocation", by_hosts)
    if given is not None and by_hosts is not None and wanted.order is not None:
        rule = "--order needs an --allocation whose hosts are in the order of the machine's nodes"
        raise wrong_value(rule, ",".join(given.hosts), "sort the hosts, or give --placement")
    cores = job.machine.cores if job.machine.cores >= max(job.slots.sizes) else 0
    names = job.machine.node_names or (list(given.hosts) if given else [])
    placement = wanted.place(job.slots, job.machine.shape, names, cores)
    check_places_all(wanted, placement, ranks)
    return Placed(str(wanted), placement)


def with_places(
    machine: _machine.Machine, asked: Ranks, part: PartOfMachine, given: Allocation | None, wanted: Wanted | None
) -> _machine.Job:
    """As on(); with all nodes that a placement file may name: it may place fewer ranks than they have slots."""
    if wanted is not None and has_places_for_few(machine, wanted):
        asked = replace(asked, ranks=None)
    return on(machine, asked, part, given)


def has_places_for_few(machine: _machine.Machine, wanted: Wanted) -> bool:
    """Whether a placement says on which of the machine's nodes a smaller job ran: by names, or by the places of a
    torus."""
    named = machine.on_switches and bool(machine.node_names)
    return wanted.file is not None and machine.family != "single_node" and (named or not machine.on_switches)


def with_free_slots(job: _machine.Job, order: str, ranks: int) -> Placed:
    """Fewer ranks than the job has slots."""
    name = f"{order}, {ranks} ranks in {job.slots.size} slots"
    return Placed(name, _placement.Placement.in_order(order, job.slots, job.machine.shape, None, ranks))


def _with_ranks(machine: _machine.Machine, asked: Ranks) -> _machine.Job:
    """So many ranks on the nodes, and as many nodes as the ranks need where nodes have no axes."""
    each = asked.ranks_per_node
    if isinstance(each, tuple):
        sizes = arguments.node_sizes(asked)
        return _machine.Job.with_node_sizes(_with_nodes(machine, asked, len(sizes)), sizes)
    if each and asked.ranks and 1 <= each < asked.ranks and asked.ranks % each:
        sizes = arguments.node_sizes(asked)
        machine = _with_nodes(machine, asked, len(sizes))
        if len(sizes) == machine.nodes:
            return _machine.Job.with_node_sizes(machine, sizes)
    each = machine.default_ranks_per_node if each is None else each
    if asked.ranks is None or each < 1:
        return _machine.Job.with_ranks_per_node(machine, each)
    if not machine.on_switches:
        arguments.rank_space(Ranks(str(machine.shape), asked.ranks, each))
        return _machine.Job.with_ranks_per_node(machine, each)
    nodes, rest = divmod(asked.ranks, each)
    if rest or nodes < 1 or (asked.shape is not None and nodes != machine.nodes):
        what = f"{machine.nodes} nodes x {each}" if asked.shape is not None else f"a multiple of {each}"
        raise wrong_value(f"the ranks must fill the nodes, {what}", asked.ranks, "change --ranks or --ranks-per-node")
    return _machine.Job.with_ranks_per_node(_with_nodes(machine, asked, nodes), each)


def _with_nodes(machine: _machine.Machine, asked: Ranks, nodes: int) -> _machine.Machine:
    """A part of a machine whose nodes have no axes, unless a shape is asked for."""
    if not machine.on_switches or asked.shape is not None:
        return machine
    if nodes > arguments.MOST_RANKS:
        raise wrong_value(f"there can be at most {arguments.MOST_RANKS} ranks", asked.ranks)
    return machine.with_shape(_topology.Shape.parse(str(nodes)))


def _dead_part(text: str) -> list[list[int]]:
    """A node as its coordinates, a cable as those of both ends."""
    ends = [end.split(",") for end in text.split("-")]
    if not all(re.fullmatch(r"[0-9]{1,9}", word) for end in ends for word in end):
        rule = "--dead must be a node by its coordinates in the job's torus, 5,0,3, or a cable, 5,0,3-6,0,3"
        raise wrong_value(rule, f"'{text}'", "count from 0")
    if len(ends) > 2:
        raise wrong_value("a dead cable has two ends, such as 5,0,3-6,0,3", f"{len(ends)} ends")
    return [[int(word) for word in end] for end in ends]


def _on_node(machine: _machine.Machine, asked: Ranks) -> _machine.Job:
    if asked.shape is not None and asked.shape.partition(":")[0] != "node":
        machine.with_shape(_topology.Shape.parse(asked.shape))  # which says why not
    if isinstance(asked.ranks_per_node, tuple):
        raise wrong_value(
            f"{machine.name} is a single node with one number of ranks", f"{len(asked.ranks_per_node)} numbers"
        )
    of_machine = machine.default_ranks_per_node if asked.shape in (None, "node") else None
    given = next((n for n in (asked.ranks, asked.ranks_per_node) if n is not None), of_machine)
    each = 1 if asked.ranks_per_node is None else asked.ranks_per_node
    space = arguments.rank_space(Ranks(asked.shape or "node", given, each))
    return _machine.Job.with_ranks_per_node(machine, space.ranks)


def subject(
    asked: CollectiveQuestion, case: Case
) -> tuple[_schedule.Collective, _collectives.Parameters, _predict.CollectiveCase]:
    collective = arguments.collective(replace(asked.arguments, bytes=case.bytes), asked.space)
    parameters = arguments.parameters(**parameters_of(asked, collective))
    return collective, parameters, _predict.CollectiveCase(collective, case.variant, parameters)


def schedule(asked: CollectiveQuestion, case: Case) -> _schedule.Schedule:
    """Raises NotApplicable where the algorithm does not fit."""
    collective, parameters, _ = subject(asked, case)
    assert case.variant is not None, "models without algorithms build no schedule"
    return case.variant.build(collective, asked.space, parameters)


def prediction(asked: CollectiveQuestion, case: Case) -> tuple[Prediction, JsonObject]:
    """Prediction of the model, and the result of the case. Raises NotApplicable where the algorithm does not fit."""
    collective, _, of_case = subject(asked, case)
    found = asked.setting.predict(of_case)
    by = "any" if case.variant is None else found.native.algorithm
    result = {
        **about(asked, collective, by, found.native.parameters),
        "extension": case.variant is not None and case.variant.extension,
        "segments": found.native.segments,
        **found.members,
        "bytes_per_second": bandwidth(collective, found.seconds),
        **interval(asked, collective, by, found.seconds),
    }
    return found, result


def none_fits(passed_over: list[JsonObject]) -> NotApplicable:
    """With the reason that most algorithms share alone, where there is one: that is of the model or the machine."""
    counts = Counter(each["reason"] for each in passed_over)
    reason, number = counts.most_common(1)[0] if counts else ("", 0)
    if number > 1 and len(passed_over) < 2 * number:
        return NotApplicable(reason)
    return not_applicable("no algorithm fits these ranks", "; ".join(reasons(passed_over)))


def reasons(passed_over: list[JsonObject]) -> list[str]:
    """Why algorithms do not fit, each once."""
    return list(dict.fromkeys(f"{p['algorithm']}: {p['reason']}" for p in passed_over))


def interval(asked: CollectiveQuestion, collective: _schedule.Collective, algorithm: str, seconds: float) -> JsonObject:
    """A member for the interval of a prediction, of machines whose calibration has found how far it is off."""
    if asked.setting.errors is None:
        return {}
    case = prediction_errors.PredictedCase(collective.kind, algorithm, collective.bytes, collective.ranks, seconds)
    found = prediction_errors.interval(asked.setting.errors, case, asked.setting.nodes)
    return {} if found is None else {"interval": found}


def predict(asked: CollectiveQuestion, case: Case) -> JsonObject:
    return prediction(asked, case)[1]


def shape_of(machine: _machine.Machine) -> str:
    """As --shape takes it: lengths of axes, or the number of nodes on switches; empty on one node."""
    return str(machine.nodes) if machine.on_switches else str(machine.shape)


def bandwidth(collective: _schedule.Collective, seconds: float) -> float | None:
    """As the literature counts it: the bytes twice where all get the sum of all, by reduce and broadcast."""
    meaning = _schedule.meaning(collective.kind)
    times = 2 if meaning.reduces and meaning.contributors == "all" and meaning.output == ("all", "vector") else 1
    return times * collective.bytes / seconds if seconds > 0 else None


def parameters_of(asked: CollectiveQuestion, collective: _schedule.Collective) -> JsonObject:
    """The machine declares the segment size. Asked for beside `all`, another size is declared to all alike: algorithms
    that do not pipeline ignore it."""
    wished = dict(asked.parameters)
    if asked.machine is None:
        return wished
    declared = asked.machine.segment_bytes_of(collective.bytes)
    if asked.algorithm == ALL and wished.get("segment_bytes") is not None:
        declared = wished.pop("segment_bytes")
        _collectives.check_collective(collective, asked.space, arguments.parameters(segment_bytes=declared))
    return {**wished, "default_segment_bytes": declared}


def about(asked: CollectiveQuestion, collective: _schedule.Collective, algorithm: str, parameters: str) -> JsonObject:
    members = {
        "collective": collective.kind,
        "algorithm": algorithm,
        "parameters": arguments.parameters_of(parameters),
        "ranks": collective.ranks,
        "bytes": collective.bytes,
        "type": collective.type,
        "simd": asked.setting.simd,
        **arguments.about_collective(collective),
    }
    if asked.job is not None:
        members |= _about_machine(asked.job)
    if asked.setting.placed is not None:
        members["placement"] = asked.setting.placed.name
    return members


def _about_machine(job: _machine.Job) -> JsonObject:
    machine = job.machine
    network = {"network": machine.network, "losses": machine.losses}
    return {"machine": machine.name, "shape": shape_of(machine), **network, **_about_nodes(job)}


def _about_nodes(job: _machine.Job) -> JsonObject:
    sizes = job.slots.sizes
    even = min(sizes) == max(sizes)
    return {"ranks_per_node": sizes[0]} if even else {"ranks_per_node": 0, "node_sizes": sizes}
