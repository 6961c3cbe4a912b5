"""`kumihimo campaign`: the predictions of a campaign file, on all cores or ranks, into one database."""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Optional

from kumihimo.cli import campaign_points, options, output, progress
from kumihimo.cli.options import option
from kumihimo.cli.paths import WrittenWhole
from kumihimo.predict.campaign import description, measured, running
from kumihimo.predict.campaign.database import FAILED, NOT_APPLICABLE, OK, Database, key_of
from kumihimo.predict.campaign.description import Campaign, Point
from kumihimo.processes.package_files import folder
from kumihimo.text import odd_bytes
from kumihimo.text.errors import did_you_mean, errors_at, failed, wrong_value
from kumihimo.text.quantities import counted

Argument = options.argument("FILE", "Campaign file, or the name of one that comes with kumihimo.", Optional[str])


def command(
    name: Argument = None,
    out: options.written("--out -o FILE", "Database [default: NAME.sqlite in this folder].", WrittenWhole) = None,
    workers: option("--workers -j N", "Processes [default: one for each core].", int) = None,
    dry_run: option("--dry-run", "Print the points, without computing them.") = False,
    fresh: option("--fresh", "Compute finished points again, too.") = False,
    part: option("--part I/N", "Part I of N, from 0, in a database of its own: for a task of a job array.") = None,
    as_json: options.Json = False,
) -> int:
    """Compute all predictions of a campaign file, or those that are missing. Without FILE: list those that come with
    kumihimo.

    A run that was killed continues when it is started again. Under mpirun or srun, the ranks of the launch compute.
    Without --part, results of parts that were computed before are taken over.

    \b
    Examples:
    kumihimo campaign blue-waters
    mpirun -n 128 kumihimo campaign sweep.toml --out sweep.sqlite
    """
    if name is None:
        return list_shipped(as_json)
    if workers is not None and workers < 1:
        raise wrong_value("--workers must be at least 1", workers, "leave it out for one for each core")
    path = path_of(name)
    with errors_at(path.name, path.name):
        campaign = description.read(path, campaign_points.options())
        points = [(key_of(each, campaign.folder, folder("machines")), each) for each in campaign.points()]
    out = out or Path(f"{campaign.name}.sqlite")
    if part is not None:
        share = CampaignPart.parse(part)
        points, out = share.of(points), share.path(out)
    if dry_run:
        return show_points(campaign, points, as_json)
    asked = CampaignRequest(campaign, points, measured.read(campaign), out, fresh, workers or running.default_workers())
    if running.is_under_launcher():
        with running.ranks() as executor:
            return 0 if executor is None else run(replace(asked, ranks=executor), as_json)
    return run(asked, as_json)


@dataclass(frozen=True)
class CampaignPart:
    """Every `parts`-th point, from point number `index` on."""

    index: int
    parts: int

    @staticmethod
    def parse(text: str) -> CampaignPart:
        """I/N, as $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT has it."""
        found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text)
        index, parts = map(int, found.groups()) if found else (0, 0)
        if index >= parts:
            rule = "--part must be I/N with I from 0 to N - 1"
            raise wrong_value(rule, f"'{text}'", "write --part $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT")
        return CampaignPart(index, parts)

    def of(self, points: Sequence[tuple[str, Point]]) -> list[tuple[str, Point]]:
        """Points of one key stay together: they are computed once."""
        number = {key: at for at, key in enumerate(dict.fromkeys(key for key, _ in points))}
        return [(key, point) for key, point in points if number[key] % self.parts == self.index]

    def path(self, whole: Path) -> Path:
        return whole.with_name(f"{whole.stem}.part-{self.index}-of-{self.parts}{whole.suffix}")


def paths_of_parts(whole: Path) -> list[Path]:
    """The databases of parts beside that of the whole."""
    named = re.compile(rf"{re.escape(whole.stem)}\.part-\d+-of-\d+{re.escape(whole.suffix)}")
    return sorted(path for path in whole.parent.iterdir() if named.fullmatch(path.name))


def shipped() -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder("campaigns").glob("*.toml"))}


def path_of(name: str) -> Path:
    path = Path(name)
    known = shipped()
    if name in known and not path.exists():
        return known[name]
    if not path.exists():
        advice = did_you_mean(name, known, f"name a file, or one of {', '.join(known)}")
        raise wrong_value("the campaign must be a file or the name of one", odd_bytes.printable(name), advice)
    return path


