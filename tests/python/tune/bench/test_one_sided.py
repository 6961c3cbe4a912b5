"""One-sided measurements without processes: joined launches, crashes, formats of other tools, published figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.processes.mpi import Installation
from kumihimo.text.errors import Failed, NotApplicable, OutOfTime
from kumihimo.tune.bench import one_sided
from kumihimo.tune.bench.one_sided import formats, launches, libraries, published
from kumihimo.tune.bench.one_sided.launches import Contestant

INSTALLATION = Installation("openmpi", Path("/opt/mpi/bin/mpirun"), Path("/opt/mpi/lib/libmpi.so.40"))
TASK = {"measured": ["put", "compare_and_swap", "barrier"], "sizes": [8]}


def contestant(backend: str = "shmem") -> Contestant:
    return Contestant(backend, "openmpi", INSTALLATION, libraries.FoundLibrary("liboshmem.so.40"))


def case(measure: str, place: str = "node") -> dict:
    return {"backend": "shmem", "place": place, "measure": measure, "bytes": 8, "ranks": 2}


def result(measure: str, seconds: float, **more: object) -> dict:
    times = {"seconds": seconds, "interval_low": seconds / 2, "interval_high": seconds * 2, "samples": 9}
    return {**case(measure), **times, "right": True, **more}


class Driver:
    """Stands for the bench driver: each launch says the next of `scripts`, whose last item may be an error."""

    def __init__(self, *scripts: list) -> None:
        self.scripts, self.asked = list(scripts), []

    def __call__(self, task: dict, installation: object, launcher: object, take) -> None:
        self.asked.append(task)
        for said in self.scripts.pop(0):
            if isinstance(said, Exception):
                raise said
            take(said)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch):
    def made(*scripts: list) -> Driver:
        stand_in = Driver(*scripts)
        monkeypatch.setattr(launches, "start", stand_in)
        return stand_in

    return made


def measured(times: int = 1, *contestants: Contestant) -> launches.Measurements:
    return launches.measure(contestants or [contestant()], TASK, 2, times, 60, lambda what: None)


def test_a_crash_after_the_results_keeps_them(driver):
    driver([{"about": {"ranks": 2}}, result("put", 1e-6), {"ending": "shmem_finalize"}, Failed("rank 1 died")])
    found = measured()
    assert [row["measure"] for row in found.results] == ["put"] and found.results[0]["right"]
    (note,) = found.notes
    assert "crashed in shmem_finalize after all results, which are kept" in note and "11604" in note


def test_a_crash_names_its_measure_and_the_others_are_measured(driver):
    stand_in = driver(
        [result("put", 1e-6), {"begins": case("compare_and_swap")}, Failed("rank 1 died of SIGSEGV")],
        [result("put", 9e-6), result("barrier", 2e-6)],
    )
    rows = {row["measure"]: row for row in measured().results}
    assert rows["compare_and_swap"]["crashed"] == "rank 1 died of SIGSEGV" and "seconds" not in rows["compare_and_swap"]
    assert rows["put"]["seconds"] == 1e-6, "measured before the crash"
    assert rows["barrier"]["seconds"] == 2e-6
    assert stand_in.asked[1]["measured"] == ["put", "barrier"]


def test_a_crash_before_the_first_measure_is_tried_again(driver):
    driver([Failed("rank 0 died")], [result("put", 1e-6)])
    assert len(measured().results) == 1
    driver(*[[Failed("rank 0 died")]] * launches.LAST_CRASH)
    with pytest.raises(Failed, match="rank 0 died"):
        measured()


def test_a_time_limit_is_not_tried_again(driver):
    stand_in = driver([result("put", 1e-6), {"begins": case("barrier")}, OutOfTime("too long")])
    with pytest.raises(OutOfTime):
        measured()
    assert len(stand_in.asked) == 1


def test_what_does_not_fit_is_left_out_with_its_reason(driver):
    driver([NotApplicable("no network of this build has remote memory of its own")], [result("put", 1e-6)])
    found = measured(1, contestant("own"), contestant("shmem"))
    assert found.left_out == [
        {"library": "own", "mpi": "openmpi", "reason": "no network of this build has remote memory of its own"}
    ]
    assert [row["library"] for row in found.results] == ["shmem"]


def test_launches_are_joined_by_their_medians(driver):
    times = [3e-6, 1e-6, 2e-6, 5e-6, 4e-6, 6e-6]
    driver(*[[result("put", seconds, bytes_per_second=8 / seconds)] for seconds in times])
    (row,) = measured(6).results
    assert row["seconds"] == pytest.approx(3.5e-6) and row["launches"] == 6 and row["samples"] == 54
    assert (row["low"], row["high"]) == (1e-6, 6e-6), "the interval of 6 launches is from the least to the most"
    assert row["seconds_of_launches"] == times


def test_few_launches_have_no_interval(driver):
    driver([result("put", 1e-6)], [result("put", 2e-6)])
    (row,) = measured(2).results
    assert row["low"] is None and row["high"] is None
    driver([result("put", 1e-6)])
    (row,) = measured(1).results
    assert (row["low"], row["high"]) == (0.5e-6, 2e-6), "of one launch the interval of its samples"


def test_a_wrong_result_of_any_launch_is_wrong(driver):
    driver([result("put", 1e-6)], [result("put", 1e-6, right=False, found="rank 1 found a wrong value at 7")])
    (row,) = measured(2).results
    assert row["right"] is False and row["found"].startswith("rank 1")


def test_contestants_take_turns(driver):
    stand_in = driver(*[[result("put", 1e-6)]] * 4)
    measured(2, contestant("mpi"), contestant("shmem"))
    assert [task["backend"] for task in stand_in.asked] == ["mpi", "shmem", "shmem", "mpi"]


# --- formats


def row_of(library: str, measure: str, **more: object) -> dict:
    usual = {"library": library, "mpi": "openmpi", "place": "node", "measure": measure, "bytes": 8, "seconds": 1.25e-6}
    return {**usual, **more}


def test_latencies_have_the_columns_of_osu():
    text = formats.as_osu([row_of("mpi", "put_quiet", window_kind="allocate", synchronisation="flush")])
    assert text.splitlines() == [
        "# OSU MPI_Put Latency Test",
        "# Window creation: MPI_Win_allocate",
        "# Synchronization: MPI_Win_flush",
        "# Kumihimo: openmpi, node; medians",
        "# Size          Latency (us)",
        "8                       1.25",
    ]


def test_other_programs_of_osu():
    rows = [
        row_of("shmem", "put_rate", messages_per_second=55555555.5),
        row_of("shmem", "fetch_add", seconds=5e-8),
        row_of("shmem", "barrier", seconds=5.4e-7),
        row_of("mpi", "put_bandwidth", window_kind="create", synchronisation="pscw", bytes_per_second=4.2e10),
        row_of("shmem", "fence"),  # OSU has no program for it
    ]
    blocks = formats.as_osu(rows).split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == [
        "# OSU OpenSHMEM Put Message Rate Test",
        "# OSU OpenSHMEM Atomic Operation Rate Test",
        "# OSU OpenSHMEM Barrier Latency Test",
        "# OSU MPI_Put Bandwidth Test",
    ]
    assert blocks[0].splitlines()[-2:] == ["# Size            Messages/s", "8                55555555.50"]
    assert blocks[1].splitlines()[-2:] == [
        "# Operation              Million ops/s      Latency (us)",
        "shmem_long_fadd                  20.00              0.05",
    ]
    assert blocks[2].splitlines()[-2:] == ["# Avg Latency(us)", "             0.54"]
    assert blocks[3].splitlines()[-1] == "8                   42000.00"


def test_every_program_of_osu_is_of_a_measure():
    assert {measure for _, measure in formats.PROGRAMS} <= set(one_sided.MEASURES)
    assert {kind for _, kind in formats.PROGRAMS.values()} == set(formats.COLUMNS)


def test_csv_has_what_was_measured():
    text = formats.as_csv([row_of("mpi", "get", right=True), {**case("swap"), "not_applicable": "no swap"}])
    head, *rows = text.splitlines()
    assert head.split(",") == list(formats.CSV_COLUMNS) and len(rows) == 1


# --- published


def test_published_rows_stand_beside_the_same_measure():
    ours = [row_of("shmem", "put", bytes=4, ranks=2), row_of("shmem", "put_quiet", bytes=4, ranks=2)]
    beside = {(row["language"], row["measure"], row["place"]): row for row in published.beside(ours)}
    assert [one["library"] for one in beside["OpenSHMEM", "put", "node"]["ours"]] == ["shmem"]
    upc = beside["UPC", "put_quiet", "node"]
    assert upc["note"] == "includes a fence" and len(upc["ours"]) == 1
    assert beside["OpenSHMEM", "put", "network"]["ours"] == []
    assert {row.measure for row in published.ROWS} <= set(one_sided.MEASURES)


# --- libraries


def test_libraries_that_are_not_here(tmp_path, monkeypatch):
    monkeypatch.setattr(libraries.shutil, "which", lambda name: None)
    asked = libraries.Asked(tmp_path)
    assert libraries.find("shmem", INSTALLATION, asked, 1024).startswith(
        "there is no OpenSHMEM library beside /opt/mpi"
    )
    assert "libcoarrays-openmpi-dev" in libraries.find("coarrays", INSTALLATION, asked, 1024)


def test_a_compiler_that_fails(tmp_path):
    caf = tmp_path / "caf"
    caf.write_text("#!/bin/sh\necho 'caf: Error: gfortran: command not found' >&2\nexit 1\n")
    caf.chmod(0o755)
    reason = libraries.find("coarrays", INSTALLATION, libraries.Asked(tmp_path, caf=str(caf)), 1024)
    assert reason.startswith(f"{caf} did not compile the coarrays: caf: Error: gfortran: command not found; install")


def test_coarrays_of_another_mpi_library(tmp_path):
    caf = tmp_path / "caf"
    caf.write_text('#!/bin/sh\nfor last; do :; done\necho libmpich.so.12 > "$last"\n')
    caf.chmod(0o755)
    reason = libraries.find("coarrays", INSTALLATION, libraries.Asked(tmp_path, caf=str(caf)), 1024)
    assert "compiles coarrays for another MPI library than /opt/mpi/lib/libmpi.so.40" in reason


def test_the_tables_are_those_of_the_bench_driver(repository):
    text = (repository / "src/run/one_sided/task.hpp").read_text()
    names = [line.split('"')[1] for line in text.splitlines() if line.strip().startswith('{"')]
    assert sorted(names) == sorted(one_sided.MEASURES)
    backends = (repository / "src/run/one_sided/backends.def").read_text()
    assert all(f"KUMIHIMO_ONE_SIDED({name})" in backends for name in libraries.ROWS)
