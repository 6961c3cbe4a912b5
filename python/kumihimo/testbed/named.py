"""Testbeds by name: made, found again by other commands, entered, removed.

A testbed is a process, its keeper, and a file that tells of it. Who kills the keeper removes the testbed; the file of a
testbed whose keeper is gone is removed by whoever meets it. Without root the keeper has a user namespace of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kumihimo import _machine
from kumihimo.processes import visible
from kumihimo.testbed import keeper, launchers, wiring
from kumihimo.text import files
from kumihimo.text.errors import failed, missing, not_applicable, wrong_value

USUAL_NAME = "testbed"
INSIDE = "KUMIHIMO_TESTBED"  # the name of the testbed in which a process runs
FOLDER = "KUMIHIMO_TESTBED_FOLDER"  # its files
SHAPE = "KUMIHIMO_TESTBED_SHAPE"  # and the shape of its nodes, where they have one
TOOLS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}  # and their packages
BYTES_OF_A_VERTEX = 4 << 20  # measured: 2 to 3 MiB of processes and kernel, without traffic
LARGEST_FILE = 64 << 20
LAST_SECONDS = 10.0  # for the keeper to be gone


@dataclass(frozen=True)
class Testbed:
    """`keeper`: the process of `unshare`, as this user sees it, and when that started. `processes`: one in the
    namespaces of each node, then of each switch, as the testbed sees them. `rate`: bits a second of each link.
    `machine`: the text of its machine file."""

    name: str
    keeper: int
    started: int
    processes: tuple[int, ...]
    slots: int
    rate: int
    latency: float
    machine: str
    shape: str
    folder: str

    @property
    def described(self) -> _machine.Machine:
        return _machine.parse(self.machine, f"the machine file of testbed {self.name}")

    @property
    def is_here(self) -> bool:
        """Whether this process runs in it."""
        return os.environ.get(INSIDE) == self.name

    @property
    def runs(self) -> bool:
        return self.is_here or started_at(self.keeper) == self.started

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command, run in the testbed's user, mount and PID namespaces."""
        if self.is_here:
            return list(command)
        proc = f"/proc/{self.keeper}/ns"
        user = [f"--user={proc}/user", "--preserve-credentials"] if os.geteuid() else []
        namespaces = [f"--mount={proc}/mnt", f"--pid={proc}/pid_for_children"]
        return ["nsenter", *user, *namespaces, "--", *command]

    def at(self, vertex: int, command: Sequence[str]) -> list[str]:
        """The command, run in a node or switch."""
        return self.inside(["nsenter", f"--target={self.processes[vertex]}", *launchers.OF_A_NODE, "--", *command])


def started_at(pid: int) -> int:
    """When a process started, in ticks since the machine did; 0: there is none."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = stat.rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return 0


def home() -> Path:
    """The folder of this user's testbeds."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "kumihimo" / "testbeds"
    return Path(f"/tmp/kumihimo-{os.getuid()}") / "testbeds"


def folder_of(name: str) -> Path:
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}", name) is None:
        rule = "the name of a testbed has at most 41 letters, digits, -, _ and ., and begins with a letter or digit"
        raise wrong_value(rule, f"'{name}'")
    place = os.environ.get(FOLDER) if os.environ.get(INSIDE) == name else None
    return Path(place) if place else home() / name


def read(name: str) -> Testbed | None:
    """None if there is none, or none any more."""
    file = folder_of(name) / "testbed.json"
    if not file.is_file():
        return None
    try:
        found = json.loads(files.read_text(file, "the testbed", LARGEST_FILE))
        testbed = Testbed(**{**found, "processes": tuple(found["processes"])})
    except (ValueError, TypeError, KeyError):
        return None
    return testbed if testbed.runs else None


def find(name: str | None) -> Testbed:
    """That of this name, or the one in which this process runs, or the only one."""
    there = all_of_them()
    name = name or os.environ.get(INSIDE) or (there[0].name if len(there) == 1 else USUAL_NAME)
    if found := read(name):
        return found
    others = ", ".join(testbed.name for testbed in there)
    raise missing(f"testbed {name}", f"there is {others}" if others else "make one: kumihimo testbed up 3x3x3")


def all_of_them() -> list[Testbed]:
    """Those that run. What others have left is removed."""
    found = []
    if home().is_dir():
        for folder in sorted(home().iterdir()):
            if testbed := read(folder.name):
                found.append(testbed)
            elif (folder / "testbed.json").exists():
                shutil.rmtree(folder, ignore_errors=True)
    return found


