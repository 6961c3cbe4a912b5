"""`kumihimo campaign show`: tables, agreement with measured times, and the page."""

from __future__ import annotations

import json
import math
import sqlite3
from pathlib import Path

import pytest

from kumihimo.cli import campaign_points, campaign_show
from kumihimo.predict.campaign import comparison, description, page
from kumihimo.predict.campaign.database import Database
from kumihimo.text.errors import BadInput

FILE = """
name = "shown"
summary = "Two collectives"
labels = ["nodes"]
[parameters]
collective = ["allreduce", "bcast"]
machine = "k-computer"
shape = ["2x2x2", "4x2x2"]
algorithm = ["binomial", "trinaryx3"]
bytes = [8, "8KiB", "1MiB"]
n = 1
[derived]
nodes = "n * (8 if shape == '2x2x2' else 16)"
"""
MEASURED = """
[measured]
file = "times.csv"
where = "system == 'mine'"
[measured.columns]
collective = "lower(call)"
bytes = "size"
nodes = "nodes"
algorithm = "algorithm"
seconds = "us * 1e-6"
low = "p10 * 1e-6"
high = "p90 * 1e-6"
[measured.names.algorithm]
"BINOMIAL" = "binomial"
"""


def rows(path: Path) -> list[dict]:
    with sqlite3.connect(path) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute("SELECT * FROM points")]


@pytest.fixture
def made(kumihimo, tmp_path):
    """A database with predictions, and measured times that are 1.25 of the prediction at two points, 0.5 at one."""
    (tmp_path / "file.toml").write_text(FILE)
    assert kumihimo("campaign", "file.toml").code == 0
    with sqlite3.connect(tmp_path / "shown.sqlite") as db:
        query = "SELECT seconds FROM points WHERE collective = 'bcast' AND algorithm = 'binomial' AND nodes = 16"
        times = [1e6 * seconds for (seconds,) in db.execute(query)]
    lines = ["system,call,size,nodes,algorithm,us,p10,p90"]
    for size, us, factor in zip((8, 8192, 2**20), times, (1.25, 1.25, 0.5)):
        lines.append(f"mine,BCAST,{size},16,BINOMIAL,{us * factor},{us * factor * 0.9},{us * factor * 1.1}")
    lines += ["mine,BCAST,8,16,LINEAR,1,1,1", "other,BCAST,8,16,BINOMIAL,1,1,1", "mine,BCAST,8,99,BINOMIAL,1,1,1"]
    (tmp_path / "times.csv").write_text("\n".join(lines))
    (tmp_path / "file.toml").write_text(FILE + MEASURED)
    ended = kumihimo("campaign", "file.toml", "--json")
    assert ended.code == 0 and json.loads(ended.out)["computed"] == 0, ended.err
    return tmp_path / "shown.sqlite"


def test_a_table_with_measured_times(kumihimo, made):
    ended = kumihimo("campaign", "show", "shown.sqlite")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("shown: Two collectives\n24 points, machine k-computer, n 1\n\n")
    (line,) = [line for line in ended.out.splitlines() if line.startswith("all ")]
    (worst,) = [
        row["place"]
        for row in rows(made)
        if (row["collective"], row["algorithm"], row["bytes"], row["nodes"]) == ("bcast", "binomial", 2**20, 16)
    ]
    assert line.split() == ["all", "3", "25.0", "%", "100.0", "%", "2.00", str(worst)]
    assert "order:" not in ended.out  # of one algorithm
    measured = [
        line
        for line in ended.out.splitlines()
        if line.startswith("bcast") and line.rstrip(" *")[-4:] in ("0.80", "2.00")
    ]
    assert len(measured) == 3 and all("bcast" in line and "binomial" in line and " 16 " in line for line in measured)


def test_json_and_conditions(kumihimo, made):
    told = json.loads(kumihimo("campaign", "show", "shown.sqlite", "--json", "--where", "bytes <= 8KiB").out)
    assert len(told["results"]) == 16 and told["agreement"]["points"] == 2
    assert told["agreement"]["median_factor"] == pytest.approx(1.25)
    assert told["agreement_by"] == [{"algorithm": "binomial", **told["agreement"]}]
    assert told["order"] == {"pairs": 0, "wrong": []}
    beside = [row["measured"] for row in told["results"] if row["measured"]]
    assert [row["bytes"] for row in beside] == [8, 8192]
    assert beside[0]["low"] == pytest.approx(0.9 * beside[0]["seconds"])
    for words, sentence in (
        (("--where", "bytes > 1GiB"), "--where must hold for a point"),
        (("--where", "byte > 1"), "byte has no value); did you mean bytes?"),
        (("--page", "none/a.html"), "must name a file that can be written"),
    ):
        ended = kumihimo("campaign", "show", "shown.sqlite", *words)
        assert ended.code == 2 and sentence in ended.err, ended.err
    assert "no such file" in kumihimo("campaign", "show", "none.sqlite").err


