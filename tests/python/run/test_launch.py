"""Jobs over a launcher of our own, in place of mpirun: what is read, what is said of failures, what is left running."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import until

from kumihimo.processes import allocation, interrupts
from kumihimo.processes.mpi import Installation
from kumihimo.run import launch
from kumihimo.testbed import testbeds
from kumihimo.text.errors import BadInput, Failed, NotApplicable


@pytest.fixture
def installation(tmp_path):
    """A launcher that runs its program once, ignoring `-n`."""
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/sh\nshift 2\n"$@"\n')
    launcher.chmod(0o755)
    return Installation("mpich", launcher, tmp_path / "lib" / "libmpi.so.12")


def worker(tmp_path, text: str):
    path = tmp_path / "worker"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return [path]


def test_objects_arrive_in_order_and_other_lines_do_not_disturb(installation, tmp_path):
    seen = []
    program = worker(tmp_path, """echo '{"a": 1}'; echo noise; echo '{broken'; echo '{"a": 2}'""")
    objects = launch.run(installation, 2, program, seconds=20, on_object=seen.append)
    assert objects == [{"a": 1}, {"a": 2}] == seen


def test_a_processor_has_a_most_of_ranks(installation, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "available_processors", lambda: 2)
    for name in (*allocation.VARIABLES, testbeds.INSIDE):
        monkeypatch.delenv(name, raising=False)
    program = worker(tmp_path, """echo '{"a": 1}'""")
    assert launch.run(installation, 128, program, seconds=20) == [{"a": 1}]
    with pytest.raises(BadInput) as caught:
        launch.run(installation, 129, program, seconds=20)
    said = "a launch here, on 2 processors, must have at most 128 ranks (got 129); give fewer --ranks"
    assert str(caught.value) == said
    monkeypatch.setenv("PBS_NODEFILE", "hosts")  # other nodes may be given
    assert launch.run(installation, 129, program, seconds=20) == [{"a": 1}]


def test_nodes_of_a_testbed_share_its_processors(installation, monkeypatch):
    monkeypatch.setattr(launch, "available_processors", lambda: 2)
    monkeypatch.setenv(allocation.HOSTS, "hosts")
    monkeypatch.setenv(testbeds.INSIDE, "folder")
    launch.check_ranks(installation, 128)
    with pytest.raises(BadInput, match=r"must have at most 128 ranks \(got 129\)"):
        launch.check_ranks(installation, 129)


@pytest.mark.parametrize(
    ("kind", "raised"), [("bad_input", BadInput), ("not_applicable", NotApplicable), ("failed", Failed)]
)
def test_an_error_object_is_raised_as_what_it_is(installation, tmp_path, kind, raised):
    said = f'{{"error": {{"kind": "{kind}", "problem": "the count must be 1", "advice": "give 1"}}}}'
    with pytest.raises(raised) as caught:
        launch.run(installation, 2, worker(tmp_path, f"echo '{said}'; exit 1"), seconds=20)
    assert str(caught.value) == "the count must be 1; give 1"


@pytest.mark.parametrize(
    ("before", "cause"),
    [("", "unable to open host file: /none"), ("ssh: unknown host n9", "ssh: unknown host n9")],
)
def test_of_the_messages_of_hydra_the_cause_is_shown(installation, tmp_path, before, cause):
    said = f"""{before}
[mpiexec@vm] HYDU_parse_hostfile (utils/args/args.c:319): unable to open host file: /none
[mpiexec@vm] main (ui/mpich/mpiexec.c:127): error parsing parameters"""
    with pytest.raises(Failed, match=f"exit code 255 .{cause}.$"):
        launch.run(installation, 2, worker(tmp_path, f"echo '{said}' >&2; exit 255"), seconds=20)


def test_a_rank_that_only_knows_of_another_s_failure_leaves_the_word_to_it(installation, tmp_path):
    elsewhere = '{"error": {"kind": "failed", "problem": "another rank failed", "advice": "", "elsewhere": true}}'
    told = "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)."
    with pytest.raises(Failed, match="rank 1 died of SIGKILL"):
        launch.run(installation, 2, worker(tmp_path, f"echo '{elsewhere}'; echo '{told}' >&2; exit 137"), seconds=20)
    itself = elsewhere.replace("another rank failed", "no memory").replace("true", "false")
    with pytest.raises(Failed, match="no memory"):
        launch.run(installation, 2, worker(tmp_path, f"echo '{elsewhere}'; echo '{itself}'; exit 1"), seconds=20)


def test_a_rank_that_dies_is_named_as_the_launcher_names_it(installation, tmp_path):
    told = "mpirun noticed that process rank 3 with PID 0 on node vm exited on signal 11 (Segmentation fault)."
    with pytest.raises(Failed, match="rank 3 died of SIGSEGV"):
        launch.run(installation, 4, worker(tmp_path, f"echo '{told}' >&2; exit 139"), seconds=20)
    told = "=   EXIT CODE: 9"
    with pytest.raises(Failed, match="a rank died of SIGKILL"):
        launch.run(installation, 4, worker(tmp_path, f"echo '{told}'; exit 9"), seconds=20)


@pytest.mark.parametrize(("before", "cause"), [("", ""), ("no room in /dev/shm", r" \(no room in /dev/shm\)")])
def test_what_a_rank_said_is_told_not_what_open_mpi_explains(installation, tmp_path, before, cause):
    said = f"""{before}
