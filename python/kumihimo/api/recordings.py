"""`profile` and `campaign`: what `kumihimo record` and `kumihimo campaign` wrote, as tables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kumihimo.predict.campaign.database import Database
from kumihimo.run.profile import summary, totals
from kumihimo.text.records import ResultRecord, frame_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ProfileSummary(ResultRecord):
    """A profile summed up over its ranks; seconds are of all ranks together."""

    mpi: str
    ranks: int
    ranks_recorded: int
    seconds: float
    mpi_seconds: float
    notes: tuple[str, ...]  # what the profile lacks
    members: Mapping[str, Any] = field(repr=False, compare=False)
    _totals: totals.Totals = field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As `kumihimo record --json` has it."""
        return dict(self.members)

    def to_frame(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each call site. Raises Failed where pandas is not installed."""
        return frame_of(self.members["calls"])

    def text(self) -> str:
        """The summary that `kumihimo record` shows."""
        return "\n".join(summary.lines(self._totals))


def profile(path: str | os.PathLike[str]) -> ProfileSummary:
    """Read a profile of `kumihimo record`. Raises BadInput where it is none."""
    found = totals.of(Path(path))
    members = summary.as_object(found)
    return ProfileSummary(
        members["mpi"],
        members["ranks"],
        members["ranks_recorded"],
        members["seconds"],
        members["mpi_seconds"],
        tuple(members["notes"]),
        members,
        found,
    )


@dataclass(frozen=True)
class CampaignResults:
    """The points of a campaign with their results."""

    name: str
    summary: str
    rows: tuple[Mapping[str, Any], ...] = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "summary": self.summary, "results": [dict(row) for row in self.rows]}

    def to_frame(self) -> pandas.DataFrame:
        """A pandas.DataFrame with a row for each point. Raises Failed where pandas is not installed."""
        return frame_of(self.rows)


def campaign(path: str | os.PathLike[str]) -> CampaignResults:
    """Read the database that `kumihimo campaign` made. Raises BadInput where it is none."""
    with Database(Path(path), new=False) as database:
        about = database.about()
        return CampaignResults(about.get("name", ""), about.get("summary", ""), tuple(database.rows()))


__all__ = ["CampaignResults", "ProfileSummary", "campaign", "profile"]
