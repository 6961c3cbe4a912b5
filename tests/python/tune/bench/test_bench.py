"""`kumihimo bench` as a user runs it, on real MPI processes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import until

from kumihimo import _plan, _schedule
from kumihimo.cli import bench as cli
from kumihimo.network.placement import Wanted
from kumihimo.processes import mpi
from kumihimo.text.errors import NotApplicable
from kumihimo.tune.bench import BenchCase, RealNodes, cases, run_check, run_measure, tuned

FAMILIES = [installation.family for installation in mpi.discover()]
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")]
SMALL = ("--bytes", "8,4KiB")
OF_A_NODE = {"allreduce": ("--algorithm", "ring", "--bytes", "8"), "halo:4x4x4": ()}


def results(ended) -> list[dict]:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["results"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_algorithm_is_measured_beside_the_library(kumihimo, family):
    found = results(kumihimo("bench", "allreduce", "--ranks", "2", "--mpi", family, *SMALL, "--json"))
    algorithms = {r["algorithm"] for r in found}
    assert {"ring", "recursive_doubling", "trinaryx3"} <= algorithms
    assert len(found) == 2 * len(algorithms)
    for r in found:
        assert 0 < r["p10"] <= r["interval_low"] <= r["seconds"] <= r["interval_high"]
        assert 0 < r["library"]["seconds"] < 1
        assert r["first_seconds"] > 0
        for of_processors in (r["processor_time"], r["library"]["processor_time"]):
            assert set(of_processors) == {"user_seconds", "system_seconds", "switches"}
            assert min(of_processors.values()) >= 0
            assert of_processors["user_seconds"] + of_processors["system_seconds"] > 0
        assert r["ratio"] == pytest.approx(r["seconds"] / r["library"]["seconds"])
        assert r["bitwise"] is True
        assert r["ranks"] == 2
    assert {r["bytes"] for r in found} == {8, 4096}


@pytest.mark.parametrize("type_", ["float64", "float32"])
@pytest.mark.parametrize("collective", ["allreduce", "reduce", "bcast"])
def test_all_are_right_bit_for_bit_as_a_torus(kumihimo, collective, type_):
    asked = ("--shape", "2x2", "--type", type_, "--bytes", "8,40KiB", "--check", "--json")
    found = results(kumihimo("bench", collective, *asked))
    fitting = cases.cases_of_all(collective, ranks=4, sizes=[8, 40960], shape="2x2", type=type_)
    expected = {case.algorithm for case in fitting}
    assert {"trinaryx3", "binomial", "chain", "linear"} <= expected
    assert {r["algorithm"] for r in found} == expected
    assert all(r["right"] and r["space"] == "torus 2x2" for r in found)


@pytest.mark.parametrize("programs", ["allreduce", "halo:4x4x4"])
def test_a_shape_may_be_a_node_of_so_many_ranks(kumihimo, programs):
    (result,) = results(kumihimo("bench", programs, *OF_A_NODE[programs], "--shape", "node:3", "--check", "--json"))
    assert result["right"] and result["ranks"] == 3


@pytest.mark.parametrize("check", [("--check",), ()])
def test_what_needs_an_engine_of_the_network_is_not_applicable(kumihimo, check):
    ended = kumihimo("bench", "barrier", "--ranks", "2", "-a", "offloaded", *check)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "the algorithm needs an offload engine in the network" in ended.err
    found = results(kumihimo("bench", "barrier", "--ranks", "2", "--check", "--json"))
    assert "offloaded" not in {r["algorithm"] for r in found}


def each_kind(sizes: tuple[int, ...]) -> list[BenchCase]:
    """The last algorithm of each that fits two ranks, at every size of a vector or block."""
    fitting = (
        cases.cases_of_all(kind, ranks=2, sizes=[size])[-1:]
        for kind in _schedule.collectives()
        for size in cases.sizes_of(kind, sizes)
    )
    return [case for found in fitting for case in found]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kind_is_right_and_measured_beside_the_librarys_own(family):
    asked = each_kind((8, 4096))
    where = {"ranks": 2, "installation": mpi.choose(family)}
    assert {case.collective for case in asked} >= {"alltoall", "barrier", "exscan", "scatter"}
    assert [r["found"] for r in run_check(asked, repeats=1, **where)] == [""] * len(asked)
    found = run_measure(asked, case_seconds=0.001, **where).results
    assert [r["collective"] for r in found] == [case.collective for case in asked]
    for r in found:
        assert r["seconds"] > 0
        assert r["bitwise"]
        assert ("library" in r) == bool(_schedule.meaning(r["collective"]).mpi_calls)
        if "library" in r:
            assert r["library"]["seconds"] > 0
            assert r["library"]["bitwise"]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_algorithm_is_right_whose_messages_are_read_where_they_lie(family):
    kinds = _schedule.collectives()
    every = [case for kind in kinds for case in cases.cases_of_all(kind, ranks=3, sizes=[150_000])]
    asked = [replace(case, parameters={"single_copy": True}) for case in every]
    assert len({case.collective for case in asked}) >= 11
    checked = run_check(asked, ranks=3, installation=mpi.choose(family), repeats=2)
    if any("process_vm_readv" in r.get("not_applicable", "") for r in checked):
        pytest.skip("the system lets no rank read another's memory")
    assert [(r["algorithm"], r["found"]) for r in checked] == [(case.algorithm, "") for case in asked]
    assert all(r["parameters"]["single_copy"] for r in checked)


@pytest.mark.parametrize("single_copy", [False, True])
def test_every_algorithm_is_right_whose_results_are_written_past_the_caches(single_copy):
    kinds = _schedule.collectives()
    every = [case for kind in kinds for case in cases.cases_of_all(kind, ranks=3, sizes=[150_000])]
    asked = [replace(case, parameters={"streaming_stores": True, "single_copy": single_copy}) for case in every]
    checked = run_check(asked, ranks=3, repeats=2)
    if any("process_vm_readv" in r.get("not_applicable", "") for r in checked):
        pytest.skip("the system lets no rank read another's memory")
    assert [(r["algorithm"], r["found"]) for r in checked] == [(case.algorithm, "") for case in asked]
    assert all(r["parameters"]["streaming_stores"] for r in checked)


@pytest.mark.parametrize("check", [("--check",), ()])
def test_single_copies_beside_a_node_of_one_rank(kumihimo, check):
    asked = ("bench", "gather", "-a", "linear", "--ranks", "3", "--ranks-per-node", "2", "--single-copy", "-b", "64KiB")
    ended = kumihimo(*asked, "--json", *check)
    (found,) = json.loads(ended.out)["results"]
    assert (ended.code, found["algorithm"]) == (0, "linear")
    assert found["right"] if check else found["bitwise"]


@pytest.mark.parametrize("check", [("--check",), ()])
def test_without_memory_in_common_there_are_no_single_copies(kumihimo, check):
    asked = ("bench", "alltoall", "-a", "linear", "--single-copy", "--ranks", "2", "--bytes", "64KiB")
    ended = kumihimo(*asked, "--shared-memory", "0", *check)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "--single-copy needs ranks that share memory" in ended.err


@pytest.mark.parametrize("neighbours", ["cart:2x2", "cart:1x4m", "random:5", "edges:0>1,0>1,3>3"])
@pytest.mark.parametrize("collective", ["neighbor_allgather", "neighbor_alltoall"])
def test_neighbours_are_served_as_by_the_library(kumihimo, collective, neighbours):
    asked = ("bench", collective, "--ranks", "4", "--neighbours", neighbours, "--bytes", "8,64KiB", "--json")
    checked = kumihimo(*asked, "--check")
    assert (checked.code, checked.err) == (0, "")
    assert all(r["right"] for r in json.loads(checked.out)["results"])
    measured = json.loads(kumihimo(*asked).out)["results"]
    assert [r["bytes"] for r in measured] == [8, 2**16]
    assert all(r["bitwise"] and r["seconds"] > 0 and r["library"]["seconds"] > 0 for r in measured)


@pytest.mark.parametrize("counts", ["zeros", "one_huge", "ramp", "random:3"])
@pytest.mark.parametrize(
    "collective",
    ["allgather", "reduce_scatter", "alltoall", "gather", "scatter", "neighbor_allgather", "neighbor_alltoall"],
)
def test_irregular_blocks_are_served_as_by_the_librarys_v_form(kumihimo, collective, counts):
    asked = ("bench", collective, "--ranks", "3", "--counts", counts, "--bytes", "4KiB", "--json")
    checked = json.loads(kumihimo(*asked, "--check").out)["results"]
    assert checked and all(r["right"] and len(r["counts"]) in (3, 6, 9) for r in checked)
    if counts == "one_huge":
        measured = results(kumihimo(*asked))
        assert all(r["bitwise"] and r["library"]["bitwise"] and r["library"]["seconds"] > 0 for r in measured)


def test_counts_may_be_listed(kumihimo):
    asked = ("bench", "alltoall", "--ranks", "2", "--counts", "0,5/1KiB,3", "-a", "pairwise", "--check", "--json")
    assert [(r["right"], r["counts"]) for r in results(kumihimo(*asked))] == [(True, [0, 5, 128, 3])]
    ended = kumihimo("bench", "alltoall", "--ranks", "2", "--counts", "0,5,3,2", "-a", "auto")
    assert (ended.code, ended.err.count("\n")) == (2, 1) and "chooses by one length" in ended.err


def test_an_algorithm_is_chosen_for_irregular_blocks(kumihimo):
    asked = ("-p", "2", "--counts", "zeros", "-a", "auto", "--launches", "1", "-b", "8", "--json")
    (result,) = results(kumihimo("bench", "alltoall", *asked))
    assert result["algorithm"] and len(result["counts"]) == 4 and 0 in result["counts"] and result["bitwise"]


def test_a_bound_is_of_all_bytes_that_move():
    """An alltoall of blocks moves what an allreduce of a vector of 4 blocks does on 4 ranks."""
    asked = [BenchCase("alltoall", "linear", bytes=262144), BenchCase("allreduce", "ring", bytes=1048576)]
    blocks, vector = run_measure(asked, ranks=4, case_seconds=0.001).results
    assert blocks["bound_seconds"] == vector["bound_seconds"] > 0


def test_long_calls_are_measured_once_after_the_first():
    asked = [BenchCase("allreduce", name, bytes=2**20) for name in ("ring", "rabenseifner")]
    where = {"ranks": 2, "case_seconds": 1e-6, "turns_at_least": 5}
    found = run_measure(asked, long_call_seconds=1e-6, **where).results
    assert [(row["samples"], row["library"]["samples"]) for row in found] == [(1, 1), (1, 1)]
    assert all(row["seconds"] > 0 and row["bitwise"] for row in found)
    assert [row["samples"] for row in run_measure(asked, **where).results] == [5, 5]
    assert [row["samples"] for row in run_measure(asked, long_call_seconds=10, **where).results] == [5, 5]
    where["case_seconds"] = 0.5
    assert run_measure(asked, long_call_seconds=1e-6, **where).results[0]["samples"] >= 5, "there is time for more"


def test_a_barrier_is_measured_once(kumihimo):
    found = results(kumihimo("bench", "barrier", "--ranks", "2", "--json"))
    assert sorted(r["algorithm"] for r in found) == ["binomial", "dissemination"]
    assert {r["bytes"] for r in found} == {0}


def test_the_best_alltoall_is_chosen_with_its_parameters(kumihimo):
    asked = ("--ranks", "2", "-a", "auto", "--launches", "1", "--bytes", "8,64KiB", "--json")
    found = results(kumihimo("bench", "alltoall", *asked))
    assert [r["bytes"] for r in found] == [8, 65536]
    assert all(r["library"]["seconds"] > 0 for r in found)


def test_nodes_are_emulated(kumihimo):
    asked = ("--shape", "2", "--ranks-per-node", "2", "-a", "ring", "--bytes", "80000", "--check", "--json")
    (found,) = results(kumihimo("bench", "allreduce", *asked))
    assert found["right"]
    assert found["ranks_per_node"] == 2


@pytest.mark.parametrize(("ranks", "each"), [(3, 2), (4, 2), (4, 1), (4, 4)])
def test_all_that_fit_emulated_nodes_without_a_shape_are_measured(kumihimo, ranks, each):
    asked = ("bench", "allreduce", "-p", str(ranks), "--ranks-per-node", str(each), "-b", "8", "--json")
    ended = kumihimo(*asked)
    found = results(ended)
    assert json.loads(ended.out)["about"]["one_node"] is True, "emulated nodes are this one"
    space = cases.rank_space(BenchCase("allreduce", "", ranks_per_node=each), ranks)
    assert {"ring", "recursive_doubling"} <= {r["algorithm"] for r in found}
    assert all(r["seconds"] > 0 for r in found)
    assert {r["space"] for r in found} == {str(space)}, "the bench driver sees the ranks otherwise"


@pytest.mark.parametrize("shape", [(), ("--shape", "2")])
def test_emulated_nodes_may_be_of_unequal_size(kumihimo, shape):
    asked = ("bench", "allreduce", "--ranks-per-node", "1,3", *shape, "-b", "8,80000", "-a", "hierarchical", "--json")
    for found in (*results(kumihimo(*asked)), *results(kumihimo(*asked, "--check"))):
        assert (found["ranks"], found["nodes"], found["ranks_per_node"], found["node_sizes"]) == (4, 2, 0, [1, 3])
        assert found["space"] == "row of 4 ranks, 1 to 3 a node"
        assert found.get("right", found.get("bitwise"))


def test_the_rest_of_the_ranks_is_on_the_last_emulated_node_of_a_shape(kumihimo):
    asked = ("bench", "allreduce", "-p", "3", "--ranks-per-node", "2", "--shape", "2", "-b", "8", "--check", "--json")
    assert {tuple(r["node_sizes"]) for r in results(kumihimo(*asked))} == {(2, 1)}


def test_the_best_is_chosen_on_emulated_nodes(kumihimo):
    asked = ("-p", "4", "--ranks-per-node", "2", "-a", "auto", "--launches", "1", "-b", "8", "--json")
    (found,) = results(kumihimo("bench", "allreduce", *asked))
    assert found["seconds"] > 0


def test_one_named_algorithm_must_fit_and_of_all_some_may_not():
    good, bad = {"seconds": 1.0}, {"not_applicable": "the algorithm needs a torus"}
    cli.applicable([good, bad], "all")  # does not raise
    for found, named in (([bad], "all"), ([bad, bad], "bucket"), ([good, bad], "ring")):
        with pytest.raises(NotApplicable, match="the algorithm needs a torus"):
            cli.applicable(found, named)


def test_one_named_algorithm_that_does_not_fit_is_not_checked_with_success(kumihimo):
    ended = kumihimo("bench", "allreduce", "-a", "trinaryx3", "-s", "none", "-b", "8", "--check")
    assert (ended.code, ended.out) == (2, "")
    assert "torus" in ended.err


def test_a_wrong_result_is_shown_before_what_does_not_fit(monkeypatch):
    results = [{"right": False}, {"not_applicable": "the algorithm needs a torus"}]
    monkeypatch.setattr(cli.bench, "run_check", lambda *_, **__: results)
    asked = cli.BenchCommand(BenchCase("allreduce", "ring"), [8, 16], 4, mpi.choose(), None, {})
    assert cli.checked(asked) == results
    results[0]["right"] = True
    with pytest.raises(NotApplicable, match="the algorithm needs a torus"):
        cli.checked(asked)


def test_results_stand_in_the_order_of_the_cases_also_where_one_does_not_fit():
    names = ("ring", "trinaryx3", "recursive_doubling", "bucket")
    asked = [BenchCase("allreduce", name, bytes=8, shape="none") for name in names]
    run = run_measure(asked, ranks=4, case_seconds=0.001, bound=False)
    assert tuple(r["algorithm"] for r in run.results) == names
    fit = ["not_applicable" not in r for r in run.results]
    assert fit == [True, False, True, False]
    assert all(("seconds" in r) == fits for r, fits in zip(run.results, fit))


def test_what_does_not_fit_is_never_the_best():
    slow, fast = ({"bytes": 8, "seconds": s, "choice": (str(s), ())} for s in (2.0, 1.0))
    assert tuned.best([slow, {"bytes": 8, "not_applicable": "no"}, fast], 1) == {8: [("1.0", ())]}


def test_too_little_shared_memory_is_said_once_and_does_not_stop_it(kumihimo):
    ended = kumihimo("bench", "allreduce", "-p", "2", "-a", "ring", *SMALL, "--shared-memory", "100")
    assert ended.code == 0
    assert ended.out.count("/dev/shm") == 1


def test_formats(kumihimo):
    asked = ("bench", "allreduce", "--ranks", "2", "-a", "ring", *SMALL, "--format")
    rows = list(csv.DictReader(io.StringIO(kumihimo(*asked, "csv").out)))
    assert [row["bytes"] for row in rows] == ["8", "4096"]
    assert all(float(row["seconds"]) > 0 and float(row["library_seconds"]) > 0 for row in rows)
    osu = kumihimo(*asked, "osu").out
    assert re.search(r"^# Size +Avg Latency\(us\)$", osu, re.MULTILINE)
    assert len(re.findall(r"^4096 +\d+\.\d\d$", osu, re.MULTILINE)) == 2  # ours and the library's
    imb = kumihimo(*asked, "imb").out
    assert re.search(r"^# #processes = 2$", imb, re.MULTILINE)
    assert len(re.findall(r"^ +4096 +\d+( +\d+\.\d\d){3}$", imb, re.MULTILINE)) == 2
    table = kumihimo(*asked, "table").out
    assert "ring" in table
    assert "pinning:" in table


def test_the_best_is_chosen_and_measured_on_launches_of_its_own(kumihimo):
    asked = ("bench", "allreduce", "--ranks", "2", "-a", "auto", "--launches", "3", "--bytes", "8,64KiB", "--json")
    ended = kumihimo(*asked)
    found = results(ended)
    assert [r["bytes"] for r in found] == [8, 65536]
    for r in found:
        assert len(r["ratios"]) == 3
        assert r["ratio_low"] <= r["ratio"] <= r["ratio_high"]
        assert set(r["processor_time"]) == set(r["library"]["processor_time"])
    assert json.loads(ended.out)["launches"] == 3


def test_the_json_has_one_form(kumihimo):
    """Whether the algorithm is named, tried with others or chosen, and in one launch or in several."""
    forms = set()
    for asked in (("-a", "ring"), (), ("-a", "ring", "--launches", "2"), ("-a", "auto", "--launches", "2")):
        ended = kumihimo("bench", "allreduce", "--ranks", "2", "--bytes", "64", *asked, "--json")
        found = json.loads(ended.out)
        assert found["launches"] == (int(asked[-1]) if "--launches" in asked else 1)
        result = found["results"][0]
        assert len(result["ratios"]) == found["launches"]
        assert result["asked_bytes"] == 64
        of_several = {"seconds_of_launches", "intervals_of_launches"}
        assert (of_several <= set(result)) == (found["launches"] > 1)
        forms.add((frozenset(found), frozenset(result) - of_several, frozenset(result["library"]) - of_several))
    assert len(forms) == 1, forms


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("allreduce", "-a", "rign"), 2, "did you mean ring?"),
        (("allreduce", "--shape", "3x2"), 2, "must hold 4 ranks"),
        (("allreduce", "--shape", "2x2", "--ranks-per-node", "2"), 2, "4 ranks / 2 a node"),
        (("allreduce", "-p", "4", "--ranks-per-node", "1,2"), 2, "must add up to 4 (got 3)"),
        (("allreduce", "--ranks", "0"), 2, "number of ranks"),
        (("bcast", "--root", "4"), 2, "root"),
        (("allreduce", "--bytes", "0"), 2, "at least 1"),
        (("allreduce", "--bytes", "-8"), 2, "at least 1"),
        (("allreduce", "--bytes", "4GiB"), 2, "at most"),
        (("allreduce", "--window", "0", "-a", "ring"), 2, "window must be at least 1"),
        (("allreduce", "--launches", "0"), 2, "--launches must be at least 1"),
        (("allreduce", "--format", "xml"), 2, "--format must be one of"),
        (("allreduce", "--format", "csv", "--json"), 2, "--json excludes other formats"),
        (("allreduce", "--check", "--format", "osu"), 2, "--format must be table or json"),
        (("allreduce", "--check", "--launches", "2"), 2, "--check takes no --launches"),
        (("allreduce", "-a", "auto", "--segments", "2"), 2, "--algorithm auto chooses the parameters"),
        (("allreduce", "-a", "auto", "--window", "2"), 2, "(got --window"),
        (("allreduce", "-a", "auto", "--segment-bytes", "64KiB"), 2, "(got --segment-bytes"),
        (("allreduce", "-a", "auto", "--trees", "2"), 2, "(got --trees"),
        (("allreduce", "-a", "auto", "--overlap"), 2, "(got --overlap"),
        (("allreduce", "--tag-upper-bound", "-1"), 2, "at least 7 (got -1)"),
        (("allreduce", "--mpi", "/nowhere"), 2, "--mpi must be"),
        (("barrier", "--bytes", "8"), 2, "barrier moves no data"),
        (("alltoall", "--bytes", "1GiB"), 2, "a buffer can have at most"),
        (("alltoall", "-a", "bruck", "--radix", "1", "-b", "8"), 2, "radix must be at least 2 (got 1)"),
        (("allreduce", "--tag-upper-bound", "100", "--ranks-per-node", "1", "--bytes", "8"), 1, "MPI_TAG_UB = 100"),
    ],
)
def test_bad_input_is_one_sentence(kumihimo, arguments, code, said):
    ended = kumihimo("bench", *arguments)
    assert ended.code == code
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert ended.out == ""


def test_the_help_states_the_smallest_tag_bound(kumihimo):
    bound = _plan.SMALLEST_TAG_UPPER_BOUND
    assert f"Largest MPI tag, at least {bound}" in kumihimo("bench", "--help").out
    ended = kumihimo("bench", "barrier", "--tag-upper-bound", f"{bound - 1}")
    assert f"at least {bound} (got {bound - 1})" in ended.err


def test_a_gap_is_said_to_have_no_effect():
    found = {"results": [], "notes": ["busy"]}
    note = "--gap has no effect in bench: only the simulator heeds it"
    assert cli.with_notes_of_no_effect(found, {"trees": 2, "gap": 2})["notes"] == ["busy", note]
    assert cli.with_notes_of_no_effect(found, {"trees": 2}) == found


def test_without_an_mpi_library(kumihimo, tmp_path):
    ended = kumihimo("bench", "allreduce", env={**os.environ, "PATH": str(tmp_path)})
    if not any((Path(sys.prefix) / "bin" / name).exists() for name in ("mpirun", "mpiexec")):
        assert ended.code == 1
        assert "no MPI library (Open MPI or MPICH) on this machine" in ended.err


# --- whatever ends it, nothing is left running


@pytest.fixture
def running(tmp_path):
    """A bench that takes long, once its bench drivers run."""
    command = [Path(sys.executable).parent / "kumihimo", "bench", "allreduce", "--bytes", "16MiB", "--launches", "500"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    until(lambda: len(workers_of(process.pid)) >= 4, "four bench drivers run", process)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def workers_of(pid: int) -> list[int]:
    """The bench drivers below a process, and those that lost their parents."""
    parents, names = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = stat.read_text().rpartition(") ")
        except OSError:
            continue
        number = int(stat.parent.name)
        names[number], parents[number] = head.partition("(")[2], int(rest.split()[1])
        if rest.startswith("Z"):
            names[number] = ""
    found = []
    for number, name in names.items():
        above = number
        while above > 1 and above != pid:
            above = parents.get(above, 0)
        if name.startswith("kumihimo-bench") and above == pid:
            found.append(number)
    return found


def has_rings(pid: int) -> bool:
    """Our memory, which its ranks share, is opened after MPI_Init."""
    return "/kumihimo-rings-" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")


def gone(pids: list[int]) -> bool:
    def runs(pid: int) -> bool:
        try:
            return not Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
        except OSError:
            return False

    return not any(runs(pid) for pid in pids)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_after_a_signal_nothing_is_left_running(running, number, code):
    pids = workers_of(running.pid)
    running.send_signal(number)
    _, err = running.communicate(timeout=20)
    assert running.returncode == code
    assert len(err.splitlines()) <= 1
    assert "Traceback" not in err
    assert gone(pids)


def test_a_rank_that_dies_ends_it_with_a_sentence(running):
    # Past MPI_Init, where the launcher sees the signal; earlier: the next test.
    until(lambda: all(map(has_rings, workers_of(running.pid))), "the transport opens", running)
    pids = workers_of(running.pid)
    os.kill(pids[-1], signal.SIGKILL)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "died of SIGKILL" in err or "the process of rank" in err  # told by the launcher, or by a rank that waits
    assert len(err.splitlines()) == 1
    assert out == ""
    until(lambda: gone(pids), "the other ranks end, too", seconds=10)


def test_a_rank_that_dies_at_once_is_noticed_too(running):
    pids = workers_of(running.pid)
    os.kill(pids[-1], signal.SIGKILL)
    out, err = running.communicate(timeout=30)
    assert running.returncode == 1
    assert "died" in err
    assert len(err.splitlines()) == 1
    assert out == ""
    assert gone(pids)


@pytest.mark.parametrize("family", FAMILIES)
def test_under_mpirun_the_workers_are_its_processes(tmp_path, family):
    installation = mpi.choose(family)
    command = [Path(sys.executable).parent / "kumihimo", "bench", "allreduce", "-a", "ring", *SMALL, "--json"]
    environment = {**os.environ, **installation.environment(2)}
    done = subprocess.run(
        [*installation.arguments(2), *map(str, command)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["results"]
    assert [r["ranks"] for r in found] == [2, 2]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("on", "processes"),
    [
        (("--shape", "2x2", "--order", "reversed-axes"), [0, 2, 1, 3]),
        (("--ranks-per-node", "2", "--order", "round-robin"), [0, 2, 1, 3]),
        (("--ranks-per-node", "2", "--placement", "p.txt"), [3, 2, 0, 1]),
    ],
)
def test_ranks_are_reordered_and_results_stay_right(kumihimo, tmp_path, family, on, processes):
    (tmp_path / "p.txt").write_text("0 1 1\n1 1 0\n2 0 0\nrank 3=0 slot=1\n")
    checked = kumihimo("bench", "allgather", "-p", "4", "--mpi", family, *on, "-b", "8,40KiB", "--check", "--json")
    found = results(checked)
    assert len(found) > 6
    assert all(r["right"] for r in found if "right" in r)
    assert {r["placement"] for r in found} == {on[-1]}
    rooted = ("bench", "gather", "-p", "4", "--root", "1", "--mpi", family, *on, "-b", "8", "--check", "--json")
    assert all(r["right"] for r in results(kumihimo(*rooted)) if "right" in r)
    ended = kumihimo("bench", "allreduce", "-p", "4", "-a", "ring", "--mpi", family, *on, "-b", "8", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["about"]["process_of_rank"] == processes


def test_the_table_says_which_processes_the_ranks_are(kumihimo):
    ended = kumihimo("bench", "allreduce", "-p", "4", "-a", "ring", "-b", "8", "-s", "2x2", "--order", "reversed-axes")
    assert ended.code == 0, ended.err
    assert "ranks placed by reversed-axes: processes 0, 2, 1, 3 of the launch (MPI_Comm_split)\n" in ended.out


def test_every_process_is_a_rank(kumihimo, tmp_path):
    (tmp_path / "p.txt").write_text("0 0 0\n1 0 1\n")
    ended = kumihimo("bench", "allreduce", "-p", "4", "--placement", "p.txt")
    assert (ended.code, ended.out) == (2, "")
    assert "p.txt must place all 4 ranks (got 2)" in ended.err


def test_ranks_on_real_nodes_are_placed_by_their_processes():
    nodes = RealNodes((0, 1, 0, 1), ("a", "b"))
    case = BenchCase("allreduce", "ring", bytes=8, nodes=nodes, placement=Wanted("block"))
    assert cases.process_of_rank(case, 4) == [0, 2, 1, 3]
    assert cases.rank_space(case, 4).is_row_major
    assert not cases.rank_space(replace(case, placement=Wanted("round-robin")), 4).is_row_major
    assert cases.process_of_rank(replace(case, placement=Wanted("round-robin")), 4) == [0, 1, 2, 3]
