"""What the command line says of variants, parameters and options."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kumihimo.app import catalogue
from kumihimo.app.catalogue import AppCandidate, ApplicationRow, candidates, every_candidate, settings_of
from kumihimo.text.errors import BadInput, Failed, KumihimoError, NotApplicable

COLOURS = {"name": "colours", "meaning": "", "symbol": "N", "min": 2, "max": 400, "values": [40, 10, 100]}
CHUNK = {"name": "chunk", "meaning": "", "symbol": "N", "min": 1, "max": 64, "values": [8, 16]}
VARIANTS = (
    {"name": "golden", "summary": "", "parameters": []},
    {"name": "br_1", "summary": "", "parameters": [COLOURS]},
    {"name": "sell", "summary": "", "parameters": [COLOURS, CHUNK]},
)
OPTIONS = (
    {"name": "boundary", "meaning": "", "symbol": "", "default": "zmax", "choices": ["zmax", "all"]},
    {"name": "word", "meaning": "", "symbol": "", "default": "", "choices": []},
)
TOY = ApplicationRow("toy", "", "", "", "64", "abc", ("cg",), VARIANTS, OPTIONS)


def test_named_variants_have_their_defaults() -> None:
    assert candidates(TOY, "golden", {}) == [AppCandidate("golden")]
    assert candidates(TOY, "br_1,sell", {"colours": "10"}) == [
        AppCandidate("br_1", (("colours", 10),)),
        AppCandidate("sell", (("chunk", 8), ("colours", 10))),
    ]
    assert [each.text for each in candidates(TOY, "all", {"chunk": "16"})] == [
        "golden",
        "br_1 colours=40",
        "sell chunk=16 colours=40",
    ]


def test_auto_leaves_out_variants_that_are_there_to_be_compared() -> None:
    toy = replace(TOY, by_name_only=("br_1",))
    assert [each.variant for each in candidates(toy, "auto", {})] == ["golden", "sell"]
    assert [each.variant for each in candidates(toy, "all", {})] == ["golden", "br_1", "sell"]
    assert [each.variant for each in candidates(toy, "br_1", {})] == ["br_1"]


def test_one_rank_tries_one_value_of_what_ranks_alone_need() -> None:
    share = {"name": "share", "meaning": "", "symbol": "N", "min": 0, "max": 100, "values": [50, 10], "of_ranks": True}
    variants = ({"name": "golden", "parameters": []}, {"name": "dealt", "parameters": [CHUNK, share]})
    toy = replace(TOY, variants=variants)
    tried = {ranks: every_candidate(toy, candidates(toy, "auto", {}), {}, ranks) for ranks in (1, 2)}
    assert [each.text for each in tried[1]] == ["golden", "dealt chunk=8 share=50", "dealt chunk=16 share=50"]
    assert len(tried[2]) == 1 + 2 * 2
    set_by_user = every_candidate(toy, candidates(toy, "auto", {"share": "7"}), {"share": "7"}, 1)
    assert set_by_user[1].text == "dealt chunk=8 share=7"


def test_every_candidate_has_all_values_but_those_that_are_set() -> None:
    every = every_candidate(TOY, candidates(TOY, "auto", {}), {}, 2)
    assert len(every) == len(set(every)) == 1 + 3 + 3 * 2
    every = every_candidate(TOY, candidates(TOY, "auto", {"colours": "7"}), {"colours": "7"}, 2)
    assert [each.text for each in every] == [
        "golden",
        "br_1 colours=7",
        "sell chunk=8 colours=7",
        "sell chunk=16 colours=7",
    ]


def test_a_golden_copy_that_is_too_slow_is_not_chosen() -> None:
    slow = replace(TOY, golden_may_be_chosen=False)
    assert [each.variant for each in candidates(slow, "auto", {})] == ["br_1", "sell"]
    assert [each.variant for each in candidates(slow, "all", {})] == ["golden", "br_1", "sell"]
    alone = replace(slow, variants=VARIANTS[:1])
    assert candidates(alone, "auto", {}) == [AppCandidate("golden")]


def test_auto_keeps_to_variants_with_the_same_bits_where_they_are_asked_for() -> None:
    option = {"name": "reproducible", "meaning": "", "symbol": "YES", "default": "no", "choices": ["no", "yes"]}
    exact = replace(TOY, options=(option,), reproducible_variants=("sell",))
    for wanted, asked, names in (
        ("auto", "yes", ["sell"]),
        ("auto", "no", ["golden", "br_1", "sell"]),
        ("all", "yes", ["golden", "br_1", "sell"]),
    ):
        assert [each.variant for each in candidates(exact, wanted, {"reproducible": asked})] == names


def test_reproducible_is_an_option_of_some_applications() -> None:
    option = {"name": "reproducible", "meaning": "", "symbol": "YES", "default": "no", "choices": ["no", "yes"]}
    exact = replace(TOY, options=(option,))
    assert catalogue.reproducible(exact, {}) == "yes" == catalogue.reproducible(exact, {"reproducible": "yes"})
    with pytest.raises(BadInput, match="--reproducible excludes --set reproducible=no; leave one of them out"):
        catalogue.reproducible(exact, {"reproducible": "no"})
    with pytest.raises(NotApplicable, match="toy has no option reproducible; leave --reproducible out"):
        catalogue.reproducible(TOY, {})


@pytest.mark.parametrize(
    ("wanted", "settings", "kind", "sentence"),
    [
        ("gold", {}, BadInput, "--variant must name a variant of toy (got 'gold'); did you mean golden?"),
        ("golden", {"colours": "3"}, NotApplicable, "the variant golden takes no colours; it takes boundary, word"),
        ("br_1", {"colours": "1"}, BadInput, "colours must be 2 to 400 (got 1)"),
        ("br_1", {"colours": "x"}, BadInput, "colours must be an integer (got 'x')"),
        (
            "all",
            {"colour": "red"},
            BadInput,
            "toy has no parameter or option of this name (got colour); did you mean colours?",
        ),
    ],
)
def test_mistakes_are_one_sentence(wanted: str, settings: dict, kind: type, sentence: str) -> None:
    with pytest.raises(KumihimoError) as error:
        candidates(TOY, wanted, settings)
    assert type(error.value) is kind
    assert str(error.value) == sentence


def test_settings() -> None:
    assert settings_of(["a=1", "b=x=y"]) == {"a": "1", "b": "x=y"}
    for wrong in (["a"], ["=1"], ["a="], ["a=1", "a=2"]):
        with pytest.raises(BadInput):
            settings_of(wrong)
    assert catalogue.options_in(TOY, {"boundary": "all", "colours": "3"}) == {"boundary": "all"}
    with pytest.raises(BadInput, match="boundary must be one of zmax, all"):
        catalogue.options_in(TOY, {"boundary": "up"})


def test_the_package_lists_poisson3d() -> None:
    application = catalogue.find("poisson3d")
    assert application.golden == "golden"
    assert len(application.golden_hash) == 16 and application.compiler
    with pytest.raises(BadInput, match="did you mean poisson3d"):
        catalogue.find("poisson")


def test_a_program_that_hangs_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    hangs = tmp_path / "hangs"
    hangs.write_text("#!/bin/sh\nexec sleep 100\n")
    hangs.chmod(0o755)
    monkeypatch.setattr(catalogue, "program", lambda name: hangs)
    monkeypatch.setattr(catalogue, "LIMIT_SECONDS", 0.2)
    with pytest.raises(Failed, match=r"kumihimo-app list did not end within 0.2 s"):
        catalogue.told("list")
