"""What make demo builds: no kernels and applications, and the package says what is missing then."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from kumihimo.app import published_figures
from kumihimo.cli import campaign_show


@pytest.fixture(scope="module")
def release_tree(repository):
    tree = repository / "build" / "release"
    if not (tree / "build.ninja").is_file() or shutil.which("ninja") is None:
        pytest.skip("the release build is not made by ninja here")
    return tree


def inputs(tree, target: str) -> list[str]:
    """All files that the build of `target` reads or makes."""
    command = ["ninja", "-C", str(tree), "-t", "inputs", target]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def test_the_demo_waits_for_no_application(release_tree):
    core, package = inputs(release_tree, "kumihimo_core"), inputs(release_tree, "kumihimo_package")
    assert any("src/predict/" in name for name in core)
    assert [name for name in core if "src/numerics/lu/" in name or "apps/" in name] == []
    assert any("src/numerics/lu/" in name for name in package)
    assert set(core) <= set(package)


def test_campaigns_are_shown_without_kernels(monkeypatch, capsys):
    """Published figures are computed with modules that the demo does not build."""
    monkeypatch.delattr(published_figures, "registry", raising=False)
    monkeypatch.setitem(sys.modules, "kumihimo.app.published_figures.registry", None)
    campaign_show.show_published("any")
    assert campaign_show.published_figures("any") == [] and capsys.readouterr().out == ""
