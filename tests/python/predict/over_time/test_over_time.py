"""`simulate --page`: links over time, and how noise spreads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumihimo.predict import over_time

PACKETS = (
    "simulate",
    "allreduce",
    "-m",
    "k-computer",
    "-s",
    "4x3x2",
    "-b",
    "256KiB",
    "--model",
    "packet",
    "-a",
    "ring",
)
NOISE = ("simulate", "barrier", "--model", "loggp", "-p", "64", "-a", "dissemination")
LETTERS = ("--loggops", "L=2500,o=1500,g=1000,G=6,O=0,S=65535", "--noise", "periodic:10us/100us")


class Machine:
    link_classes: tuple = ()
    links = tuple((number, number // 2, 0, 0) for number in range(2000))

    @staticmethod
    def link_name(number: int) -> str:
        return f"{'+-'[number % 2]}x at ({number // 2})"


def test_rows_are_the_links_of_a_direction_side_by_side():
    shares = [[0.0, 0.0] if number in (2, 5) else [number / 10, 1.0] for number in range(8)] + [[0.0, 0.0]] * 1992
    shown = over_time.of_links(Machine(), shares, 0.5)
    assert shown.groups == [("+x", 3), ("-x", 3)]
    assert [label for label, _ in shown.rows] == [Machine.link_name(number) for number in (0, 4, 6, 1, 3, 7)]
    assert [values[0] for _, values in shown.rows] == [0.0, 0.4, 0.6, 0.1, 0.3, 0.7]


def test_a_row_of_many_links_is_the_busiest():
    shares = [[(number % 7) / 7] for number in range(2000)]
    shown = over_time.of_links(Machine(), shares, 0.5)
    assert len(shown.rows) <= over_time.MOST_ROWS + 2 and sum(count for _, count in shown.groups) == len(shown.rows)
    assert shown.unit.startswith("Each row is the busiest of ") and shown.rows[0][0].startswith(
        "-x at (0) and the next "
    )
    assert max(values[0] for _, values in shown.rows) == pytest.approx(6 / 7, abs=1e-4)


def test_a_page_of_a_run_without_packets(kumihimo, tmp_path):
    ended = kumihimo(*PACKETS[:5], "1", *PACKETS[6:], "--page", "page.html")
    assert (ended.code, ended.err) == (0, "")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "No link carried anything." in text and 'data-part="heat-map"' not in text


def data_of(page: Path) -> dict:
    text = page.read_text(encoding="utf-8")
    return json.loads(text.partition('id="data">')[2].partition("</script>")[0])


def test_busy_time_of_the_links_is_that_of_the_result(kumihimo, tmp_path):
    ended = kumihimo(*PACKETS, "--page", "page.html", "--links", "--json")
    assert (ended.code, ended.err) == (0, "")
    (result,) = json.loads(ended.out)["results"]
    shown = data_of(tmp_path / "page.html")["heat-map"]
    carrying = sum(load > 0 for load in result["link_bytes"])
    assert result["page"] == "page.html" and len(shown["rows"]) == carrying
    (of_class,) = result["utilisation"]["by_class"].values()
    mean = [sum(values[at] for _, values in shown["rows"]) / of_class["links"] for at in range(len(of_class["shares"]))]
    assert mean == pytest.approx(of_class["shares"], abs=1e-4)


def test_late_ranks_of_the_end_are_those_of_the_slowdown(kumihimo, tmp_path):
    ended = kumihimo(*NOISE, *LETTERS, "--page", "page.html", "--json")
    assert (ended.code, ended.err) == (0, "")
    (result,) = json.loads(ended.out)["results"]
    shown = data_of(tmp_path / "page.html")["heat-map"]
    assert len(shown["rows"]) == 64
    # All ranks end a barrier at the same time without noise.
    late = max(values[-1] for _, values in shown["rows"])
    assert late == pytest.approx(result["seconds"] - result["noise_free_seconds"], rel=1e-3)


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
@pytest.mark.parametrize("words", [PACKETS, (*NOISE, *LETTERS)], ids=["packet", "loggp"])
def test_a_page_in_a_browser(kumihimo, browser, tmp_path, words, width, dark):
    ended = kumihimo(*words, "--page", "page.html")
    assert ended.code == 0 and "page: page.html" in ended.out
    act = "() => { const map = drawn['heat-map']; map.bin = 1; map.tell(); return map.told.textContent; }"
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=act)
    assert (seen.ready, seen.console) == ("yes", [])
    assert seen.wide <= 0 and seen.painted[0] > 500
    assert ": " in seen.acted and " to " in seen.acted


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            (*PACKETS[:8], "--page", "p.html"),
            "--page needs --model packet, loggp or logp (got --model flow)",
        ),
        ((*NOISE, *LETTERS[:2], "--page", "p.html"), "--noise is missing"),
        ((*PACKETS, "-b", "1KiB,2KiB", "--page", "p.html"), "--page must be of one run (got 2)"),
        ((*PACKETS, "--page", "no/such/p.html"), "--page must name a file that can be written"),
    ],
)
def test_what_has_no_page(kumihimo, words, error):
    ended = kumihimo(*words)
    assert ended.code == 2 or ended.code == 1
    assert error in ended.err and "Traceback" not in ended.err
