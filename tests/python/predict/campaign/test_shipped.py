"""The campaigns that come with kumihimo: every point is a command line that simulate takes, and what MPICH chooses is
what the table in its library says."""

from __future__ import annotations

import json
import re
import statistics

import pytest

from kumihimo.app.published_figures import registry
from kumihimo.cli import campaign, campaign_points
from kumihimo.predict.campaign import description
from kumihimo.processes import mpi
from kumihimo.tune.mpi_library.algorithms import mpich_tables

NAMES = {"binomial": "binomial", "recursive_doubling": "recursive_doubling", "ring": "ring", "brucks": "bruck"}


@pytest.fixture(scope="module", params=["blue-waters"])
def shipped(request) -> description.Campaign:
    return description.read(campaign.shipped()[request.param], campaign_points.options())


def test_each_has_a_name_a_summary_and_small_points_that_work(shipped, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # and back afterwards: points are computed in a folder
    assert shipped.name in campaign.shipped() and shipped.summary
    points = shipped.points()
    few = [point for point in points if point.values["ranks"] == 64 and point.values["bytes"] in (8, 4096)]
    assert len(few) >= 16
    for point in few:
        outcome = campaign_points.predict(description.words_of(shipped.options, point), str(tmp_path))
        assert outcome["status"] == "ok", outcome
        assert outcome["result"]["ranks"] == point.values["ranks"]
        assert outcome["result"]["ranks_per_node"] == 16


def test_shapes_have_the_nodes_that_the_ranks_need(shipped):
    for point in shipped.points():
        lengths = [int(word) for word in point.values["shape"].split("x")]
        nodes = lengths[0] * lengths[1] * lengths[2] * lengths[3]
        assert 16 * nodes == point.values["ranks"] and max(lengths) <= 24


def test_the_shared_machine_in_small(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    campaign_ = description.read(campaign.shipped()["shared-machine"], campaign_points.options())
    points = campaign_.points()
    assert len(points) == 2 * 2 * 6 and campaign_.summary
    slowdowns = {}
    for point in points:
        if (point.values["bytes"], point.values["load"]) != (65536, 10):
            continue
        words = description.words_of(campaign_.options, point)
        small = ["--shape=4x4x4x2", "--ranks=24", "--repeats=3"]
        outcome = campaign_points.predict([*words, *small], str(tmp_path))
        assert outcome["status"] == "ok", outcome
        slowdowns[point.values["spread"]] = outcome["result"]["slowdown"]
    assert slowdowns["compact"] > 0.97 and slowdowns["scattered"] > 1


def chosen_by(tree: dict, facts: dict) -> str:
    """The algorithm at the end of the first branch of MPICH's table whose conditions hold."""
    for condition, below in tree.items():
        name, operator, value = re.fullmatch(r"(\w+)(<=|<|=)(\w+)", condition).groups()
        if name == "algorithm":
            return value
        if holds(name, operator, value, facts):
            return chosen_by(below, facts)
    raise AssertionError(tree)


def holds(name: str, operator: str, value: str, facts: dict) -> bool:
    if value in ("any", "yes"):
        return True  # the sum is built in and commutative
    if value in ("no", "parent"):
        return value == "parent"  # a communicator of several nodes
    number = facts["power"] if value == "pow2" else int(value)
    return {"<=": facts[name] <= number, "<": facts[name] < number, "=": facts[name] == number}[operator]


@pytest.fixture(params=["here", "5"])
def table(request, repository) -> dict:
    newest = mpi.under_prefix("mpich", repository / "build/mpi/mpich-5")
    found = [newest] if request.param == "5" else [each for each in mpi.discover() if each.family == "mpich"]
    tables = [mpich_tables(each.library) for each in found if each and each.library]
    for each in tables:
        if each and "reduce" in each:
            return each
    pytest.skip("no such MPICH here that has its table")


def test_choices_of_mpich(shipped, table):
    here = {
        (point.values["collective"], point.values["ranks"], point.values["bytes"]): point.values["algorithm"]
        for point in shipped.points()
        if point.values["library"] == "mpich"
    }
    checked = 0
    for collective in ("bcast", "reduce", "allgather"):
        for ranks in (2**k for k in range(6, 18)):
            for size in (2**k for k in range(3, 17)):
                facts = {
                    "comm_size": ranks, "power": ranks, "avg_msg_size": size, "total_msg_size": ranks * size,
                    "count": size // 8,
                }  # fmt: skip
                found = chosen_by(table[collective]["comm_type=intra"], facts)
                expected = NAMES.get(found.removeprefix(f"MPIR_{collective.capitalize()}_intra_"))
                if collective == "allgather" and ranks * size > 2**28:
                    expected = None
                assert here.get((collective, ranks, size)) == expected, (collective, ranks, size, found)
                checked += expected is not None
    assert checked == len(here)


def test_noise_hides_the_network_where_there_are_many_ranks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noise = description.read(campaign.shipped()["noise"], campaign_points.options())
    seconds = {}
    for point in noise.points():
        if point.values["ranks"] == 1024 and point.values["seed"] <= 5:
            outcome = campaign_points.predict(description.words_of(noise.options, point), str(tmp_path))
            assert outcome["status"] == "ok", outcome
            network = point.values["loggops"].partition(",")[0]
            seconds.setdefault((point.values["pulses"], network), []).append(outcome["result"]["seconds"])
    assert len(seconds) == 6 and all(len(set(times)) == 5 for times in seconds.values()), "seeds draw other phases"
    median = {key: statistics.median(times) for key, times in seconds.items()}
    assert median["2.5ms/100ms", "L=1000"] < 1.05 * median["2.5ms/100ms", "L=100"]
    assert median["2.5ms/100ms", "L=1000"] > 20 * median["25us/1ms", "L=1000"]
    assert median["25us/1ms", "L=1000"] > 1.1 * median["25us/1ms", "L=100"]


def test_the_points_around_published_figures_are_those_of_a_shipped_campaign():
    named = {each.campaign for each in registry.FIGURES} - {""}
    assert named == {"blue-waters", "castep", "geofem", "reedbush", "rmatt", "rsdft"}
    for name in named:
        shipped = description.read(campaign.shipped()[name], campaign_points.options())
        assert shipped.name == name and shipped.summary and shipped.points()


def test_show_lists_the_figures_that_were_published(kumihimo):
    ended = kumihimo("campaign", "geofem")
    assert ended.code == 0, ended.err
    shown = kumihimo("campaign", "show", "geofem.sqlite")
    assert shown.code == 0 and re.search(r"^geofem-iteration +no ", shown.out, re.MULTILINE), shown.out
    assert "failed" not in shown.out
    found = json.loads(kumihimo("campaign", "show", "geofem.sqlite", "--json").out)
    assert [each["name"] for each in found["published"]] == ["geofem-iteration"]
