"""Campaign files: the points that they have, and what is wrong with them."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from kumihimo.cli import campaign_points
from kumihimo.collectives import arguments
from kumihimo.predict.campaign import description
from kumihimo.predict.campaign.database import key_of
from kumihimo.processes.package_files import folder
from kumihimo.text.errors import BadInput, KumihimoError

BASE = '[parameters]\ncollective = "bcast"\nmachine = "k-computer"\nalgorithm = "binomial"\n'


def campaign(text: str, base: str = BASE, path: Path = Path("test.toml")) -> description.Campaign:
    return description.parsed(base + text, path, campaign_points.options())


def points(text: str, base: str = BASE) -> list[dict]:
    return [point.values for point in campaign(text, base).points()]


def test_all_values_with_all():
    found = points('shape = ["2x2x2", "4x2x2"]\nbytes = [8, "1KiB"]\nroot = "0,3"\n')
    expected = itertools.product(["2x2x2", "4x2x2"], [8, 1024], [0, 3])
    assert [(p["shape"], p["bytes"], p["root"]) for p in found] == list(expected)
    assert all(p["collective"] == "bcast" and p["machine"] == "k-computer" for p in found)


def test_ranges_double():
    assert [p["bytes"] for p in points('bytes = "8..64,1KiB"')] == [8, 16, 32, 64, 1024]
    assert [p["ranks"] for p in points('ranks = "64..512"')] == [64, 128, 256, 512]
    assert [p["n"] for p in points('n = "1..4"\n[derived]\nranks = "n"')] == [1, 2, 4]


def test_dashes_are_underscores():
    assert points("ranks-per-node = 4\nbytes = 8")[0]["ranks_per_node"] == 4


def test_derived_values_in_the_order_of_their_needs():
    found = points('n = [2, 3]\nbytes = 8\n[derived]\nranks = "nodes * 4"\nshape = "f\'{n}x1x1\'"\nnodes = "n * n"')
    assert [(p["shape"], p["nodes"], p["ranks"]) for p in found] == [("2x1x1", 4, 16), ("3x1x1", 9, 36)]


def test_the_first_rule_that_holds():
    base = BASE.replace('algorithm = "binomial"\n', "")
    rules = (
        '[[choose]]\nwhen = "bytes < 1KiB"\nalgorithm = "binomial"\n'
        '[[choose]]\nwhen = "bytes < 1MiB"\nalgorithm = "chain"\nsegment_bytes = "8KiB"\n'
        '[[choose]]\nalgorithm = "binary"\nnote = "the rest"\n'
    )
    found = points('bytes = ["8B", "1KiB", "1MiB"]\n' + rules, base)
    assert [(p["algorithm"], p.get("segment_bytes"), p.get("note")) for p in found] == [
        ("binomial", None, None),
        ("chain", 8192, None),
        ("binary", None, "the rest"),
    ]


def test_conditions_skip():
    found = points("ranks = [8, 16]\nbytes = [8, 1024]\n", 'skip = "ranks * bytes > 8192"\n' + BASE)
    assert [(p["ranks"], p["bytes"]) for p in found] == [(8, 8), (8, 1024), (16, 8)]
    with pytest.raises(BadInput, match="none in test: all are skipped"):
        points("bytes = 8\n", 'skip = ["bytes < 9", "bytes > 9"]\n' + BASE)


def test_sweeps_are_united_and_a_point_stands_once():
    found = points('[[sweep]]\nbytes = [8, 16]\nranks = 8\n[[sweep]]\nranks = [8, 4]\nbytes = 16\nalgorithm = "chain"\n'
                   "[[sweep]]\nbytes = 16\nranks = 8\n")  # fmt: skip
    assert [(p["bytes"], p["ranks"], p["algorithm"]) for p in found] == [
        (8, 8, "binomial"),
        (16, 8, "binomial"),
        (16, 8, "chain"),
        (16, 4, "chain"),
    ]


def test_all_algorithms_of_a_collective():
    base = BASE.replace('"binomial"', '"all"').replace('"bcast"', '["bcast", "allgather"]')
    found = [(p["collective"], p["algorithm"]) for p in points("bytes = 8", base)]
    assert found == [(c, v.name) for c in ("bcast", "allgather") for v in arguments.variants(c, "all")]
    bound = points('bytes = 8\nmodel = "bound"', base)
    assert [(p["collective"], p["algorithm"]) for p in bound] == [("bcast", "all"), ("allgather", "all")]


def test_words_are_a_command_line_of_simulate():
    made = campaign('bytes = "1KiB"\nno-simd = true\ndead = [["5,0,3", "6,0,3"]]')
    (point,) = made.points()
    words = description.words_of(made.options, point)
    assert words == [
        *("bcast", "--machine=k-computer", "--algorithm=binomial", "--bytes=1024", "--no-simd"),
        *("--dead=5,0,3", "--dead=6,0,3"),
    ]


def test_every_option_of_simulate_but_those_of_the_display():
    options = campaign_points.options()
    assert {"collective", "machine", "bytes", "ranks_per_node", "segment_bytes", "no_simd", "dead"} <= set(options)
    assert not {"json", "links", "explain", "help"} & set(options)
    assert options["bytes"].kind == options["segment_bytes"].kind == "size"
    assert (options["ranks"].kind, options["no_simd"].kind, options["dead"].repeats) == ("integer", "flag", True)


def test_keys_change_with_what_the_prediction_depends_on(tmp_path):
    def key(text: str) -> str:
        path = tmp_path / "test.toml"
        (point,) = campaign(text, BASE.replace("k-computer", "mine.toml"), path).points()
        return key_of(point, tmp_path, folder("machines"))

    file = tmp_path / "mine.toml"
    file.write_text("one")
    first = key("bytes = 8")
    assert key("bytes = 16") != first
    assert key('x = 1\nbytes = 8\n[derived]\nroot = "0 * x"') == key('x = 2\nbytes = 8\n[derived]\nroot = "0 * x"')
    assert key('bytes = "8B"') == first
    from kumihimo.predict.campaign import database

    database.digest.cache_clear()
    file.write_text("two")
    assert key("bytes = 8") != first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "bites = 8",
            "'bites' is no option of simulate, and neither an expression nor `labels` names it; did you mean bytes?",
        ),
        ("[sweeps]\nbytes = 8", "has no key 'sweeps'; did you mean sweep?"),
        (
            '[derived]\nrank = "4 * 2"',
            "'rank' is no option of simulate, and neither an expression nor `labels` names it; did you mean",
        ),
        ('nodes = 4\n[derived]\nranks = "node * 4"', "(got 'node'); did you mean nodes?"),
        ("bytes = []", "bytes must have at least one value (got an empty list)"),
        ("bytes = true", "bytes must be a size such as 64KiB (got true)"),
        ('bytes = "8 potatoes"', "bytes: a size must be a whole number of bytes"),
        ('bytes = "8B..8X"', "bytes: a size must be a whole number of bytes"),
        ('ranks = "many"', "ranks must be a whole number (got 'many')"),
        ("ranks = 8.5", "ranks must be a whole number (got 8.5)"),
        ("no_simd = 1", "no_simd must be true or false (got 1)"),
        ("order = {a = 1}", "order must be a text"),
        ('x = nan\n[derived]\nranks = "x"', "x must be a number of at most 64 bits"),
        ('x = 99999999999999999999\n[derived]\nranks = "x"', "x must be a number of at most 64 bits"),
        ('[derived]\nranks = "nodes"\nnodes = "ranks"', "derived values must not need themselves (got ranks -> nodes"),
        ('ranks = 8\n[derived]\nranks = "8"', "ranks must have its value from one of"),
        ("ranks = 8\n[[choose]]\nranks = 4", "ranks must have its value from one of"),
        ('[[choose]]\nwhen = "1 < 2"', "rule 1 of [[choose]] must set a value"),
        ("[choose]\nranks = 2", "rules must be tables, each under [[choose]]"),
        ("bytes = 8\nbytes = 9", "must be TOML"),
        ("'a b' = 8", "a variable must be a word"),
        ("min = 8", "a variable must be a word of letters"),
        ('x = 1\n[derived]\nranks = "x / 0"', "ranks must have a value at every point"),
        ('x = 1\n[derived]\nranks = "x / 2"', "ranks must be a whole number (got 0.5)"),
        (f'a = {list(range(1001))}\nb = {list(range(1000))}\n[derived]\nranks = "a + b"', "at most 1,000,000 points"),
    ],
)
def test_what_is_wrong_with_a_file(text, words):
    with pytest.raises(KumihimoError) as error:
        points(text)
    assert words in str(error.value)


def test_what_every_campaign_needs():
    with pytest.raises(BadInput, match="must name described machines"):
        points("bytes = 8", BASE.replace("k-computer", "this-machine"))
    with pytest.raises(BadInput, match="the parameter machine of campaign test is missing"):
        points("", '[parameters]\ncollective = "bcast"\n')
    with pytest.raises(BadInput, match="must have only letters"):
        points("", 'name = "a/b"\n' + BASE)
