"""The exchanges of fft3d between leaders of groups (src/numerics/distributed_fft/leader_exchange.cpp). A leader sends
one message to each other leader, with the blocks of all pairs of ranks of both groups."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from kumihimo import _collectives, _machine, _predict, _schedule
from kumihimo.app.fft_question import FftQuestion
from kumihimo.app.plane_waves import parts
from kumihimo.collectives import arguments
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import wrong_value

MOST_LEADERS = 1024  # whose table of messages has a million entries
POINT_NUMBERS = 2  # doubles
Sums = dict[int, int]  # points by the row or the column of ranks


@dataclass(frozen=True)
class LeaderExchanges:
    asked: FftQuestion
    job: _machine.Job

    @cached_property
    def group_sizes(self) -> list[list[int]]:
        """Sizes of the groups of each node: `group` ranks, the last one the rest."""
        left = self.job.rank_space.ranks
        found = []
        for slots in self.job.slots.sizes:
            ranks = min(slots, left)
            left -= ranks
            most = self.asked.group or max(1, ranks)
            if ranks:
                found.append([most] * (ranks // most) + [ranks % most] * (ranks % most > 0))
        return found

    @cached_property
    def groups(self) -> list[range]:
        """The ranks of each group."""
        found, first = [], 0
        for size in (size for node in self.group_sizes for size in node):
            found.append(range(first, first + size))
            first += size
        return found

    def check(self) -> None:
        if len(self.groups) > MOST_LEADERS:
            rule = f"a prediction through leaders has at most {MOST_LEADERS} groups"
            raise wrong_value(rule, len(self.groups), "use larger groups or fewer nodes")

    @cached_property
    def job_of_leaders(self) -> _machine.Job:
        """On the same nodes, with one rank for each group."""
        of_nodes = [len(node) for node in self.group_sizes]
        idle = [0] * (self.job.slots.nodes - len(of_nodes))
        if not idle and len(set(of_nodes)) == 1:
            return _machine.Job.with_ranks_per_node(self.job.machine, of_nodes[0])
        return _machine.Job.with_node_sizes(self.job.machine, of_nodes + idle)

    @cached_property
    def points(self) -> list[list[int]]:
        """After each stage, of one band from each group to each other one, row by row of the table; none within a
        group."""
        return [self._points(stage) for stage in range(1 if self.asked.sphere else 2)]

    def _points(self, stage: int) -> list[int]:
        sent = [self._of_group(stage, group, 0) for group in self.groups]
        received = [self._of_group(stage, group, 1) for group in self.groups]
        return [
            0 if source == target else sum(points * received[target].get(line, 0) for line, points in own.items())
            for source, own in enumerate(sent)
            for target in range(len(self.groups))
        ]

    def _of_group(self, stage: int, group: range, side: int) -> Sums:
        """Ranks of one row, or of one column, exchange a product: of what the sender and what the receiver has. The
        factor that both share is the sender's."""
        asked, ranks = self.asked, self.job.rank_space.ranks
        nx, ny, nz = asked.spectrum
        found: Sums = defaultdict(int)
        if asked.sphere:
            of_rank = (self._columns, parts(nz, ranks))[side]
            for rank in group:
                found[0] += of_rank[rank]
            return found
        rows, columns = asked.grid(ranks)
        x, z = parts(nx, rows), parts(nz, columns)
        y_of_row, y_of_column = parts(ny, rows), parts(ny, columns)
        for rank in group:
            row, column = divmod(rank, columns)
            if stage == 0:  # lines along z to lines along y
                found[row] += z[column] if side else x[row] * y_of_column[column]
            else:
                found[column] += y_of_row[row] if side else x[row] * z[column]
        return found

    @cached_property
    def _columns(self) -> list[int]:
        return self.asked.sphere.columns_of_ranks(self.job.rank_space.ranks) if self.asked.sphere else []

    def bytes_sent(self) -> float:
        """Bytes that all leaders send for one band."""
        return self.asked.point_bytes * float(sum(map(sum, self.points)))

    def seconds(self, stage: int, bands: int, model: str) -> float:
        leaders = len(self.groups)
        counts = [POINT_NUMBERS * bands * points for points in self.points[stage]]
        if leaders == 1 or not any(counts):
            return 0.0
        variant = _collectives.find("alltoall", self.asked.exchange)
        longest = _schedule.Collective("alltoall", leaders, max(counts), self.asked.wire)
        collective = longest if variant.equal_counts else longest.with_counts(counts)
        given = arguments.parameters(**self.asked.windows)
        subject = _predict.CollectiveCase(collective, variant, given)
        return Setting(model, self.job_of_leaders).predict(subject).seconds
