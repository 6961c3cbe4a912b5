"""Predictions: what a model says of a subject, on a job or without one, and what disturbs it (ADR 55)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Union

from kumihimo import _machine, _packet, _placement, _predict, _topology
from kumihimo.network.placement import Placed
from kumihimo.predict import prediction_errors
from kumihimo.predict.faults import NamedDeath
from kumihimo.predict.noise import NamedNoise
from kumihimo.text.json_types import JsonObject

if TYPE_CHECKING:
    from kumihimo import _goal, _programs, _replay

    Subject = Union[_predict.CollectiveCase, _programs.NamedPrograms, _goal.Graphs, _replay.Program]


@dataclass(frozen=True)
class Setting:
    """All of a question but its subject, which all predictions of a command share."""

    model: str = "flow"
    job: _machine.Job | None = None  # None: no machine, in models that need none
    placed: Placed | None = None  # None: in block order
    simd: bool = True
    noise: NamedNoise | None = None
    deaths: tuple[NamedDeath, ...] = ()
    background: _packet.Background | None = None
    has_slow_parts: bool = False  # of --slow, beside those of the machine
    space: _topology.RankSpace | None = None  # of ranks without a job
    ranks_per_node: int = 1  # the same
    options: Mapping[str, object] = field(default_factory=dict)  # of _predict.Options

    @property
    def machine(self) -> _machine.Machine | None:
        return None if self.job is None else self.job.machine

    @property
    def errors(self) -> _machine.PredictionErrors | None:
        """How far measured times are from such predictions; None: no calibration has judged them."""
        is_disturbed = self.noise or self.deaths or self.background or self.has_slow_parts
        if self.machine is None or is_disturbed or self.model not in prediction_errors.MODELS:
            return None
        return self.machine.prediction_errors

    @property
    def placement(self) -> _placement.Placement | None:
        return None if self.placed is None else self.placed.placement

    @property
    def nodes(self) -> int:
        """Nodes of the job that have ranks."""
        return self.known_job.slots.nodes if self.placement is None else len(set(self.placement.node_of_rank))

    @property
    def known_job(self) -> _machine.Job:
        """The job, in models that need a machine."""
        assert self.job is not None, f"the model {self.model} needs a machine"
        return self.job

    @property
    def ranks(self) -> _topology.RankSpace:
        """As a collective's ranks see their network."""
        if self.job is None:
            assert self.space is not None, "ranks need a job or a space"
            return self.space
        return self.job.rank_space_of(self.placed.placement) if self.placed else self.job.rank_space

    @property
    def place(self) -> _predict.Place:
        space = self.ranks if self.job is not None or self.space is not None else None
        return _predict.Place(self.job, self.placement, space, self.ranks_per_node, not self.simd)

    @property
    def native_options(self) -> _predict.Options:
        made = _predict.Options()
        for name, value in self.options.items():
            setattr(made, name, value)
        return made

    def predict(self, subject: Subject) -> Prediction:
        """`subject`: a _predict.CollectiveCase, a set of programs, graphs of operations or a recorded program. Raises
        NotApplicable where an algorithm does not fit."""
        deaths = [(each.node, each.seconds, each.share or 0.0) for each in self.deaths]
        noise = None if self.noise is None else self.noise.model
        disturbance = _predict.Disturbance(noise, deaths, self.background or _packet.Background())
        started = time.perf_counter()
        found = _predict.predict(self.model, subject, self.place, disturbance, self.native_options)
        members = json.loads(found.to_json())
        if self.noise is not None:
            members["noise"] = self.noise.text
        members["wall_seconds"] = time.perf_counter() - started
        return Prediction(found, members)


@dataclass(frozen=True)
class Prediction:
    """`members`: as results have them (`kumihimo/schemas/prediction.schema.json`). `native` has what they leave out:
    times of a recording, timelines, use of links over time."""

    native: _predict.Prediction
    members: JsonObject

    @property
    def seconds(self) -> float:
        return self.native.seconds

    @property
    def times(self) -> _replay.Times:
        """Times of a recording."""
        assert self.native.times is not None, "the subject is a recording"
        return self.native.times
