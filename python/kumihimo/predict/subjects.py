"""Subjects of predictions, as a verb's first argument names them: a collective, programs, or a GOAL file.

A subject has a `kind` (of models.SUBJECTS), the ranks that it needs, cases, and a result of each case. A workload is
predicted as a recorded program (predict/replay).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Union

from kumihimo import _goal, _machine
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.predict import simulation
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.predict.simulation import Case
from kumihimo.predict.workloads.catalogue import WORKLOAD
from kumihimo.text import files
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.json_types import JsonObject
from kumihimo.text.sizes import parse_sizes

GOAL = "goal:"  # begins the name of a GOAL file
KINDS = (arguments.HALO, arguments.FILE, GOAL, WORKLOAD)  # begin the names of what is no collective
LARGEST_FILE = 2**36  # bytes


def kind_of(text: str) -> str:
    """Kind of a subject, one of models.SUBJECTS."""
    if text.startswith(GOAL):
        return "goal"
    if text.startswith(WORKLOAD):
        return "recording"
    arguments.refuse_misspelt_kind(text, KINDS)
    return "programs" if arguments.names_programs(text) else "collective"


@dataclass(frozen=True)
class CollectiveSubject:
    """One by one algorithm or all, of one size or several."""

    arguments: CollectiveArguments
    algorithm: str
    parameters: JsonObject
    sizes: Sequence[int | None]
    kind = "collective"

    @classmethod
    def of(
        cls, asked: CollectiveArguments, algorithm: str, parameters: JsonObject, sizes: str | None
    ) -> CollectiveSubject:
        moves_none = not arguments.moves_data(asked.collective)
        if sizes is None and not moves_none and not arguments.is_listed(asked.counts):
            raise missing("the length of the data", "add --bytes 1MiB")
        lengths: Sequence[int | None] = [0] if moves_none else [None]
        return cls(asked, algorithm, parameters, lengths if moves_none or sizes is None else parse_sizes(sizes))

    @property
    def may_not_fit(self) -> bool:
        """Whether an algorithm that does not fit is passed over, and no error."""
        return self.algorithm == arguments.ALL

    def ranks(self, asked: Ranks) -> Ranks:
        return asked

    def check(self, job: _machine.Job | None) -> None:
        pass

    def asked(self, setting: Setting) -> simulation.CollectiveQuestion:
        return simulation.CollectiveQuestion(setting, self.arguments, self.algorithm, self.parameters)

    def cases(self, setting: Setting) -> list[Case]:
        return self.asked(setting).cases(self.sizes)

    def predict(self, setting: Setting, case: Case) -> tuple[Prediction, JsonObject]:
        return simulation.prediction(self.asked(setting), case)


@dataclass(frozen=True)
class ProgramSets:
    """A halo exchange or a program file."""

    named: program_sets.Named
    kind = "programs"
    may_not_fit = False

    def ranks(self, asked: Ranks) -> Ranks:
        return self.named.ranks(asked)

    def check(self, job: _machine.Job | None) -> None:
        pass

    def cases(self, _: Setting) -> list[None]:
        return [None]

    def predict(self, setting: Setting, _: None) -> tuple[Prediction, JsonObject]:
        those = self.named.on(setting.ranks)
        with program_sets.unchanged(those.sets):
            found = setting.predict(those.sets)
        return found, {**those.result(), **about(setting), **found.members}


@dataclass(frozen=True)
class GoalFile:
    name: str
    graphs: _goal.Graphs
    kind = "goal"
    may_not_fit = False

    def ranks(self, asked: Ranks) -> Ranks:
        return asked

    def check(self, job: _machine.Job | None) -> None:
        """Checks that the job has enough slots for its ranks."""
        if job is not None and self.graphs.ranks > job.slots.size:
            rule = f"{job.slots.nodes} nodes of {job.machine.name} hold at most {job.slots.size} ranks"
            raise wrong_value(
                rule, f"{self.graphs.ranks} in {self.name}", "give a larger --shape or more --ranks-per-node"
            )

    def cases(self, _: Setting) -> list[None]:
        return [None]

    def predict(self, setting: Setting, _: None) -> tuple[Prediction, JsonObject]:
        found = setting.predict(self.graphs)
        return found, {"programs": self.name, "ranks": self.graphs.ranks, **about(setting), **found.members}


Subject = Union[CollectiveSubject, ProgramSets, GoalFile]


def read_goal(name: str) -> GoalFile:
    """The graphs of `goal:FILE`."""
    path = name.removeprefix(GOAL)
    return GoalFile(name, _goal.read(files.read_bytes(Path(path), "the GOAL file", LARGEST_FILE), path))


def about(setting: Setting) -> JsonObject:
    """Members of results of programs and graphs about their place."""
    job = setting.job
    return {} if job is None else {"machine": job.machine.name, "shape": simulation.shape_of(job.machine)}


def alone(ranks: Ranks) -> Ranks:
    """Without a machine a node has one rank unless more are asked for."""
    return replace(ranks, ranks_per_node=ranks.ranks_per_node or 1)
