"""What all Python tests share: the command as a user runs it."""

from __future__ import annotations

import importlib.util
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from waiting import PATIENCE

from kumihimo.processes import mpi

# How long a case takes to be made says how busy the machine is.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("here")

# Tests in the background (`nohup make test &`) are begun with these ignored, and what they start would ignore them too.
for number, action in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, action)


@pytest.fixture(scope="session")
def browser():
    """demo/report/browser.py: opens pages in a real browser."""
    spec = importlib.util.spec_from_file_location("browser", Path(__file__).parent / "demo" / "report" / "browser.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where dataclasses look for their module
    spec.loader.exec_module(module)
    return module


@dataclass
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _nobodys_wisdom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `kumihimo tune` found for the user of this machine is not seen, and not changed."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def installation(family: str) -> mpi.Installation:
    """For tests with a parameter `family`."""
    for installation in mpi.discover():
        if installation.family == family:
            return installation
    pytest.skip(f"no {family} on this machine")


@pytest.fixture
def kumihimo(tmp_path: Path):
    """Run the installed command in an empty folder, with a deadline: kumihimo("verify", "--help") -> Ended."""
    command = Path(sys.executable).parent / "kumihimo"

    def run(*arguments: str, timeout_seconds: float = 120, **options) -> Ended:
        options.setdefault("cwd", tmp_path)
        patient = PATIENCE * timeout_seconds
        done = subprocess.run(
            [command, *arguments], capture_output=True, text=True, timeout=patient, check=False, **options
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
