"""kumihimo_remote_memory(3) has every function as the header declares it, and is well-formed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def page() -> Path:
    line = [sys.executable, "-m", "kumihimo.remote_memory", "--man"]
    return Path(subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip())


def declarations(text: str) -> dict[str, str]:
    """Functions by name, without blanks."""
    found = re.findall(r"^(?:static inline )?((?:int|const char\*) (kumihimo_rma_\w+)\([^;{]*\))", text, re.MULTILINE)
    return {name: re.sub(r"\s+", "", whole) for whole, name in found}


def test_it_declares_what_the_headers_declare(repository, page) -> None:
    headers = [repository / "include" / "kumihimo" / f"remote_memory{which}.h" for which in ("", "_mpi")]
    wanted: dict[str, str] = {}
    for header in headers:
        wanted |= declarations(header.read_text(encoding="utf-8"))
    wanted.pop("kumihimo_rma_exchange_mpi")  # which open_mpi uses
    synopsis = re.sub(
        r'^\.(?:B "?|PP$|fi$)|"$', "", page.read_text(encoding="utf-8").split(".SH DESCRIPTION")[0], flags=re.M
    )
    assert declarations(synopsis) == wanted and len(wanted) == 22


def test_it_explains_every_function_code_and_option(repository, page) -> None:
    header = (repository / "include" / "kumihimo" / "remote_memory.h").read_text(encoding="utf-8")
    explained = page.read_text(encoding="utf-8").split(".SH DESCRIPTION")[1]
    names = set(declarations(header)) | set(re.findall(r"KUMIHIMO_RMA_[A-Z_]+(?= = \d)", header))
    assert len(names) > 20
    assert [name for name in sorted(names - {"KUMIHIMO_RMA_FLAGS"}) if name not in explained] == []
    for option in ("provider=", "engines=", "rails=", "atomics=", "progress="):
        assert f"\n.BI {option}" in explained


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff is here")
def test_groff_finds_no_fault(page, tmp_path) -> None:
    def faults(path: Path) -> str:
        return subprocess.run(["groff", "-man", "-ww", "-z", path], capture_output=True, text=True, check=False).stderr

    assert faults(page) == ""
    broken = tmp_path / "broken.3"
    broken.write_text(page.read_text(encoding="utf-8") + ".NOSUCHMACRO\n", encoding="utf-8")
    assert faults(broken), "a fault is found"


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff is here")
def test_it_fits_a_terminal(page) -> None:
    line = ["groff", "-man", "-Tascii", "-P-cbou", page]
    shown = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    assert [row for row in shown.splitlines() if len(row) > 80] == []
