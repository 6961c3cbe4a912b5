"""`kumihimo place`: the search, its files, what it prints and refuses."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import catches, until

from kumihimo import _mapping, _placement, _topology, cli
from kumihimo.cli import place
from kumihimo.mapping import outputs, request
from kumihimo.text import schema

HALO = ("place", "--traffic", "halo:4x4x4:27", "--shape", "2x4x8", "--effort", "fast")


def object_of(ended) -> dict:
    assert (ended.code, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)


def test_the_result_is_better_than_the_usual_order_and_obeys_the_schema(kumihimo):
    found = object_of(kumihimo(*HALO, "--json"))
    assert schema.validator("place").is_valid(found), list(schema.validator("place").iter_errors(found))
    assert found["average_hops"] < found["before"]["average_hops"]
    assert found["link_bytes_max"] <= found["before"]["link_bytes_max"]
    assert found["lower_bound_hops"] <= found["average_hops"] + 1e-9
    assert found["lower_bound_link_bytes"] <= found["link_bytes_max"]
    assert sorted(found["node_of_rank"]) == list(range(64)) and found["complete"]
    assert [each["chosen"] for each in found["candidates"]].count(True) == 1


def test_equal_seeds_give_equal_placements_on_any_number_of_threads(kumihimo):
    one, two = (object_of(kumihimo(*HALO, "--threads", n, "--json"))["node_of_rank"] for n in "12")
    assert one == two


def test_the_text_names_the_chosen_placement_the_usual_order_and_the_bounds(kumihimo):
    ended = kumihimo(*HALO)
    assert (ended.code, ended.err) == (0, "")
    assert "halo exchange of 64 ranks, 4x4x4:27" in ended.out and "on torus 2x4x8" in ended.out
    rows = ended.out.split("\n\n")[1].splitlines()
    assert "(chosen)" in rows[1] and rows[2].startswith("block (usual order)")
    assert "no placement has fewer than" in ended.out and "some link carries at least" in ended.out


@pytest.mark.parametrize(
    ("halo", "nodes", "said"),
    [
        ("4x8:5", "5x7", "torus 8x2mx2m, 4 neighbours"),
        ("8x4:5", "5x7", "torus 8x2mx2m, 4 neighbours"),
        ("8x8:5,mesh", "5x13", "mesh 8mx8m, 4 neighbours"),
    ],
)
def test_the_grid_of_a_halo_is_recognised(kumihimo, halo, nodes, said):
    ended = kumihimo("place", "--traffic", f"halo:{halo}", "--shape", nodes, "--effort", "fast")
    assert f"recognised: {said}\n" in ended.out


@pytest.mark.parametrize(
    ("given", "found", "same"),
    [
        ([8, 6], "all pairs in rows and columns of 6x8", True),
        ([6, 8], "twisted torus 8x6, 6 neighbours", True),
        ([4, 4, 4], "mesh 2mx2mx2mx2mx2mx2m, 6 neighbours", True),
        ([4, 4], "mesh 4mx4m, 4 neighbours", True),
        ([4, 2, 2], "torus 2mx2mx2mx2m, 15 neighbours", True),
        ([8, 2, 2], "torus 8x4m, 4 neighbours", False),
        ([16, 4], "torus 8x8, 4 neighbours", False),
        ([64], "torus 8x8, 4 neighbours", False),
    ],
)
def test_a_grid_is_the_same_by_the_lengths_of_its_axes(given, found, same):
    assert place.outcome.is_same_grid(given, place.outcome.lengths_in(found)) is same


FORMATS = ("openmpi4", "openmpi5", "hydra", "slurm", "cray", "vcoord", "permutation", "placement")


def test_every_file_is_written_and_measures_as_the_search_said(kumihimo):
    names = {name: "MPICH_RANK_ORDER" if name == "cray" else f"map.{name}" for name in FORMATS}
    asked = [word for name, file in names.items() for word in ("--output", f"{name}:{file}")]
    nodes = ("--allocation", "n[01-64]")
    found = object_of(kumihimo(*HALO, *nodes, *asked, "--json"))
    assert [each["format"] for each in found["outputs"]] == list(FORMATS)
    launches = {each["format"]: each["launch"] for each in found["outputs"]}
    assert "--rankfile map.openmpi4" in launches["openmpi4"] and "srun -m arbitrary" in launches["slurm"]
    for file in names.values():
        again = object_of(kumihimo(*HALO[:5], *nodes, "--evaluate", file, "--json"))
        assert again["node_of_rank"] == found["node_of_rank"], file
        assert again["average_hops"] == found["average_hops"]
        assert schema.validator("place").is_valid(again)


def test_other_commands_read_map_files(kumihimo):
    assert kumihimo(*HALO, "--output", "vcoord:v", "--output", "permutation:p").code == 0
    common = ("simulate", "halo:4x4x4", "--machine", "k-computer", "--shape", "2x4x8", "--json", "--placement")
    times = {json.loads(kumihimo(*common, file).out)["results"][0]["seconds"] for file in ("v", "p", "vcoord:v")}
    assert len(times) == 1


def test_a_format_before_the_name_of_a_file_is_obeyed(kumihimo, tmp_path):
    """A list of ranks looks like a permutation, and is the inverse one, on nodes with one slot."""
    chosen = object_of(kumihimo(*HALO, "--output", "cray:ranks", "--json"))["node_of_rank"]
    assert all(line.isdigit() for line in (tmp_path / "ranks").read_text().split())
    common = ("place", *HALO[1:5], "--json")
    assert object_of(kumihimo(*common, "--evaluate", "cray:ranks"))["node_of_rank"] == chosen
    inverse = [chosen.index(node) for node in range(64)]
    for form in ("permutation:ranks", "ranks"):
        assert object_of(kumihimo(*common, "--evaluate", form))["node_of_rank"] == inverse != chosen
    started = object_of(kumihimo(*HALO, "--json", "--placement", "cray:ranks"))
    assert "cray:ranks" in [each["name"] for each in started["candidates"]]
    (tmp_path / "permutation:ranks").write_text("".join(f"{node}\n" for node in range(64)))
    assert object_of(kumihimo(*common, "--evaluate", "permutation:ranks"))["node_of_rank"] == list(range(64))


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--output", "permutation:fifo", "--output must name a file or a new one (got fifo, a FIFO)"),
        ("--within-node", "fifo", "the description of a node must be readable (got fifo: a FIFO without a writer)"),
    ],
)
def test_a_fifo_is_refused_before_the_search(kumihimo, tmp_path, option, value, words):
    os.mkfifo(tmp_path / "fifo")
    ended = kumihimo(*HALO[:4], "2x4x8", "--ranks-per-node", "4", option, value, timeout_seconds=30)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert words in ended.err


def test_names_that_are_not_utf8(kumihimo, tmp_path):
    odd = os.fsdecode(b"a\xfb")
    (tmp_path / odd).write_text("".join(f"{node}\n" for node in range(64)))
    found = object_of(kumihimo(*HALO, "--placement", odd, "--json"))
    assert sorted(found["node_of_rank"]) == list(range(64))
    ended = kumihimo(*HALO, "--placement", f"vcoord:{odd}")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1) and r"a\xfb:1:" in ended.err, ended.err
    ended = kumihimo(*HALO, "--ranks-per-node", "4", "--within-node", odd)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert r"a\xfb:1: not TOML" in ended.err


def test_a_page_that_cannot_be_written_keeps_the_result(kumihimo):
    ended = kumihimo(*HALO, "--page", "/dev/full", "--output", "permutation")
    assert (ended.code, ended.err.count("\n")) == (1, 1), ended.err
    assert "/dev/full was not written: No space left" in ended.err
    assert "(chosen)" in ended.out and "permutation: permutation" in ended.out and "page:" not in ended.out


@pytest.mark.parametrize(("signalled", "code"), [(KeyboardInterrupt(), 1), (SystemExit(143), 143)])
def test_an_interrupted_prediction_keeps_files_and_result(tmp_path, monkeypatch, capfd, signalled, code):
    def interrupted(*_: object) -> None:
        assert (tmp_path / "permutation").exists()
        raise signalled

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(place.outcome, "predicted", interrupted)
    assert cli.carry_out([*HALO, "--output", "permutation", "--page", "page.html", "--json"]) == code
    out, err = capfd.readouterr()
    assert "interrupted; the prediction is left out" in err
    found = json.loads(out)
    assert schema.validator("place").is_valid(found)
    assert found["predicted"] is None and found["page"] == "page.html" and len(found["outputs"]) == 1


def test_a_file_that_differs_after_writing_is_found(tmp_path, monkeypatch):
    on = request.network(None, "4", place.simulation.PartOfMachine(), None, None)
    placement = _placement.Placement.in_order("block", on.job.slots, on.shape)
    other = _placement.Placement.in_order("random:1", on.job.slots, on.shape)
    text = outputs.text_of("permutation", other, on, True)
    monkeypatch.setattr(outputs, "text_of", lambda *_: text)
    with pytest.raises(Exception, match="differs from the placement"):
        outputs.written(outputs.WantedFile("permutation", tmp_path / "p"), placement, on, True)


BAD = {
    "neg.txt": ("0 1 5\n1 0 -5\n", "neg.txt:2: bytes must be 0 or more (got -5)"),
    "self.txt": ("0 0 5\n", "must have a line with bytes between two ranks"),
    "empty.txt": ("", "must have a line with bytes between two ranks"),
    "one.graph": ("3 2 001\n2 5\n1 5 3 7\n2 8\n", "one.graph:"),
    "odd.txt": ("0 1 5\n0 1 x\n", "odd.txt:2"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_traffic_is_refused_with_its_line(kumihimo, tmp_path, name):
    text, said = BAD[name]
    (tmp_path / name).write_text(text)
    ended = kumihimo("place", "--traffic", name, "--shape", "4x4")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert said in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--traffic halo:10x10:5 --shape 8x8", "8x8 has 64 slots for 100 ranks; take a larger shape or"),
        ("--traffic halo:4x4:5", "the network is missing"),
        ("--traffic halo:4x4:5 --shape 46340x46340", "at most 1048576 ranks (got 2147395600 on 2147395600 nodes)"),
        ("--traffic halo:4x4:5 --shape 4x4 --objective speed", "--objective must be one of"),
        ("--traffic halo:4x4:5 --shape 4x4 --objective time", "the machine for --objective time is missing"),
        ("--traffic halo:4x4:5 --shape 4x4 --output hydra", "name the nodes"),
        ("--traffic halo:4x4:5 --shape 4x4 --output rankfil", "did you mean rankfile?"),
        ("--traffic halo:4x4:5 --shape 4x4 --output openmpi4 --output openmpi5", "a file of its own"),
        ("--traffic halo:4x4:5 --shape 4x4 --output permutation:f --output vcoord:./f", "a file of its own"),
        ("--traffic halo:4x4:5 --shape 4x4 --output permutation:f --page ./f", "--page needs a file of its own"),
        ("--traffic halo:4x4:5 --shape 4x4 --output permutation:/dev/stdout", "must name a file or a new one"),
        ("--traffic halo:4x4:5 --shape 4x4 --evaluate permutation:nothing", "nothing: No such file"),
        ("--traffic halo:4x4:5 --shape 4x4 --evaluate nothing", "a map file or the name of an order"),
        ("--traffic halo:4x4:5 --shape 4x4 --evaluate block --budget 5s", "takes no --budget"),
        ("--traffic halo:4x4:5 --shape 4x4 --grid 4x5", "--grid must have the 16 ranks"),
        ("--traffic halo:4x4:5 --shape 4x4 --allocation n[1-3]", "as many hosts as the job has nodes"),
        ("--traffic halo:4x4:5 --shape 4x4 --threads 0", "--threads must be 1 or more"),
        ("--traffic halo:4x4:5 --shape 4x4 --page no/such/page.html", "must name a file that can be written"),
        ("--traffic no.txt --shape 4x4", "no.txt"),
    ],
)
def test_bad_words_are_refused_in_one_sentence(kumihimo, words, said):
    ended = kumihimo("place", *words.split())
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    assert said in ended.err


def test_an_interrupted_search_keeps_the_best_so_far(tmp_path):
    command = [Path(sys.executable).parent / "kumihimo", "place", "--traffic", "halo:16x16x16:27"]
    command += ["--shape", "48x6x15", "--effort", "thorough", "--json", "--output", "permutation"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        until(lambda: catches(process.pid, signal.SIGTERM), "the search begins", process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and "interrupted; the best placement so far is kept" in err
    found = json.loads(out)
    assert not found["complete"] and found["average_hops"] <= found["before"]["average_hops"]
    assert len((tmp_path / "permutation").read_text().splitlines()) == 4096


def test_a_budget_ends_the_search(kumihimo):
    asked = ("place", "--traffic", "halo:16x16x16:27", "--shape", "48x6x15", "--effort", "thorough")
    found = object_of(kumihimo(*asked, "--budget", "1s", "--json"))
    assert not found["complete"] and found["search_seconds"] < 30


def test_hosts_in_another_order_are_the_usual_order(kumihimo, tmp_path, repository):
    text = (repository / "docs" / "links-alone.toml").read_text().replace("32x32x32", "2x2x2")
    text = text.replace('jobs = "own"', 'jobs = "own"\nnode_names = "n[0-7]"')
    (tmp_path / "m.toml").write_text(text)
    hosts = "n7,n0,n6,n1,n5,n2,n4,n3"
    common = ("place", "--traffic", "halo:2x2x2:7", "--machine", "m.toml", "--json", "--allocation")
    found = object_of(kumihimo(*common, hosts))
    assert found["before"]["name"] == "--allocation"
    assert found["average_hops"] == 1 < found["before"]["average_hops"]
    ended = kumihimo(*common, "n0,n9")
    assert ended.code == 2 and "does not name this host (got 'n9')" in ended.err


def test_a_machine_on_switches_with_a_prediction(kumihimo):
    asked = ("place", "--traffic", "halo:8x8:5", "--machine", "reedbush-u", "--shape", "16", "--ranks-per-node", "4")
    found = object_of(kumihimo(*asked, "--effort", "fast", "--json"))
    assert found["off_node_bytes"] <= found["before"]["off_node_bytes"]
    assert 0 < found["predicted"]["after"]["seconds"] <= found["predicted"]["before"]["seconds"] * 1.2


def test_levels_within_nodes(kumihimo, tmp_path):
    found = kumihimo("place", "-t", "halo:4x4:5", "-s", "2x2", "--ranks-per-node", "4", "--within-node", "none.toml")
    assert found.code == 2 and "none.toml" in found.err


def test_the_progress_line_has_the_objective():
    class Seen:
        phase, done, average_hops, link_bytes_max, least_hops = "annealing", 0.5, 2.25, 2048, 1.5

    assert place.phase_text(Seen) == "annealing: 2.25 hops (at least 1.5), link 2 KiB"


@pytest.mark.parametrize(("name", "origin"), [("snake:xyz, annealed", "snake"), ("Scotch 3", "Scotch")])
def test_candidates_of_one_origin_share_a_row(name, origin):
    assert place.origin_of(name) == origin


def test_measures_agree_with_the_links(kumihimo):
    on = request.network(None, "4x4", place.simulation.PartOfMachine(), None, None)
    source = request.traffic_on("halo:4x4:9", on)
    snake = request.in_order("snake", on, 16)
    loads = _mapping.link_loads(source.traffic, on.job, snake)
    measured = _mapping.measure(source.traffic, on.job, snake)
    assert max(loads) == measured.link_bytes_max and sum(loads) == measured.hop_bytes
    assert {row[0] for row in on.job.machine.links} >= {at for at, load in enumerate(loads) if load}
    assert isinstance(on.shape, _topology.Shape) and re.match("torus", on.job.machine.network)


@pytest.mark.parametrize(
    ("hops", "objective", "said"), [(1.9, "hop-bytes", True), (2.1, "hop-bytes", False), (1.9, "links", False)]
)
def test_what_the_limit_on_links_leaves_out_is_said(capsys, hops, objective, said):
    from kumihimo.cli import place

    candidates = [
        {"hop_bytes": 2000, "average_hops": 2.0, "within_cap": True},
        {"hop_bytes": round(1000 * hops), "average_hops": hops, "within_cap": False},
    ]
    place.print_bounds(
        {
            **{"bounds": [], "link_bounds": [], "before": {"hop_bytes": 2000}},
            "hop_bytes": 2000,
            "candidates": candidates,
        }
        | {"objective": objective}
    )
    assert ("a placement with 1.9 hops was left out" in capsys.readouterr().out) == said


@pytest.mark.parametrize("words", [("simulate", "allreduce", "-b", "8"), ("place", "--traffic", "halo:3x3:5")])
def test_a_machine_file_of_the_job_that_is_not_there_is_told_by_its_variable(kumihimo, monkeypatch, words):
    monkeypatch.setenv("KUMIHIMO_MACHINE", "nowhere.toml")
    ended = kumihimo(*words)
    assert ended.code == 2
    assert "KUMIHIMO_MACHINE must name a machine file (got nowhere.toml)" in ended.err


def test_a_state_of_software_needs_a_machine(kumihimo):
    ended = kumihimo(*HALO, "--software", "nonsense")
    assert ended.code == 2 and "place without --machine takes no --software" in ended.err
