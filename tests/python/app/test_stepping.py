"""Applications that make steps: the table of directives against hand-written code, pictures, predictions."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest

from kumihimo.app import stepping
from kumihimo.cli import app_tables


def row(variant: str, seconds: float, by_hand: bool, threads: int = 1, right: bool | None = True) -> dict:
    return {
        "variant": variant,
        "parameters": {},
        "ranks": 1,
        "threads": threads,
        "right": right,
        "by_hand": by_hand,
        "seconds_per_step": seconds,
        "step_bytes": 1e9,
        "rate": 34e9 / seconds,
        "rate_unit": "FLOPS",
        "lines_changed": 2,
    }


def test_shares_are_of_the_fastest_by_hand_on_the_same_threads() -> None:
    rows = [row("directives", 4, False), row("simd", 2, True), row("wavefront", 1, True), row("simd", 1, True, 2)]
    for each in rows:
        each["rates"] = {"triad_bytes_per_second": 2e9 * each["threads"]}  # each of its own threads
    rows = stepping.with_shares([*rows, {"variant": "x", "not_applicable": "no"}])
    assert [each.get("share_of_hand_written") for each in rows] == [0.25, 0.5, 1, 1, None]
    assert [each.get("share_of_one_pass") for each in rows] == [0.125, 0.25, 0.5, 0.25, None]


def test_a_gpu_is_the_hand_written_version_and_a_wrong_variant_is_not() -> None:
    rows = [row("directives", 4, False), row("cuda", 2, True), row("wavefront", 1, True), row("simd", 0.5, True)]
    rows[3]["right"] = False
    assert stepping.with_shares(rows)[0]["share_of_hand_written"] == 0.5
    assert stepping.with_shares([rows[0], *rows[2:]])[0]["share_of_hand_written"] == 0.25
    assert "share_of_one_pass" not in rows[0]


def found_of(ended) -> dict:
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_himeno_has_the_published_table(kumihimo) -> None:
    ended = kumihimo("app", "himeno", "--size", "16x14x20", "--variant", "golden,directives,simd", "--threads", "1")
    assert ended.code == 0 and "lines" in ended.out and "WRONG" not in ended.out
    assert re.search(r"^golden +1×1 +0 ", ended.out, re.MULTILINE)
    assert re.search(r"^directives +1×1 +2 .* %$", ended.out, re.MULTILINE)


@pytest.mark.parametrize(("unit", "rate"), [("FLOPS", 123.4e9), ("cells/s", 9.999e9)])
def test_the_table_fits_80_columns_in_a_pipe(capsys: pytest.CaptureFixture, unit: str, rate: float) -> None:
    wide = {**row("wavefront", 0.001234, True), "parameters": {"columns": 4096, "levels": 16}, "lines_changed": 1260}
    wide |= {"iterations": 1000, "seconds": 1.23e-3, "share_of_bound": 0.98, "times_golden": 99.99, "rate": rate}
    wide |= {"runs": 1, "rate_unit": unit, "share_of_one_pass": 1.78, "share_of_hand_written": 6.42}
    rows = [wide, {**wide, "variant": "golden", "parameters": {}}]
    app_tables.show({"results": rows, "rates": None})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines.count("    columns=4096 levels=16") == 2 and lines[1].startswith("wavefront  ")


def test_auto_chooses_among_stencils(kumihimo) -> None:
    asked = ("app", "himeno", "--size", "XS", "--threads", "1", "--set", "sweeps=4", "--json")
    found = found_of(kumihimo(*asked))
    assert found["right"] is True and found["choices"][0]["variant"] == found["variant"]


def test_the_page_of_a_field_has_its_pictures(kumihimo, tmp_path: Path) -> None:
    page = tmp_path / "field.html"
    asked = ("app", "fdtd2d", "--size", "64x48", "--set", "steps=100", "--variant", "simd", "--threads", "1")
    assert kumihimo(*asked, "--page", str(page)).code == 0
    text = page.read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    pictures = data["field-animation"]
    assert (pictures["width"], pictures["height"], len(pictures["frames"])) == (64, 48, stepping.PICTURES)
    assert pictures["steps"][-1] == 100 and float(re.search(r"\|Ez\| / (\S+)\.<", text)[1]) > 0
    frames = [base64.b64decode(frame) for frame in pictures["frames"]]
    assert (
        all(len(frame) == 64 * 48 for frame in frames)
        and max(abs(b - 256 * (b > 127)) for f in frames for b in f) == 127
    )
    assert 'data-part="field-animation"' in text and not re.search(r'(src|href)="http', text)
    assert "pictures" not in found_of(kumihimo(*asked, "--json"))["results"][0]


@pytest.mark.parametrize("width", [1280, 480])
def test_a_page_in_a_browser(kumihimo, browser, tmp_path: Path, width: int) -> None:
    """The labels of its axes are longer than those of other pages."""
    page = tmp_path / "page.html"
    asked = ("app", "himeno", "--size", "16", "--variant", "golden,simd", "--threads", "1,2", "--page", str(page))
    given = ("--triad", "77", "--peak", "274")
    assert kumihimo(*asked, *given).code == 0
    seen = browser.open_page(page, tmp_path, width=width)
    assert seen.wide <= 0 and seen.console == [] and "100 GFLOPS" in seen.dom


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("himeno", "--size", "Q"), "the size must be XS, S, M, L, XL or points along i, j and k (got 'Q')"),
        (("himeno", "--set", "sweeps=0"), "sweeps must be a number from 1 to 1000000 (got '0')"),
        (("himeno", "--method", "cg"), "himeno takes no --method; leave it out"),
        (("fdtd2d", "--set", "courant=0.8"), "courant must be a number from 0.01 to below 0.7071 (got '0.8')"),
        (("fdtd2d", "--set", "layer=200"), "a layer of 200 cells needs at least 404 nodes along each axis (got 256)"),
        (("fdtd2d", "--set", "source=1x9"), "the source must lie between 11 and 245 along x (got 1)"),
        (("fdtd2d", "--set", "problem=wave"), "problem must be one of source, mode (got 'wave')"),
    ],
)
def test_bad_input_is_one_sentence(kumihimo, words: tuple, error: str) -> None:
    ended = kumihimo("app", *words, "--variant", "simd", "--threads", "1")
    assert ended.code == 2 and error in ended.err and ended.err.count("\n") == 1


SIMULATED = ("simulate", "app", "himeno", "-m", "fugaku", "--shape", "2x2x2")


def predicted(ended) -> dict:
    return found_of(ended)["results"][0]


def test_a_sweep_is_bound_by_memory_and_hides_the_exchange(kumihimo) -> None:
    found = predicted(kumihimo(*SIMULATED, "--cells", "256x128x128", "--json"))
    assert found["grid"] == [2, 2, 2] and found["method"] == "sweep"
    assert found["computing_seconds"] == pytest.approx(256 * 128 * 128 * 60 / 830e9)
    assert found["computing_seconds"] <= found["seconds"] <= found["computing_seconds"] + found["halo_seconds"]
    assert found["hidden_seconds"] > 0


def test_a_size_is_divided_as_the_application_does(kumihimo) -> None:
    two = ("simulate", "app", "himeno", "-m", "fugaku", "--shape", "2x1x1", "--ranks-per-node", "1", "--json")
    found = predicted(kumihimo(*two, "--size", "128x130x512"))
    assert found["grid"] == [2, 1, 1] and found["cells"] == [255, 128, 126], "inner points along k, j and i"
    assert predicted(kumihimo(*two, "--size", "512x130x128"))["grid"] == [1, 1, 2]
    refused = kumihimo(*two[:-1], "--size", "2x9x9")
    assert refused.code == 2 and "each axis of --size must have 3 points or more (got 2x9x9)" in refused.err


def test_a_flat_grid_has_one_cell_along_the_third_axis(kumihimo) -> None:
    asked = ("simulate", "app", "fdtd2d", "-m", "fugaku", "--shape", "2x2x2")
    assert predicted(kumihimo(*asked, "--cells", "512x512x1", "--json"))["grid"] == [4, 2, 1]
    refused = kumihimo(*asked, "--cells", "512")
    assert refused.code == 2 and "--cells of fdtd2d must have 1 along the third axis (got 512)" in refused.err


@pytest.mark.parametrize("word", ["--method=cg", "--preconditioner=ic0", "--crossover"])
def test_what_solvers_have_is_refused(kumihimo, word: str) -> None:
    ended = kumihimo(*SIMULATED, "--cells", "64", word)
    assert ended.code == 2 and "himeno is no solver and takes no --" in ended.err
