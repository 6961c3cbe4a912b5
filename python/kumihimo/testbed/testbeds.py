"""Testbeds by name: made, found again by other commands, entered, removed.

A testbed is a process, its keeper, and a file that tells of it. Who kills the keeper removes the testbed; the file of a
testbed whose keeper is gone is removed by whoever meets it. Without root the keeper has a user namespace of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from kumihimo import _machine
from kumihimo.processes import allocation, child_output, visible
from kumihimo.testbed import keeper, launchers
from kumihimo.testbed import wiring as wires
from kumihimo.testbed.wiring import Wiring
from kumihimo.text import files
from kumihimo.text.errors import failed, missing, not_applicable, wrong_value
from kumihimo.text.json_types import JsonObject

USUAL_NAME = "local"
INSIDE = "KUMIHIMO_TESTBED"  # the folder of the testbed in which a process runs
TOOLS = {"ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}  # and their packages
BYTES_OF_A_VERTEX = 4 << 20  # twice what was measured on a torus of 125 nodes without traffic
BYTES_OF_A_PAIR = 4 << 10  # of nodes, whose route `up` walks: over twice what 216 and 512 nodes took
LARGEST_FILE = 64 << 20
CAP_SYS_ADMIN = 21  # number of the capability: linux/capability.h
COMMAND_SECONDS = 60.0  # for commands of the system, which take milliseconds
LAST_SECONDS = 10.0  # for the keeper to be gone


@dataclass(frozen=True)
class TestbedPlan:
    """Request for a testbed. `machine`: the text of its machine file. `slots`: ranks of each node. `rate`: bits a
    second of each link; `latency`: seconds that a packet is late on it.
    """

    name: str
    machine: str
    slots: int
    rate: int
    latency: float

    @cached_property
    def described(self) -> _machine.Machine:
        return _machine.parse(self.machine, f"the machine file of testbed {self.name}")

    @cached_property
    def wiring(self) -> Wiring:
        return Wiring(self.described)


@dataclass(frozen=True)
class Testbed:
    """`keeper`: the process of `unshare`, as this user sees it, and when that started. `processes`: one in the
    namespaces of each node, then of each switch, as the testbed sees them."""

    plan: TestbedPlan
    folder: Path
    keeper: int
    started: int
    processes: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def wiring(self) -> Wiring:
        return self.plan.wiring

    @property
    def machine_file(self) -> Path:
        """The plan's, with costs as they were last measured."""
        return self.folder / "machine.toml"

    @property
    def environment(self) -> dict[str, str]:
        """Environment of commands in it: this process's, with what launchers and our own verbs need to know."""
        plan = self.plan
        told = {
            INSIDE: str(self.folder),
            allocation.SHAPE: str(plan.described.shape) if plan.described.family in ("torus", "tofu") else "",
            allocation.MACHINE: str(self.machine_file),
            allocation.LINKS: f"{plan.described.network}, {plan.rate} bit/s, {plan.latency} s",
        }
        return {**os.environ, **launchers.environment(self.folder), **told}

    @property
    def is_here(self) -> bool:
        """Whether this process runs in it."""
        return os.environ.get(INSIDE) == str(self.folder)

    @property
    def runs(self) -> bool:
        return self.is_here or started_at(self.keeper) == self.started

    @property
    def has_users_of_its_own(self) -> bool:
        """Whether it was made without root, in a user namespace."""
        own, its = Path("/proc/self/ns/user"), Path(f"/proc/{self.keeper}/ns/user")
        return not own.samefile(its)

    def inside(self, command: Sequence[str]) -> list[str]:
        """The command, run in the testbed's user, mount and PID namespaces."""
        if self.is_here:
            return list(command)
        proc = f"/proc/{self.keeper}/ns"
        user = [f"--user={proc}/user", "--preserve-credentials"] if self.has_users_of_its_own else []
        namespaces = [f"--mount={proc}/mnt", f"--pid={proc}/pid_for_children"]
        return ["nsenter", *user, *namespaces, "--", *command]

    def at(self, vertex: int, command: Sequence[str]) -> list[str]:
        """The command, run in a node or switch."""
        return self.inside(["nsenter", f"--target={self.processes[vertex]}", *launchers.OF_A_NODE, "--", *command])

    def enter(self) -> None:
        """Children of this process will be processes of the testbed, which end with it. With at() instead, `nsenter`
        stands between both, and dies of signals that the command answers."""
        if self.is_here:
            return
        libc = ctypes.CDLL(None, use_errno=True)
        for name in ("user", "pid_for_children") if self.has_users_of_its_own else ("pid_for_children",):
            with Path(f"/proc/{self.keeper}/ns/{name}").open("rb") as namespace:
                if libc.setns(namespace.fileno(), 0):
                    raise failed(f"testbed {self.name} cannot be entered", os.strerror(ctypes.get_errno()))

    def within(self, vertex: int, command: Sequence[str]) -> list[str]:
        """The command, run in a node or switch by a process that has entered the testbed."""
        entered = ["nsenter", f"--target={self.processes[vertex]}", *launchers.OF_A_NODE, "--", *command]
        return entered if self.is_here else ["nsenter", f"--mount=/proc/{self.keeper}/ns/mnt", "--", *entered]

    def inside_it(self, command: Sequence[str]) -> str:
        """Output of the command, run there."""
        return said_by(self.inside(command), "")

    def at_it(self, vertex: int, command: Sequence[str], given: str) -> None:
        """Run there, with this as its standard input."""
        said_by(self.at(vertex, command), given)


