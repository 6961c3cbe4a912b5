"""Performance asserts of the verbs that measure: met, missed and unreadable, told in lines, JSON and JUnit XML."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kumihimo.processes import mpi

needs_mpi = pytest.mark.skipif(not mpi.discover(), reason="no MPI library on this machine")
# Words of a verb with HERE for a folder, a row of its results, and an assert that no machine can miss, or keep.
FILES = ("files", "HERE", "--ranks", "2", "-i", "1", "--items", "5", "--block", "64KiB", "--transfer", "64KiB")
CHECKPOINT = ("checkpoint", "HERE", "--bytes", "64KiB", "--ranks", "1", "-i", "1")
PGAS = ("pgas", "mpi", "--measures", "put", "--bytes", "8", "--seconds", "2ms")
CASES = {
    "node": (("node", "stream", "--threads", "1", "--rounds", "3", "--array", "64KiB"), "triad*usual", "rate >= 1e6"),
    "vectorisation": (("vectorisation", "axpy", "--sizes", "small", "--rounds", "2"), "axpy plain*", "seconds <= 1"),
    "files": (FILES, "metadata: *create*", "rate >= 0.001"),
    "checkpoint": (CHECKPOINT, "64KiB save*", "seconds <= 1000"),
    "pgas": (PGAS, "*put*", "seconds <= 1"),
}
IMPOSSIBLE = {"rate >= 1e6": "rate >= 1e20", "rate >= 0.001": "rate >= 1e20"}


def judged(kumihimo, tmp_path: Path, verb: str, name: str, text: str) -> tuple[int, list[dict], ElementTree.Element]:
    """Exit code, verdicts of the JSON, and JUnit XML."""
    here, asserts, junit = tmp_path / "measured", tmp_path / "asserts.toml", tmp_path / "junit.xml"
    here.mkdir(exist_ok=True)
    quantity, bound = text.split(" ", 1)
    asserts.write_text(f"[row.'{name}']\n{quantity} = '{bound}'\n", encoding="utf-8")
    words = [str(here) if word == "HERE" else word for word in CASES[verb][0]]
    ended = kumihimo("bench", *words, "--asserts", str(asserts), "--junit", str(junit), "--json", timeout_seconds=120)
    verdicts = json.loads(ended.out)["asserts"]
    assert all(f"kumihimo: {each['verdict']}" in ended.err for each in verdicts), ended.err
    return ended.code, verdicts, ElementTree.parse(junit).getroot()


@needs_mpi
@pytest.mark.mpi
@pytest.mark.parametrize("verb", CASES)
def test_each_verb_checks_asserts(kumihimo, tmp_path: Path, verb: str) -> None:
    _, row, met = CASES[verb]
    missed = IMPOSSIBLE.get(met, "seconds <= 1e-15")
    wanted = {met: ("met", 0, "system-out"), missed: ("missed", 1, "failure")}
    for text, (word, code, tag) in wanted.items():
        found, verdicts, tree = judged(kumihimo, tmp_path, verb, row, text)
        assert verdicts and {each["verdict"] for each in verdicts} == {word}
        assert found == code and len(tree.findall(f".//{tag}")) == len(verdicts)
    found, verdicts, tree = judged(kumihimo, tmp_path, verb, "no such row", met)
    assert (found, [each["verdict"] for each in verdicts]) == (2, ["unreadable"])
    assert tree.get("errors") == "1"


def test_a_file_that_cannot_be_read_is_told_before_the_work(kumihimo, tmp_path: Path) -> None:
    for verb, (words, _, _) in CASES.items():
        ended = kumihimo("bench", *words, "--asserts", str(tmp_path / "none.toml"))
        assert ended.code == 2 and "none.toml" in ended.err and "measuring" not in ended.err, (verb, ended.err)
