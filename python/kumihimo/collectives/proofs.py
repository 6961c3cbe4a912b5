"""Findings of a proof, as types: of schedules of collectives, and of programs that are no collective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union

from kumihimo import _verify
from kumihimo.text.records import OPTIONAL, ResultRecord


@dataclass(frozen=True)
class ProofFinding(ResultRecord):
    """A fault, and where it is."""

    check: str  # what was looked for: matching, deadlock ...
    rank: int | None = field(metadata=OPTIONAL)  # None here and below: the fault is not of one
    lane: int | None = field(metadata=OPTIONAL)
    segment: int | None = field(metadata=OPTIONAL)
    round: int | None = field(metadata=OPTIONAL)
    step: int | None = field(metadata=OPTIONAL)
    what: str | None = field(metadata=OPTIONAL)  # the fault in words, without its place
    sentence: str  # with its place

    @classmethod
    def of(cls, found: _verify.Finding) -> ProofFinding:
        rank, lane, segment, round_, step = (
            number if number >= 0 else None
            for number in (found.rank, found.lane, found.segment, found.round, found.step)
        )
        return cls(found.check, rank, lane, segment, round_, step, found.what, found.sentence)

    @classmethod
    def of_programs(cls, found: _verify.Finding) -> ProofFinding:
        """A finding about programs without a collective: the sentence has the place."""
        return cls(found.check, None, None, None, None, None, None, found.sentence)


@dataclass(frozen=True)
class ProofCoverage(ResultRecord):
    """How much was looked at."""

    exact: bool  # every step of every segment was executed
    steps: int  # of all ranks and segments
    pairs: int  # of a sender and a receiver whose messages were matched
    pairs_sampled: bool  # only a sample of them was
    deadlock_shown: bool  # no order of events deadlocks
    deadlock: str  # by what that is shown, or for which segments it is open
    deadlock_segments: int  # executed with synchronous sends, from the first
    samples: int  # elements that were followed where not all were
    footprints: int  # ranks whose order of memory accesses was checked, where not exact
    footprint_segments: int  # of how many segments, from the first
    deliveries: int  # ranks whose result was compared with what was sent to them
    executed: int  # steps
    height: int  # relays one after another on the longest path within a lane

    @classmethod
    def of(cls, found: _verify.Coverage) -> ProofCoverage:
        return cls(*(getattr(found, name) for name in COVERAGE))


COVERAGE = tuple(ProofCoverage.__dataclass_fields__)


@dataclass(frozen=True)
class CollectiveProof(ResultRecord):
    """The proof of one algorithm on one set of ranks, for one length. `count`: elements; `bytes`: of the vector or of
    one block. `guarantees`: what is promised of the bits of the result. `symmetric`: whether each rank's peers are
    those of rank 0 moved over the torus; None: not looked at. `wall_seconds`: time of the proof."""

    collective: str
    algorithm: str
    parameters: Mapping[str, int | str | bool]
    shape: str
    ranks: int
    ranks_per_node: int
    node_sizes: tuple[int, ...] | None = field(metadata=OPTIONAL)
    space: str
    count: int
    irregular: bool
    bytes: int
    type: str
    in_place: bool
    segments: int
    guarantees: Mapping[str, bool]
    operation: str | None = field(metadata=OPTIONAL)
    root: int | None = field(metadata=OPTIONAL)
    neighbours: str | None = field(metadata=OPTIONAL)
    placement: str | None = field(metadata=OPTIONAL)
    ok: bool
    findings: tuple[ProofFinding, ...]
    coverage: ProofCoverage
    symmetric: bool | None
    wall_seconds: float

    @property
    def proven(self) -> bool:
        """Whether every step was executed and every pair matched, without a finding. `ok` alone: no fault was found."""
        return self.ok and self.coverage.exact and not self.coverage.pairs_sampled


@dataclass(frozen=True)
class ProgramsProof(ResultRecord):
    """The proof of a halo exchange or a program file."""

    programs: str
    ranks: int
    space: str
    ok: bool
    findings: tuple[ProofFinding, ...]
    coverage: ProofCoverage
    wall_seconds: float
    steps: int
    exact: bool

    @property
    def proven(self) -> bool:
        return self.ok and self.exact


@dataclass(frozen=True)
class PassedOver(ResultRecord):
    """An algorithm that does not fit a case, and why."""

    collective: str
    algorithm: str
    shape: str
    count: int | None
    reason: str


AnyProof = Union[CollectiveProof, ProgramsProof]
