"""Asserts against what `record`, `app` and `bench` found: which rows they mean, what they compare, what is told."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kumihimo.keep import assertions, checks, observed, outputs
from kumihimo.keep.assertions import PerformanceAssert
from kumihimo.keep.checks import UNREADABLE, AssertVerdict, References
from kumihimo.keep.judge import CANNOT_TELL, MET, MISSED


def recording(seconds: float = 1.0) -> dict:
    """A summary of `record`: 4 ranks on 2 nodes, a region of 20 passages, and one call site."""
    region = {"name": "solve", "seconds": 80 * seconds, "mpi_seconds": 20 * seconds, "waiting_seconds": 8 * seconds}
    region |= {"passages": 80, "max_seconds": 3 * seconds, "file": "solver.c", "line": 41, "expectation": None}
    region |= {"passage_seconds": [seconds * (1 + 0.001 * (i % 5)) for i in range(20)]}
    call = {"call": "MPI_Allreduce", "file": "/src/solver.c", "line": 50, "calls": 100, "seconds": 2 * seconds}
    call |= {"split_seconds": 2 * seconds, "waiting_seconds": 0.5 * seconds}
    tasks = [{"rank": r, "host": f"n{r // 2}", "seconds": 21 * seconds, "mpi_seconds": 5 * seconds} for r in range(4)]
    return {"tasks": tasks, "seconds": 84 * seconds, "mpi_seconds": 20 * seconds, "calls": [call], "regions": [region]}


RUNS = [recording(1 + 0.01 * (i % 3)) for i in range(8)]


def on(subject: str, name: str, text: str) -> PerformanceAssert:
    return assertions.parse(text).on(subject, name, "a test")


def verdict(
    subject: str, name: str, text: str, runs: list[dict] = RUNS, references: References | None = None
) -> AssertVerdict:
    rows = observed.rows_of_recordings(runs)
    (found,) = checks.verdicts([on(subject, name, text)], rows, references or References())
    return found


# What holds of the eight runs: a passage takes 1.0 to 1.024 s.
OF_RECORDINGS = [
    ("region", "solve", "seconds <= 1.1", MET),
    ("region", "solve", "seconds <= 0.9", MISSED),
    ("region", "solve", "seconds <= 1.012", CANNOT_TELL),
    ("region", "solve", "seconds <= 2 in all passages", MISSED),
    ("region", "solve", "seconds <= 4 in all passages", MET),
    ("region", "so*", "seconds <= 1.03 in 90 % of passages", MET),
    ("region", "solve", "bytes 1e9 rate >= 9e8", MET),
    ("region", "solve", "bytes 1e9 rate >= 1.1e9", MISSED),
    ("region", "solve", "bytes 1e9 share >= 0.5 of 1.9e9", MET),
    ("region", "solve", "bytes 1e9 share >= 0.5 of 2.1e9", MISSED),
    ("region", "solve", "mpi <= 30 %", MET),
    ("region", "solve", "mpi <= 20 %", MISSED),
    ("region", "solve", "waiting <= 11 %", MET),
    ("region", "solve", "waiting <= 9 %", MISSED),
    ("whole", "", "seconds <= 25", MET),
    ("whole", "", "waiting <= 0.1 %", MISSED),
    ("call", "MPI_Allreduce", "seconds <= 21 ms", MET),
    ("call", "MPI_Allreduce", "waiting <= 20 %", MISSED),
    ("site", "solver.c:50", "seconds <= 19 ms", MISSED),
]


@pytest.mark.parametrize(("subject", "name", "text", "wanted"), OF_RECORDINGS)
def test_of_recordings(subject: str, name: str, text: str, wanted: str) -> None:
    found = verdict(subject, name, text)
    assert found.verdict == wanted, found.sentence
    assert (found.ratio.low > 1) == (wanted == MISSED) and (found.ratio.high <= 1) == (wanted == MET)
    assert found.runs == 8


def test_a_roof_is_of_the_node_and_so_is_the_work() -> None:
    """Two ranks of a node move 2e9 bytes in a passage of 1 s."""
    roof = References(roof={"triad": 4e9, "peak": 1e9}.__getitem__)
    assert verdict("region", "solve", "bytes 1e9 share >= 0.48 of triad", references=roof).verdict == MET
    found = verdict("region", "solve", "bytes 1e9 share >= 0.52 of triad", references=roof)
    assert found.verdict == MISSED and "found 0.49" in found.sentence, found.sentence
    assert verdict("region", "solve", "operations 1e9 share >= 2.2 of peak", references=roof).verdict == MISSED


def test_an_earlier_run_and_a_golden_copy_are_other_files(tmp_path: Path) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps({**recording(0.8), "repeats": [recording(0.8) for _ in range(8)]}), encoding="utf-8")
    references = References.of_files({"earlier": earlier, "golden": earlier})
    found = verdict("region", "solve", "seconds <= 1.05 of earlier", references=references)
    assert found.verdict == MISSED and found.ratio.value == pytest.approx(1.26 / 1.05, rel=0.02)
    assert verdict("region", "solve", "seconds <= 1.4 of golden", references=references).verdict == MET
    assert verdict("whole", "", "seconds <= 1.05 of earlier", references=references).verdict == MISSED


def test_a_prediction_may_be_of_the_only_thing_it_predicts(tmp_path: Path) -> None:
    prediction = tmp_path / "prediction.json"
    prediction.write_text(json.dumps({"seconds": 0.5, "model": "flow"}), encoding="utf-8")
    references = References.of_files({"predicted": prediction})
    assert verdict("region", "solve", "seconds <= 3.5 of predicted", references=references).verdict == MET
    assert verdict("region", "solve", "seconds <= 1.2 of predicted", references=references).verdict == MISSED


@pytest.mark.parametrize(
    ("subject", "name", "text", "word"),
    [
        ("region", "slove", "seconds <= 1", "did you mean solve?"),
        ("call", "MPI_Bcast", "seconds <= 1", "there are MPI_Allreduce"),
        ("region", "solve", "seconds <= 1 of earlier", 'write earlier = "FILE.json" under [references]'),
        ("region", "solve", "bytes 1 share >= 1 of triad", "write roofs ="),
        ("whole", "", "ratio <= 1", "ratio is not known of the whole run"),
        ("whole", "", "seconds <= 1 of library", "of results of bench and app alone"),
        ("whole", "", "rate >= 1e9", "the whole run has no rate of its own"),
    ],
)
def test_what_cannot_be_judged_is_unreadable(subject: str, name: str, text: str, word: str) -> None:
    found = verdict(subject, name, text)
    assert (found.verdict, word in found.sentence) == (UNREADABLE, True), found.sentence
    assert checks.exit_code([found]) == 2


APP = {
    "application": "himeno",
    "size": "S",
    "results": [
        {"variant": "golden", "parameters": {}, "ranks": 1, "threads": 1, "seconds": 2.0, "times_golden": 1.0},
        {"variant": "simd", "parameters": {"rows": 4}, "ranks": 1, "threads": 1, "seconds": 1.0, "times_golden": 2.0}
        | {"seconds_of_runs": [1.0, 1.01, 0.99] * 3, "bound_seconds": 0.6},
    ],
}
BENCH = {
    "launches": 7,
    "results": [
        {"collective": "allreduce", "algorithm": "ring", "bytes": 8, "seconds": 2e-6, "ratio": 0.8, "ratios": [0.8] * 7}
        | {"library": {"seconds": 2.5e-6, "interval_low": 2.4e-6, "interval_high": 2.6e-6}, "parameters": {}}
        | {"seconds_of_launches": [2e-6] * 7, "intervals_of_launches": [[1.9e-6, 2.1e-6]] * 7},
        {"collective": "allreduce", "algorithm": "ring", "bytes": 1024, "seconds": 4e-6, "ratio": 1.2, "parameters": {}}
        | {"library": {"seconds": 3.3e-6}, "interval_low": 3.9e-6, "interval_high": 4.1e-6},
    ],
}


@pytest.mark.parametrize(
    ("found", "name", "text", "wanted"),
    [
        (APP, "simd*", "seconds <= 0.6 of golden", MET),
        (APP, "simd*", "seconds <= 0.4 of golden", MISSED),
        (APP, "himeno S: simd*", "share >= 0.5 of bound", MET),
        (APP, "simd*", "share >= 0.7 of bound", MISSED),
        (APP, "golden*", "seconds <= 1", MISSED),
        (APP, "golden*", "seconds <= 1.9", CANNOT_TELL),
        (BENCH, "allreduce ring 8 B", "ratio <= 1", MET),
        (BENCH, "*8*", "seconds <= 0.7 of library", MISSED),
        (BENCH, "*1KiB*", "seconds <= 3.5 us", MISSED),
        (BENCH, "*1KiB*", "seconds <= 4.05 us", CANNOT_TELL),
        (BENCH, "*1KiB*", "seconds <= 1 in 95 % of passages", UNREADABLE),
    ],
)
def test_of_applications_and_collectives(found: dict, name: str, text: str, wanted: str) -> None:
    (judged,) = checks.verdicts([on("row", name, text)], observed.rows_of(found), References())
    assert judged.verdict == wanted, judged.sentence


def spread(median: float) -> dict:
    return {"median": median, "low": 0.99 * median, "high": 1.01 * median, "samples": 11}


NODE = {
    "stream": {"results": [{"threads": 2, "kernel": "triad", "stores": "usual", "bytes_per_second": spread(2e10)}]},
    "dgemm": {"results": [{"threads": 2, "dgemm_gflops": spread(80.0), "fma_gflops": spread(90.0)}]},
    "hpl": {"results": [{"threads": 2, "gflops": spread(60.0)}]},
    "hpcg": {"results": [{"threads": 2, "set_gflops": spread(1.5), "bytes_per_second": 1e10}]},
}
FILES = {
    "form": "kumihimo-files-1",
    "metadata": [{"set": "files-one", "operation": "create", "items": 10, "per_second": spread(5000.0)}],
    "bandwidth": [
        {"set": "posix-each", "operation": word, "bytes": 1 << 20, "source": "storage", "why": why}
        | {"bytes_per_second": spread(rate)}
        for word, why, rate in (("write", "fsync in the time", 2e8), ("read", "not in the page cache", 3e8))
    ],
}
PUT = {"library": "mpi", "mpi": "openmpi", "measure": "put", "bytes": 8, "ranks": 3, "launches": 7}
PGAS = {
    "results": [
        {**PUT, "place": place, "seconds": us * 1e-6, "seconds_of_launches": [us * 1e-6] * 7, "window_kind": "allocate"}
        for place, us in (("node", 1.0), ("machine", 3.0))
    ]
}
STATE_COST = {
    "form": observed.STATE_COST,
    "results": [
        {
            "ranks": ranks,
            "save": {"fixed_seconds": 0.1},
            "points": [
                {"bytes_per_rank": 1 << 20, "save": spread(0.2 * ranks), "load": spread(0.1 * ranks)}
                | ({"partner": {"copy": spread(0.01), "restore": spread(0.02)}} if ranks > 1 else {})
            ],
        }
        for ranks in (1, 2)
    ],
}
LOOP = {"form": "plain", "seconds": 1e-6, "seconds_low": 0.9e-6, "seconds_high": 1.1e-6}
VECTORISATION = {
    "compilers": [
        {"command": cc, "loops": [{"loop": "sum", "sizes": [{"size": "small", "forms": [LOOP, {"form": "wrong"}]}]}]}
        for cc in ("gcc", "clang")
    ]
}


@pytest.mark.parametrize(
    ("found", "name", "text", "wanted"),
    [
        (NODE, "triad threads=2 usual", "rate >= 1.8e10", MET),
        (NODE, "triad*", "rate >= 2.2e10", MISSED),
        (NODE, "triad*", "rate >= 2e10", CANNOT_TELL),
        (NODE, "dgemm: *", "rate >= 7e10", MET),
        (NODE, "dgemm: *", "rate >= 9e10", MISSED),
        (NODE, "hpl: *", "rate >= 5e10", MET),
        (NODE, "hpcg: *", "rate >= 2e9", MISSED),
        (NODE, "triad*", "seconds <= 1", UNREADABLE),
        (FILES, "metadata: *create*", "rate >= 4000", MET),
        (FILES, "*write*storage", "rate >= 2.5e8", MISSED),
        (FILES, "*read*storage", "rate >= 2.5e8", MET),
        (PGAS, "*put*node openmpi", "seconds <= 2 us", MET),
        (PGAS, "*put*machine openmpi", "seconds <= 2 us", MISSED),
        (PGAS, "*put*node openmpi", "bytes 8 rate >= 4e6", MET),
        (STATE_COST, "1MiB save ranks=1", "seconds <= 0.25", MET),
        (STATE_COST, "1MiB save ranks=2", "seconds <= 0.25", MISSED),
        (STATE_COST, "*partner restore*", "seconds <= 15 ms", MISSED),
        (VECTORISATION, "sum plain small gcc", "seconds <= 2 us", MET),
        (VECTORISATION, "sum plain small clang", "seconds <= 0.5 us", MISSED),
    ],
)
def test_of_the_other_measurements(found: dict, name: str, text: str, wanted: str) -> None:
    (judged,) = checks.verdicts([on("row", name, text)], observed.rows_of(found), References())
    assert judged.verdict == wanted, judged.sentence
    assert checks.exit_code([judged]) == {MET: 0, CANNOT_TELL: 0, MISSED: 1, UNREADABLE: 2}[wanted]


@pytest.mark.parametrize(("now", "wanted"), [(2e10, MET), (1.5e10, MISSED)])
def test_a_rate_beside_that_of_an_earlier_run(tmp_path: Path, now: float, wanted: str) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(NODE), encoding="utf-8")
    rows = observed.rows_of(
        {"stream": {"results": [{**NODE["stream"]["results"][0], "bytes_per_second": spread(now)}]}}
    )
    asserted = [on("row", "triad*", "rate >= 85 % of earlier")]
    (judged,) = checks.verdicts(asserted, rows, References.of_files({"earlier": earlier}))
    assert judged.verdict == wanted, judged.sentence
    assert f"found {now / 2e10:.3g} (" in judged.sentence and "bytes a second" in judged.sentence, judged.sentence


def every() -> list[AssertVerdict]:
    asserts = [on(subject, name, text) for subject, name, text, _ in OF_RECORDINGS] + [on("region", "a&<b", "mpi <= 1")]
    return checks.verdicts(asserts, observed.rows_of_recordings(RUNS), References())


def test_lines_end_with_what_is_wrong() -> None:
    words = [line.split(":")[0] for line in outputs.lines(every())]
    assert words == sorted(words, key=["met", "cannot tell with 8 runs", "missed", "unreadable"].index)
    assert len(words) == len(OF_RECORDINGS) + 1
    assert all("\n" not in line for line in outputs.lines(every()))
    assert any(line.endswith("at solver.c:41") for line in outputs.lines(every()))


def test_junit_counts_and_escapes() -> None:
    found = every()
    tree = ElementTree.fromstring(outputs.junit(found, "kumihimo record -- a&<b"))
    assert tree.tag == "testsuites" and len(tree.findall(".//testcase")) == len(found)
    kinds = (("failure", MISSED, "failures"), ("error", UNREADABLE, "errors"), ("skipped", CANNOT_TELL, "skipped"))
    for tag, wanted, count in kinds:
        told = sum(each.verdict == wanted for each in found)
        assert len(tree.findall(f".//{tag}")) == told == int(tree.get(count)) > 0
    assert tree.find("testsuite").get("name") == "kumihimo record -- a&<b"
    case = tree.find(".//testcase[@file]")
    assert (case.get("file"), case.get("line")) == ("solver.c", "41")


def test_annotations_are_for_github_alone() -> None:
    found = every()
    assert outputs.github_annotations(found, {}) == []
    told = outputs.github_annotations(found, {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": "/src"})
    assert len(told) == sum(each.verdict != MET for each in found)
    assert any(line.startswith("::error file=solver.c,line=41,title=kumihimo asserts::missed: region") for line in told)
    assert any("::error file=solver.c,line=50," in line for line in told), "named from the top of the checkout"
    assert all("\n" not in line and "% " not in line.split("::", 2)[2].replace("%25", "") for line in told)


def test_exit_codes() -> None:
    met, missed, unclear = (verdict("region", "solve", f"seconds <= {bound}") for bound in ("1.1", "0.9", "1.012"))
    assert [checks.exit_code(each) for each in ([], [met], [met, unclear], [met, missed])] == [0, 0, 0, 1]


def test_objects_are_json() -> None:
    json.dumps([each.as_object() for each in every()], allow_nan=False)
