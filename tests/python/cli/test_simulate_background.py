"""`simulate --background`: a job beside others."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_machine import MACHINE
from waiting import threads_of, until

RING = "num_ranks 2\nrank 0 {\nsend 64000b to 1\n}\nrank 1 {\nrecv 64000b from 0\n}\n"


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "small.toml").write_text(MACHINE.replace("{guess}", "guess"), encoding="utf-8")
    (tmp_path / "pair.goal").write_text(RING, encoding="utf-8")
    return (
        *("simulate", "allreduce", "--machine", "small.toml", "--shape", "4x4x4", "--ranks", "16"),
        *("--bytes", "64KiB", "--model", "packet", "-a", "recursive_doubling"),
    )


UNIFORM = ("--background", "uniform:load=40%,bytes=16KiB")
SCATTERED = (*UNIFORM, "--spread", "scattered")


def results(kumihimo, *words: str) -> list[dict]:
    ended = kumihimo(*words, "--json")
    assert (ended.code, ended.err) == (0, ""), ended.err
    return json.loads(ended.out)["results"]


def test_times_beside_others(kumihimo, words):
    found = results(kumihimo, *words, *UNIFORM, "--spread", "both", "--repeats", "6", "--packet-seed", "5")
    assert [each["spread"] for each in found] == ["compact", "scattered"]
    for each in found:
        assert [repeat["seed"] for repeat in each["repeats"]] == [5, 6, 7, 8, 9, 10]
        assert each["low_seconds"] <= each["seconds"] <= each["high_seconds"] <= each["max_seconds"]
        assert each["p99_seconds"] is None
        assert each["slowdown"] == pytest.approx(each["seconds"] / each["quiet_seconds"])
        assert 0.5 < each["delivered_bytes"] / each["offered_bytes"] < 1.5
        assert (each["accepted_share"] is None) == (each["offered_messages"] < 400)
        assert each["bytes_per_second"] == pytest.approx(2 * 65536 / each["seconds"])
    compact, scattered = found
    # Whole planes of a torus: what passes them by the axes' order never takes a link between their nodes.
    assert compact["slowdown"] == 1 and compact["packets_waiting_share"] == compact["quiet_packets_waiting_share"]
    assert scattered["slowdown"] > 1.05
    assert scattered["packets_waiting_share"] > scattered["quiet_packets_waiting_share"]
    assert len({repeat["seconds"] for repeat in scattered["repeats"]}) > 1


def test_a_compact_job_that_others_pass(kumihimo, words):
    fewer = [word if word != "16" else "8" for word in words]
    (found,) = results(kumihimo, *fewer, *UNIFORM, "--repeats", "6")
    assert found["slowdown"] > 1.01 and found["packets_waiting_share"] > found["quiet_packets_waiting_share"]


def test_the_same_seed_gives_the_same_result(kumihimo, words):
    one = (*words, *UNIFORM, "--background", "goal:pair.goal", "--spread", "scattered", "--repeats", "3")
    with pytest.raises(AssertionError):  # all nodes are the first one's
        results(kumihimo, *one)
    one = [word.replace("uniform:", "uniform:share=60%,") for word in one]
    first, second = results(kumihimo, *one), results(kumihimo, *one)
    assert first == second
    assert sum(repeat["background"][1]["runs"] for repeat in first[0]["repeats"]) > 0


def test_another_warm_up(kumihimo, words):
    (found,) = results(kumihimo, *words, *UNIFORM, "--repeats", "1", "--warm-up", "0.001")
    assert found["start_seconds"] == pytest.approx(0.001)
    assert found["low_seconds"] is None


def test_a_halo_exchange_beside_others(kumihimo, words):
    (found,) = results(
        kumihimo, "simulate", "halo:16x16x16", *words[2:8], "--model", "packet", *SCATTERED, "--repeats", "2"
    )
    assert found["programs"].startswith("halo") and found["slowdown"] > 1


def test_a_recorded_program_beside_others(kumihimo, words):
    goal = ("simulate", "goal:pair.goal", *words[2:6], "--model", "packet", *SCATTERED, "--repeats", "3")
    (found,) = results(kumihimo, *goal)
    assert found["programs"] == "goal:pair.goal" and found["ranks"] == 2 and found["slowdown"] > 1
    alone = json.loads(kumihimo("simulate", "goal:pair.goal", *words[2:6], "--model", "packet", "--json").out)
    assert found["repeats"][0]["quiet_seconds"] == pytest.approx(alone["results"][0]["seconds"], rel=0.1), "more hops"
    assert "goal:pair.goal on small 4x4x4, 2 ranks, model packet" in kumihimo(*goal).out
    refused = kumihimo(*goal, "--ranks", "16")
    assert refused.code == 2 and "--ranks must be the 2 of the GOAL file (got 16); leave it out" in refused.err


def test_all_algorithms_that_fit(kumihimo, words):
    every = [word for word in words if word not in ("-a", "recursive_doubling")]
    ended = kumihimo(*every, *UNIFORM, "--repeats", "1", "--json", timeout_seconds=300)
    told = json.loads(ended.out)
    names = [each["algorithm"] for each in told["results"]]
    assert "ring" in names and "binomial" in names and len(set(names)) == len(names)
    assert all(each["algorithm"] not in names for each in told["not_applicable"])


def test_the_table_says_what_was_asked(kumihimo, words):
    ended = kumihimo(*words, *UNIFORM, "--spread", "both", "--repeats", "6")
    lines = ended.out.splitlines()
    assert lines[0] == "allreduce on small 4x4x4, 16 ranks, 64KiB, model packet"
    assert lines[1:3] == ["algorithm recursive_doubling", "beside uniform:load=40%,bytes=16KiB, on 48 free nodes"]
    assert any(line.startswith("compact ") for line in lines) and any(line.startswith("scattered ") for line in lines)
    assert "longest" in ended.out and "p99" not in ended.out
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("--background", "shift"), "--background must be uniform, neighbour, alltoall or goal:FILE (got 'shift')"),
        ((*UNIFORM, "--spread", "wide"), "--spread must be compact, scattered or both (got 'wide')"),
        ((*UNIFORM, "--repeats", "0"), "--repeats must be 1 to 100000 (got 0)"),
        (("--background", "uniform:load=8%,load=2%"), "--background must name load once"),
        (("--background", "goal:a.goal,load=5%"), "--background goal:FILE takes share= and spread= alone"),
        ((*UNIFORM, "--warm-up", "5"), "--warm-up must be at most 1 s (got 5 s)"),
        ((*UNIFORM, "--links"), "simulate --background takes no --links"),
        ((*UNIFORM, "--dies", "5@20us"), "simulate --background takes no --dies"),
        (("--spread", "both"), "simulate without --background takes no --spread (got both)"),
        ((*UNIFORM, "--model", "flow"), "--background needs --model packet (got --model flow); leave it out"),
        ((*UNIFORM, "--background", "goal:absent.goal"), "absent.goal"),
    ],
)
def test_wrong_options(kumihimo, words, given, error):
    ended = kumihimo(*words, *given)
    assert ended.code == 2 and error in ended.err and len(ended.err.splitlines()) == 1, ended.err


def test_the_job_watched_must_leave_nodes(kumihimo, words):
    all_of_them = [word if word != "16" else "64" for word in words]
    ended = kumihimo(*all_of_them, *UNIFORM)
    assert ended.code == 2 and "leaves free (got 64 ranks on all 64 nodes)" in ended.err
    without = [word for word in words if word not in ("--ranks", "16")]
    ended = kumihimo(*without, *UNIFORM)
    assert ended.code == 2 and "the number of ranks of the job watched is missing" in ended.err


def test_a_point_of_a_campaign(words, tmp_path, monkeypatch):
    from kumihimo.cli import campaign_points

    monkeypatch.chdir(tmp_path)
    known = campaign_points.options()
    assert known["background"].repeats and known["repeats"].kind == "integer" and "page" not in known
    outcome = campaign_points.predict([*words[1:], *SCATTERED, "--repeats", "2"], str(tmp_path))
    assert outcome["status"] == "ok" and outcome["result"]["slowdown"] > 1


def test_ctrl_c_ends_the_repeats_at_once(words, tmp_path):
    command = [Path(sys.executable).parent / "kumihimo", *words, *SCATTERED, "--repeats", "100000"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: threads_of(process.pid) > 1, "the repeats begin", process)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=10)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (1, "", "kumihimo: interrupted\n")


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
def test_a_page_in_a_browser(kumihimo, browser, words, tmp_path, width, dark):
    ended = kumihimo(*words, *UNIFORM, "--spread", "both", "--repeats", "9", "--page", "page.html")
    assert ended.code == 0, ended.err
    look = """
      const points = document.querySelectorAll('svg.chart .dot');
      points[0].dispatchEvent(new Event('pointerenter'));
      return [points.length, document.querySelector('.told').textContent];
    """
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=f"() => {{ {look} }}")
    assert (seen.ready, seen.console) == ("yes", [])
    assert seen.wide <= 0 and seen.acted[0] == 18
    assert seen.acted[1].startswith("compact, seed 1: ")