--------------------------------------------------------------------------
mpirun has exited due to process rank 1 with PID 0 on
node vm exiting improperly. There are three reasons this could occur:

1. this process did not call "init" before exiting, but others in

You can avoid this message by specifying -quiet on the mpirun command line.
--------------------------------------------------------------------------"""
    with pytest.raises(Failed, match=f"failed: rank 1 ended before MPI_Finalize{cause}$"):
        launch.run(installation, 2, worker(tmp_path, f"echo '{said}' >&2; exit 1"), seconds=20)


def test_a_process_ended_for_want_of_memory_is_told_as_that(installation, tmp_path, monkeypatch):
    assert launch.ended_for_memory() >= 0
    counts = iter((3, 4))
    monkeypatch.setattr(launch, "ended_for_memory", lambda: next(counts))
    with pytest.raises(Failed, match="4 processes of worker need more memory: the system killed"):
        launch.run(installation, 4, worker(tmp_path, "exit 137"), seconds=20)


def test_an_output_that_stays_open_does_not_hold_us(installation, tmp_path):
    """One without the job's mark holds the stream for longer than it takes to end the job."""
    started = time.monotonic()
    holder = "env -i setsid sleep 25 &"
    with pytest.raises(Failed, match="within 1 s"):
        launch.run(installation, 1, worker(tmp_path, f"{holder} sleep 30"), seconds=1)
    assert time.monotonic() - started < 15


def test_a_launcher_that_is_not_there(installation, tmp_path):
    absent = Installation("mpich", tmp_path / "no" / "mpiexec", installation.library)
    with pytest.raises(Failed, match="did not start"):
        launch.run(absent, 2, ["true"], seconds=20)
    with pytest.raises(BadInput, match="at least 1 process"):
        launch.run(installation, 0, ["true"], seconds=20)


def left_running(tmp_path) -> bool:
    """Whether the stubborn process still runs; a zombie that nobody has waited for does not."""
    stat = Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@contextlib.contextmanager
def interrupted_when(*states, number=signal.SIGINT) -> Iterator[None]:
    """Sends this process the signal as soon as the first state holds, then again for each further one, but none after
    the block: it would end another test, or pytest."""
    over = threading.Event()

    def send() -> None:
        for state in states:
            until(lambda state=state: over.is_set() or state(), "the state of the test")
            if not over.is_set():
                os.kill(os.getpid(), number)

    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        yield
    finally:
        over.set()
        sender.join()


# A process that has left the launcher's group and session, and ignores SIGTERM.
STUBBORN = """setsid sh -c 'trap "" TERM; echo $$ > {folder}/pid; while :; do sleep 0.1; done' & sleep 60"""


def test_after_the_time_limit_nothing_is_left_running(installation, tmp_path):
    started = time.monotonic()
    with pytest.raises(Failed, match="did not end within 1 s"):
        launch.run(installation, 2, worker(tmp_path, STUBBORN.format(folder=tmp_path)), seconds=1)
    assert time.monotonic() - started < 10
    assert not left_running(tmp_path)


def test_after_ctrl_c_nothing_is_left_running(installation, tmp_path):
    with interrupted_when((tmp_path / "pid").exists), pytest.raises(KeyboardInterrupt):
        launch.run(installation, 2, worker(tmp_path, STUBBORN.format(folder=tmp_path)), seconds=50)
    assert not left_running(tmp_path)


