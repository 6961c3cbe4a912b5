"""`kumihimo checkpoint`: its numbers, files and errors."""

from __future__ import annotations

import json
import math

import pytest

K = ("checkpoint", "24h", "--nodes", "9216", "--node-mtbf", "5y", "--checkpoint", "100s")


def result(kumihimo, *words: str) -> dict:
    ended = kumihimo(*words, "--json")
    assert (ended.code, ended.err) == (0, ""), ended.err
    (only,) = json.loads(ended.out)["results"]
    return only


def test_the_best_interval_is_taken(kumihimo):
    of = result(kumihimo, *K)
    mtbf = 5 * 365.25 * 86400 / 9216
    assert of["mtbf_seconds"] == pytest.approx(mtbf) and of["restart_seconds"] == 100
    assert of["interval_seconds"] == of["best_interval_seconds"] == pytest.approx(1800)
    assert of["young_interval_seconds"] == pytest.approx(math.sqrt(2 * 100 * mtbf))
    one = math.exp(100 / mtbf) * mtbf * math.expm1(1900 / mtbf)
    assert of["seconds"] == pytest.approx(48 * one) and of["pieces"] == 48
    assert of["failures"] == pytest.approx(of["seconds"] / mtbf)
    shares = of["checkpoint_share"] + of["lost_share"] + of["restart_share"]
    assert shares + of["efficiency"] == pytest.approx(1)
    assert all(each["seconds"] >= of["seconds"] for each in of["intervals"])


def test_tables_for_people(kumihimo):
    ended = kumihimo(*K, "--interval", "1h", "--simulate", "200")
    assert (ended.code, ended.err) == (0, "")
    assert "24 h of work on 9216 nodes, a failure every 4.76 h (5 y a node)" in ended.out
    assert "a checkpoint takes 100 s, a restart 100 s" in ended.out
    assert "200 simulated runs: " in ended.out
    names = [line.split("  ")[0] for line in ended.out.splitlines()]
    assert {"best", "asked", "Young", "Daly", "best / 8", "best x 8"} <= set(names)


def test_runs_agree_with_the_model(kumihimo):
    of = result(kumihimo, *K, "--simulate", "2000", "--seed", "4")
    drawn = of["simulated"]
    width = drawn["high_seconds"] - drawn["low_seconds"]
    assert abs(drawn["mean_seconds"] - of["seconds"]) < 2 * width
    assert drawn["quantile_5_seconds"] < drawn["mean_seconds"] < drawn["quantile_95_seconds"]
    assert result(kumihimo, *K, "--simulate", "2000", "--seed", "4")["simulated"] == drawn
    shaped = result(kumihimo, *K, "--simulate", "2000", "--weibull", "0.7")["simulated"]
    assert shaped["distribution"] == "Weibull, shape 0.7"


def test_bytes_and_the_rate_of_the_storage(kumihimo):
    words = ("--checkpoint-bytes", "16GB", "--storage-bandwidth", "1.6TB/s", "--restart", "0")
    of = result(kumihimo, *K[:6], *words)
    assert of["checkpoint_seconds"] == pytest.approx(16e9 * 9216 / 1.6e12)
    assert of["restart_seconds"] == of["restart_share"] == 0


def test_the_work_of_a_prediction(kumihimo, tmp_path):
    asked = ("simulate", "allreduce", "-m", "fugaku", "-s", "2x2x2", "-b", "1KiB", "-a", "ring", "--json")
    (tmp_path / "ring.json").write_text(kumihimo(*asked).out)
    seconds = json.loads((tmp_path / "ring.json").read_text())["results"][0]["seconds"]
    words = ("checkpoint", "ring.json", "--times", "1000000000", "--node-mtbf", "1y", "--checkpoint", "1m")
    of = result(kumihimo, *words)
    assert of["work_seconds"] == pytest.approx(seconds * 1e9) and of["nodes"] == 8
    assert result(kumihimo, *words, "--nodes", "4")["nodes"] == 4


def test_the_work_of_a_replay(kumihimo, tmp_path):
    text = "num_ranks 8\n" + "".join(f"rank {rank} {{\ncalc 1000000\n}}\n" for rank in range(8))
    (tmp_path / "eight.goal").write_text(text)
    replayed = kumihimo("replay", "goal:eight.goal", "-m", "fugaku", "--ranks-per-node", "2", "--json")
    (tmp_path / "replay.json").write_text(replayed.out)
    of = result(kumihimo, "checkpoint", "replay.json", "--times", "1000000", "--node-mtbf", "1y", "--checkpoint", "10s")
    assert of["work_seconds"] == pytest.approx(1000) and of["nodes"] == 4


