"""What a report begins with: the library's violations, measured once, within its share of the time."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.text.errors import Failed, NotApplicable
from kumihimo.tune import library_report
from kumihimo.tune.launches import BudgetClock
from kumihimo.tune.mpi_library import NoTime
from kumihimo.tune.mpi_library.fingerprints import Setup
from kumihimo.tune.mpi_library.guidelines import Violation
from kumihimo.tune.mpi_library.measure import LibraryRow, LibraryTable

INSTALLATION = mpi.Installation("openmpi", Path("none"), Path("none"))


class Library:
    """Whose launches take 1 s each, and whose allreduce takes twice as long as reduce and bcast together."""

    def __init__(self) -> None:
        self.now, self.launched = 0.0, 0

    def measure(self, setup, known, reference, effort):
        setup.step("a launch")
        self.now += 1
        self.launched += 1
        times = {"allreduce": 4.0 + 0.01 * self.launched, "reduce+bcast": 2.0, "reduce": 1.0, "bcast": 1.0}
        return LibraryTable(
            setup.ranks, [LibraryRow(c, "default", s, (t,)) for s in setup.sizes for c, t in times.items()]
        )

    def study(self, budget, journal, step=lambda what: None):
        return library_report.LibraryStudy(
            INSTALLATION, [8, 64, 2**24], BudgetClock(budget, lambda: self.now), journal, step
        )

    def guidelines(self, budget, journal, ranks):
        report = library_report.LibraryReport()
        self.study(budget, journal).check_guidelines(ranks, report)
        return report

    def export(self, seconds, journal, folder, ranks=(2,)):
        report, study = library_report.LibraryReport(), self.study(seconds * len(ranks), journal)
        for place in range(len(ranks)):
            study.export(place, ranks, folder, seconds, report)
        return report


@pytest.fixture
def library(monkeypatch) -> Library:
    library = Library()
    monkeypatch.setattr(library_report, "measure", library.measure)
    return library


def test_violations_are_found_over_several_launches_and_kept(library, journal):
    report = library.guidelines(100, journal(), [2])
    assert [(v["left"], v["left_bytes"], v["right"]) for v in report.violations] == [
        ("allreduce", 8, "reduce+bcast"),
        ("allreduce", 64, "reduce+bcast"),
    ], "not at 16 MiB, which would take too long"
    assert report.violations[0]["ranks"] == 2
    assert 1.9 < report.violations[0]["low"] <= report.violations[0]["ratio"] < 2.1
    assert "allreduce of 8 takes" in report.violations[0]["text"]
    assert library.launched == 6
    assert report.lacking == []
    again = library.guidelines(100, journal(), [2])
    assert again == report
    assert library.launched == 6


def test_they_take_a_tenth_of_the_time(library, journal):
    report = library.guidelines(30, journal(), [2, 4])
    assert report.violations == []
    assert report.lacking == [
        "no time for the performance guidelines on 2 ranks; give a larger --budget",
        "no time for the performance guidelines on 4 ranks; give a larger --budget",
    ]
    assert library.now <= 30 * library_report.GUIDELINES_SHARE + 2


def test_a_library_that_cannot_be_told_is_said(library, journal, monkeypatch):
    def tune(setup, effort):
        raise NotApplicable("the MPI library does not name its algorithms")

    monkeypatch.setattr(library_report.library, "tune", tune)
    report = library.export(30, journal(), Path("unused"))
    assert report.undelivered == ["the MPI library does not name its algorithms"]
    assert report.lacking == [
        *report.undelivered,
        "no performance guidelines on 2 ranks: they need the measurements of --export",
    ]


def test_what_was_measured_is_said_though_nothing_can_be_written(library, journal, monkeypatch, tmp_path):
    violation = Violation("allreduce", 8, "reduce+bcast", 8, 2e-6, 1e-6, 2.0, 1.9, 2.1)

    class Results:
        violations = (violation,)
        setup = Setup(INSTALLATION, 2, (8, 64))

    def export(results, folder):
        raise NotApplicable("no decision is built into the library")

    monkeypatch.setattr(library_report.library, "tune", lambda setup, effort: Results)
    monkeypatch.setattr(library_report.library, "export", export)
    report = library.export(100, journal(), tmp_path)
    assert [found["text"] for found in report.violations] == [violation.line()]
    assert report.lacking == report.undelivered == ["no decision is built into the library"]


def test_launches_are_limited_by_the_share_and_remembered(library, journal, monkeypatch, tmp_path):
    asked = []

    def tune(setup, effort):
        asked.append((setup.left(), setup.memory))
        library.now += 30
        asked.append((setup.left(), setup.memory))
        raise NotApplicable("the number of ranks must be even")

    monkeypatch.setattr(library_report.library, "tune", tune)
    kept = journal()
    library.export(50, kept, tmp_path)
    assert asked == [(50.0, kept), (20.0, kept)]


def test_a_launch_that_fails_is_said_and_does_not_end_the_tuning(library, journal, monkeypatch):
    def measure(*_):
        raise Failed("rank 0 of kumihimo-bench-driver died of signal 9")

    monkeypatch.setattr(library_report, "measure", measure)
    report = library.guidelines(100, journal(), [2])
    assert report.lacking == ["rank 0 of kumihimo-bench-driver died of signal 9"]


def test_files_of_several_numbers_of_ranks_lie_apart(library, journal, monkeypatch, tmp_path):
    folders = []

    class Results:
        violations = ()
        setup = Setup(INSTALLATION, 2, (8, 64))

    class WrittenFile:
        path = tmp_path / "rules.conf"
        disobeyed = True

        @staticmethod
        def lines():
            return ["not obeyed"]

    def export(results, folder):
        folders.append(folder)
        return [WrittenFile] if len(folders) == 1 else []

    monkeypatch.setattr(library_report.library, "tune", lambda setup, effort: Results)
    monkeypatch.setattr(library_report.library, "export", export)
    report = library.export(15, journal(), tmp_path, (2, 4))
    assert folders == [tmp_path / "2-ranks", tmp_path / "4-ranks"]
    assert report.exports[0] == ["not obeyed"]
    assert report.disobeyed == [str(WrittenFile.path)]
    assert "default is best" in report.exports[1][0]
    assert report.lacking == report.undelivered == []


def test_sizes_that_there_was_no_time_for_are_said(library, journal, monkeypatch, tmp_path):
    class Results:
        violations = ()
        setup = Setup(INSTALLATION, 2, (64,))

    monkeypatch.setattr(library_report.library, "tune", lambda setup, effort: Results)
    monkeypatch.setattr(library_report.library, "export", lambda results, folder: [])
    report = library.export(15, journal(), tmp_path)
    assert report.lacking == ["--export on 2 ranks measured 1 of 2 sizes (64); give a larger --budget"]
    assert report.undelivered == []


def test_where_no_file_fits_the_least_budget_is_said_and_that_the_guidelines_lack(library, journal, monkeypatch):
    def tune(setup, effort):
        raise NoTime(27.0)

    monkeypatch.setattr(library_report.library, "tune", tune)
    report = library.export(15, journal(), Path("unused"), (4,))
    (why,) = report.undelivered
    assert why == "no time for --export on 4 ranks; give a --budget of about 60s (the same command continues)"
    assert report.lacking == [
        why,
        "no performance guidelines on 4 ranks: they need the measurements of --export",
    ]
