"""Proofs of the registry's schedules: which cases to check, and what came of each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kumihimo import _collectives, _schedule, _topology, _verify
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.collectives.proofs import CollectiveProof, PassedOver, ProofCoverage, ProofFinding
from kumihimo.network import placement
from kumihimo.network.placement import Wanted
from kumihimo.text.errors import NotApplicable, did_you_mean, missing, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import parse_size

MOST_RANKS = 2**20  # a check visits every rank

# Where no ranks are given: tori, meshes, rings of 2, a node, nodes of several ranks, ranks without a shape.
SMALL = (
    Ranks("4x3x2"),
    Ranks("3x3x3"),
    Ranks("4x3m"),
    Ranks("2x2", ranks_per_node=2),
    Ranks("node:4"),
    Ranks(ranks=1),
    Ranks(ranks=7),
)
SMALL_COUNTS = (0, 1, 29, 1000)


@dataclass
class ProofRequest:
    """Asked proofs: `algorithm` of `collectives` on each of `places` for each of `counts` elements. The `question`
    says all else of the collective."""

    collectives: list[str]
    algorithm: str = arguments.ALL
    places: tuple[Ranks, ...] = SMALL
    counts: tuple[int | None, ...] = SMALL_COUNTS
    question: CollectiveArguments = field(default_factory=lambda: CollectiveArguments(""))
    parameters: JsonObject = field(default_factory=dict)
    samples: int = 6
    seed: int = 1
    placement: Wanted | None = None  # of the ranks; None: block order


@dataclass
class ProofCase:
    variant: _collectives.Variant
    ranks: Ranks
    count: int | None


def collectives(algorithm: str = arguments.ALL, irregular: bool = False, of_neighbours: bool = False) -> list[str]:
    """The collectives that have this algorithm, or any; those whose blocks may be irregular; those of neighbours."""
    known = [v for v in _collectives.all_variants() if algorithm in (arguments.ALL, v.name)]
    if not known:
        names = sorted({v.name for v in _collectives.all_variants()})
        raise wrong_value("no collective has such an algorithm", f"'{algorithm}'", did_you_mean(algorithm, names))
    rows = [_schedule.meaning(kind) for kind in dict.fromkeys(v.kind for v in known)]
    found = [r.name for r in rows if (r.has_irregular_form or not irregular) and (r.of_neighbours or not of_neighbours)]
    if not found:
        needed = " and ".join([*["--counts"] * irregular, *["--neighbours"] * of_neighbours])
        raise not_applicable(f"no collective with this algorithm takes {needed}", algorithm, f"leave {needed} out")
    return found


def request(
    question: CollectiveArguments,
    collective: str | None,
    algorithm: str,
    ranks: Ranks | None,
    parameters: JsonObject,
    samples: int,
    seed: int,
    placed: Wanted | None,
) -> ProofRequest:
    """Make the request of a user. `collective` None: all that fit the question; `ranks` None: small shapes."""
    for name, number, bits in (("--samples", samples, 31), ("--seed", seed, 63)):
        if arguments.within(name, number, bits) < 0:
            raise wrong_value(f"{name} must be at least 0", number)
    if placed is not None and ranks is None:
        raise missing("the shape of the nodes for --order or --placement", "add --shape 4x3x2")
    kinds = [collective] if collective is not None else None
    kinds = kinds or collectives(algorithm, question.counts is not None, question.neighbours is not None)
    places = SMALL if ranks is None else (ranks,)
    counts = lengths(ranks is not None, question)
    return ProofRequest(kinds, algorithm, places, counts, question, parameters, samples, seed, placed)


def lengths(placed: bool, wanted: CollectiveArguments) -> tuple[int | None, ...]:
    """The lengths to prove, in elements; none beside irregular blocks that are listed."""
    if arguments.is_listed(wanted.counts) and wanted.count is None and wanted.bytes is None:
        return (None,)
    if wanted.count is None and wanted.bytes is None:
        if not placed:
            return SMALL_COUNTS
        wanted.bytes = parse_size(arguments.DEFAULT_BYTES)
    return (arguments.elements(wanted),)


def cases(asked: ProofRequest) -> list[ProofCase]:
    """Every case, applicable or not."""
    chosen = [v for kind in asked.collectives for v in arguments.variants(kind, asked.algorithm)]
    return [ProofCase(v, ranks, count) for v in chosen for ranks in asked.places for count in asked.counts]


def check_ranks(space: _topology.RankSpace) -> None:
    """Whether a proof can visit all of them."""
    if space.ranks > MOST_RANKS:
        raise wrong_value(f"a proof has at most {MOST_RANKS} ranks", space, "take a smaller shape")


def prove(asked: ProofRequest, case: ProofCase) -> CollectiveProof:
    """The result of one case. Raises NotApplicable where the algorithm does not fit."""
    space = arguments.rank_space(case.ranks)
    check_ranks(space)
    space, _ = placement.placed(space, asked.placement, case.ranks.ranks)
    wanted = replace(asked.question, collective=case.variant.kind, count=case.count, bytes=None)
    collective = arguments.collective(wanted, space)
    schedule = case.variant.build(collective, space, arguments.parameters(**asked.parameters))
    placed = None if asked.placement is None else str(asked.placement)
    return proof_of(schedule, case.variant, space, case.ranks, placed, asked.samples, asked.seed)


def proof_of(
    schedule: _schedule.Schedule,
    variant: _collectives.Variant,
    space: _topology.RankSpace,
    ranks: Ranks,
    placed: str | None,
    samples: int,
    seed: int,
) -> CollectiveProof:
    """Checks one schedule. `ranks`: as they were asked for; `placed`: what the placement is called, if there is one."""
    started = time.perf_counter()
    report = _verify.check(schedule, space, samples, seed)
    wall = time.perf_counter() - started
    collective = schedule.collective
    on_nodes = arguments.about_nodes(ranks.ranks_per_node, space)
    about = arguments.about_collective(collective)
    return CollectiveProof(
        collective=collective.kind,
        algorithm=schedule.algorithm,
        parameters=arguments.parameters_of(schedule.parameters),
        shape=str(ranks.shape or "none"),
        ranks=collective.ranks,
        ranks_per_node=on_nodes["ranks_per_node"],
        node_sizes=on_nodes.get("node_sizes"),
        space=str(space),
        count=collective.count,
        irregular=collective.irregular,
        bytes=collective.bytes,
        type=collective.type,
        in_place=collective.in_place,
        segments=schedule.segments,
        guarantees=variant.guarantees(collective),
        operation=about.get("operation"),
        root=about.get("root"),
        neighbours=about.get("neighbours"),
        placement=placed,
        ok=report.ok,
        findings=tuple(map(ProofFinding.of, report.findings)),
        coverage=ProofCoverage.of(report.coverage),
        symmetric=_symmetric(schedule, space, report),
        wall_seconds=wall,
    )


def prove_all(
    asked: ProofRequest, advance: Callable[[str], object] = lambda what: None
) -> tuple[list[CollectiveProof], list[PassedOver]]:
    """Every case with its proof, or with the reason why there is none. `advance`: called with the algorithm's name
    after each case."""
    proofs, passed_over = [], []
    for case in cases(asked):
        try:
            proofs.append(prove(asked, case))
        except NotApplicable as reason:
            kind, name, shape = case.variant.kind, case.variant.name, case.ranks.shape or "none"
            passed_over.append(PassedOver(kind, name, shape, case.count, str(reason)))
        advance(case.variant.name)
    return proofs, passed_over


def _symmetric(schedule: _schedule.Schedule, space: _topology.RankSpace, report: _verify.Report) -> bool | None:
    """Whether each rank's peers are rank 0's moved over the torus; None where there is no shape, the schedule is wrong,
    or to look at every rank's whole program would take long."""
    if not (space.has_shape and report.ok and report.coverage.exact):
        return None
    return _verify.is_symmetric(schedule, space)
