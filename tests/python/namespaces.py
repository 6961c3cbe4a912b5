"""Testbeds in tests: whether this system makes them, a folder for those of one test, the command, and data that one
node sends to another."""

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

SEND = """
import socket, sys, time
there = socket.create_connection((sys.argv[1], 5000), timeout=5)
began = time.monotonic()
there.sendall(bytes(200_000))
there.shutdown(socket.SHUT_WR)
there.recv(1)
print(time.monotonic() - began)
"""
RECEIVE = """
import socket
here = socket.create_server(("", 5000))
print("ready", flush=True)
while True:
    peer = here.accept()[0]
    while peer.recv(1 << 16):
        pass
    peer.close()
"""


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


def sentence(*words: str) -> str:
    """That of a refusal."""
    done = kumihimo("testbed", *words)
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@contextlib.contextmanager
def receiver(node: str):
    with subprocess.Popen(
        [COMMAND, "testbed", "run", "--node", node, "--", sys.executable, "-c", RECEIVE],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        yield
        process.terminate()


def sent(source: str, to: str) -> bool:
    command = ("run", "--node", source, "--", sys.executable, "-c", SEND, to)
    return kumihimo("testbed", *command).returncode == 0