def test_agreement_by_hand():
    def point(predicted: float, measured: float | None) -> dict:
        return {"status": "ok", "seconds": predicted, "measured": measured and {"seconds": measured}}

    points = [point(1, 2), point(3, 2), point(11, 10), point(5, None), *(point(1, 1) for _ in range(8))]
    found = comparison.agreement(points)
    assert found.points == 11 and found.median == 1.0 and found.ninth_decile == pytest.approx(1.5)
    assert found.worst is points[0] and found.worst_ratio == 0.5
    assert math.isclose(comparison.agreement(points[2:3]).median, 1.1)
    assert comparison.agreement([point(5, None)]) is None


def test_the_order_of_pairs_by_hand():
    def point(place: int, algorithm: str, size: int, predicted: float, measured: float) -> dict:
        values = {"place": place, "algorithm": algorithm, "bytes": size, "status": "ok", "seconds": predicted}
        return {**values, "measured": {"seconds": measured}}

    points = [
        *(point(0, "a", 8, 1.0, 1.0), point(1, "b", 8, 2.0, 1.4), point(2, "c", 8, 0.9, 1.29)),
        *(point(3, "a", 64, 5.0, 1.0), point(4, "b", 64, 4.0, 2.0), point(5, "c", 64, 5.0, 9.0)),
    ]
    found = comparison.ranking(points, "algorithm", ["algorithm", "bytes"])
    # At 8 B a before b; at 64 B all three pairs: a and b are in the wrong order, a and c are predicted as equal.
    assert found.pairs == 4 and [(a["place"], b["place"]) for a, b in found.wrong] == [(3, 4), (3, 5)]
    by = comparison.by_value(points, "algorithm")
    assert {name: each.points for name, each in by.items()} == {"a": 2, "b": 2, "c": 2}
    assert by["b"].worst_ratio == 2.0 and by["c"].ninth_decile == pytest.approx(1.8)


def test_parameters_that_follow_from_others_are_not_choices():
    points = [
        {"place": 0, "shape": shape, "ranks": ranks, "algorithm": "ring" if size > 8 else "tree", "library": library,
         "bytes": size, "machine": "k", "status": "ok"}
        for shape, ranks in (("2x2", 4), ("4x2", 8)) for library in ("a", "b") for size in (8, 64)
    ]  # fmt: skip
    assert page.varying(points) == ["shape", "ranks", "algorithm", "library", "bytes"]
    assert page.independent(points, ["library"]) == ["ranks", "library", "bytes"]
    assert page.choice(points, ["ranks", "library", "bytes"]) == {"x": "bytes", "curves": "library", "charts": ""}


@pytest.fixture
def stored(tmp_path):
    """A database that no process computed."""
    campaign = description.parsed(FILE, tmp_path / "file.toml", campaign_points.options())
    points = [(str(number), point) for number, point in enumerate(campaign.points())]
    result = {"seconds": 2e-5, "bound_seconds": 1e-5, "ranks": 8}
    with Database(tmp_path / "stored.sqlite", new=True) as database:
        database.set_plan(campaign, points, [{"bytes": 8, "seconds": 3e-5, "low": 2e-5}])
        database.add((key, {"status": "ok", "result": result}) for key, _ in points)
    return tmp_path / "stored.sqlite"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("UPDATE results SET seconds = 'fast'", "points have a value in the column seconds that it never has"),
        ("UPDATE results SET seconds = NULL", "in the column seconds"),
        ("UPDATE results SET seconds = -1", "in the column seconds"),
        ("UPDATE results SET bound_seconds = 9e999", "in the column bound_seconds"),
        ("UPDATE results SET doubts = x'00'", "in the column doubts"),
        ("UPDATE plan SET bytes = x'00' WHERE place = 3", "in the column bytes"),
        ("UPDATE measured SET seconds = 0", "measured have a value in the column seconds"),
        ("UPDATE measured SET low = 'x'", "in the column low"),
        ("UPDATE campaign SET swept = NULL", "its table campaign has other values than texts"),
        ("UPDATE campaign SET summary = 1.5; UPDATE campaign SET summary = x'00'", "other values than texts"),
        ("ALTER TABLE campaign RENAME COLUMN swept TO sweep", "no such column: swept"),
        (
            "DROP VIEW points; CREATE VIEW points AS SELECT place, 1 AS seconds FROM plan",
            "points have no column status",
        ),
    ],
)
def test_values_that_no_campaign_has(stored, change, sentence):
    with sqlite3.connect(stored) as db:
        db.executescript(change)
    with pytest.raises(BadInput, match=f"must be a file that `kumihimo campaign` made .*{sentence}.*another file"):
        campaign_show.command(stored)


