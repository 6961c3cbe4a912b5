"""Call sites from addr2line's answers, and from a program compiled here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kumihimo.run.profile import call_sites
from kumihimo.run.profile.call_sites import CallPlace


@pytest.mark.parametrize(
    ("function", "where", "text"),
    [
        ("main", "/home/a/solver.c:41", "solver.c:41 (main)"),
        ("main", "/home/a/solver.c:41 (discriminator 2)", "solver.c:41 (main)"),
        ("relax(int)", "??:0", "program+0x11 (relax(int))"),
        ("??", "??:0", "program+0x11 (near)"),
        ("f", "solver.f90:?", "program+0x11 (f)"),
    ],
)
def test_answers(function: str, where: str, text: str) -> None:
    place = CallPlace(object="/bin/program", offset=17, function="near")
    assert str(call_sites.with_location(place, function, where)) == text


def test_python_places_stay_as_they_are() -> None:
    place = call_sites.as_recorded({"file": "a.py", "line": 7, "function": "f"})
    assert call_sites.resolved([place])[place] == place
    assert str(place) == "a.py:7 (f)"


def test_a_missing_object_is_told_by_its_offset(tmp_path: Path) -> None:
    place = call_sites.as_recorded({"object": str(tmp_path / "gone"), "offset": 64, "function": None})
    assert str(call_sites.resolved([place])[place]) == "gone+0x40"


@pytest.mark.skipif(not (shutil.which("addr2line") and shutil.which("cc") and shutil.which("nm")), reason="no compiler")
def test_lines_of_a_program(tmp_path: Path) -> None:
    source = tmp_path / "source.c"
    source.write_text("int f(void) {\n  return 1;\n}\nint main(void) {\n  return f();\n}\n", encoding="utf-8")
    program = tmp_path / "program"
    subprocess.run(["cc", "-g", "-O0", "-o", program, source], check=True)
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    (start,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" T f")]
    place = call_sites.as_recorded({"object": str(program), "offset": start + 1, "function": None})
    assert str(call_sites.resolved([place])[place]) == "source.c:1 (f)"
