"""`kumihimo simulate`: predictions on described machines."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import threads_of, until

from kumihimo import _schedule
from kumihimo.cli import machines
from kumihimo.cli.simulate import work
from kumihimo.cli.simulate_results import doubts
from kumihimo.collectives import arguments
from kumihimo.predict import models, simulation, subjects
from kumihimo.predict.prediction import Setting

SMALL = ("simulate", "allreduce", "--machine", "k-computer", "--shape", "4x3x4")


def results(ended) -> list[dict]:
    assert (ended.code, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)["results"]


def test_a_table(kumihimo):
    ended = kumihimo(*SMALL, "--bytes", "1MiB")
    assert (ended.code, ended.err) == (0, "")
    assert "allreduce on k-computer 4x3x4, 48 ranks, model flow" in ended.out
    published, extensions = ended.out.split("\nExtensions of")
    assert "trinaryx3 " in published and "trinaryx3_overlap" not in published
    assert "trinaryx3_overlap" in extensions
    assert "trinary_mesh: every axis of the shape wraps" in extensions


def test_one_object_with_a_result_for_each_case(kumihimo):
    ended = kumihimo(*SMALL, "--bytes", "8..64,1MiB", "--algorithm", "trinaryx3", "--json")
    told = json.loads(ended.out)
    assert [r["bytes"] for r in told["results"]] == [8, 16, 32, 64, 2**20]
    first = told["results"][-1]
    assert first["collective"] == "allreduce" and first["algorithm"] == "trinaryx3"
    assert first["parameters"]["trees"] == 3
    assert (first["machine"], first["shape"], first["ranks"]) == ("k-computer", "4x3x4", 48)
    assert first["bytes_per_second"] == pytest.approx(2 * first["bytes"] / first["seconds"])
    assert first["seconds"] >= first["bound_seconds"] > 0
    assert [phase["name"] for phase in first["phases"]] == ["reduce", "broadcast"]
    assert told["wall_seconds"] > 0 and told["peak_rss_bytes"] > 1_000_000


def test_the_closed_form_of_an_algorithm(kumihimo):
    asked = (*SMALL, "--bytes", "48KiB", "--model", "cost", "--json", "--algorithm")
    (ring,) = results(kumihimo(*asked, "ring"))
    alpha, part = 8e-6 + 0.1e-6 + 2e-6, 47 / 48 * 48 * 1024  # message cost, a hop and a relay; of the vector
    assert ring["seconds"] == pytest.approx(2 * 47 * alpha + 2 * part / 4.75e9 + part / 6.58e9)
    assert ring["model"] == "cost" and "ignores the topology" in ring["accuracy"]
    (halved,) = results(kumihimo(*asked, "rabenseifner"))
    assert "P is a power of two" in halved["accuracy"]
    (levels,) = results(kumihimo(*asked, "hierarchical", "--ranks-per-node", "2"))
    assert "groups are equally large" in levels["accuracy"]


def test_neighbours_of_the_shape_cost_no_link_twice(kumihimo):
    asked = (
        "simulate",
        "neighbor_alltoall",
        "--machine",
        "k-computer",
        "--shape",
        "4x3x4",
        "--bytes",
        "1MiB",
        "--json",
    )
    (near,) = results(kumihimo(*asked, "--links"))
    assert near["neighbours"] == "cart:4x3x4"
    loads = [load for load in near["link_bytes"] if load]
    assert set(loads) == {2**20} and len(loads) == 48 * 6
    (far,) = results(kumihimo(*asked, "--links", "--neighbours", "cart:12x4"))
    assert far["neighbours"] == "cart:12x4" and far["seconds"] >= far["bound_seconds"] > 0
    assert sum(far["link_bytes"]) > 48 * 4 * 2**20  # some are several links apart


def test_all_lists_each_algorithm_once_and_says_what_does_not_fit(kumihimo):
    told = json.loads(kumihimo(*SMALL, "--bytes", "1MiB", "--json").out)
    names = [r["algorithm"] for r in told["results"]]
    assert len(names) == len(set(names)) >= 10
    assert {r["algorithm"] for r in told["results"] if r["extension"]} >= {"trinaryx6", "trinaryx3_overlap", "bucket"}
    refused = [n["algorithm"] for n in told["not_applicable"]]
    assert refused == ["trinary_mesh", "non_minimal", "offloaded", "swing", "bine", "hierarchical"]
    assert told["not_applicable"][0]["reason"]


def test_the_segment_size_is_the_machines_or_the_one_declared_to_all(kumihimo, repository, tmp_path):
    def segments(*options: str) -> dict[str, int]:
        return {
            r["algorithm"]: r["segments"] for r in results(kumihimo(*SMALL, "--bytes", "12MiB", "--json", *options))
        }

    declared, finer = segments(), segments("--segment-bytes", "256KiB")
    assert (declared["trinaryx3"], finer["trinaryx3"]) == (4, 16)
    assert declared["recursive_doubling"] == finer["recursive_doubling"] == 1
    text = (repository / "machines" / "k-computer.toml").read_text(encoding="utf-8")
    other = tmp_path / "other.toml"
    other.write_text(
        text.replace('value = "1 MiB", assumed = "not published', 'value = "2 MiB", assumed = "not published')
    )
    asked = (
        "simulate",
        "allreduce",
        "--machine",
        str(other),
        "--shape",
        "4x3x4",
        "--bytes",
        "12MiB",
        "-a",
        "trinaryx3",
    )
    assert results(kumihimo(*asked, "--json"))[0]["segments"] == 2


def test_without_simd_reductions_take_longer(kumihimo):
    case = (*SMALL, "--bytes", "64MiB", "--algorithm", "trinaryx3", "--json")
    fast, slow = results(kumihimo(*case))[0], results(kumihimo(*case, "--no-simd"))[0]
    assert fast["simd"] and not slow["simd"]
    assert slow["compute_seconds"] > 1.5 * fast["compute_seconds"]
    assert slow["seconds"] > 1.2 * fast["seconds"]


BARRIER = ("simulate", "barrier", "--machine")


def test_the_networks_own_engine(kumihimo):
    by_name = {r["algorithm"]: r for r in results(kumihimo(*BARRIER, "k-computer", "--json"))}
    ratio = by_name["dissemination"]["seconds"] / by_name["offloaded"]["seconds"]
    assert 7 < ratio < 8  # published: up to 7.8 times, 7.2 in MPI
    sum_of_one = ("simulate", "allreduce", "--machine", "k-computer", "--shape", "4x3x4", "-a", "offloaded")
    assert results(kumihimo(*sum_of_one, "--bytes", "8", "--json"))[0]["seconds"] < 11e-6
    ended = kumihimo(*sum_of_one, "--bytes", "16")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "the offload engine of k-computer takes at most 8 B (max_bytes) (got 16 B)" in ended.err


def test_a_machine_without_an_engine_of_its_own(kumihimo):
    asked = (*BARRIER, "intrepid", "--shape", "8x8x8")
    ended = kumihimo(*asked, "-a", "offloaded")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert "no [offload] section (got intrepid)" in ended.err
    found = {r["algorithm"] for r in results(kumihimo(*asked, "--json"))}
    assert "offloaded" not in found and "dissemination" in found


def test_models(kumihimo):
    case = (*SMALL, "--bytes", "1MiB", "--json")
    bound = results(kumihimo(*case, "--model", "bound"))
    assert [r["algorithm"] for r in bound] == ["any"]
    for model in ("flow", "exact"):
        got = results(kumihimo(*case, "--algorithm", "ring", "--model", model))[0]
        assert got["model"] == model
        assert got["seconds"] >= bound[0]["seconds"]


@pytest.mark.parametrize("p", [4, 8])
def test_the_closed_forms_of_allgathers_by_the_command(kumihimo, repository, p):
    """docs/reference/simulate.md: the command counts the shuffle's p blocks, which the formula has not."""
    machine = str(repository / "docs" / "links-alone.toml")
    line = ("simulate", "allgather", "-m", machine, "--shape", f"{p}x{p}x{p}", "--bytes", "1MiB", "--json")
    block = 2**20 * 1e-9  # seconds on a link
    far_first = results(kumihimo(*line, "-a", "non_minimal"))[0]["seconds"] / block
    near_first = results(kumihimo(*line, "-a", "recursive_doubling"))[0]["seconds"] / block
    formula = 7 * p**3 / 6 - 35 * p / 12
    assert formula < far_first <= (formula + p) * 1.0001
    assert far_first == pytest.approx(formula * {4: 1.0635, 8: 1.0070}[p], rel=1e-3)
    assert near_first == pytest.approx((5 * p * p / 24 - 1 / 3) * (1 + p + p * p), rel=1e-3)


