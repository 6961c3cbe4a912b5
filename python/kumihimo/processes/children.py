"""Child processes that must not outlive the command, whatever ends it.

A handler ends them after Ctrl-C or SIGTERM. SIGKILL, as of the system when memory ran out, calls no handler, so Linux
sends them SIGTERM itself: at it launchers end their ranks, on other nodes too.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import Any

PR_SET_PDEATHSIG = 1
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Looked up before a fork. PyDLL keeps the interpreter's lock during the call, so that in the child no other thread is
# waited for.
_prctl = getattr(ctypes.PyDLL(None), "prctl", None)  # Linux alone has it


def start(command: Sequence[str], **options: Any) -> subprocess.Popen:
    """As subprocess.Popen. The child gets SIGTERM when the thread that called this ends. Signals wait until it has
    started: Python drops an exception that a handler raises within its functions around a fork."""
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if _prctl:
            _prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
            if os.getppid() not in (parent, 0):  # it has died before the call; 0: it is in another PID namespace
                os.kill(os.getpid(), signal.SIGTERM)

    try:
        process = subprocess.Popen(command, preexec_fn=prepare, **options)
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except BaseException:  # of a signal that has waited: nobody else knows the child
        end(process)
        raise
    return process


def end(process: subprocess.Popen) -> None:
    """Ends it within 3 seconds, and closes its pipes."""
    process.terminate()
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.kill()
    with process:
        pass
