"""A wheel of the package starts in an environment of its own, with the oldest and with the newest versions of all that
it declares."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kumihimo.predict.campaign.description import toml

pytestmark = pytest.mark.long

CASES = {"oldest": lambda name: True, "newest": lambda name: False, "oldest typer": lambda name: name == "typer"}
COMMANDS = (
    "--version",
    "--help",
    "simulate --help",
    "tune kernel --help",
    "show allreduce --algorithm ring --shape 4",
    "simulate allreduce --machine fugaku --shape 3x2x2 --bytes 8 --algorithm ring",
    "verify allreduce --algorithm ring --shape 4",
    "app",
    "completion bash",
)
REFUSED = {
    "simulate allreduce --ranks many": "--ranks must be an integer (got 'many')",
    "simulate allreduce --algo ring": "kumihimo simulate has no option --algo; did you mean --algorithm?",
    "show --shape": "the value of --shape is missing",
    "frobnicate": "there is no command frobnicate",
}


def run(command: Sequence[object], **options: object) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, timeout=1200, **options)


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    made = run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, repository]
    )
    assert made.returncode == 0, made.stderr
    (found,) = folder.glob("*.whl")
    return found


def oldest(requirement: Requirement) -> str:
    (least,) = [each.version for each in requirement.specifier if each.operator == ">="]
    return f"{requirement.name}=={least}"


@pytest.mark.parametrize("case", CASES)
def test_a_wheel_starts_in_a_new_environment(repository: Path, wheel: Path, tmp_path: Path, case: str) -> None:
    file = repository / "pyproject.toml"
    wanted = [Requirement(each) for each in toml(file.read_text(encoding="utf-8"), file)["project"]["dependencies"]]
    pins = [oldest(each) for each in wanted if CASES[case](each.name) and (not each.marker or each.marker.evaluate())]
    venv.create(tmp_path / "venv", with_pip=True)
    python, command = tmp_path / "venv/bin/python", tmp_path / "venv/bin/kumihimo"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    index = run([*pip, "download", "-q", "--retries", "1", "--no-deps", "-d", tmp_path / "index", "click"])
    if index.returncode != 0:
        pytest.skip("no package index answers")
    installed = run([*pip, "install", "-q", wheel, *pins])
    assert installed.returncode == 0, installed.stderr
    versions = {
        each["name"].lower(): each["version"] for each in json.loads(run([*pip, "list", "--format=json"]).stdout)
    }
    assert all(each.name.lower() in versions for each in wanted if not each.marker), versions
    assert run([*pip, "check"]).returncode == 0
    for words in COMMANDS:
        done = run([command, *words.split()], cwd=tmp_path)
        assert done.returncode == 0 and done.stdout and not done.stderr, (words, versions, done)
    for words, sentence in REFUSED.items():
        done = run([command, *words.split()], cwd=tmp_path)
        assert done.returncode == 2 and sentence in done.stderr, (words, versions, done)
        assert len(done.stderr.splitlines()) == 1
