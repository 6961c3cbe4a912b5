"""Program sets that are no collective: halo exchanges (`halo:16x16x16`) and files (`file:PATH`), docs/programs.md."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kumihimo import _programs, _topology, _verify
from kumihimo.collectives import arguments
from kumihimo.collectives.arguments import FILE, HALO, Ranks
from kumihimo.collectives.proofs import ProgramsProof, ProofCoverage, ProofFinding
from kumihimo.collectives.verification import check_ranks
from kumihimo.network import placement
from kumihimo.network.placement import Wanted
from kumihimo.text.errors import BadInput, Failed, KumihimoError, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.quantities import counted


@dataclass
class Programs:
    """The programs of all ranks, with what simulate, verify and show say of them."""

    sets: _programs.NamedPrograms
    space: _topology.RankSpace

    def result(self) -> JsonObject:
        """The members that all results have."""
        return {"programs": self.sets.name, "ranks": self.sets.ranks, "space": str(self.space)}


@dataclass
class Named:
    """The subject of a verb, its first argument: an opened file, or a halo exchange, which fits any number of ranks."""

    text: str
    file: _programs.NamedPrograms | None

    def ranks(self, asked: Ranks) -> Ranks:
        """The ranks asked for, as many as the file has."""
        if self.file is None:
            return asked
        if asked.ranks not in (None, self.file.ranks):
            raise wrong_value(f"{self.text} needs {counted(self.file.ranks, 'rank')}", asked.ranks, "leave --ranks out")
        return asked if isinstance(asked.ranks_per_node, tuple) else replace(asked, ranks=self.file.ranks)

    def on(self, space: _topology.RankSpace) -> Programs:
        """The programs on these ranks. A halo's grid of ranks is the shape's, or a ring of ranks that have none."""
        sets = self.file or _programs.halo(self.text.removeprefix(HALO), *grid(space))
        if sets.ranks != space.ranks:
            raise wrong_value(
                f"{self.text} needs {counted(sets.ranks, 'rank')}", space.ranks, "choose as many nodes and ranks"
            )
        return Programs(sets, space)


def named(text: str) -> Named:
    """Opens a file; a halo exchange is checked when it is known on which ranks."""
    return Named(text, _programs.open_file(text.removeprefix(FILE)) if text.startswith(FILE) else None)


def on(text: str, asked: Ranks, wanted: Wanted | None = None) -> Programs:
    """The programs on the ranks that were asked for, or that their file states, placed as wanted."""
    those = named(text)
    space = arguments.rank_space(those.ranks(asked))
    if wanted is not None:
        check_ranks(space)
    return those.on(placement.placed(space, wanted)[0])


def grid(space: _topology.RankSpace) -> tuple[list[int], list[bool]]:
    """Lengths of the axes of a halo's grid of ranks, and which of them wrap."""
    axes = space.shape.axes if space.has_shape else []
    return [axis.length for axis in axes] or [space.ranks], [axis.wraps for axis in axes] or [True]


@contextlib.contextmanager
def unchanged(sets: _programs.NamedPrograms) -> Iterator[None]:
    """Around work that reads programs: if their file changed meanwhile, that is the error, not what the work found.
    Programs that cannot run are a wrong file."""
    try:
        yield
    except KumihimoError as error:
        sets.check_unchanged()
        if type(error) is Failed:
            raise BadInput(error.problem, error.advice) from None
        raise
    sets.check_unchanged()


def verified(programs: Programs) -> ProgramsProof:
    """The findings of the proof of the programs."""
    check_ranks(programs.space)
    start = time.perf_counter()
    with unchanged(programs.sets):
        report = _verify.check(programs.sets)
    findings = tuple(map(ProofFinding.of_programs, report.findings))
    took = time.perf_counter() - start
    covered = ProofCoverage.of(report.coverage)
    steps, exact = covered.steps, covered.exact
    return ProgramsProof(
        **programs.result(),
        ok=report.ok,
        findings=findings,
        coverage=covered,
        wall_seconds=took,
        steps=steps,
        exact=exact,
    )
