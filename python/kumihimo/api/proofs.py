"""`verify`: proofs that schedules and programs do what they say."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kumihimo.api.common import Progress, ResultList, Size, counter, given_of
from kumihimo.api.machines import words_of
from kumihimo.collectives import arguments, program_sets, verification
from kumihimo.collectives import given as given_options
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.collectives.proofs import AnyProof, CollectiveProof, ProgramsProof, ProofCoverage, ProofFinding
from kumihimo.network import placement as placements
from kumihimo.text.errors import not_applicable
from kumihimo.text.sizes import parse_size


class Proofs(ResultList[AnyProof]):
    """One proof for each algorithm, shape and length; `not_applicable` has the others with the reason."""

    @property
    def ok(self) -> bool:
        """Whether no fault was found in any of them."""
        return all(each.ok for each in self)

    @property
    def proven(self) -> bool:
        """Whether all were executed whole, without a fault."""
        return all(each.proven for each in self)


def verify(
    what: str | None = None,
    shape: str | None = None,
    *,
    algorithm: str = arguments.ALL,
    bytes: Size | None = None,
    count: int | None = None,
    ranks: int | None = None,
    ranks_per_node: int | Sequence[int] | None = None,
    order: str | None = None,
    placement: str | os.PathLike[str] | None = None,
    type: str = "float64",
    operation: str = "sum",
    root: int = 0,
    in_place: bool = False,
    counts: str | None = None,
    neighbours: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    samples: int = 6,
    seed: int = 1,
    progress: Progress | None = None,
) -> Proofs:
    """Prove that schedules are correct, as `kumihimo verify` does.

    `what`: a collective ("all" or None: all), "halo:16x16x16" or "file:PATH". `shape`: of the nodes, "4x3x2"; without
    shape and ranks, a set of small shapes. `algorithm`: a name, or "all". `bytes` or `count`: the length, in bytes or
    elements (by default 16 MiB with a shape). `samples`: elements that are followed where a schedule is too large to
    execute.

    Memory and time grow with ranks and steps; a proof has at most 2^20 ranks. Raises BadInput for wrong arguments and
    NotApplicable where no algorithm fits. A wrong schedule is no error: see `Proofs.ok` and `findings`.
    """
    each = None if ranks_per_node is None else words_of(ranks_per_node)
    on_nodes = arguments.ranks_per_node_named(each or "1")
    wanted = placements.wanted(order, None if placement is None else Path(placement))
    asked_of = {
        "algorithm": algorithm,
        "bytes": bytes,
        "count": count,
        "type": type,
        "operation": operation,
        "root": root,
        "in_place": in_place,
        "counts": counts,
        "neighbours": neighbours,
        "samples": samples,
        "seed": seed,
    }
    if what is not None and arguments.names_programs(what):
        given_options.refuse_beside_programs(given_of(verify, asked_of, parameters), ())
        named = program_sets.on(what, Ranks(shape, ranks, on_nodes), wanted)
        return Proofs([program_sets.verified(named)])
    if what == arguments.ALL:
        what = None
    if what is not None:
        given_options.refuse_beside_collective(given_of(verify, asked_of, parameters), what)
    length = None if bytes is None else parse_size(str(bytes), 0)
    question = CollectiveArguments(
        what or "bcast", count, length, type, operation, root, in_place, counts, arguments.neighbours_named(neighbours)
    )
    placed = shape is not None or ranks is not None or ranks_per_node is not None
    at = Ranks(shape, ranks, on_nodes) if placed else None
    given = dict(parameters or {})
    asked = verification.request(question, what, algorithm, at, given, samples, seed, wanted)
    found, passed_over = verification.prove_all(asked, counter(progress, len(verification.cases(asked))))
    if not found:
        reasons = dict.fromkeys(f"{p.algorithm}: {p.reason}" for p in passed_over)
        raise not_applicable("no algorithm fits", "; ".join(reasons))
    return Proofs(found, [each.to_dict() for each in passed_over])


__all__ = ["CollectiveProof", "ProgramsProof", "ProofCoverage", "ProofFinding", "Proofs", "verify"]
