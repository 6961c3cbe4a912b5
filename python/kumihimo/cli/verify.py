"""`kumihimo verify`: prove that schedules do what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from kumihimo.cli import machines, options, output, progress
from kumihimo.cli.options import argument, option
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import CollectiveArguments, Ranks, moves_data
from kumihimo.collectives.guarantees import WORDS, words
from kumihimo.network import placement as placements
from kumihimo.text import quantities
from kumihimo.text.errors import not_applicable
from kumihimo.text.sizes import parse_size

if TYPE_CHECKING:
    from kumihimo.collectives import program_sets
    from kumihimo.collectives.proofs import CollectiveProof, PassedOver, ProgramsProof, ProofCoverage
    from kumihimo.collectives.verification import ProofRequest

PROVEN, SAMPLED, WRONG = "proven", "no fault found", "WRONG"


@options.with_parameters()
def command(
    collective: argument(
        "[COLLECTIVE]", "Collective, halo:16x16x16 or file:PATH [default: all].", Optional[str]
    ) = None,
    algorithm: options.AlgorithmOrAll = arguments.ALL,
    shape: options.ShapeOrThatOfJob = None,
    ranks: options.Ranks = None,
    ranks_per_node: options.RanksPerNode = None,
    order: options.Order = None,
    placement: options.Placement = None,
    count: options.Count = None,
    bytes_: option("--bytes -b SIZE", f"Size of the data [default with a shape: {arguments.DEFAULT_BYTES}].") = None,
    type_: options.Type = "float64",
    operation: options.Operation = "sum",
    root: options.Root = 0,
    in_place: options.InPlace = False,
    parameters: Optional[dict] = None,
    counts: options.Counts = None,
    neighbours: options.Neighbours = None,
    samples: option("--samples N", "Number of sampled elements if the schedule is too large to execute.", int) = 6,
    seed: option("--seed N", "Seed of the sampled elements.", int) = 1,
    as_json: options.Json = False,
) -> int:
    """Prove that schedules are correct. Every message is received, nothing deadlocks, each contribution counts exactly
    once, all ranks get the same bits, and the schedule's claims hold. Without a shape, it checks a set of small ones.

    \b
    Example:
    kumihimo verify allreduce --shape 48x54x32 --algorithm trinaryx3
    """
    shape = shape or machines.shape_of_job(ranks, ranks_per_node)
    if arguments.names_programs(collective):
        from kumihimo.collectives import program_sets

        options.refuse_beside_programs("order", "placement")
        each = arguments.ranks_per_node_named(ranks_per_node or "1")
        wanted = placements.wanted(order, placement)
        return verify_programs(program_sets.on(collective, Ranks(shape, ranks, each), wanted), as_json)
    from kumihimo.collectives import verification

    if collective == arguments.ALL:
        collective = None
    if collective is not None:
        options.refuse_beside_collective(collective)
    placed = shape is not None or ranks is not None or ranks_per_node is not None
    asked = verification.request(
        CollectiveArguments(
            collective or "bcast",
            count,
            None if bytes_ is None else parse_size(bytes_),
            type_,
            operation,
            root,
            in_place,
            counts,
            arguments.neighbours_named(neighbours),
        ),
        collective,
        algorithm,
        Ranks(shape, ranks, arguments.ranks_per_node_named(ranks_per_node or "1")) if placed else None,
        parameters,
        samples,
        seed,
        placements.wanted(order, placement),
    )
    proofs, passed_over = progress.run_interruptible(lambda: work(asked))
    if not proofs:
        raise not_applicable("no algorithm fits", "; ".join(reasons(passed_over)))
    if as_json:
        output.print_results_json([p.to_dict() for p in proofs], [p.to_dict() for p in passed_over])
    else:
        print_results(proofs, passed_over, one_by_one=placed)
    return 0 if all(proof.ok for proof in proofs) else 1


def work(asked: ProofRequest) -> tuple[list[CollectiveProof], list[PassedOver]]:
    from kumihimo.collectives import verification

    with progress.bar("proving", len(verification.cases(asked))) as advance:
        return verification.prove_all(asked, advance)


def reasons(passed_over: list[PassedOver]) -> list[str]:
    return list(dict.fromkeys(f"{p.algorithm}: {p.reason}" for p in passed_over))


def verify_programs(named: program_sets.Programs, as_json: bool) -> int:
    """A proof of programs that are no collective."""
    from kumihimo.collectives import program_sets

    result = progress.run_interruptible(lambda: program_sets.verified(named))
    if as_json:
        output.print_results_json([result.to_dict()])
        return 0 if result.ok else 1
    state = (PROVEN if result.exact else SAMPLED) if result.ok else WRONG
    output.print_line(
        f"{result.programs} on {result.space}, {quantities.counted(result.ranks, 'rank')}: "
        f"{quantities.counted(result.steps, 'step')}, {state}"
    )
    if result.ok and not result.exact:
        output.print_line(looked_at_programs(result), "  ")
    output.print_list("Findings:", [f"{f.check}: {f.sentence}" for f in result.findings])
    return 0 if result.ok else 1


def print_results(results: list[CollectiveProof], passed_over: list[PassedOver], one_by_one: bool) -> None:
    """A line a case or a line an algorithm; then what is wrong."""
    if one_by_one:
        print_cases(results)
    else:
        columns = ("collective", "algorithm", "cases>", "steps>", "time>", "verdict", "same bits on all")
        output.print_table("", columns, algorithm_rows(results))
    wrong = [r for r in results if not r.ok]
    for result in wrong:
        title = f"{title_of(result)} by {result.algorithm} on {result.space}:"
        output.print_list(title, [f"{f.check}: {f.sentence}" for f in result.findings])
    if one_by_one:
        output.print_list("Not applicable:", reasons(passed_over))
    print(f"\n{summary(results)}")


def summary(results: list[CollectiveProof]) -> str:
    """How many are proven, and how many not wrong as far as was looked."""
    verdicts = [verdict(result) for result in results]
    text = f"{verdicts.count(PROVEN)} of {len(results)} proven"
    sampled = verdicts.count(SAMPLED)
    return f"{text}; {sampled} with no fault found (data sampled)" if sampled else text


def verdict(result: CollectiveProof) -> str:
    """Proven is only what was executed whole, every pair matched."""
    if not result.ok:
        return WRONG
    return PROVEN if result.proven else SAMPLED


def of_all(verdicts: list[str]) -> str:
    return next(v for v in (WRONG, SAMPLED, PROVEN) if v in verdicts)


def looked_at(covered: ProofCoverage) -> str:
    matching = "a sample of the pairs matched" if covered.pairs_sampled else "all pairs matched"
    if covered.exact:
        return f"every step, {matching}" if covered.pairs_sampled else "every step"
    deadlock = "no deadlock" if covered.deadlock_shown else f"deadlock not excluded for {covered.deadlock}"
    segments = "segment" if covered.footprint_segments == 1 else f"{covered.footprint_segments} segments"
    ranks = f"the first {segments} of {quantities.counted(covered.footprints, 'rank')}"
    return f"{matching}; {deadlock}; sampled: {covered.samples} elements; memory order of {ranks}"


def looked_at_programs(result: ProgramsProof) -> str:
    """The same of programs that are no collective: whose results were compared with their origins."""
    covered, ranks = result.coverage, result.ranks
    matching = "a sample of the pairs matched" if covered.pairs_sampled else "all pairs matched"
    deadlock = "no deadlock" if covered.deadlock_shown else f"deadlock not excluded for {covered.deadlock}"
    at = covered.deliveries
    some = f"values right at {at} of {quantities.counted(ranks, 'rank')}" if at else "no values checked"
    values = "all values right" if at == ranks else some
    order = f"memory order of {quantities.counted(covered.footprints, 'rank')}"
    return f"{matching}; {deadlock}; {values}; {order}"


def title_of(result: CollectiveProof) -> str:
    """The collective and how long the vector or the blocks are."""
    return result.collective if not moves_data(result.collective) else f"{result.collective} of {elements(result)}"


def elements(result: CollectiveProof) -> str:
    if result.irregular:
        return f"irregular blocks of about {result.count} elements"
    return quantities.counted(result.count, "element")


def print_cases(results: list[CollectiveProof]) -> None:
    """A table for each group of cases that differ in the algorithm alone."""
    asked: dict[str, list[CollectiveProof]] = {}
    for r in results:
        neighbours = f", neighbours {r.neighbours}" if r.neighbours is not None else ""
        placed = f", placed by {r.placement}" if r.placement is not None else ""
        asked.setdefault(f"{title_of(r)} on {r.space}{placed}{neighbours}", []).append(r)
    columns = ("algorithm", "segments>", "steps>", "time>", "verdict", "same bits on all", "checked")
    for number, (title, group) in enumerate(asked.items()):
        if number:
            print()
        output.print_table(title, columns, map(case_row, group))


def case_row(r: CollectiveProof) -> tuple[str, ...]:
    covered = r.coverage
    took = quantities.seconds_text(r.wall_seconds)
    return (
        r.algorithm,
        r.segments,
        covered.steps,
        took,
        verdict(r),
        words(r.guarantees),
        looked_at(covered),
    )


def algorithm_rows(results: list[CollectiveProof]) -> list[tuple[str, ...]]:
    """All cases of one algorithm as one row."""
    groups: dict[tuple[str, str], list[CollectiveProof]] = {}
    for result in results:
        groups.setdefault((result.collective, result.algorithm), []).append(result)
    rows = []
    for names, group in groups.items():
        steps = sum(r.coverage.steps for r in group)
        took = quantities.seconds_text(sum(r.wall_seconds for r in group))
        rows.append((*names, str(len(group)), str(steps), took, of_all(list(map(verdict, group))), kept_by_all(group)))
    return rows


def kept_by_all(group: list[CollectiveProof]) -> str:
    """Promises that hold in every case."""
    return words({name: all(r.guarantees[name] for r in group) for name in WORDS})
