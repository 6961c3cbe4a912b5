"""--software in each command that takes a machine, and intervals where they are shown."""

from __future__ import annotations

import json
import sqlite3

import pytest
from small_machine import MACHINE, judged

ERRORS = judged(
    ("all", "all", 90, 0.8, 1.25),
    ("exchanges", "all", 60, 0.5, 2.0),
    ("rings", "all", 30, 0.9, 1.1),
)
STATE = """
[software.slow]
message_cost = { value = "1 ms", measured = "once" }
"""


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "small.toml").write_text(MACHINE + STATE + ERRORS)
    return "./small.toml"


def result(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)["results"][0]


APP = ("simulate", "app", "himeno", "-s", "2x2x2", "--cells", "32x32x32", "--json")
REPLAY = ("replay", "workload:npb-cg,steps=1", "--ranks", "8", "--model", "flow", "--json")


@pytest.mark.parametrize("asked", [APP, REPLAY])
def test_a_state_of_the_software_is_slower(kumihimo, machine, asked):
    usual = result(kumihimo(*asked, "-m", machine))
    slow = result(kumihimo(*asked, "-m", machine, "--software", "slow"))
    assert slow["seconds"] > usual["seconds"] + 1e-3
    refused = kumihimo(*asked, "-m", machine, "--software", "other")
    assert refused.code == 2 and "must be a state of the machine's software (got 'other')" in refused.err


def test_tune_has_files_of_their_own(kumihimo, machine, tmp_path):
    asked = ("tune", "bcast", "-m", machine, "-s", "2x2x2", "--bytes", "8", "--json")
    told = {}
    for state in ("base", "slow"):
        ended = kumihimo(*asked, "--software", state, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
        assert ended.code == 0, ended.err
        told[state] = json.loads(ended.out)
    assert told["base"]["wisdom"] != told["slow"]["wisdom"] and "slow" in told["slow"]["wisdom"]
    assert told["slow"]["made"]["simulated"]["software"] == "slow"
    (measured,) = told["base"]["results"][0]["measured"]
    assert 0 < measured["fastest_probability"] <= 1
    assert measured.get("low_seconds", 0) <= measured["seconds"] <= measured.get("high_seconds", 1)


def test_a_resumed_tuning_takes_no_predictions_of_a_machine_file_before_its_edit(kumihimo, machine, tmp_path):
    """The same command again takes them from the journal; a slower message gives other times."""
    asked = ("tune", "bcast", "-m", machine, "-s", "2x2x2", "--bytes", "8", "--output", "w.json", "--json")

    def seconds() -> float:
        ended = kumihimo(*asked)
        assert ended.code == 0, ended.err
        return json.loads(ended.out)["results"][0]["measured"][0]["seconds"]

    first = seconds()
    assert seconds() == first
    path = tmp_path / "small.toml"
    path.write_text(path.read_text().replace('message_cost = { value = "2 us"', 'message_cost = { value = "2 ms"'))
    assert seconds() > 100 * first


@pytest.mark.parametrize(
    "asked", [("tune", "bcast"), ("bench", "file:ring.toml"), ("simulate", "app", "lu", "--size", "100")]
)
def test_a_state_needs_a_machine(kumihimo, asked):
    refused = kumihimo(*asked, "--software", "slow")
    assert refused.code == 2 and "machine" in refused.err


def test_campaigns_have_states_and_intervals(kumihimo, machine, tmp_path):
    (tmp_path / "states.toml").write_text(
        'name = "states"\n[parameters]\nmachine = "./small.toml"\ncollective = "allreduce"\nshape = "2x2x2"\n'
        'bytes = [8, 64]\nalgorithm = "ring"\nsoftware = ["base", "slow"]\n'
    )
    ended = kumihimo("campaign", "states.toml", "--workers", "1")
    assert ended.code == 0, ended.err
    with sqlite3.connect(tmp_path / "states.sqlite") as db:
        query = "SELECT seconds, interval_low, interval_high FROM points WHERE bytes = 8 ORDER BY software"
        (usual, slow) = db.execute(query).fetchall()
    assert slow[0] > usual[0] and slow[1:] == (None, None), "nobody has judged this state"
    assert usual[1:] == pytest.approx((0.9 * usual[0], 1.1 * usual[0]))
    shown = kumihimo("campaign", "show", "states.sqlite", "--page", "page.html").out
    assert "90 % within" in shown and " to " in shown
    assert "90 % within" in (tmp_path / "page.html").read_text()


def test_a_replay_has_the_widest_interval_of_its_classes(kumihimo, machine):
    """Computing has no error; the rest that of all classes, or of the collectives' own where that is wider."""
    told = result(kumihimo(*REPLAY, "-m", machine))
    exact, found = told["ideal_network_seconds"], told["interval"]
    network = told["seconds"] - exact
    low, high = ((found[f"{end}_seconds"] - exact) / network for end in ("low", "high"))
    assert (round(low, 6), round(high, 6)) in ((0.8, 1.25), (0.5, 2.0))
    shown = kumihimo(*REPLAY[:-1], "-m", machine).out
    assert "90 % within" in shown and "computing taken as exact" in shown
    for more in (("--model", "loggp"), ("--slow", "1=0.5")):
        other = result(kumihimo(*REPLAY, "-m", machine, *more))
        assert "interval" not in other, more


def test_import_takes_the_numbers_of_a_state(kumihimo, machine, tmp_path):
    (tmp_path / "topology.conf").write_text("SwitchName=s1 Nodes=n[1-4]\n")
    asked = ("machine", "import", "topology.conf", "--like", machine)
    for state, value in (("slow", "1 ms"), ("base", "1 us")):
        ended = kumihimo(*asked, "--software", state)
        assert ended.code == 0, ended.err
        assert ("1 ms" in ended.out) == (state == "slow"), value