def test_our_own_sudden_end_ends_the_launcher(installation, tmp_path):
    """SIGKILL runs no handler of ours."""
    installation.launcher.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    (program,) = worker(tmp_path, f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60")
    text = f"""from pathlib import Path
from kumihimo.processes import mpi
from kumihimo.run import launch
installation = mpi.Installation("mpich", Path("{installation.launcher}"), Path("{installation.library}"))
launch.run(installation, 1, ["{program}"], seconds=60)"""
    process = subprocess.Popen([sys.executable, "-c", text])
    until((tmp_path / "pid").exists, "the launcher starts", process)
    process.kill()
    process.wait()
    until(lambda: not left_running(tmp_path), "the launcher ends")


def test_a_second_ctrl_c_does_not_stop_the_clean_up(installation, tmp_path):
    installation.launcher.write_text('#!/bin/sh\ntrap "" TERM\nshift 2\n"$@"\n')  # so that it takes 3 seconds
    cleans_up = lambda: signal.getsignal(signal.SIGINT) is not signal.default_int_handler  # noqa: E731
    program = worker(tmp_path, f"sleep 0.5; {STUBBORN.format(folder=tmp_path)}")  # the launcher has started by then
    with interrupted_when((tmp_path / "pid").exists, cleans_up), pytest.raises(KeyboardInterrupt):
        launch.run(installation, 2, program, seconds=50)
    assert not left_running(tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_while_a_job_is_ended_counts_afterwards_and_once():
    ended = []
    with pytest.raises(KeyboardInterrupt), interrupts.ignoring_signals():
        os.kill(os.getpid(), signal.SIGINT)
        ended.append("whole")
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with interrupts.ignoring_signals():
            os.kill(os.getpid(), signal.SIGINT)
            ended.append("again")
    assert ended == ["whole", "again"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_ends_it_unless_it_is_ignored(installation, tmp_path, number):
    """As nohup has it ignored."""
    program = worker(tmp_path, f"""touch {tmp_path}/started; sleep 1; echo '{{"a": 1}}'""")
    for handler in (signal.SIG_IGN, signal.SIG_DFL):
        before = signal.signal(number, handler)
        try:
            (tmp_path / "started").unlink(missing_ok=True)
            is_ready = lambda: signal.getsignal(number) != signal.SIG_DFL and (tmp_path / "started").exists()  # noqa: E731
            with interrupted_when(is_ready, number=number):
                if handler == signal.SIG_IGN:
                    assert launch.run(installation, 1, program, seconds=20) == [{"a": 1}]
                else:
                    with pytest.raises(SystemExit) as caught:
                        launch.run(installation, 1, program, seconds=20)
                    assert caught.value.code == 128 + number
            assert signal.getsignal(number) == handler
        finally:
            signal.signal(number, before)


def test_a_launcher_that_outlasts_what_it_ran_is_named(installation, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "LAST_SECONDS", 0.5)
    installation.launcher.write_text('#!/bin/sh\nshift 2\n"$@"\nexec sleep 60 >/dev/null 2>&1\n')
    with pytest.raises(Failed) as caught:
        launch.run(installation, 1, worker(tmp_path, """echo '{"a": 1}'"""), seconds=20)
    said = "mpiexec did not exit within 0.5 s after all processes of worker had closed their output"
    assert str(caught.value) == said


def forgetful(tmp_path, monkeypatch, stays: str) -> Installation:
    """A launcher that starts as many as `-n` says and never asks after most of them."""
    monkeypatch.setattr(launch, "PATIENCE", 0.2)
    launcher = tmp_path / "bin" / "mpiexec"
    launcher.parent.mkdir()
    launcher.write_text(f"""#!/usr/bin/env python3
import os, subprocess, sys, time
ranks = [subprocess.Popen(sys.argv[3:], env={{**os.environ, "RANK": str(r)}}) for r in range(int(sys.argv[2]))]
{stays}
""")
    launcher.chmod(0o755)
    return Installation("mpich", launcher, tmp_path / "lib" / "libmpi.so.12")


@pytest.mark.parametrize("lifetime", [0, 0.5])
def test_a_launcher_that_waits_for_the_dead_is_noticed(tmp_path, monkeypatch, lifetime):
    started = time.monotonic()
    with pytest.raises(Failed, match="failed: a process died, and the launcher kept waiting"):
        program = worker(tmp_path, f"sleep {lifetime}; kill -9 $$")
        launch.run(forgetful(tmp_path, monkeypatch, "time.sleep(20)"), 2, program, seconds=60)
    assert time.monotonic() - started < 10


def test_ranks_may_end_one_after_another(tmp_path, monkeypatch):
    program = worker(tmp_path, """sleep $((RANK + RANK)); echo "{\\"rank\\": $RANK}\"""")
    launcher = forgetful(tmp_path, monkeypatch, "ranks[-1].wait()")
    assert launch.run(launcher, 2, program, seconds=60) == [{"rank": 0}, {"rank": 1}]