def test_paced_loads_all_links_alike_by_the_command(kumihimo, repository):
    machine = str(repository / "docs" / "links-alone.toml")
    line = ("simulate", "alltoall", "-m", machine, "--shape", "8x8x8", "--bytes", "120", "-a", "paced", "--links")
    used = [load for load in results(kumihimo(*line, "--json"))[0]["link_bytes"] if load > 0]
    assert max(used) * len(used) <= 1.01 * sum(used)


def test_links(kumihimo):
    case = (*SMALL, "--bytes", "1MiB", "--algorithm", "trinaryx3")
    got = results(kumihimo(*case, "--links", "--json"))[0]
    assert max(got["link_bytes"]) == got["link_bytes_max"]
    assert sum(got["link_bytes"]) == pytest.approx(got["link_bytes_sum"])
    assert "link_bytes" not in results(kumihimo(*case, "--json"))[0]
    assert "Busiest links" in kumihimo(*case, "--links").out


def test_several_ranks_a_node(kumihimo):
    got = results(kumihimo(*SMALL, "--ranks-per-node", "2", "--ranks", "96", "--bytes", "1MiB", "-a", "ring", "--json"))
    assert (got[0]["ranks"], got[0]["ranks_per_node"]) == (96, 2)


@pytest.mark.parametrize("model", ["flow", "exact"])
def test_nodes_of_unequal_size(kumihimo, model):
    line = ("simulate", "alltoall", "-m", "k-computer", "--shape", "3mx1", "-b", "1MiB", "--model", model, "--json")
    got = {r["algorithm"]: r for r in results(kumihimo(*line, "--ranks-per-node", "4,3,5"))}
    assert {"pairwise", "hierarchical"} <= set(got)
    assert all((r["ranks"], r["node_sizes"]) == (12, [4, 3, 5]) for r in got.values())
    assert all(r["seconds"] >= r["bound_seconds"] * 0.999 for r in got.values())
    ended = kumihimo(*line, "--ranks-per-node", "4,3")
    assert (ended.code, ended.err.count("\n")) == (2, 1) and "a number for each of the 3 nodes" in ended.err


