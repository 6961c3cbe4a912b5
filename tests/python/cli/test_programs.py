"""Verbs on programs that are no collective: halo exchanges and programs in files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from small_machine import MACHINE

from kumihimo.cli import machines
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation, subjects
from kumihimo.predict.prediction import Setting
from kumihimo.text.errors import Failed

PAIR = "ranks 2\nbuffer 2\nrank 0\nsend 1 0 1\nrank 1\nreceive 0 1 1\nexpect 1 1 from 0 0\n"


@pytest.fixture
def pair(tmp_path):
    """A file of programs, with one line replaced by another."""

    def written(old: str = "", new: str = "") -> str:
        path = tmp_path / "pair"
        path.write_text(PAIR.replace(old, new))
        return f"file:{path}"

    return written


def test_show(kumihimo, pair):
    ended = kumihimo("show", "halo:4x4x4", "--shape", "3x3x2", "--rank", "1")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.count("send to") == 6
    corners = kumihimo("show", "halo:4x4x4,points=27", "--shape", "3x3x3")
    assert corners.out.count("send to") == 26
    assert "send to 1" in kumihimo("show", pair(), "--ranks", "2").out


@pytest.mark.parametrize("what", ["4x4x4", "4x4x4,points=27,fields=3", "5x3x4,mesh", "4x4x4,compute=1e-3"])
@pytest.mark.parametrize("shape", ["3x3x2", "4mx3"])
def test_halo_exchanges_are_proven(kumihimo, what, shape):
    ended = kumihimo("verify", f"halo:{what}", "--shape", shape, "--json")
    assert (ended.code, ended.err) == (0, "")
    (result,) = json.loads(ended.out)["results"]
    assert result["ok"] and result["exact"] and result["steps"] > 0


@pytest.mark.parametrize("ranks", [(), ("--ranks", "2"), ("--shape", "2"), ("--ranks-per-node", "2")])
def test_a_file_is_proven(kumihimo, pair, ranks):
    ended = kumihimo("verify", pair(), *ranks)
    assert (ended.code, ended.err, "2 steps, proven" in ended.out) == (0, "", True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("receive 0 1 1\n", ""),  # a send without its receive
        ("expect 1 1 from 0 0", "expect 1 1 from 0 1"),  # another element
        ("send 1 0 1", "receive 1 0 1\nsend 1 0 1"),  # each waits for the other
    ],
)
def test_sabotage_is_found(kumihimo, pair, old, new):
    ended = kumihimo("verify", pair(old, new), "--ranks", "2")
    assert (ended.code, ended.err) == (1, "")
    assert "Findings:" in ended.out


def test_one_rank_has_no_plural(kumihimo):
    ended = kumihimo("verify", "halo:1x1x1,points=27", "--shape", "1x1x1")
    assert (ended.code, ", 1 rank: 26 steps, proven" in ended.out) == (0, True)


def test_simulate(kumihimo, pair):
    on = ("--machine", "k-computer", "--shape", "4x4x4", "--json")
    seconds = {}
    for what in ("16x16x16", "16x16x16,fields=8,points=27", "16x16x16,compute=1"):
        ended = kumihimo("simulate", f"halo:{what}", *on)
        assert (ended.code, ended.err) == (0, "")
        (result,) = json.loads(ended.out)["results"]
        seconds[what] = result["seconds"]
    plain, more, computing = seconds.values()
    assert 0 < plain < more < 1
    assert 1 <= computing < 1 + 2 * plain, "the exchange runs beside the computation"
    on_text = kumihimo("simulate", "halo:16x16x16,compute=1", *on[:-1])
    assert "limited by compute steps" in on_text.out
    exact_text = kumihimo("simulate", "halo:16x16x16", *on[:-1], "--model", "exact")
    assert exact_text.code == 0 and "limited by" not in exact_text.out
    assert "limited by" not in kumihimo("simulate", "allreduce", "-b", "1KiB", *on[:-1], "--model", "exact").out
    busiest = kumihimo("simulate", "halo:16x16x16", *on[:-1], "--links").out
    assert "Busiest links\nlink " in busiest and len(busiest.partition("Busiest links\n")[2].splitlines()) == 6
    exact = kumihimo("simulate", "halo:16x16x16", *on, "--model", "exact")
    (result,) = json.loads(exact.out)["results"]
    assert plain == pytest.approx(result["seconds"], rel=0.2)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("verify", "file:"), "the path after file: is missing"),
        (("verify", "file:/tmp"), "/tmp, a folder"),
        (("show", "halo:4x4x4,pointz=7", "--ranks", "2"), "(got 'pointz=7'); use points="),
        (("show", "halo:9223372036854775807x1x1", "--ranks", "2"), "at most 1099511627776 cells"),
        (("show", "halo:4x4x4,mesh,periodic", "--ranks", "2"), "once (got 'periodic' again)"),
        (("show", "halo:4x4x4,periodic", "--shape", "4m"), "mesh axis 1"),
        (("show", "halo:4x4x4", "--ranks", "2", "--expand"), "--json"),
        (("show", "halo:4x4x4", "--ranks", "2", "--segments", "3"), "no --segments (got 3)"),
        (("verify", "halo:4x4x4", "--ranks", "2", "--bytes", "8"), "no --bytes (got 8)"),
        (("verify", "halo:4x4x4", "--ranks", "2", "-a", "nosuch"), "no --algorithm (got nosuch)"),
        (("simulate", "halo:4x4x4", "-m", "k-computer", "--shape", "2x2x2", "--root", "0"), "no --root (got 0)"),
        (("bench", "halo:4x4x4", "--in-place"), "no --in-place"),
        (("show", "barrier", "-a", "dissemination", "--ranks", "4", "--bytes", "8"), "takes no --bytes"),
        (("simulate", "barrier", "-m", "k-computer", "--bytes", "8"), "takes no --bytes"),
        (("simulate", "allreduce", "-m", "k-computer", "--bytes", "8", "--ranks", "8"), "give a --shape of 8 nodes"),
        (("show", "halo:4x4", "--ranks", "4"), "halo:16x16x16"),
        (("verify", "file:/nowhere", "--ranks", "4"), "/nowhere"),
        (
            ("simulate", "halo:4x4x4", "-m", "k-computer", "--shape", "2x2", "--model", "bound"),
            "exact, packet, loggp or logp",
        ),
        (("show", "allreduce", "--ranks", "4"), "--algorithm"),
        (("show", "ring", "--ranks", "4"), "unknown collective (got 'ring'); use one of"),
    ],
)
def test_bad_input_is_one_sentence(kumihimo, words, sentence):
    ended = kumihimo(*words)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err and ended.err.count("\n") == 1


def test_one_rank_is_no_plural(kumihimo, tmp_path):
    (tmp_path / "one").write_text("ranks 1\nbuffer 1\nrank 0\ncompute seconds 1e-6\n")
    assert "on row of 1 rank, 1 rank: 1 step, proven" in kumihimo("verify", "file:one").out
    assert "file:one needs 1 rank (got 2)" in kumihimo("verify", "file:one", "--ranks", "2").err


@pytest.mark.parametrize("model", ["flow", "exact"])
def test_long_files_are_read_a_piece_at_a_time(kumihimo, tmp_path, model):
    """Equal steps one after another, some held and some read on: the time is proportional to their number."""

    def seconds(steps: int) -> float:
        path = tmp_path / f"{steps}.program"
        sections = (
            f"rank {rank}\n" + f"{word} {1 - rank} 0 1000\n" * steps for rank, word in ((0, "send"), (1, "receive"))
        )
        path.write_text("ranks 2\nbuffer 1000\n" + "".join(sections), encoding="utf-8")
        ended = kumihimo("simulate", f"file:{path}", "-m", "k-computer", "-s", "2", "--model", model, "--json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out)["results"][0]["seconds"]

    assert seconds(20_000) == pytest.approx(20 * seconds(1000), rel=1e-3)


def test_placements_of_programs(kumihimo, pair, tmp_path):
    shape = ("--shape", "3x4x2")
    shown = kumihimo(
        "show", "halo:4x4x4", *shape, "--order", "reversed-axes", "--rank", "5", "--save-placement", "seats"
    )
    assert (shown.code, shown.err) == (0, "")
    assert "placed by   reversed-axes; rank 5 is on node 18, slot 0\n" in shown.out
    assert "program of rank 5 (2,1,0)\n" in shown.out
    by_file = kumihimo("show", "halo:4x4x4", *shape, "--placement", "seats", "--rank", "5")
    assert by_file.out == shown.out.replace("placed by   reversed-axes", "placed by   seats")
    in_place = json.loads(kumihimo("show", "halo:4x4x4", *shape, "--rank", "5", "--json").out)
    moved = json.loads(kumihimo("show", "halo:4x4x4", *shape, "--rank", "5", "--json", "--placement", "seats").out)
    assert (moved.pop("placement"), moved.pop("node_of_rank")[5], moved.pop("slot_of_rank")[5]) == ("seats", 18, 0)
    assert moved == in_place, "the steps are the same"
    for placed in (("--order", "random:1"), ("--placement", "seats")):
        assert "288 steps, proven" in kumihimo("verify", "halo:4x4x4", *shape, *placed).out
    assert "2 steps, proven" in kumihimo("verify", pair(), "--shape", "2", "--order", "round-robin").out


@pytest.mark.parametrize("verb", ["show", "verify"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--shape", "2x2", "--order", "sideways"), "blocks:CELLS[:GRID] or random:SEED (got 'sideways')"),
        (("--shape", "2x2", "--placement", "nowhere"), "the placement file must be readable (got nowhere"),
        (("--shape", "2x2", "--placement", "far"), "far:2"),
        (("--shape", "2x2", "--order", "block", "--placement", "far"), "--order excludes --placement"),
        (("--ranks", "4", "--order", "block"), "need ranks on nodes"),
    ],
)
def test_wrong_placements_of_programs_are_refused(kumihimo, tmp_path, verb, words, sentence):
    (tmp_path / "far").write_text("0 0 0\n1 9 0\n")
    ended = kumihimo(verb, "halo:4x4x4", *words)
    assert (ended.code, ended.out) == (2, "")
    assert sentence in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize(
    ("verb", "ranks", "sentence"),
    [
        ("verify", 2_000_000_000, "a proof has at most 1048576 ranks (got row of 2000000000 ranks)"),
        ("verify", 2**20 + 1, "a proof has at most 1048576 ranks (got row of 1048577 ranks)"),
        ("bench", 2_000_000_000, "the number of ranks must be from 1 to 4096 (got 2000000000)"),
        ("bench", 5000, "the number of ranks must be from 1 to 4096 (got 5000)"),
    ],
)
def test_more_ranks_than_a_verb_takes_are_refused_at_once(kumihimo, pair, verb, ranks, sentence):
    for words in ((pair("ranks 2", f"ranks {ranks}"),), ("halo:4x4x4", "--ranks", str(ranks))):
        ended = kumihimo(verb, *words, timeout_seconds=20)
        assert (ended.code, ended.out) == (2, "")
        assert sentence in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize("model", ["flow", "exact"])
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("receive 0 1 1", "receive 0 0 2", "rank 1 on lane 0 expects 2 elements where rank 0 sends 1;"),
        ("receive 0 1 1\n", "", "a send on lane 0 from rank 0 to rank 1 has no receive;"),
        ("send 1 0 1\n", "", "a receive on lane 0 from rank 0 to rank 1 has no send;"),
        ("send 1 0 1", "receive 1 0 1\nsend 1 0 1", "the programs deadlock: 2 lanes wait for ever;"),
        (
            "send 1 0 1\nrank 1\nreceive 0 1 1",
            "receive 1 0 1\nsend 1 0 1\nrank 1\nreceive 0 1 1\nsend 0 1 1",
            "the programs deadlock: 2 lanes wait for ever;",
        ),
    ],
)
def test_programs_that_do_not_fit_have_no_time(kumihimo, pair, old, new, sentence, model):
    ended = kumihimo("simulate", pair(old, new), "-m", "k-computer", "--shape", "2", "--model", model)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1), ended.err
    known = sentence if model == "flow" or "has no" not in sentence else "the programs deadlock"
    assert known in ended.err and "check it with kumihimo verify" in ended.err


def test_pipes_are_refused(kumihimo, pair, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    ended = kumihimo("verify", f"file:{tmp_path / 'fifo'}")
    assert (ended.code, "must be a regular file" in ended.err) == (2, True)


def test_a_file_that_changes_while_it_is_read_is_no_proof(pair):
    text = pair()
    found = program_sets.on(text, Ranks())
    pair("send 1 0 1", "send 1 1 1")
    with pytest.raises(Failed, match="changed while it was read"):
        program_sets.verified(found)


@pytest.mark.parametrize("verb", ["verify", "simulate"])
def test_a_change_of_a_file_explains_what_is_wrong_with_its_programs(pair, verb):
    """Otherwise a file that is being written would be said to deadlock."""
    named = program_sets.named(pair())
    found = named.on(arguments.rank_space(named.ranks(Ranks("2"))))
    setting = Setting(job=simulation.on(machines.load("k-computer"), Ranks("2")))
    pair("receive 0 1 1\n", "")
    with pytest.raises(Failed, match="changed while it was read"):
        if verb == "verify":
            program_sets.verified(found)
        else:
            subjects.ProgramSets(named).predict(setting, None)


@pytest.mark.parametrize("more", [(), ("--json",), ("--json", "--expand")])
def test_a_program_file_of_other_bytes_is_refused(kumihimo, pair, more):
    for text in (b"ranks 2\nbuffer \xff\n", b"ranks 2\nbuffer 2 # \xe9\n"):
        path = pair().removeprefix("file:")
        Path(path).write_bytes(text)
        ended = kumihimo("show", f"file:{path}", *more)
        assert (ended.code, ended.out) == (2, "")
        assert ended.err == f"kumihimo: {path}, line 2: the file must be UTF-8 text; save it as UTF-8\n"


def test_a_file_on_a_machine_takes_its_number_of_ranks(kumihimo, pair):
    on = ("--machine", "k-computer")
    assert kumihimo("simulate", pair(), *on, "--shape", "2x1x1").code == 0
    ended = kumihimo("simulate", pair(), *on)
    assert (ended.code, "give a --shape of 2 nodes" in ended.err) == (2, True)


def test_a_file_states_its_number_of_ranks(kumihimo, pair):
    ended = kumihimo("show", pair(), "--ranks", "3")
    assert (ended.code, "needs 2 ranks" in ended.err) == (2, True)


def test_a_state_of_software_is_a_choice_of_the_machine(kumihimo, tmp_path):
    """Programs take it as collectives do."""
    (tmp_path / "small.toml").write_text(
        MACHINE + '[software.quick]\nmessage_cost = { value = "1 us", assumed = "a guess" }\n'
    )
    asked = ("simulate", "halo:4x4x4", "--machine", str(tmp_path / "small.toml"), "--shape", "2x2x2", "--json")
    times = []
    for state in ("base", "quick"):
        ended = kumihimo(*asked, "--software", state)
        assert ended.code == 0, ended.err
        times.append(json.loads(ended.out)["results"][0]["seconds"])
    assert times[1] < times[0]
