"""Opens a page in headless Chromium and tells what a reader meets: the finished page, and what the console says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ATTEMPTS = 3  # a browser on a busy machine may die, or draw its frames after the end of its virtual time
NAMES = ("chromium", "chromium-browser", "google-chrome")
PROBE = """<script>addEventListener("load", () => setTimeout(function look(tries = 0) {
  const painted = [...document.querySelectorAll("canvas")].map((c) => {
    const d = c.width && c.height ? c.getContext("2d").getImageData(0, 0, c.width, c.height).data : [];
    let n = 0; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; });
  if (tries < 50 && painted.includes(0)) return setTimeout(look, 100, tries + 1); // frames are late on a busy machine
  const wide = document.documentElement.scrollWidth - innerWidth;
  const charts = [...document.querySelectorAll("svg.chart")].map((s) => s.querySelectorAll(".dot, .bar").length);
  const beyond = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1;
  const cut = [...document.querySelectorAll("svg.chart text")].filter((t) => beyond(
    t.getBoundingClientRect(), t.ownerSVGElement.getBoundingClientRect())).map((t) => t.textContent);
  const seen = { painted, wide, charts, cut, ready: document.documentElement.dataset.ready, acted: (ACT)() };
  const told = { id: "probe", textContent: JSON.stringify(seen) };
  document.body.append(Object.assign(document.createElement("pre"), told));
}, 1500));</script>"""


@dataclass(frozen=True)
class Opened:
    """A page after its scripts ran: pixels of each canvas, marks of each chart, how far it is wider than the window."""

    dom: str
    console: list[str]
    painted: list[int]
    charts: list[int]
    wide: int
    ready: str | None
    acted: object = None


def open_page(page: Path, folder: Path, width: int = 1280, dark: bool = False, act: str = "() => null") -> Opened:
    """Open a copy of the page that looks at itself when it is ready; `acted` is what the function `act` gave then."""
    command = next(filter(None, map(shutil.which, NAMES)), None)
    if command is None:
        pytest.skip("no Chromium here (apt-get install chromium)")
    copy = folder / f"{page.stem}-{width}{'-dark' if dark else ''}.html"
    copy.write_text(
        page.read_text(encoding="utf-8").replace("</body>", PROBE.replace("ACT", act) + "</body>"), encoding="utf-8"
    )
    for _ in range(ATTEMPTS):
        done, seen = look_at(command, copy, folder, width, dark)
        if seen is not None and 0 not in seen["painted"]:
            break
    assert done.returncode == 0, done.stderr
    ours = "willReadFrequently"  # advice on the probe's own reading of a canvas
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line and ours not in line]
    seen = seen or {"painted": [], "charts": [], "cut": [], "wide": 0}
    assert seen["cut"] == [], "words of charts cross their edges"
    return Opened(
        done.stdout, console, seen["painted"], seen["charts"], seen["wide"], seen.get("ready"), seen.get("acted")
    )


def look_at(command: str, copy: Path, folder: Path, width: int, dark: bool):
    """The ended browser, and what the probe told, if the browser came so far."""
    done = subprocess.run(
        [
            *(command, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}", f"--window-size={width},2000"),
            *(["--force-dark-mode", "--blink-settings=preferredColorScheme=0"] if dark else []),
            *("--virtual-time-budget=12000", "--dump-dom", copy.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout)
    return done, json.loads(found.group(1)) if found and done.returncode == 0 else None