def test_bcast_from_another_root(kumihimo):
    got = results(
        kumihimo("simulate", "bcast", *SMALL[2:], "--root", "5", "--bytes", "1MiB", "-a", "binomial", "--json")
    )
    assert got[0]["root"] == 5


def test_a_slow_node_in_the_machine_file_changes_the_time(kumihimo, repository, tmp_path):
    text = (repository / "machines" / "k-computer.toml").read_text(encoding="utf-8")
    slow = tmp_path / "slow.toml"
    slow.write_text(text + "\n[[slow_node]]\nnode = 5\nfactor = 0.25\n")
    case = ("--shape", "4x3x4", "--bytes", "64MiB", "--algorithm", "trinaryx3", "--json")
    healthy = results(kumihimo("simulate", "allreduce", "--machine", "k-computer", *case))[0]
    ill = results(kumihimo("simulate", "allreduce", "--machine", str(slow), *case))[0]
    assert ill["seconds"] > 1.2 * healthy["seconds"]


def test_ctrl_c_ends_a_long_prediction_at_once():
    command = [Path(sys.executable).parent / "kumihimo", "simulate", "allreduce", "--machine", "k-computer"]
    command += ["--bytes", "8..1GiB"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: threads_of(process.pid) > 1, "the prediction begins", process)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (1, "", "kumihimo: interrupted\n")


