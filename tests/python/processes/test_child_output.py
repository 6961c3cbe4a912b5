"""Every byte of a child arrives, however late its reader comes, and nobody who keeps its pipes open holds us."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import kumihimo
from kumihimo.processes import child_output
from kumihimo.run import launch

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
READER = """import subprocess, sys, time
from kumihimo.run import launch
launch.PATIENCE = 0.2
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
output = launch.Output(process)
found = output.read(time.monotonic() + 3, None)
print(len(found), output.other[-1], output.errors[-1])
"""


def of_shell(text: str) -> subprocess.Popen:
    return subprocess.Popen(["sh", "-c", text], **PIPES)


def wait_for(file: Path, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while not file.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


def test_what_a_process_wrote_while_its_reader_was_stopped_is_read(tmp_path: Path) -> None:
    """For longer than its patience and than the time limit: a machine that is loaded does that."""
    program = f"""echo started > {tmp_path}/started
while [ ! -e {tmp_path}/go ]; do sleep 0.02; done
for i in $(seq 1000); do echo '{{"a": 1}}'; done
printf 'the matrix is singular'; printf 'row 7' >&2
echo ended > {tmp_path}/ended"""
    command = [sys.executable, "-c", READER, "sh", "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        wait_for(tmp_path / "started", reader)
        reader.send_signal(signal.SIGSTOP)
        (tmp_path / "go").touch()
        wait_for(tmp_path / "ended", reader)
        time.sleep(3.5)
        reader.send_signal(signal.SIGCONT)
        assert reader.communicate(timeout=30)[0] == "1000 the matrix is singular row 7\n"


def test_many_bytes_of_both_streams_arrive_though_the_reader_is_slow() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "import os; os.write(2, b'e' * 9_000_000 + b'\\nlast'); print('o' * 99 + '\\n' * 9)"],
        **PIPES,
    )
    found: dict = {process.stdout: [], process.stderr: []}
    for stream, line in child_output.lines(process, time.monotonic() + 60):
        if stream is not None:
            found[stream].append(line)
            time.sleep(0.01)
    child_output.close(process)
    assert [len(line) for line in found[process.stderr]] == [9_000_000, 4]
    assert found[process.stdout] == ["o" * 99, *[""] * 9]
    assert process.wait() == 0


def test_lines_are_cut_wherever_chunks_end() -> None:
    lines = child_output.StreamLines()
    chunks = [b"a", b"", b"b\nc\r\n\xc3", b"\xa4d", b"\n\nend"]
    assert [line for chunk in chunks for line in lines.take(chunk)] == ["ab", "c", "äd", ""]
    assert lines.last() == ["end"] and lines.last() == []


@pytest.mark.parametrize("holder", ["sleep 60", "while :; do echo noise; done"])
def test_who_keeps_the_pipes_open_does_not_hold_us(monkeypatch: pytest.MonkeyPatch, holder: str) -> None:
    monkeypatch.setattr(child_output, "LAST_SECONDS", 1.0)
    process = of_shell(f"({holder}) & echo $! >&2; printf '%70000d' 7; printf last")
    started, pid = time.monotonic(), 0
    try:
        found = {process.stdout: "", process.stderr: ""}
        for stream, chunk in child_output.chunks(process, started + 60, silence=0.3):
            if stream is not None:
                found[stream] += chunk.decode()
        pid = int(found[process.stderr])
        assert "7last" in re.sub("noise\n", "", found[process.stdout])
        assert time.monotonic() - started < 20
    finally:
        child_output.close(process)
        os.kill(pid or process.pid, signal.SIGKILL)
        process.wait()


def test_a_reader_later_than_the_last_seconds_gets_what_the_process_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_output, "LAST_SECONDS", 0.0)
    monkeypatch.setattr(child_output, "MOST_BYTES", 100)
    process = of_shell("printf '%9999d' 7")
    process.wait()
    assert b"".join(chunk for _, chunk in child_output.chunks(process, 0.0)).strip() == b"7"
    child_output.close(process)


def test_a_process_that_runs_on_is_ended_at_the_time_limit() -> None:
    started = time.monotonic()
    with pytest.raises(child_output.TimedOut):
        child_output.run(["sleep", "60"], seconds=0.5)
    with pytest.raises(child_output.TimedOut):  # also one that writes without an end, or has closed its output
        child_output.run(["yes"], seconds=0.5)
    with pytest.raises(child_output.TimedOut):
        child_output.run(["sh", "-c", "exec >&- 2>&-; sleep 60"], seconds=0.5)
    assert time.monotonic() - started < 20


def test_a_command_gets_its_stdin_and_may_leave_a_process_behind() -> None:
    given = b"line\n" * 1_000_000
    assert child_output.run(["cat"], given=given).stdout == given.decode()
    assert child_output.run(["cat"]).stdout == ""
    done = child_output.run(["sh", "-c", "sleep 30 & echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_the_output_of_children_is_read_in_one_place() -> None:
    """A second reader would lose lines, or wait for ever, in its own way."""
    folder = Path(kumihimo.__file__).parent
    files = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    assert launch.Output.__module__ == "kumihimo.run.launch" and "processes/child_output.py" in files
    ways = r"subprocess\.(run|check_output|getoutput|getstatusoutput|call|check_call)\(|\.std(out|err)\.read|os\.popen"
    found = {name for name, text in files.items() if re.search(ways, text)}
    communicating = {name for name, text in files.items() if ".communicate(" in text}
    # The keeper of a testbed imports nothing of the package, and answers by a line while it runs.
    testbed = {"testbed/keeper.py", "testbed/testbeds.py"}
    assert (found, communicating) == (testbed, {"processes/signals.py"}), "use child_output"  # a witness has no output
