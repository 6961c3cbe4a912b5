"""The documentation site builds, with every link and heading in its place."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mkdocs", reason="mkdocs needs Python 3.11 here")


def built(folder, site):
    """`mkdocs build --strict` of a copy of the documentation."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def copy(repository, tmp_path):
    shutil.copytree(repository / "docs", tmp_path / "source" / "docs")
    shutil.copy(repository / "mkdocs.yml", tmp_path / "source")
    return tmp_path / "source"


def test_the_site_builds_and_is_searchable(copy, tmp_path):
    ended = built(copy, tmp_path / "site")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "site" / "guides" / "get-started.html").exists()
    assert (tmp_path / "site" / "search" / "search_index.json").stat().st_size > 100_000


def test_dead_links_fail_the_build(copy, tmp_path):
    """To a page that is not there, and to a heading."""
    page = copy / "docs" / "guides" / "get-started.md"
    page.write_text(f"{page.read_text()}\n[gone](gone.md)\n[gone](../wisdom.md#no-such-heading)\n")
    ended = built(copy, tmp_path / "site")
    assert ended.returncode != 0
    assert "gone.md" in ended.stderr and "no-such-heading" in ended.stderr


def test_every_decision_is_listed(repository):
    folder = repository / "docs" / "adr"
    listed = (folder / "index.md").read_text()
    assert [path.name for path in sorted(folder.glob("0*.md")) if f"({path.name})" not in listed] == []