def list_shipped(as_json: bool) -> int:
    every = [description.read(path, campaign_points.options()) for path in shipped().values()]
    rows = [(each.name, each.summary) for each in every]
    if as_json:
        output.print_json({"results": [{"name": a, "summary": b} for a, b in rows], **output.own_cost()})
    else:
        output.print_table("", ("campaign", "summary"), rows)
    return 0


def show_points(campaign: Campaign, points: Sequence[tuple[str, Point]], as_json: bool) -> int:
    if as_json:
        output.print_json({"results": [dict(point.values) for _, point in points], **output.own_cost()})
        return 0
    names = list(dict.fromkeys(name for _, point in points for name in point.values))
    rows = [[str(point.values.get(name, "")) for name in names] for _, point in points]
    output.print_table("", names, rows)
    different = len({key for key, _ in points})
    output.print_line(f"{campaign.name}: {counted(len(points), 'point')}, {counted(different, 'prediction')}")
    return 0


@dataclass(frozen=True)
class CampaignRequest:
    """The points of a campaign with their keys, their database, and the processes that compute them: those of `ranks`
    if that is given. `fresh`: finished points too."""

    campaign: Campaign
    points: Sequence[tuple[str, Point]]
    measured: Sequence[dict]
    out: Path
    fresh: bool
    workers: int
    ranks: Executor | None = None


def run(asked: CampaignRequest, as_json: bool) -> int:
    campaign = asked.campaign
    with Database(asked.out, new=True) as database:
        database.check_is_of(campaign)
        database.set_plan(campaign, asked.points, asked.measured)
        for path in paths_of_parts(asked.out):
            database.take_over(path, campaign)
        finished = set() if asked.fresh else database.finished()
        todo = {key: point for key, point in asked.points if key not in finished}
        words = [(key, description.words_of(campaign.options, point)) for key, point in todo.items()]
        with progress.Interruption() as interruption, progress.bar(campaign.name, len(words), lines=True) as advance:
            try:
                compute(asked, words, database, advance)
            except OSError as error:  # of a process that computes; what it had stored stays
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                    raise
                advice = "make space, and start it again to continue"
                raise failed("a file could not be written", error.strerror, advice) from None
        if interruption.code:
            left = database.counts().get("missing", 0)
            every = counted(len(asked.points), "point")
            output.message(f"interrupted; {left} of {every} are left, start it again to continue")
            return interruption.code
        return told(campaign, database, len(words), as_json)


def compute(
    asked: CampaignRequest, words: Sequence[tuple[str, list[str]]], database: Database, advance: Callable
) -> None:
    done = 0

    def store(ended: list[tuple[str, dict]]) -> None:
        nonlocal done
        database.add(ended)
        for _ in ended:
            done += 1
            advance(f"{10 * done // len(words) * 10} %")

    where = str(asked.campaign.folder)
    if asked.ranks is None:
        running.compute(words, where, campaign_points.predict, store, asked.workers)
    else:
        running.compute_on_ranks(asked.ranks, words, where, campaign_points.predict, store)


def told(campaign: Campaign, database: Database, computed: int, as_json: bool) -> int:
    """Prints the contents of the database and returns the exit code."""
    counts = database.counts()
    failures = database.failures()
    if as_json:
        output.print_json(
            {
                "campaign": campaign.name,
                "database": odd_bytes.printable(str(database.path)),
                "points": sum(counts.values()),
                "computed": computed,
                "ok": counts.get(OK, 0),
                "not_applicable": counts.get(NOT_APPLICABLE, 0),
                "failed": counts.get(FAILED, 0),
                **output.own_cost(),
            }
        )
        return 1 if failures else 0
    others = [f"{number} {status}" for status, number in counts.items() if status != OK]
    text = f"{campaign.name}: {counted(sum(counts.values()), 'point')}"
    output.print_line(f"{text}{', of which ' if others else ''}{', '.join(others)}; {computed} computed now")
    output.print_list("Failed:", [f"point {place}: {error}" for error, place in list(failures.items())[:5]])
    output.print_line(f"in {odd_bytes.printable(str(database.path))}; see kumihimo campaign show")
    return 1 if failures else 0
