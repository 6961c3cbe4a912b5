"""Testbeds in tests: whether this system makes them, a folder for those of one test, and the command."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

USER = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
UNSHARE = ["unshare", *USER, "--net", "--mount", "--pid", "--fork", "--mount-proc"]
COMMAND = str(Path(sys.executable).parent / "kumihimo")


def allowed() -> bool:
    """Whether this system makes namespaces, and has the tools."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        made = [*UNSHARE, "sh", "-c", "ip link add b0 type bridge && tc qdisc add dev b0 root handle 1: htb"]
        return subprocess.run(made, capture_output=True, timeout=60).returncode == 0
    return False


NEEDS_NAMESPACES = pytest.mark.skipif(
    not allowed(), reason="no namespaces are allowed here, or iproute2 is not installed"
)


def own_testbeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fixture: a folder of testbeds for each test, which are removed after it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "runtime").mkdir()
    yield
    kumihimo("testbed", "down", "--all")


def kumihimo(*words: str, timeout: float = 300) -> subprocess.CompletedProcess:
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=timeout)


def right(*words: str) -> str:
    done = kumihimo("testbed", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout
