"""`kumihimo verify`: proofs, and what is said where there is none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kumihimo import _collectives, cli
from kumihimo.cli import verify as command
from kumihimo.collectives import proofs, verification


def test_by_default_every_algorithm_on_small_shapes(kumihimo):
    ended = kumihimo("verify")
    assert (ended.code, ended.err) == (0, "")
    for variant in _collectives.all_variants():
        assert any(line.split()[:2] == [variant.kind, variant.name] for line in ended.out.splitlines()), variant.name
    assert "WRONG" not in ended.out
    proven, of, cases, word = ended.out.splitlines()[-1].split()
    assert (of, word) == ("of", "proven") and proven == cases
    assert int(cases) > 300


def test_the_shape_is_that_of_the_job_where_none_is_given(kumihimo, monkeypatch):
    monkeypatch.setenv("KUMIHIMO_SHAPE", "4x2")
    shapes = {}
    for given in ((), ("--ranks", "5")):
        ended = kumihimo("verify", "allreduce", "--algorithm", "ring", *given, "--json")
        assert (ended.code, ended.err) == (0, "")
        (case,) = json.loads(ended.out)["results"]
        shapes[given] = case["ranks"]
    assert list(shapes.values()) == [8, 5]


@pytest.mark.parametrize("collective", [(), ("all",)])
def test_irregular_counts(kumihimo, collective):
    ended = kumihimo("verify", *collective, "--counts", "one_huge", "--count", "7")
    assert (ended.code, ended.err) == (0, "")
    assert {line.split()[0] for line in ended.out.splitlines()[1:-2]} == {
        *("allgather", "alltoall", "reduce_scatter", "gather", "scatter", "neighbor_allgather", "neighbor_alltoall")
    }
    assert "WRONG" not in ended.out
    ended = kumihimo("verify", "allgather", "--ranks", "4", "--counts", "0,3,0,9", "--json")
    told = json.loads(ended.out)["results"]
    assert told and all(case["ok"] and case["irregular"] and case["count"] == 3 for case in told)


@pytest.mark.parametrize(
    ("arguments", "collectives"),
    [
        (("all", "--algorithm", "bruck"), {"allgather", "alltoall"}),
        (("--algorithm", "dissemination"), {"barrier"}),
        (("--neighbours", "cart:4"), {"neighbor_allgather", "neighbor_alltoall"}),
    ],
)
def test_all_collectives_that_an_option_fits(kumihimo, arguments, collectives):
    ended = kumihimo("verify", *arguments, "--ranks", "4", "--count", "8", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert {case["collective"] for case in json.loads(ended.out)["results"]} == collectives


def test_neighbours(kumihimo, tmp_path):
    told = {}
    (tmp_path / "edges").write_text("# from to\n0 1\n0 1\n\n3 3  # itself\n")
    for neighbours in ("cart:2x2m", "random:5", f"graph:{tmp_path}/edges"):
        ended = kumihimo(
            *("verify", "neighbor_alltoall", "--ranks", "4", "--count", "7", "--neighbours", neighbours, "--json")
        )
        assert (ended.code, ended.err) == (0, "")
        (case,) = json.loads(ended.out)["results"]
        assert case["ok"] and case["coverage"]["exact"]
        told[case["neighbours"]] = case["coverage"]["steps"]
    assert told["graph of 3 edges"] == 5  # two messages, and a copy
    assert set(told) == {"cart:2x2m", "random:5", "graph of 3 edges"}
    by_shape = json.loads(kumihimo("verify", "neighbor_allgather", "--shape", "3x2m", "--json").out)["results"]
    assert [case["neighbours"] for case in by_shape] == ["cart:3x2m"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("neighbor_alltoall", "--neighbours", "cart:3x3"), "the axes must multiply to the 4 ranks"),
        (("neighbor_alltoall", "--neighbours", "edges:0>4"), "a rank from 0 to 3"),
        (("neighbor_alltoall", "--neighbours", "ring"), "neighbours are cart:"),
        (("neighbor_alltoall", "--neighbours", "graph:/nowhere"), "the list of edges must be readable"),
        (("alltoall", "--neighbours", "cart:4"), "alltoall has no neighbours and takes no --neighbours (got cart:4)"),
        (
            ("neighbor_alltoall", "--throttle", "1", "--neighbours", "random:3"),
            "works on Cartesian neighbours only",
        ),
    ],
)
def test_wrong_neighbours_are_said(kumihimo, arguments, said):
    ended = kumihimo("verify", *arguments, "--ranks", "4", "--count", "7")
    assert ended.code != 0 and said in ended.err and len(ended.err.splitlines()) == 1


def test_one_case_as_json(kumihimo):
    ended = kumihimo(
        "verify", "reduce", "--shape", "4x3x2", "-a", "trinaryx3", "--root", "5", "--count", "31", "--json"
    )
    assert (ended.code, ended.err) == (0, "")
    told = json.loads(ended.out)
    (case,) = told["results"]
    assert (case["collective"], case["algorithm"], case["ranks"], case["root"]) == ("reduce", "trinaryx3", 24, 5)
    assert case["ok"] and case["findings"] == []
    assert case["coverage"]["exact"] and case["coverage"]["height"] == 7
    assert told["wall_seconds"] > 0 and told["peak_rss_bytes"] > 1_000_000


def test_all_says_what_does_not_fit(kumihimo):
    ended = kumihimo("verify", "allreduce", "--ranks", "6", "--bytes", "64KiB")
    assert ended.code == 0
    assert "trinaryx3: the algorithm needs a torus or mesh" in ended.out
    assert "ring" in ended.out


def test_a_large_case_is_sampled(kumihimo):
    ended = kumihimo(
        "verify", "bcast", "--shape", "24x6x16", "-a", "trinaryx3", "--bytes", "1GiB", "--json", "--samples", "1"
    )
    (case,) = json.loads(ended.out)["results"]
    assert case["ok"] and case["ranks"] == 2304
    assert not case["coverage"]["exact"] and case["coverage"]["samples"] > 0
    assert case["symmetric"] is None, "not looked at where it would take long"
    assert case["coverage"]["deadlock_shown"] and case["coverage"]["footprints"] > 1


def test_a_large_case_is_not_called_proven(kumihimo):
    out = kumihimo("verify", "bcast", "--shape", "24x6x16", "-a", "trinaryx3", "--bytes", "1GiB", "--samples", "1").out
    assert "all pairs matched; no deadlock; sampled:" in out and "no fault found" in out
    assert out.splitlines()[-1] == "0 of 1 proven; 1 with no fault found (data sampled)"


def test_what_is_not_shown_is_said():
    none = dict.fromkeys(proofs.COVERAGE, 0)
    found = {"pairs_sampled": True, "deadlock": "segments from 2 on", "samples": 3, "footprints": 4}
    covered = proofs.ProofCoverage(**{**none, **found, "footprint_segments": 5})
    said = command.looked_at(covered)
    assert said.startswith("a sample of the pairs matched; deadlock not excluded for segments from 2 on;")
    assert said.endswith("sampled: 3 elements; memory order of the first 5 segments of 4 ranks")
    said = command.looked_at(replace(covered, footprint_segments=1))
    assert said.endswith("sampled: 3 elements; memory order of the first segment of 4 ranks")


@pytest.fixture
def disproof(monkeypatch):
    """The checker finds every schedule wrong, so that the way it is told is tested."""
    finding = type("Finding", (), {"check": "matching", "rank": 3, "lane": 1, "segment": 2, "round": 0, "step": -1})
    finding.what, finding.sentence = "meets no receive", "rank 3, lane 1, segment 2, round 0: meets no receive"
    coverage = type("Coverage", (), dict.fromkeys(proofs.COVERAGE, 0))
    report = type("Report", (), {"ok": False, "findings": [finding], "coverage": coverage})
    monkeypatch.setattr(verification._verify, "check", lambda *rest: report)


CASE = ["verify", "allreduce", "--shape", "4x3", "-a", "ring"]


def test_a_disproof_is_told_and_ends_with_1(disproof, capsys):
    assert cli.carry_out(CASE) == 1
    out = capsys.readouterr().out
    assert "WRONG" in out
    assert "matching: rank 3, lane 1, segment 2, round 0: meets no receive" in out
    assert "0 of 1 proven" in out


def test_a_disproof_as_json(disproof, capsys):
    assert cli.carry_out([*CASE, "--json"]) == 1
    (case,) = json.loads(capsys.readouterr().out)["results"]
    assert not case["ok"]
    (finding,) = case["findings"]
    assert (finding["check"], finding["rank"], finding["lane"], finding["segment"]) == ("matching", 3, 1, 2)
    assert "step" not in finding


def test_a_barrier_has_no_length(kumihimo):
    shown = kumihimo("show", "barrier", "-a", "dissemination", "--ranks", "4").out
    assert shown.startswith("barrier, on 4 ranks: row of 4 ranks\n")
    proven = kumihimo("verify", "barrier", "--ranks", "4").out
    assert proven.startswith("barrier on row of 4 ranks\n")
    (first, *_) = json.loads(kumihimo("verify", "barrier", "--ranks", "4", "--json").out)["results"]
    assert (first["count"], first["bytes"]) == (0, 0)
    simulated = kumihimo("simulate", "barrier", "-m", "k-computer", "--shape", "4x3x2").out
    assert "algorithm" in simulated and "bytes" not in simulated and "rate" not in simulated


@pytest.mark.parametrize("nodes", [("--ranks-per-node", "4,3,5"), ("--ranks", "8", "--ranks-per-node", "3")])
@pytest.mark.parametrize("asked", [("allreduce", "--count", "300"), ("alltoall", "-n", "30", "--counts", "one_huge")])
def test_nodes_of_unequal_size(kumihimo, asked, nodes):
    ended = kumihimo("verify", *asked, "-a", "hierarchical", *nodes, "--json")
    assert (ended.code, ended.err) == (0, "")
    (case,) = json.loads(ended.out)["results"]
    assert case["ok"] and case["coverage"]["exact"]
    assert (case["ranks_per_node"], len(case["node_sizes"]), sum(case["node_sizes"])) == (0, 3, case["ranks"])
    shown = kumihimo("show", *asked, "-a", "hierarchical", *nodes)
    assert shown.code == 0 and " a node" in " ".join(shown.out.split())


def symmetric(kumihimo, *arguments: str) -> dict[str, bool | None]:
    told = json.loads(kumihimo("verify", "allreduce", *arguments, "--json").out)
    return {r["algorithm"]: r["symmetric"] for r in told["results"]}


def test_symmetry_over_the_torus_is_told_where_it_is_cheap(kumihimo):
    torus = symmetric(kumihimo, "--shape", "4x3x2")
    assert torus["bucket"] is True and torus["rotated_rings"] is True
    assert torus["binomial"] is False and torus["trinaryx3"] is False
    assert set(symmetric(kumihimo, "--ranks", "7").values()) == {None}, "no shape to move over"