def test_irregular_counts(kumihimo):
    asked = ("simulate", "allgather", "--machine", "k-computer", "--shape", "2x2", "--json", "-a", "ring")
    (huge,) = results(kumihimo(*asked, "--bytes", "64KiB", "--counts", "one_huge"))
    (listed,) = results(kumihimo(*asked, "--counts", "1,1,256KiB,1"))
    (equal,) = results(kumihimo(*asked, "--bytes", "64KiB"))
    assert huge["seconds"] == listed["seconds"], "one block has all"
    assert huge["seconds"] > 2 * equal["seconds"], "the huge block is handed on alone, one step after the other"
    assert huge["bytes"] == listed["bytes"] == 64 * 1024, "of a block, in the mean"


def test_a_barrier_has_no_length(kumihimo):
    found = results(
        kumihimo("simulate", "barrier", "--machine", "k-computer", "--shape", "4x3x2", "-a", "all", "--json")
    )
    assert {r["bytes"] for r in found} == {0}
    assert all(r["seconds"] > 0 for r in found) and len(found) > 2


def test_the_json_of_all_models_has_one_form(kumihimo):
    asked = ("simulate", "allreduce", "--machine", "k-computer", "--shape", "2x2", "--bytes", "8", "--json")
    members = {
        frozenset(json.loads(kumihimo(*asked, "--model", model, *algorithm).out)["results"][0])
        for model in ("bound", "flow", "exact")
        for algorithm in ((), ("-a", "ring"))
    }
    assert len(members) == 1


@pytest.mark.parametrize("model", [each.name for each in models.MODELS])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_algorithm_of_few_ranks_has_a_finite_time_or_says_why_not(model, ranks):
    for shape, each in ((str(ranks), 1), ("1", ranks)):
        job = simulation.on(machines.load("leonardo"), arguments.Ranks(shape, None, each))
        for kind in _schedule.collectives():
            neighbours = f"cart:{ranks}" if _schedule.meaning(kind).of_neighbours else None
            wanted = arguments.CollectiveArguments(kind, neighbours=neighbours)
            sizes = [2**20 if arguments.moves_data(kind) else 0]
            found = work(subjects.CollectiveSubject(wanted, arguments.ALL, {}, sizes), Setting(model, job)).results
            assert found, kind
            for r in found:
                assert 0 <= r["seconds"] < 1, (kind, r["algorithm"])


def test_the_closed_forms_doubt_is_said_once(kumihimo):
    ended = kumihimo(*SMALL, "--bytes", "1MiB,2MiB", "--model", "cost")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("ignores the topology") == 1 and "  all others: the closed form" in ended.out
    assert "recursive_doubling at 1MiB, 2MiB: its closed form" in ended.out
    assert "computing" not in ended.out and "computing" in kumihimo(*SMALL, "--bytes", "1MiB").out


def test_a_reason_to_doubt_names_its_rows():
    def row_of(name: str, size: int, accuracy: str) -> dict:
        return {"algorithm": name, "bytes": size, "accuracy": accuracy}

    some = [row_of("ring", 1024, "a"), row_of("ring", 2048, "a"), row_of("chain", 2048, "b"), row_of("linear", 8, "")]
    assert doubts(some) == ["ring at 1KiB, 2KiB: a", "chain at 2KiB: b"]
    assert doubts(some[:3]) == ["chain at 2KiB: b", "all others: a"]
    assert doubts(some[:2]) == ["all: a"]
    assert doubts(some[3:]) == [] and doubts(some[:1]) == ["ring at 1KiB: a"]
