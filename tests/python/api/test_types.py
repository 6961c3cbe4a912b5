"""Types for checkers: the stubs are as nanobind makes them, and the package says that it has types."""

from __future__ import annotations

import importlib.util
import subprocess

import pytest


def test_the_package_says_that_it_has_types(repository):
    assert (repository / "python" / "kumihimo" / "py.typed").is_file()


def test_the_stubs_are_up_to_date(repository, tmp_path):
    if importlib.util.find_spec("nanobind") is None:
        pytest.skip("no nanobind here: it comes with requirements/build.txt")
    subprocess.run([repository / "scripts" / "stubs", tmp_path], check=True, capture_output=True, timeout=300)
    made = {path.name: path.read_text() for path in tmp_path.glob("*.pyi")}
    committed = {path.name: path.read_text() for path in (repository / "python" / "kumihimo").glob("_*.pyi")}
    assert made.keys() == {f"_{path.stem}.pyi" for path in (repository / "bindings").glob("*.cpp")}
    assert [name for name in made if made[name] != committed.get(name)] == [], "run scripts/stubs"
