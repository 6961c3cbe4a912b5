"""From samples and the command that started the program to a verdict and a proposal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kumihimo.processes import launch_lines
from kumihimo.run import preload
from kumihimo.run.binding import judge, proposal, report
from kumihimo.run.binding.judge import BindingVerdict
from kumihimo.run.binding.proposal import BindingProposal
from kumihimo.run.binding.samples import BindingSamples
from kumihimo.text.json_types import JsonObject


@dataclass(frozen=True)
class BindingFinding:
    """`command`: with the proposal in it; empty if no launcher takes it."""

    samples: BindingSamples
    verdict: BindingVerdict
    proposed: BindingProposal | None
    command: tuple[str, ...]

    def as_object(self) -> JsonObject:
        return report.as_object(self.samples, self.verdict, self.proposed, self.command)

    def faults_as_object(self) -> JsonObject:
        """Without the threads, which a profile has."""
        whole = self.as_object()
        return {name: whole[name] for name in ("ranks_sampled", "faults", "notes", "proposal")}

    def table(self) -> list[str]:
        nodes = [report.node_line(node) for node in self.samples.nodes]
        missing = self.samples.ranks_of_job - len(self.samples.ranks)
        unseen = [f"{missing} of {self.samples.ranks_of_job} ranks were not looked at"] if missing > 0 else []
        return [*nodes, *report.table(self.samples), *self.verdict.notes, *unseen]

    def fault_lines(self) -> list[str]:
        return [*report.fault_lines(self.verdict), *report.proposal_lines(self.proposed, self.command)]


def finding(samples: BindingSamples, command: Sequence[str], launcher: str | None = None) -> BindingFinding:
    """`launcher`: of a profile whose command is not known; None: that of the command."""
    found = judge.verdict(samples)
    if launcher is None:
        launcher = launcher_of(command) if found.faults else ""
    proposed = proposal.proposal(samples, found.faults, launcher)
    mended: list[str] = []
    if proposed is not None:
        mended = proposal.mended(command or proposal.usual_command(launcher), proposed)
    return BindingFinding(samples, found, proposed, tuple(mended) if mended != list(command) else ())


def launcher_of(command: Sequence[str]) -> str:
    """Kind of launcher whose options the command's launcher takes; empty if it is not known."""
    for words in launch_lines.chain(command):
        name = Path(words[0]).name
        if name == launch_lines.SRUN:
            return proposal.SRUN
        if name.startswith(launch_lines.MPI_LAUNCHERS):
            return preload.family_of(Path(shutil.which(words[0]) or words[0])) or ""
    return ""
