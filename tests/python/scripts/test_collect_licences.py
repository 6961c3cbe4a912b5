"""Licence texts: each software that THIRD_PARTY.md lists has one, and a wheel without one is refused."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


def collected(repository: Path, *arguments: object) -> subprocess.CompletedProcess:
    line = [sys.executable, repository / "scripts/collect-licences", *arguments]
    return subprocess.run([*map(str, line)], capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture(scope="module")
def folder(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("licences")
    headers = repository / "build/amgcl"
    done = collected(repository, made, headers if headers.is_dir() else "")
    if "/usr/share/doc" in done.stderr:
        pytest.skip(f"not a Debian with all libraries: {done.stderr}")
    assert done.returncode == 0, done.stderr
    return made


def test_all_software_of_the_list_has_a_text(repository: Path, folder: Path) -> None:
    rows = re.findall(r"(?m)^\| ([^|]+) \| [^|]+ \| [^|]+ \|$", (repository / "THIRD_PARTY.md").read_text("utf-8"))
    names = [row.split(" ")[0].rstrip(",").removesuffix("'s") for row in rows if row not in ("Library", "---")]
    assert len(names) == 10
    if not (repository / "build/amgcl").is_dir():
        names.remove("AMGCL")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.txt")}
    assert set(names) <= set(texts)
    assert "GCC RUNTIME LIBRARY EXCEPTION" in texts["GCC"].upper() and "GPL-3" in texts
    assert all("copyright" in text.lower() for text in texts.values())


def wheel(path: Path, folder: Path, leave_out: str = "", libraries: tuple[str, ...] = ()) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for text in folder.glob("*.txt"):
            if text.stem != leave_out:
                archive.write(text, f"kumihimo-1.dist-info/licenses/packaging/licences/{text.name}")
        for name in libraries:
            archive.writestr(f"kumihimo.libs/{name}", b"")
    return path


def test_a_wheel_is_judged(repository: Path, folder: Path, tmp_path: Path) -> None:
    whole = wheel(tmp_path / "a.whl", folder, libraries=("libhwloc-5dbd1be6.so.15.6.2",))
    assert collected(repository, "-", "", whole).returncode == 0
    lacking = collected(repository, "-", "", wheel(tmp_path / "b.whl", folder, leave_out="hwloc"))
    assert (lacking.returncode, lacking.stderr) == (1, "hwloc: its licence text is not in the wheel\n")
    more = collected(repository, "-", "", wheel(tmp_path / "c.whl", folder, libraries=("libssl-1.so.3",)))
    assert more.returncode == 1 and "libssl-1.so.3: auditwheel copied it" in more.stderr
