"""Traces of `kumihimo record --trace`, from the recorder's own files."""

from __future__ import annotations

from pathlib import Path

from kumihimo import _replay
from kumihimo.predict.replay import otf2_calls
from kumihimo.predict.replay.trace import Trace
from kumihimo.run.profile import reading, trace_folder
from kumihimo.run.profile.trace_folder import TraceJob
from kumihimo.text.errors import missing, wrong_value
from kumihimo.text.json_types import JsonObject

AGAIN = "record the program again, or copy the whole folder"
INITIALISING = ("MPI_Init", "MPI_Init_thread")


def is_recorded(path: Path) -> bool:
    """Whether the folder has files of the recorder, all or some."""
    return any((path / name).exists() for name in (trace_folder.EVENTS, trace_folder.PROFILE))


def read(folder: Path) -> Trace:
    profile = folder / trace_folder.PROFILE
    if not profile.exists():
        raise missing(str(profile), AGAIN)
    files = trace_folder.files_of(folder)
    with reading.explained(profile):
        job = trace_folder.job_of(folder, max(files, default=0) + 1)
        lacking = next((rank for rank in range(len(job.hosts)) if rank not in files), None)
        if lacking is not None:
            rule = f"the events of each rank must be in {folder / trace_folder.EVENTS}"
            raise wrong_value(rule, f"none of rank {lacking}", AGAIN)
        found = _replay.read_recorded([str(files[rank]) for rank in range(len(files))], *numbers(job))
    return Trace(
        found.recording, found.sites, found.regions, found.seconds, found.computing, dict(found.silent), found.events,
        job.crowded(), shared=found.shared, left_out=found.left_out,
        mpi=job.mpi,
    )  # fmt: skip


def numbers(job: TraceJob) -> tuple[list, ...]:
    """Meanings of the numbers in the events, as _replay.read_recorded takes it."""
    calls = [(number, name, name in INITIALISING, name in otf2_calls.LOCAL_SENDS) for number, name in job.names.items()]
    sites, regions = PlaceNumbers([""]), PlaceNumbers([])
    communicators: list[list[int] | None] = [None]
    places = {}
    for key, members in job.whole().items():
        if key[0] != trace_folder.WORLD:
            places[key] = len(communicators)
            communicators.append(members)
    ranks = []
    for rank in range(len(job.hosts)):
        own = []
        for key in job.communicators.get(rank, []):
            if key[0] == trace_folder.WORLD:
                own.append(0)
            elif key in places:
                own.append(places[key])
            else:  # all that one line makes stand for each other
                if key[:2] not in places:
                    places[key[:2]] = len(communicators)
                    communicators.append(None)
                own.append(places[key[:2]])
        of_rank = (
            [sites[name] for name in job.sites.get(rank, [])],
            [regions[name] for name in job.regions.get(rank, [])],
        )
        ranks.append((*of_rank, own))
    return calls, list(sites), list(regions), communicators, ranks


class PlaceNumbers(JsonObject):
    """The place of each name in the order in which they were met."""

    def __init__(self, names: list[str]) -> None:
        super().__init__({name: place for place, name in enumerate(names)})

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]
