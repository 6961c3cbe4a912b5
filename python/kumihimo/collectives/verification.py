"""Proofs of the registry's schedules: which cases to check, and what came of each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kumihimo import _collectives, _schedule, _topology, _verify
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.network import placement
from kumihimo.network.placement import Wanted
from kumihimo.text.errors import NotApplicable, did_you_mean, not_applicable, wrong_value

# How much was looked at, as the report says it.
COVERAGE = (
    "exact",
    "steps",
    "pairs",
    "pairs_sampled",
    "deadlock_shown",
    "deadlock",
    "deadlock_segments",
    "samples",
    "footprints",
    "footprint_segments",
    "deliveries",
    "executed",
    "height",
)

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
    """What to prove: `algorithm` of `collectives` on each of `places` for each of `counts` elements. The `question`
    says all else of the collective."""

    collectives: list[str]
    algorithm: str = arguments.ALL
    places: tuple[Ranks, ...] = SMALL
    counts: tuple[int, ...] = SMALL_COUNTS
    question: CollectiveArguments = field(default_factory=lambda: CollectiveArguments(""))
    parameters: dict = field(default_factory=dict)
    samples: int = 6
    seed: int = 1
    placement: Wanted | None = None  # of the ranks; None: block order


@dataclass
class ProofCase:
    variant: _collectives.Variant
    ranks: Ranks
    count: int | None


def collectives(algorithm: str = arguments.ALL, irregular: bool = False, of_neighbours: bool = False) -> list[str]:
    """Those that have this algorithm, or any; those whose blocks may be irregular; those of neighbours."""
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


def cases(asked: ProofRequest) -> list[ProofCase]:
    """Every case, applicable or not."""
    chosen = [v for kind in asked.collectives for v in arguments.variants(kind, asked.algorithm)]
    return [ProofCase(v, ranks, count) for v in chosen for ranks in asked.places for count in asked.counts]


def check_ranks(space: _topology.RankSpace) -> None:
    """Whether a proof can visit all of them."""
    if space.ranks > MOST_RANKS:
        raise wrong_value(f"a proof has at most {MOST_RANKS} ranks", space, "take a smaller shape")


def prove(asked: ProofRequest, case: ProofCase) -> dict:
    """The result of one case. Raises NotApplicable where the algorithm does not fit."""
    space = arguments.rank_space(case.ranks)
    check_ranks(space)
    space, _ = placement.placed(space, asked.placement, case.ranks.ranks)
    wanted = replace(asked.question, collective=case.variant.kind, count=case.count, bytes=None)
    collective = arguments.collective(wanted, space)
    schedule = case.variant.build(collective, space, arguments.parameters(**asked.parameters))
    started = time.perf_counter()
    report = _verify.check(schedule, space, asked.samples, asked.seed)
    wall = time.perf_counter() - started
    return {
        **_about(schedule, space, case),
        **({} if asked.placement is None else {"placement": str(asked.placement)}),
        "ok": report.ok,
        "findings": [_finding(finding) for finding in report.findings],
        "coverage": coverage_of(report.coverage),
        "symmetric": _symmetric(schedule, space, report),
        "wall_seconds": wall,
    }


def prove_all(asked: ProofRequest) -> Iterator[tuple[ProofCase, dict | NotApplicable]]:
    """Every case with its result, or with the reason why there is none."""
    for case in cases(asked):
        try:
            yield case, prove(asked, case)
        except NotApplicable as reason:
            yield case, reason


def _about(schedule: _schedule.Schedule, space, case: ProofCase) -> dict:
    collective = schedule.collective
    return {
        "collective": collective.kind,
        "algorithm": schedule.algorithm,
        "parameters": arguments.parameters_of(schedule.parameters),
        "shape": str(case.ranks.shape or "none"),
        "ranks": collective.ranks,
        **arguments.about_nodes(case.ranks.ranks_per_node, space),
        "space": str(space),
        "count": collective.count,
        "irregular": collective.irregular,
        "bytes": collective.bytes,
        "type": collective.type,
        "in_place": collective.in_place,
        "segments": schedule.segments,
        "guarantees": case.variant.guarantees(collective),
        **arguments.about_collective(collective),
    }


def _symmetric(schedule: _schedule.Schedule, space, report: _verify.Report) -> bool | None:
    """Whether each rank's peers are rank 0's moved over the torus; None where there is no shape, the schedule is wrong,
    or to look at every rank's whole program would take long."""
    if not (space.has_shape and report.ok and report.coverage.exact):
        return None
    return _verify.is_symmetric(schedule, space)


def _finding(finding: _verify.Finding) -> dict:
    place = {name: getattr(finding, name) for name in ("rank", "lane", "segment", "round", "step")}
    known = {name: number for name, number in place.items() if number >= 0}
    return {"check": finding.check, **known, "what": finding.what, "sentence": finding.sentence}


def coverage_of(coverage: _verify.Coverage) -> dict:
    return {name: getattr(coverage, name) for name in COVERAGE}
