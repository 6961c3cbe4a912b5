"""`kumihimo project` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_the_finding_of_2008_beside_what_came(kumihimo) -> None:
    asked = ("project", "--year", "2018", "--class", "heavy-2008", "--scaling", "roadmap-2007", "--power", "20MW")
    ended = kumihimo(*asked, "--racks", "600")
    assert ended.code == 0, ended.err
    assert "short of 1 EF by 3.6x" in ended.out and "Summit" in ended.out
    found = json.loads(kumihimo(*asked, "--racks", "600", "--json").out)["results"][0]
    simple, full = found["models"]
    assert simple["model"] == "simple" and 10 <= simple["short_of_target"] <= full["short_of_target"] <= 60
    last = simple["years"][-1]
    assert last["peak_low"] < last["peak_flops"] < last["peak_high"] and last["limit"] == "power"
    assert simple["decides"][0]["name"] == "peak"


def test_a_projected_machine_is_a_machine_file(kumihimo, tmp_path: Path) -> None:
    asked = ("project", "--year", "2032", "--power", "20MW", "--machine-file", "m.toml", "--page", "page.html")
    ended = kumihimo(*asked, "--write-scaling", "own.toml")
    assert ended.code == 0, ended.err
    shown = kumihimo("machine", "show", "m.toml")
    assert shown.code == 0 and "projected from leonardo" in shown.out
    predicted = kumihimo(
        "simulate", "allreduce", "-m", "m.toml", "--shape", "64", "--bytes", "1MiB", "-a", "ring", "--json"
    )
    assert predicted.code == 0 and json.loads(predicted.out)["results"][0]["seconds"] > 0
    again = kumihimo("project", "--year", "2032", "--power", "20MW", "--scaling", "./own.toml", "--json")
    assert again.code == 0, again.err
    page = (tmp_path / "page.html").read_text()
    assert "Projected machine" in page and "Frontier" in page and "capacity of a memory chip" in page


def test_a_recorded_program_runs_on_it(kumihimo, tmp_path: Path) -> None:
    (tmp_path / "g.goal").write_text(
        "num_ranks 2\nrank 0 {\nl1: calc 1000000\nl2: send 1000b to 1 tag 0\nl2 requires l1\n}\n"
        "rank 1 {\nl1: recv 1000b from 0 tag 0\n}\n"
    )
    asked = ("project", "--year", "2032", "--power", "20MW", "--replay", "goal:g.goal")
    ended = kumihimo(*asked, "--json")
    assert ended.code == 0, ended.err
    replay = json.loads(ended.out)["results"][0]["replay"]
    assert replay["ranks"] == 2 and 1e-3 < replay["seconds"] < 1.1e-3
    run = replay["run"]
    assert run["nodes"] == 2 and run["joules"] == pytest.approx(run["power"] * replay["seconds"])
    assert run["failures"]["mtbf_seconds"] == pytest.approx(15 * 365.25 * 86400 / 2, rel=0.01)
    assert "Replay on the projected machine" in kumihimo(*asked).out


def test_hindcasts_and_lists(kumihimo) -> None:
    assert "El Capitan" in kumihimo("project", "--hindcast").out
    found = json.loads(kumihimo("project", "--hindcast", "--json").out)
    assert [each["horizon"] for each in found["errors"]] == [5, 10]
    listed = json.loads(kumihimo("project", "--list", "--json").out)
    assert {each["name"] for each in listed["classes"]} >= {"heavy-2008", "hybrid-2023"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        ((), "the year is missing; add --year 2032"),
        (("--year", "2010"), "--year must not be before that of the class hybrid-2023"),
        (("--year", "3000"), "--year must be a year from 1990 to 2100"),
        (("--year", "2032", "--power", "20"), "--power must be a number above 0 with a unit"),
        (("--year", "2032", "--power", "100W"), "the limit of power must let one node of hybrid-2023 through"),
        (("--year", "2032", "--class", "heavy"), "--class must name a node class or a file"),
        (("--year", "2032", "--scaling", "history:2003"), "needs 4 machines with peak and memory"),
        (("--year", "2032", "--scaling", "history:soon"), "--scaling history:YEAR must name a year"),
        (("--year", "2032", "--scaling", "histroy"), "did you mean history?"),
        (("--year", "abc"), "--year must be a number (got 'abc')"),
        (("--year", "1980"), "(got 1980)"),
        (("--year", "2032", "--ranks", "8"), "without --replay takes no --ranks"),
        (("--year", "2032", "--speed", "2"), "without --replay takes no --speed"),
        (("--list", "--hindcast"), "--list takes no --hindcast"),
        (("--year", "2032", "--replay", "worklod:lans"), "did you mean workload:lans?"),
        (
            (
                "--year",
                "2020.9",
                "--class",
                "heavy-2020",
                "--power",
                "20kW",
                "--replay",
                "workload:lans",
                "--ranks",
                "108",
            ),
            "the limits let 106 nodes of heavy-2020 through",
        ),
        (("--year", "2032", "--power-model", "half"), "--power-model must be simple, full or both"),
        (("--year", "2032", "--racks", "-1"), "--racks must be above 0"),
        (("--year", "2032", "--samples", "3"), "--samples must be from 100 to"),
        (("--year", "2032", "--target", "much"), "--target must be a number above 0 with a unit"),
        (("--hindcast", "--year", "2032"), "--hindcast takes no --year"),
    ),
)
def test_mistakes_are_one_sentence(kumihimo, words: tuple[str, ...], sentence: str) -> None:
    ended = kumihimo("project", *words)
    assert ended.code == 2 and sentence in ended.err and ended.err.count("\n") == 1, ended.err