def said_by(command: Sequence[str], given: str) -> str:
    done = child_output.run(command, given=given.encode(), seconds=COMMAND_SECONDS)
    if done.returncode:
        raise failed("the testbed did not answer", (done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
    return done.stdout


def started_at(pid: int) -> int:
    """When a process started, in ticks since the machine did; 0: there is none."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        line = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = line.rpartition(")")[2].split()
        return 0 if fields[0] in "ZX" else int(fields[19])
    return 0


def home() -> Path:
    """The folder of this user's testbeds."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "kumihimo" / "testbeds"
    return Path(f"/tmp/kumihimo-{os.getuid()}") / "testbeds"


def is_own(folder: Path) -> bool:
    """Whether only this user writes there. In /tmp another one may have made a folder of that name before, whose
    process ids `down` would end."""
    with contextlib.suppress(OSError):
        facts = folder.lstat()
        return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022
    return False


@contextlib.contextmanager
def locked(waits: bool) -> Iterator[bool]:
    """Whether no other command makes a testbed of this user meanwhile. `waits`: until none does."""
    file = os.open(home(), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(file)


def folder_of(name: str) -> Path:
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}", name) is None:
        rule = "the name of a testbed has at most 41 letters, digits, -, _ and ., and begins with a letter or digit"
        raise wrong_value(rule, f"'{name}'")
    return home() / name


def read(folder: Path) -> Testbed | None:
    """None if there is none, or none any more."""
    file = folder / "testbed.json"
    if not file.is_file() or not all(is_own(each) for each in (folder, folder.parent, folder.parent.parent)):
        return None
    try:
        found = json.loads(files.read_text(file, "the testbed", LARGEST_FILE))
        plan, processes = TestbedPlan(**found["plan"]), tuple(found["processes"])
        testbed = Testbed(plan, folder, found["keeper"], found["started"], processes)
    except (ValueError, TypeError, KeyError):
        return None
    return testbed if testbed.runs else None


def here() -> Testbed | None:
    """The one in which this process runs."""
    folder = os.environ.get(INSIDE)
    return read(Path(folder)) if folder else None


def find(name: str | None) -> Testbed:
    """The testbed of this name, or the one in which this process runs, or the only one."""
    if (found := here()) and name in (None, found.name):
        return found
    there = all_of_them()
    name = name or (there[0].name if len(there) == 1 else USUAL_NAME)
    if found := read(folder_of(name)):
        return found
    others = ", ".join(testbed.name for testbed in there)
    named = "" if name == USUAL_NAME else f" --name {name}"
    up = f"make one: kumihimo testbed up 3x3x3{named}"
    raise missing(f"testbed {name}", f"there is {others}, or {up}" if others else up)


def all_of_them() -> list[Testbed]:
    """Testbeds that run; remains of others are removed. Within a testbed it is the only one: process ids of others mean
    nothing there.
    """
    if here := os.environ.get(INSIDE):
        mine = read(Path(here))
        return [mine] if mine else []
    found: list[Testbed] = []
    if not all(map(is_own, (home(), home().parent))):
        return found
    with locked(waits=False) as is_idle:
        for folder in sorted(home().iterdir()):
            if testbed := read(folder):
                found.append(testbed)
            elif is_idle and is_own(folder):
                shutil.rmtree(folder, ignore_errors=True)
    return found


def up(plan: TestbedPlan) -> Testbed:
    """Make it."""
    files.check_folder(home(), "the folder of testbeds must be one that can be written", "set XDG_RUNTIME_DIR")
    for each in (home().parent, home()):
        with contextlib.suppress(OSError):
            each.chmod(0o700)
        if not is_own(each):
            raise wrong_value("the folder of testbeds must be yours alone", str(each), "set XDG_RUNTIME_DIR")
    with locked(waits=True):
        return up_alone(plan, folder_of(plan.name))


def up_alone(plan: TestbedPlan, folder: Path) -> Testbed:
    if read(folder):
        advice = f"kumihimo testbed down --name {plan.name}, or give another --name"
        raise wrong_value(f"testbed {plan.name} is there already", None, advice)
    for tool, package in TOOLS.items():
        if shutil.which(tool) is None:
            raise missing(f"the program {tool}", f"install the package {package}")
    needed, there = memory_needed(plan.wiring), memory_available()
    if there is not None and needed > there:
        rule = f"{plan.wiring.vertices} nodes and switches need {needed >> 20} MiB of free memory"
        raise not_applicable(rule, f"{there >> 20} MiB", "give a smaller shape")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    try:
        return made(plan, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def made(plan: TestbedPlan, folder: Path) -> Testbed:
    spec = spec_of(plan, folder)  # before anything runs
    user = [] if may_administrate() else ["--user", "--map-root-user"]
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
    to_keeper = process.stdin
    assert to_keeper is not None, "it is a pipe"
    try:
        with contextlib.suppress(BrokenPipeError):
            to_keeper.write(json.dumps(spec) + "\n")
            to_keeper.flush()
        processes = answered(process, plan)
        launchers.write(folder, plan.wiring, processes, plan.slots)
        testbed = Testbed(plan, folder, process.pid, started_at(process.pid), tuple(processes))
        files.write_whole(testbed.machine_file, plan.machine)
        kept = {"plan": asdict(plan), "keeper": testbed.keeper, "started": testbed.started, "processes": processes}
        files.write_whole(folder / "testbed.json", json.dumps(kept))
        to_keeper.write("stay\n")
        to_keeper.flush()
        return testbed
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if pipe:
                    pipe.close()


def spec_of(plan: TestbedPlan, folder: Path) -> JsonObject:
    """Specification that the keeper reads."""
    wiring, hosts = plan.wiring, folder / "hosts"
    lines = [f"{wires.address(vertex)} {wiring.name(vertex)}\n" for vertex in range(wiring.vertices)]
    hosts.write_text("127.0.0.1 localhost\n" + "".join(lines), encoding="utf-8")
    vertices = [
        {
            "name": wiring.name(vertex),
            "settings": wires.settings(plan.rate, plan.latency),
            "ip": [*wires.own_interface(vertex), *wires.interfaces(wiring, vertex)],
            "tc": [line for link in wiring.leaving[vertex] for line in wires.limited(link, plan.rate, plan.latency)],
        }
        for vertex in range(wiring.vertices)
    ]
    return {"hosts": str(hosts), "joining": list(wires.joining(wiring)), "vertices": vertices}


def answered(process: subprocess.Popen, plan: TestbedPlan) -> list[int]:
    """The processes of the vertices, or why there are none."""
    assert process.stdout is not None, "it is a pipe"
    assert process.stderr is not None, "it is a pipe"
    said = process.stdout.readline()
    if not said:
        what = (process.stderr.read().strip().splitlines() or ["unshare ended"])[0]
        advice = (
            "allow user namespaces (sysctl user.max_user_namespaces), or run as root; in a container, allow it both"
        )
        raise failed("this system makes no namespaces", what.replace("unshare: ", ""), advice)
    answer = json.loads(said)
    if "processes" in answer:
        return answer["processes"]
    error = answer["error"]
    if "netem" in error:
        rule = "--latency needs the kernel module sch_netem, which this system lacks"
        raise not_applicable(rule, None, "leave --latency out")
    if "`tc" in error:
        raise failed(f"this system cannot limit links to {plan.rate / 1e6:g} Mbit/s", error, "give another --rate")
    raise failed("the testbed could not be made", error)


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


def may_administrate() -> bool:
    """Whether namespaces can be made without a user namespace: root of a container often cannot."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return bool(found and int(found[1], 16) >> CAP_SYS_ADMIN & 1)


def memory_needed(wiring: Wiring) -> int:
    """Bytes for a testbed, and for making it."""
    return wiring.vertices * BYTES_OF_A_VERTEX + wiring.nodes**2 * BYTES_OF_A_PAIR


def memory_available() -> int | None:
    with contextlib.suppress(OSError):
        found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
        return int(found[1]) << 10 if found else None
    return None
