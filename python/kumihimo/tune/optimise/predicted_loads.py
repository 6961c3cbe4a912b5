"""The bytes that each link of a testbed carries in a run of a program, as its recording predicts them: its messages,
and those of the algorithms of its collectives, on the routes of the testbed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kumihimo import _machine, _mapping, _placement, _replay
from kumihimo.mapping import traced
from kumihimo.predict.replay import outcome, recorded_reading
from kumihimo.predict.replay.choices import USUAL, Ground, Wished, calls_of, chosen_or_usual
from kumihimo.predict.replay.trace import Trace
from kumihimo.run.profile import trace_folder
from kumihimo.testbed.testbeds import TestbedPlan
from kumihimo.text.errors import KumihimoError, NotApplicable


def begin(folder: Path) -> Path:
    """The folder for the events of a recording, in place of an earlier one."""
    shutil.rmtree(folder, ignore_errors=True)
    return trace_folder.prepared(folder)


class RecordedLoads:
    """Predictions from one recording, by each set of choices. Raises KumihimoError where it cannot tell."""

    def __init__(self, folder: Path, plan: TestbedPlan) -> None:
        self._machine = plan.described
        self._trace = recorded_reading.read(folder)
        if gaps := outcome.of_gaps(self._trace):
            raise NotApplicable(gaps[0].removesuffix("."))
        places = {plan.wiring.name(node): node for node in range(plan.wiring.nodes)}
        nodes = nodes_of(trace_folder.job_of(folder, 0).hosts, places)
        sizes = [nodes.count(node) for node in range(self._machine.nodes)]
        self._job = _machine.Job.with_node_sizes(self._machine, sizes)
        self._placement = _placement.Placement.on_nodes(self._job.slots, nodes)

    def by(self, choices: Sequence[dict[str, Any]]) -> list[float]:
        """Bytes of each link, in the order of Machine.links. Calls without a choice are the MPI library's."""
        space, nodes = self._job.rank_space_of(self._placement), self._placement.node_of_rank
        sends = sends_of(self._trace, choices, Ground(space, self._machine, self._trace.mpi, nodes))
        loads = _mapping.link_loads(traced.builder_of(sends).build(), self._job, self._placement)
        return [float(loads[row[0]]) for row in self._machine.links]


def nodes_of(hosts: Sequence[str], places: Mapping[str, int]) -> list[int]:
    """The node of each rank."""
    if unknown := next((host for host in hosts if host not in places), None):
        raise NotApplicable(f"the recording is of another host, {unknown}")
    return [places[host] for host in hosts]


def sends_of(trace: Trace, choices: Sequence[dict[str, Any]], ground: Ground) -> _replay.ProgramSends:
    assert trace.recording is not None  # a GOAL file is no recording of `optimise`
    wished = Wished({}, [each for each in choices if each.get("collective") in USUAL])
    chosen = [(*chosen_or_usual(wished, call, ground), 0.0) for call in calls_of(trace.recording, ground)]
    return _replay.ProgramSends(trace.recording, chosen, ground.space)


def both(folder: Path, plan: TestbedPlan, choices: Sequence[dict[str, Any]]) -> tuple[list[float], list[float]] | str:
    """In a run without the choices, and in one with them; or why they are not known."""
    try:
        loads = RecordedLoads(folder, plan)
        return loads.by(()), loads.by(choices)
    except KumihimoError as error:
        return error.problem
