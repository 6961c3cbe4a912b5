"""What the package imports is what it declares, and the versions that are pinned and installed are declared ones."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kumihimo.predict.campaign.description import toml

OF_MODULE = {"yaml": "pyyaml"}  # distributions whose module has another name
OF_OLD_PYTHON = {"tomllib": "tomli"}


@pytest.fixture(scope="module")
def project(repository: Path) -> dict:
    file = repository / "pyproject.toml"
    return toml(file.read_text(encoding="utf-8"), file)["project"]


def named(requirements: list[str]) -> dict[str, Requirement]:
    return {each.name.lower(): each for each in map(Requirement, requirements)}


def modules_of(text: str) -> set[str]:
    """Imported from elsewhere, also within a function."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def test_modules_are_found_wherever_they_are_imported() -> None:
    text = "import a.b, c\nfrom d.e import f\nfrom . import g\ndef h():\n try:\n  import i as j\n except k: ..."
    assert modules_of(text) == {"a", "c", "d", "i"}


def test_imports_are_declared_and_what_is_declared_is_imported(repository: Path, project: dict) -> None:
    files = list((repository / "python" / "kumihimo").rglob("*.py"))
    imported = set().union(*(modules_of(path.read_text(encoding="utf-8")) for path in files)) - {"kumihimo"}
    assert "typer" in imported and len(files) > 100
    imported -= set(sys.stdlib_module_names) if sys.version_info >= (3, 10) else set()
    imported = {OF_MODULE.get(name, name) for name in imported} - set(OF_OLD_PYTHON)
    optional = [each for group in project["optional-dependencies"].values() for each in group]
    declared = set(named([*project["dependencies"], *optional]))
    if sys.version_info >= (3, 10):  # 3.9 does not list its own modules
        assert imported == declared
    assert declared <= imported


@pytest.mark.parametrize("file", ["run.txt", "search.txt"])
def test_pinned_versions_are_declared_ones(repository: Path, project: dict, file: str) -> None:
    optional = [each for group in project["optional-dependencies"].values() for each in group]
    declared = named([*project["dependencies"], *optional])
    lines = (repository / "requirements" / file).read_text(encoding="utf-8").splitlines()
    compared = set()
    for line in lines:
        if (found := re.match(r"([\w.-]+)==([\w.]+)", line)) and (wanted := declared.get(found[1].lower())):
            assert wanted.specifier.contains(found[2]), f"{line}: pyproject.toml wants {wanted}"
            compared.add(wanted.name.lower())
    assert compared >= ({"optuna"} if file == "search.txt" else set(named(project["dependencies"])))


def test_installed_versions_are_declared_ones(project: dict) -> None:
    checked = [each for each in named(project["dependencies"]).values() if not each.marker or each.marker.evaluate()]
    assert len(checked) >= 6
    for each in checked:
        assert each.specifier.contains(importlib.metadata.version(each.name)), str(each)
