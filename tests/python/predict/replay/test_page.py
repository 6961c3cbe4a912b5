"""The timeline of a replay, in a browser and for Perfetto."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .test_replay import LETTERS, ring


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)])
def test_a_page_in_a_browser(
    traced: Callable, replay: Callable, browser, tmp_path: Path, width: int, dark: bool
) -> None:
    replay(traced(ring(5, steps=20)), *LETTERS, "--page", tmp_path / "page.html", "--what-if")
    zooms = (
        "const timeline = drawn['rank-timeline']; timeline.zoom(0.5); timeline.tell(200, 5); "
        "return [timeline.to - timeline.from, timeline.told.textContent];"
    )
    seen = browser.open_page(tmp_path / "page.html", tmp_path, width=width, dark=dark, act=f"() => {{ {zooms} }}")
    assert (seen.ready, seen.console) == ("yes", [])
    assert seen.wide <= 0 and seen.painted[0] > 500
    assert seen.acted[0] == 500_000 and seen.acted[1].startswith("rank 0: ")


def test_the_timeline_is_that_of_the_run(traced: Callable, replay: Callable, tmp_path: Path) -> None:
    result = replay(
        traced(ring(3)), *LETTERS, "--page", tmp_path / "p.html", "--timeline", tmp_path / "t.json", "--json"
    )
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    of_first = [(e["name"], e["ts"], e["dur"]) for e in events if e["ph"] == "X" and e["tid"] == 0]
    assert of_first == [
        ("outside regions", 0, 1.0),
        ("MPI_Send at step.py:12 (run)", 1.0, 0.1),
        ("MPI_Recv at step.py:13 (run)", 1.1, 2.1),
        ("outside regions", 3.2, 0.005),
    ]
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    data = json.loads(text.partition('id="data">')[2].partition("</script>")[0])["rank-timeline"]
    assert data["ranks"] == [0, 1, 2]
    ticks = [round(part / result["seconds"] * 1e-6 * data["ticks"]) for part in (1.0, 0.1, 2.1, 0.005)]
    assert data["tracks"][0][1::2] == pytest.approx(ticks, abs=1)
    assert sum(data["tracks"][0][1::2]) == data["ticks"]