def test_a_database_without_points(stored):
    with sqlite3.connect(stored) as db:
        db.execute("DROP VIEW points")
    with pytest.raises(BadInput, match="the database must have points"):
        campaign_show.command(stored)


def test_a_prediction_of_no_time_has_no_ratio(stored, capsys):
    """As of a broadcast to one rank."""
    campaign_show.command(stored)
    assert "Predicted against measured" in capsys.readouterr().out
    with sqlite3.connect(stored) as db:
        db.execute("UPDATE results SET seconds = 0")
    campaign_show.command(stored)
    assert "Predicted against measured" not in capsys.readouterr().out


@pytest.mark.page
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
def test_the_page_in_a_browser(kumihimo, browser, made, tmp_path, width, dark):
    ended = kumihimo("campaign", "show", "shown.sqlite", "--page", "page.html")
    assert ended.code == 0 and "page: page.html" in ended.out
    act = """() => {
      const text = (s) => [...document.querySelectorAll(s)].map((e) => e.textContent);
      const before = text("#curves h3"), whiskers = document.querySelectorAll(".whisker").length, cells = text("td");
      const box = document.querySelectorAll(".controls select")[0];
      box.selectedIndex = [...box.options].findIndex((o) => o.value === "nodes");
      box.dispatchEvent(new Event("change"));
      return { before, whiskers, cells, units: text(".unit"), ticks: document.querySelectorAll(".dot").length };
    }"""
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=act)
    assert (seen.ready, seen.console) == ("yes", []) and seen.wide <= 0
    assert seen.acted["before"] == ["allreduce", "bcast"]
    assert seen.charts == [6, 6 + 3] and seen.acted["whiskers"] == 3  # of 16 ranks, the largest number
    assert sum("(" in cell for cell in seen.acted["cells"]) == 3
    assert [cell for cell in seen.acted["cells"] if "%" in cell] == ["25.0 %", "100.0 %"]
    assert all(unit.endswith("by nodes") for unit in seen.acted["units"])


def test_a_page_without_results(kumihimo, browser, tmp_path):
    (tmp_path / "file.toml").write_text(FILE.replace("n = 1", "n = 1\nroot = 99"))
    assert kumihimo("campaign", "file.toml").code == 1
    assert kumihimo("campaign", "show", "shown.sqlite", "--page", "page.html").code == 0
    seen = browser.open_page(tmp_path / "page.html", tmp_path)
    assert (seen.ready, seen.console, seen.charts) == ("yes", [], [])
    assert "No point has a result yet." in seen.dom


def test_measured_files_that_are_wrong(kumihimo, tmp_path):
    (tmp_path / "times.csv").write_text("system,call,size,nodes,algorithm,us,p10,p90\nmine,BCAST,8,16,BINOMIAL,0,1,1\n")
    for old, new, sentence in (
        ("", "", "measured seconds must be numbers above 0 (got 0)"),
        ("times.csv", "tims.csv", "the file of measured times must be readable"),
        ('seconds = "us * 1e-6"', "", "seconds under [measured.columns] is missing"),
        ('bytes = "size"', 'byte = "size"', "must be a parameter of the campaign (got 'byte'); did you mean bytes?"),
        ('"us * 1e-6"', '"ms * 1e-3"', "where ms has no value"),
        ("where", "were", "has no key 'were'; did you mean where?"),
        ('file = "times.csv"', "", "the file of [measured] is missing"),
    ):
        (tmp_path / "file.toml").write_text(FILE + (MEASURED.replace(old, new) if old else MEASURED))
        ended = kumihimo("campaign", "file.toml")
        assert ended.code == 2 and sentence in ended.err, ended.err
