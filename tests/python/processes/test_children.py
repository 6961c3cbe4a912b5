"""Starting a child: no signal is lost meanwhile, and the child does not inherit what waits."""

from __future__ import annotations

import signal
import subprocess

import pytest

from kumihimo.processes import children


def test_a_signal_during_the_start_comes_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops an exception that is raised in its functions after a fork, and with it Ctrl-C."""
    started: list[subprocess.Popen] = []

    def interrupted(*command: object, **options: object) -> subprocess.Popen:
        signal.raise_signal(signal.SIGINT)  # for this thread
        started.append(start(*command, **options))
        return started[0]

    start = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        children.start(["sleep", "60"], stdout=subprocess.PIPE)
    assert started[0].returncode == -signal.SIGTERM, "it had started before the exception"
    assert started[0].stdout is not None and started[0].stdout.closed


def test_a_child_that_a_signal_leaves_to_nobody_is_ended() -> None:
    process = subprocess.Popen(["sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done"], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"up\n"
    children.end(process)
    assert process.returncode == -signal.SIGKILL


def test_a_child_takes_signals() -> None:
    process = children.start(["grep", "SigBlk", "/proc/self/status"], stdout=subprocess.PIPE)
    assert int(process.communicate()[0].split()[1], 16) == 0
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
