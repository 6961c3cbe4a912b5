"""`kumihimo bench` of halo exchanges and programs from files, on real MPI processes."""

from __future__ import annotations

import json

import pytest

from kumihimo.processes import mpi

FAMILIES = [installation.family for installation in mpi.discover()]
pytestmark = [pytest.mark.mpi, pytest.mark.skipif(not FAMILIES, reason="no MPI library on this machine")]
BY_HAND = ["MPI_Isend, derived types", "MPI_Isend, packed", "MPI_Neighbor_alltoallw"]
RING = """ranks 2
buffer 4
rank 0
together
send 1 0 2
receive 1 2 2
end
compute seconds 1e-6
rank 1
together
send 0 0 2
receive 0 2 2
end
"""


def results(ended) -> list[dict]:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["results"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("what", ["6x5x4", "4x4x4,points=27,fields=3,mesh"])
def test_halo_exchanges_are_measured_beside_those_by_hand(kumihimo, family, what):
    found = results(kumihimo("bench", f"halo:{what}", "--shape", "2x1", "--mpi", family, "--launches", "2", "--json"))
    assert [r["library"]["call"] for r in found] == BY_HAND
    for r in found:
        assert r["programs"].startswith(f"halo:{what[:5]}") and r["ranks"] == 2
        assert 0 < r["p10"] <= r["seconds"] and 0 < r["library"]["seconds"] < 1
        assert len(r["ratios"]) == 2 and r["ratio_low"] <= r["ratio"] <= r["ratio_high"]
        assert r["bitwise"] is True and r["library"]["bitwise"] is True, "the same bits as the golden copy's"


@pytest.mark.parametrize("family", FAMILIES)
def test_computation_takes_its_time_in_all(kumihimo, family):
    found = results(kumihimo("bench", "halo:4x4x4,compute=0.003", "--ranks", "2", "--mpi", family, "--json"))
    assert found[2]["library"]["call"] == "MPI_Ineighbor_alltoallw"
    for r in found:
        assert min(r["p10"], r["library"]["p10"]) >= 0.003


@pytest.mark.parametrize("family", FAMILIES)
def test_halo_exchanges_are_right_on_emulated_nodes_and_in_other_orders(kumihimo, family):
    asked = ("bench", "halo:3x4x5,points=27", "--shape", "2x1", "--mpi", family, "--check", "--json")
    for more in (("--ranks-per-node", "1"), ("--order", "random:3"), ("--single-copy",)):
        (result,) = results(kumihimo(*asked, *more))
        assert result["right"] is True and result["found"] == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_is_measured_beside_its_rounds_by_hand(kumihimo, tmp_path, family):
    path = tmp_path / "ring"
    path.write_text(RING)
    (result,) = results(kumihimo("bench", f"file:{path}", "--ranks", "2", "--mpi", family, "--json"))
    assert (result["library"]["call"], result["library"]["bitwise"]) == ("MPI_Isend", True)
    assert result["bytes"] == 32
    (checked,) = results(kumihimo("bench", f"file:{path}", "--ranks", "2", "--mpi", family, "--check", "--json"))
    assert checked["right"] is True
    path.write_text(RING.replace("compute", "lane 1\ncompute"))
    ended = kumihimo("bench", f"file:{path}", "--ranks", "2", "--mpi", family)
    assert (ended.code, "rank 0 has 2 lanes" in ended.err) == (2, True)


def test_flops_and_bytes_take_the_time_of_a_machine(kumihimo, tmp_path):
    path = tmp_path / "flops"
    path.write_text("ranks 2\nbuffer 4\nrank 0\ncompute flops 55.2e6 bytes 8\nsend 1 0 4\nrank 1\nreceive 0 0 4\n")
    asked = ("bench", f"file:{path}", "--json")
    (result,) = results(kumihimo(*asked, "--machine", "hector-2a"))  # half of 36.8 Gflop/s
    assert min(result["p10"], result["library"]["p10"]) >= 0.003
    ended = kumihimo(*asked)
    assert (ended.code, ended.out) == (2, "")
    assert "needs the rates of a machine" in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize("work", ["bytes 47e6", "flops 128e6"])  # of 46.6 GB/s, of 128 Gflop/s
def test_the_ranks_of_a_node_share_its_rates(kumihimo, tmp_path, work):
    path = tmp_path / "work"
    path.write_text(f"ranks 3\nbuffer 4\nrank 2\ncompute {work}\n")
    asked = ("bench", f"file:{path}", "--ranks", "3", "--machine", "k-computer", "--json")
    for nodes, least in (((), 0.003), (("--ranks-per-node", "1,2"), 0.002), (("--ranks-per-node", "1"), 0.001)):
        (result,) = results(kumihimo(*asked, *nodes))
        assert min(result["p10"], result["library"]["p10"]) >= least


def test_a_file_whose_ranks_would_wait_for_ever_is_not_started(kumihimo, tmp_path):
    path = tmp_path / "ring"
    path.write_text(RING.replace("send 0 0 2", "receive 0 0 2"))
    ended = kumihimo("bench", f"file:{path}", "--ranks", "2")
    assert (ended.code, ended.out) == (1, "")
    assert "fails verification" in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--bytes", "8"), "program files take no --bytes"),
        (("--algorithm", "ring"), "program files take no --algorithm"),
        (("--window", "3"), "program files take no --window"),
        (("--format", "osu"), "--format of a halo exchange or program file must be table or json"),
        (("--shape", "2x2", "--ranks", "3"), "2x2"),
    ],
)
def test_what_only_collectives_take_is_refused(kumihimo, words, sentence):
    ended = kumihimo("bench", "halo:4x4x4", *words)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err and ended.err.count("\n") == 1


def test_the_table(kumihimo):
    ended = kumihimo("bench", "halo:4x4x4", "--shape", "2x1")
    assert ended.code == 0, ended.err
    assert "halo:4x4x4,points=7,fields=1 on " in ended.out
    for call in BY_HAND:
        assert ended.out.count(call) == 1
