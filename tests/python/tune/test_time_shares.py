"""How the time is divided with --export, by a clock of its own: our search within its half, the library's own
algorithms with the rest, and nothing unused that something lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.text.errors import NotApplicable
from kumihimo.tune import library_report, time_shares
from kumihimo.tune.targets import Target

SIZES = [2**e for e in range(3, 21)]
FOLDER = Path("unused")


class Parts:
    """`takes`: seconds of what is measured for a file, of each number of ranks."""

    def __init__(self, monkeypatch, fake, budget, takes):
        self.work = fake.tuner(budget)
        self.clock = self.work.launches.clock
        self.asked: list[tuple[int, float, float]] = []  # ranks, when, with how many seconds
        installation = mpi.Installation("openmpi", Path("none"), Path("none"))
        self.study = library_report.LibraryStudy(installation, SIZES, self.clock, self.work.journal, lambda what: None)
        self.report = library_report.LibraryReport()

        def tune(setup, effort):
            self.asked.append((setup.ranks, self.clock.spent, setup.left()))
            fake.time += min(takes, setup.left())
            raise NotApplicable("the number of ranks must be even")

        monkeypatch.setattr(library_report.library, "tune", tune)

    def outcomes(self, targets, export=FOLDER):
        return list(time_shares.outcomes(self.work, self.study, targets, export, self.report))


@pytest.mark.parametrize("budget", [25, 50, 100, 300])
def test_our_own_search_has_at_most_half_and_the_export_the_rest(fake, monkeypatch, budget):
    run = Parts(monkeypatch, fake, budget, takes=1000)
    run.outcomes([Target("allreduce", 2), Target("bcast", 2)])
    ((ranks, when, seconds),) = run.asked
    assert ranks == 2
    assert when <= budget / 2 + 1
    assert seconds == pytest.approx(budget - when)
    assert fake.time <= budget + 1


def test_each_number_of_ranks_has_an_equal_part_of_what_is_left(fake, monkeypatch):
    run = Parts(monkeypatch, fake, 90, takes=1000)
    run.outcomes([Target("allreduce", ranks) for ranks in (2, 3, 4)])
    assert [ranks for ranks, _, _ in run.asked] == [2, 3, 4]
    for place, (_, when, seconds) in enumerate(run.asked):
        assert when <= 30 * place + 15 + 1
        assert when + seconds == pytest.approx(30 * (place + 1), abs=1.5)
    assert fake.time <= 91


def test_what_the_export_leaves_goes_to_what_our_own_search_lacked(fake, monkeypatch):
    targets = [Target(name, 2) for name in ("allreduce", "bcast", "reduce")]
    short = Parts(monkeypatch, fake, 30, takes=1000).outcomes(targets)
    assert any(outcome.left for outcome in short)
    before = fake.time
    run = Parts(monkeypatch, fake, 30, takes=1)
    found = run.outcomes(targets)
    later = {outcome.target: outcome for outcome in found}  # in place of the earlier
    assert len(found) > len(targets)
    assert sum(len(o.left) for o in later.values()) < sum(len(o.left) for o in short)
    assert fake.time - before <= 31


def test_after_an_interruption_nothing_more_is_measured(fake, monkeypatch):
    fake.interrupt_at = 3
    run = Parts(monkeypatch, fake, 100, takes=1)
    run.outcomes([Target("allreduce", 2), Target("allreduce", 4)])
    assert run.asked == []


def test_without_it_the_guidelines_come_first_and_all_the_rest_is_our_own(fake, monkeypatch):
    run = Parts(monkeypatch, fake, 300, takes=1)
    monkeypatch.setattr(library_report, "measure", lambda *_: pytest.fail("no time for --export is asked for"))
    monkeypatch.setattr(library_report.LibraryStudy, "violations", lambda self, setup: [])
    (outcome,) = run.outcomes([Target("allreduce", 2)], None)
    assert outcome.whole and run.asked == []