def up(name: str, machine: _machine.Machine, text: str, slots: int, rate: int, latency: float) -> Testbed:
    """Make it. `text`: its machine file."""
    if read(name):
        raise wrong_value(f"testbed {name} is there already", None, f"kumihimo testbed down {name}, or another --name")
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise missing(f"the program {tool}", f"install the package {package}")
    wires = wiring.of_machine(machine)
    needed, there = wires.vertices * BYTES_OF_A_VERTEX, memory_available()
    if there is not None and needed > there:
        rule = f"{wires.vertices} nodes and switches need {needed >> 20} MiB of free memory"
        raise not_applicable(rule, f"{there >> 20} MiB", "give a smaller shape")
    folder = folder_of(name)
    shutil.rmtree(folder, ignore_errors=True)
    files.check_folder(home(), "the folder of testbeds must be one that can be written", "set XDG_RUNTIME_DIR")
    folder.mkdir(parents=True, mode=0o700)
    try:
        return made(folder, name, machine, wires, text, slots, rate, latency)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def made(
    folder: Path,
    name: str,
    machine: _machine.Machine,
    wires: wiring.Wiring,
    text: str,
    slots: int,
    rate: int,
    latency: float,
) -> Testbed:
    rates = rates_of(machine, wires, rate)
    hosts = "".join(f"{wiring.address(v)} {wires.name(v)}\n" for v in range(wires.vertices))
    (folder / "hosts").write_text("127.0.0.1 localhost\n" + hosts, encoding="utf-8")
    spec = {
        "hosts": str(folder / "hosts"),
        "joining": list(wiring.joining(wires, {v: f"@{v}@" for v in range(wires.vertices)})),
        "vertices": [of_vertex(wires, v, rates, latency) for v in range(wires.vertices)],
    }
    user = ["--user", "--map-root-user"] if os.geteuid() else []
    command = ["unshare", *user, "--mount", "--pid", "--ipc", "--net", "--fork", "--kill-child", "--mount-proc"]
    process = subprocess.Popen(
        [*command, sys.executable, "-I", keeper.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        cwd="/",
    )
    try:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(spec) + "\n")
            process.stdin.flush()
        said = process.stdout.readline()
        if not said:
            what = (process.stderr.read().strip().splitlines() or ["unshare ended"])[0]
            advice = "run as root, or allow user namespaces (sysctl user.max_user_namespaces)"
            raise failed("this system makes no namespaces", what.replace("unshare: ", ""), advice)
        answer = json.loads(said)
        if "error" in answer:
            raise refused(answer["error"], rate)
        processes = answer["processes"]
        testbed = Testbed(
            name,
            process.pid,
            started_at(process.pid),
            tuple(processes),
            slots,
            rate,
            latency,
            text,
            str(machine.shape) if machine.family == "torus" else "",
            str(folder),
        )
        launchers.write(folder, wires, processes, slots)
        files.write_whole(folder / "testbed.json", json.dumps(asdict(testbed)))
        process.stdin.write("stay\n")
        process.stdin.flush()
        return testbed
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def refused(error: str, rate: int) -> Exception:
    """What a command of the set-up failed with, as a sentence."""
    if "netem" in error:
        rule = "--latency needs the kernel module sch_netem, which this system lacks"
        return not_applicable(rule, None, "leave --latency out")
    if "`tc" in error:
        return failed(f"this system cannot limit links to {rate / 1e6:g} Mbit/s", error, "give another --rate")
    return failed("the testbed could not be made", error)


def rates_of(machine: _machine.Machine, wires: wiring.Wiring, rate: int) -> dict[int, int]:
    """Bits a second of each directed link: all alike."""
    return dict.fromkeys(wires.class_of_link, rate)


def of_vertex(wires: wiring.Wiring, vertex: int, rates: dict[int, int], latency: float) -> dict:
    links = wiring.interfaces(wires, vertex)
    return {
        "name": wires.name(vertex),
        "ip": [
            *wiring.own_interface(vertex),
            *wiring.starting(wires, vertex, links),
            *wiring.rules(wires, vertex),
        ],
        "tc": [line for link in links for line in wiring.limited(link, rates[link], latency)],
    }


def down(testbed: Testbed) -> None:
    """End all that runs in it, and remove it."""
    if testbed.is_here:
        raise wrong_value("a testbed cannot be removed from within", testbed.name, "run `testbed down` outside")
    for pid in visible.below(testbed.keeper) | {testbed.keeper}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + LAST_SECONDS
    while started_at(testbed.keeper) == testbed.started:
        if time.monotonic() > end:
            raise failed(f"the keeper of testbed {testbed.name}, process {testbed.keeper}, does not end")
        time.sleep(0.01)
    shutil.rmtree(testbed.folder, ignore_errors=True)


def memory_available() -> int | None:
    with contextlib.suppress(OSError):
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
        return int(found[1]) << 10 if found else None
    return None
