"""`kumihimo testbed counters` on testbeds that carry something: beside a prediction, on a page, and as it goes on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from namespaces import COMMAND, NEEDS_NAMESPACES, kumihimo, own_testbeds, receiver, right, sent, sentence

pytestmark = NEEDS_NAMESPACES
own_testbeds = pytest.fixture(autouse=True)(own_testbeds)
NEARLY = partial(pytest.approx, rel=0.04)  # TCP may send the last segments again: three of 9 kB in 600
FLOOD = """
import socket
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(100):
    out.sendto(bytes(8000), ("node1", 9))
"""


def predicted(folder: Path, *more: str) -> Path:
    """200,000 bytes of node 0 to node 1."""
    right("machine", "--out", str(folder / "t.toml"))
    asked = ("simulate", "bcast", "--machine", str(folder / "t.toml"), "--bytes", "200kB", "-a", "binomial", *more)
    done = kumihimo(*asked, "--links", "--json")
    assert done.returncode == 0, done.stderr
    (folder / "predicted.json").write_text(done.stdout)
    return folder / "predicted.json"


def worst(*words: str) -> float:
    """The ratio farthest from 1, of the only link that is predicted to carry something."""
    return float(re.search(r"worst ([\d.]+), node0 to node1", right(*words))[1])


def kept(file: Path, *words: str) -> str:
    file.write_text(right("counters", "--json", *words))
    return str(file)


def test_data_are_those_of_the_prediction_and_a_changed_one_is_told(tmp_path):
    right("up", "2", "--rate", "100Mbit/s")
    file = predicted(tmp_path)
    before = kept(tmp_path / "before.json")
    with receiver("1"):
        for _ in range(3):
            assert sent("0", "node1")
    carried = kept(tmp_path / "carried.json", "--since", before)
    asked = ("counters", "--since", before, "--compare", str(file), "--times", "3")
    found = json.loads(right(*asked, "--json"))
    assert found["comparison"]["links_compared"] == 1
    assert found["comparison"]["worst_ratio"] == NEARLY(1), found["comparison"]
    assert worst(*asked) == NEARLY(1)
    assert worst(*asked[:-2]) == NEARLY(3)  # three times what is predicted once
    assert worst(*asked, "--less", carried) == 0
    wrong = json.loads(file.read_text())
    links = wrong["results"][0]["link_bytes"]
    links[links.index(200_000)] = 180_000
    file.write_text(json.dumps(wrong))
    assert worst(*asked) == NEARLY(1 / 0.9)


def test_a_prediction_of_another_shape_is_one_sentence(tmp_path):
    right("up", "3", "--name", "a")
    file = predicted(tmp_path)
    right("down")
    right("up", "2x2")
    said = sentence("counters", "--compare", str(file))
    assert "must be of the testbed's network, torus 2x2 (got torus 3)" in said


def test_counters_of_a_testbed_that_was_made_again_are_refused(tmp_path):
    right("up", "2")
    before = kept(tmp_path / "before.json")
    right("down")
    right("up", "2")
    assert "those of an earlier testbed of this name" in sentence("counters", "--since", before)


def test_a_page_has_the_links(tmp_path):
    right("up", "3")
    file = tmp_path / "page.html"
    assert f"page: {file}" in right("counters", "--page", str(file), "--compare", str(predicted(tmp_path)))
    text = file.read_text()
    assert "<title>kumihimo testbed counters</title>" in text and "bcast by binomial (flow)" in text


def test_packets_that_a_cut_link_drops_are_counted():
    """The interface does not know of them."""
    right("up", "2")
    right("cut", "0-1")
    assert kumihimo("testbed", "run", "--", sys.executable, "-c", FLOOD).returncode == 0
    rows = {row["from"]: row for row in json.loads(right("counters", "--json"))["results"]}
    assert (rows["node0"]["drops"], rows["node1"]["drops"]) == (100, 0)
    assert rows["node0"]["packets"] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_watch_shows_rates_in_plain_lines_until_a_signal(number):
    right("up", "2", "--rate", "100Mbit/s")
    words = [COMMAND, "testbed", "counters", "--watch", "--every", "0.5s"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert re.fullmatch(r"[\d.]+ s: no link carries anything\n", process.stdout.readline())
        with receiver("1"):
            assert sent("0", "node1")
            lines = [process.stdout.readline()]
            while "no link" not in lines[-1] or len(lines) < 4:
                lines.append(process.stdout.readline())
        process.send_signal(number)
        rest, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0 if number == signal.SIGINT else 128 + number, "")
    text = "".join(lines) + rest
    assert re.search(r"^node0  node1 +[\d.]+ [kM]?B/s +\S+ % +0  \+x at \(0\)$", text, re.MULTILINE), text
    assert "\x1b" not in text


def test_a_watch_ends_with_its_testbed():
    right("up", "2")
    words = [COMMAND, "testbed", "counters", "--watch", "--every", "0.2s"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline()
        right("down")
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 1 and errors.count("\n") == 1, errors


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--watch", "--json"), "--watch takes no --json"),
        (("--watch", "--page", "p.html"), "--watch takes no --page"),
        (("--watch", "--every", "10ms"), "--every must be 0.2 s or more"),
        (("--every", "1s"), "--watch"),
        (("--times", "3"), "--compare"),
        (("--times", "0", "--compare", "none"), "--times must be 1"),
        (("--less", __file__), "--less must name what"),
    ],
)
def test_wrong_words_are_one_sentence(words, told):
    right("up", "2")
    assert told in sentence("counters", *words)