def test_a_program_that_never_ends(kumihimo):
    words = ("checkpoint", "30d", "--nodes", "1000000", "--node-mtbf", "30d", "--checkpoint", "1h")
    of = result(kumihimo, *words)
    assert of["seconds"] is None and of["efficiency"] == 0
    shown = kumihimo(*words)
    assert shown.code == 0 and "practically never ends" in shown.out


def test_the_page(kumihimo, tmp_path):
    assert kumihimo(*K, "--page", "page.html").code == 0
    text = (tmp_path / "page.html").read_text()
    (data,) = json.loads(text.partition('id="data">')[2].partition("</script>")[0])["chart-group"]["charts"]
    assert [series["name"] for series in data["series"]] == ["efficiency", "checkpoints", "lost", "restarts"]
    most = max(data["series"][0]["points"], key=lambda point: point["y"])
    assert most["x"] * 60 == pytest.approx(1800) and len(data["marks"]) == 4
    sums = [sum(series["points"][i]["y"] for series in data["series"]) for i in range(60)]
    assert sums == pytest.approx([1] * 60)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (480, True)])
def test_the_page_in_a_browser(kumihimo, browser, tmp_path, width, dark):
    assert kumihimo(*K, "--interval", "3h", "--page", "page.html").code == 0
    act = "() => [document.querySelectorAll('path.curve').length, document.querySelectorAll('circle.mark').length]"
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=act)
    assert seen.ready == "yes" and seen.console == [] and seen.wide <= 0
    assert seen.acted == [8, 4]  # four curves and their keys; four intervals


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("checkpoint", "24x", *K[2:]), "WORK must be a time such as"),
        (("checkpoint", "24", *K[2:]), "WORK must have a unit (got '24'); write 24s for seconds, or 24h"),
        ((*K[:6], "--checkpoint", "100"), "--checkpoint must have a unit (got '100'); write 100s for seconds"),
        ((*K[:4], "--node-mtbf", "5", *K[6:]), "--node-mtbf must have a unit (got '5')"),
        ((*K, "--restart", "1.5"), "--restart must have a unit (got '1.5')"),
        ((*K, "--interval", "30"), "--interval must have a unit (got '30')"),
        (("checkpoint", "24h"), "the number of nodes is missing; add --nodes 1024"),
        (("checkpoint", "24h", "--nodes", "0"), "--nodes must be from 1 to"),
        (K[:4], "the cost of a checkpoint is missing"),
        ((*K[:4], "--checkpoint", "1m"), "the mean time between failures of a node is missing"),
        ((*K[:6], "--checkpoint-bytes", "1GiB"), "the rate of the storage is missing"),
        ((*K[:6], "--storage-bandwidth", "1GB/s"), "the size of a checkpoint is missing"),
        ((*K, "--checkpoint-bytes", "1GiB"), "--checkpoint excludes --checkpoint-bytes and --storage-bandwidth"),
        ((*K[:6], "--checkpoint-bytes", "1", "--storage-bandwidth", "1GB/h"), "--storage-bandwidth must be a rate"),
        ((*K[:6], "--checkpoint-bytes", "1", "--storage-bandwidth", "fast"), "--storage-bandwidth must be a rate"),
        ((*K, "--interval", "often"), "--interval must be a time such as"),
        ((*K, "--interval", "25h"), "--interval must be at most the work, 24 h (got '25h')"),
        ((*K, "--interval", "1ns"), "--interval must be at least 1e-09 of the work"),
        ((*K, "--simulate", "1"), "--simulate must be at least 2 runs"),
        ((*K, "--simulate", "100000000"), "--simulate must draw at most 10000000 failures"),
        ((*K, "--seed", "1"), "--seed needs --simulate"),
        ((*K, "--weibull", "0.7"), "--weibull needs --simulate"),
        ((*K, "--simulate", "10", "--weibull", "0"), "--weibull must be a shape from 0.1 to 10"),
        ((*K, "--times", "5"), "--times needs the JSON file of a prediction"),
        (("checkpoint", "gone.json", *K[2:]), "gone.json"),
        (
            ("checkpoint", "24h", "--nodes", "1", "--node-mtbf", "1ns", "--checkpoint", "1s"),
            "--node-mtbf must be so long",
        ),
    ],
)
def test_wrong_input_is_one_sentence(kumihimo, words, sentence):
    ended = kumihimo(*words)
    assert ended.code == 2 and ended.out == ""
    assert sentence in ended.err and ended.err.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["{}", "[]", '{"results": []}', '{"results": [{"seconds": 0}]}', "no JSON", '{"results": 5}']
)
def test_files_without_one_prediction(kumihimo, tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    ended = kumihimo("checkpoint", "a.json", *K[2:])
    assert ended.code == 2 and ended.err.count("\n") == 1 and ended.out == ""
