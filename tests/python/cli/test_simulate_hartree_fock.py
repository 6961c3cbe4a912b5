"""`kumihimo simulate app hartree-fock`."""

from __future__ import annotations

import json

import pytest

from kumihimo.predict import models

MACHINE = ("simulate", "app", "hartree-fock", "-m", "fugaku", "--shape", "4x1x1", "--ranks-per-node", "1")


@pytest.mark.parametrize("model", models.of("hartree_fock"))
def test_a_build_on_more_and_more_ranks(kumihimo, model: str) -> None:
    ended = kumihimo(*MACHINE, "--size", "w2", "--set", "basis=6-31g", "--speed", "2", "--model", model, "--json")
    assert (ended.code, ended.err) == (0, "")
    found = json.loads(ended.out)
    measured = found["measured"]
    assert [each["ranks"] for each in found["results"]] == [1, 2, 4]
    assert [each["name"] for each in measured["classes"]][:2] == ["(ss,ss)", "(ls,ss)"]
    assert sum(each["units"] for each in measured["classes"]) == measured["units"]
    assert sum(each["seconds"] for each in measured["classes"]) == pytest.approx(measured["seconds"])
    assert found["results"][0]["communication_seconds"] == 0
    for each in found["results"]:
        assert each["computing_seconds"] == pytest.approx(measured["seconds"] / 2 / each["ranks"], rel=1e-3)
        parts = ("computing_seconds", "uneven_seconds", "communication_seconds")
        assert each["seconds"] == pytest.approx(sum(each[name] for name in parts))
        assert each["efficiency"] <= 1.0001
    assert found["results"][2]["messages"] >= 2 * found["results"][2]["chunks"] + 8


def test_ranks_of_one_node(kumihimo) -> None:
    asked = ("simulate", "app", "hartree-fock", "-m", "this-machine", "--ranks-per-node", "3", "--json")
    ended = kumihimo(*asked)
    assert (ended.code, ended.err) == (0, "")
    assert [each["ranks"] for each in json.loads(ended.out)["results"]] == [1, 2, 3]


def test_the_table_says_what_is_measured_and_assumed(kumihimo) -> None:
    ended = kumihimo(*MACHINE, "--set", "static_share=100", "--set", "units=1", "--set", "reproducible=yes")
    assert (ended.code, ended.err) == (0, "")
    head = "One build of J and K of w1, sto-3g, 7 functions, variant shells, on fugaku 4x1x1, model flow"
    assert ended.out.startswith(head) and "static_share 100 %, sum by recursive_doubling" in ended.out
    assert "Measured here:" in ended.out and ", least of 1 build" in ended.out and "\n(ll,ll) " in ended.out
    assert "Assumed:\n  a core of fugaku is as fast as the one here (--speed)" in ended.out
    assert "the sum of 1568 bytes" in ended.out, "two words of 8 bytes for each of 2 x 7 x 7 numbers"


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--cells", "8"), "hartree-fock takes no --cells here; leave it out"),
        (("--crossover",), "hartree-fock takes no --crossover here; leave it out"),
        (("--size", "w0"), "a built-in molecule must be w1 to w1000"),
        (("--set", "basis=cc-pvdz"), "basis must be 6-31g, sto-3g or a .gbs file (got 'cc-pvdz')"),
        (("--set", "units=0"), "units must be 1 build or more (got 0); write --set units=3"),
        (("--set", "units=many"), "units must be a number of builds from 0 to 1000 (got 'many')"),
        (("--variant", "golden"), "the variant golden deals no units to ranks; use --variant shells"),
        (("--variant", "all"), "--variant must name one variant (got 'all'); use --variant shells"),
        (("--model", "exact"), "--model of hartree-fock must be flow or loggp (got 'exact')"),
        (("--speed", "0"), "--speed must be above 0 (got 0)"),
        (("--algorithm", "rings"), "rings"),
        (("--algorithm", "all"), "--algorithm must name one algorithm (got 'all')"),
        (("--shape", "32x32x32"), "a prediction of hartree-fock has at most 16384 ranks (got 32768)"),
    ],
)
def test_bad_input_is_one_sentence(kumihimo, words: tuple, error: str) -> None:
    ended = kumihimo(*MACHINE, *words)
    assert ended.code == 2 and error in ended.err and ended.err.count("\n") == 1, ended.err


def test_other_applications_have_no_units(kumihimo) -> None:
    ended = kumihimo("simulate", "app", "himeno", "-m", "fugaku", "--cells", "8", "--set", "basis=6-31g")
    assert ended.code == 2 and "himeno takes no --set here; leave it out" in ended.err
