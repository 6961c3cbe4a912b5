"""A program is run to its end; signals that come meanwhile are its launcher's to answer, each once.

A terminal's Ctrl-C goes to all processes of a group, and what batch systems send to all of a job: there the launcher
has the signal already, and takes another one for a demand to leave at once, its ranks alive. A notebook's or a
supervisor's comes to this process alone, and is handed on. A signal does not say which of both it is. So a process that
does nothing, a witness, stands beside the launcher: what came to it went to all.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from kumihimo.processes import children, launch_lines
from kumihimo.processes.visible import below, command_of, is_running, state_of

NOTICES = (signal.SIGUSR1, signal.SIGUSR2)  # after which a program goes on
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, *NOTICES)
PATIENCE = 2.0  # seconds for a launcher that a script has left, and that may have the signal
LAST_SECONDS = 10.0  # for launchers to end their ranks
LATE_SECONDS = 15.0  # for a launcher whose ranks have given up: it may wait for one behind a cut link for ever
GRACE = 0.2  # seconds in which a sender that goes from process to process comes to all of them


class LateStatus(int):
    """Exit code of a launcher that was ended after LATE_SECONDS, not of one that ended so itself."""


LATE = LateStatus(124)  # as `timeout` has


def run(
    command: Sequence[str],
    whole: bool = False,
    given_up: Callable[[Sequence[int]], bool] | None = None,
    late_seconds: float = LATE_SECONDS,
    **options: object,
) -> tuple[int, tuple[str, ...]]:
    """The exit status, 128 and its number where a signal ended the launcher; and the names of the signals that came,
    notices aside. `whole`: a signal ends all launchers below the command. Else a script may end before its launcher
    does, and srun only shows its state at the first SIGINT. `given_up`: whether ranks, or one of these signals, have
    ended the job; `late_seconds` later the launcher is ended."""
    relay = Relay(whole)
    before = {number: signal.getsignal(number) for number in NUMBERS}
    heeded = [number for number in NUMBERS if before[number] != signal.SIG_IGN]  # as SIGHUP is not under nohup
    try:
        for number in heeded:
            signal.signal(number, relay.take)
        process = relay.start(command, **options)
        # Background jobs of a script ignore it, and hand that down to the launcher, which is asked all the same.
        signal.signal(signal.SIGINT, relay.take)
        code = process.wait() if given_up is None else relay.wait(process, given_up, late_seconds)
        relay.end_launchers()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        relay.witness.leave()
    return code if code >= 0 else 128 - code, tuple(
        dict.fromkeys(signal.Signals(n).name for n in relay.came if n not in NOTICES)
    )


class Relay:
    """Takes signals, and hands on those that the launcher has not got by itself."""

    def __init__(self, whole: bool = False) -> None:
        self.came: list[int] = []
        self._whole = whole
        self._launchers: set[int] = set()  # below the process, when a signal came
        self.witness = Witness()
        self.process: subprocess.Popen | None = None
        self._at_hand = 0
        self._early: list[int] = []
        self._sent_to_all: set[int] = set()  # since none was at hand

    def start(self, command: Sequence[str], **options: object) -> subprocess.Popen:
        self.witness.come()
        # What a launcher around us has opened for each rank (Hydra's PMI_FD) is the program's, too.
        process = self.process = children.start(command, close_fds=False, **options)
        while self._early:  # before there was a process
            process.send_signal(self._early.pop(0))
        return process

    def take(self, number: int, frame: object) -> None:
        """A handler. Another signal may come within."""
        self.came.append(number)
        if self.process is None:
            self._early.append(number)
            return
        if self._whole and number not in NOTICES:
            self._launchers |= launchers_below(self.process.pid)
        self._at_hand += 1
        time.sleep(GRACE)
        self._sent_to_all |= self.witness.pending()
        if number not in self._sent_to_all or not is_of_our_group(self.process.pid):
            self.process.send_signal(number)
        terminate(pid for pid in tuple(self._launchers) if command_of(pid) == launch_lines.SRUN)
        while self._at_hand == 1 and self._sent_to_all:
            self._stop_witness_process()
        self._at_hand -= 1

    def wait(self, process: subprocess.Popen, given_up: Callable[[Sequence[int]], bool], late_seconds: float) -> int:
        """The exit status, or LATE."""
        late: float | None = None
        while late is None or time.monotonic() < late + late_seconds:
            if has_ended(process, within_seconds=1):
                return process.wait()
            late = (late or time.monotonic()) if given_up(self.came) else None  # the program may go on nevertheless
        there = below(process.pid) | {process.pid}
        terminate(there)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=LAST_SECONDS)
        for pid in filter(is_running, there):  # what leads to other nodes, too
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
        return LATE

    def end_launchers(self) -> None:
        """End the launchers that a script has left behind."""
        self._wait_for_launchers(PATIENCE)
        terminate(tuple(self._launchers))
        self._wait_for_launchers(LAST_SECONDS)

    def _wait_for_launchers(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while any(map(is_running, tuple(self._launchers))) and time.monotonic() < deadline:
            time.sleep(0.02)

    def _stop_witness_process(self) -> None:
        """Replace it by one that has seen nothing. What comes meanwhile counts as sent to all."""
        seen, self.witness = self.witness, Witness()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
        try:
            self.witness.come()
            self._sent_to_all = (signal.sigpending() & set(NUMBERS)) - self.witness.pending()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        seen.leave()  # nobody else has it: other signals may come within


class Witness:
    """A process of our group with the signals blocked, so that those that came to it can be read: `cat`, which waits
    for the end of a pipe, and so ends with us however we end."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None

    def come(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)  # what we start inherits it
        try:
            with contextlib.suppress(OSError):  # no more processes: then signals are handed on
                self._process = subprocess.Popen(
                    ["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def pending(self) -> set[int]:
        if self._process is None:
            return set()
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8", errors="replace")
            masks = [int(mask, 16) for mask in re.findall(r"^(?:Sig|Shd)Pnd:\s*([0-9a-f]+)$", status, re.MULTILINE)]
            return {number for number in NUMBERS if any(mask >> (number - 1) & 1 for mask in masks)}
        return set()

    def leave(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def has_ended(process: subprocess.Popen, within_seconds: float) -> bool:
    with contextlib.suppress(OSError, AttributeError):  # a system without it
        handle = os.pidfd_open(process.pid)
        try:
            ended = select.poll()
            ended.register(handle, select.POLLIN)
            return bool(ended.poll(within_seconds * 1e3))
        finally:
            os.close(handle)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(within_seconds)
    return process.returncode is not None


def launchers_below(pid: int) -> set[int]:
    """Without those that a launcher started, as srun starts a second srun."""
    found = {each for each in below(pid) if launch_lines.is_launcher(command_of(each))}
    return {each for each in found if state_of(each)[1] not in found}


def terminate(launchers: Iterable[int]) -> None:
    for pid in launchers:
        with contextlib.suppress(OSError):
            if launch_lines.is_launcher(command_of(pid)):  # the number may be another process's by now
                os.kill(pid, signal.SIGTERM)


def is_of_our_group(process: int) -> bool:
    """One that is not (`timeout mpirun` makes a group of its own) gets nothing that is sent to ours."""
    try:
        return os.getpgid(process) == os.getpgrp()
    except OSError:  # it has ended
        return True
