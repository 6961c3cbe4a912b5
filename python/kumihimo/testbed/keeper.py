"""The first process of a testbed: makes the namespaces of the nodes, joins them, and keeps them until it is killed.

A script that `unshare` starts as process 1 of a PID namespace: when it ends, however that happens, the kernel ends all
processes of the testbed and removes its namespaces, links and routes. Imports nothing of the package.

Reads a JSON object from standard input: `hosts` (text of /etc/hosts, its file), `joining` (lines for `ip`, in which
`@7@` is the process of vertex 7) and `vertices` (name, `ip` and `tc`: lines). Writes {"processes": [...]} or
{"error": sentence}. Goes unless it then reads `stay`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x40000000
MS_BIND = 4096
SETTINGS = {  # of a node's network
    "ipv6/conf/all/disable_ipv6": "1",
    "ipv6/conf/default/disable_ipv6": "1",
    "ipv4/ip_forward": "1",
    "ipv4/conf/all/rp_filter": "0",  # the way back may be another one
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/conf/all/send_redirects": "0",
    "ipv4/conf/default/send_redirects": "0",
    "ipv4/tcp_slow_start_after_idle": "0",
    "ipv4/tcp_no_metrics_save": "1",  # of one run for the next one
}
libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The system does not do it."""


def checked(what: str, result: int) -> None:
    if result:
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")


def mount(source: str, target: str, kind: str, flags: int = 0) -> None:
    checked(f"mount {target}", libc.mount(source.encode(), target.encode(), kind.encode(), flags, None))


def batch(tool: str, lines: list[str]) -> None:
    if not lines:
        return
    done = subprocess.run([tool, "-batch", "-"], input="\n".join(lines), capture_output=True, text=True)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if not re.match(r"Warning|Command failed|\s*$", line)]
        number = re.search(r"Command failed -:(\d+)", done.stderr)
        line = lines[int(number[1]) - 1] if number else ""
        raise Refused(f"`{tool} {line}`: {said[0] if said else f'exit status {done.returncode}'}")


def vertex(of: dict[str, Any], ready: int, go: int) -> None:
    """The process of one node or switch: its namespaces, then, when all are joined, its interfaces."""
    checked("unshare", libc.unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNS))
    socket.sethostname(of["name"])
    mount("tmpfs", "/dev/shm", "tmpfs")  # two nodes share no memory
    mount("sysfs", "/sys", "sysfs")  # of this network: UCX looks for interfaces there
    for name, value in {**SETTINGS, **of["settings"]}.items():
        try:
            Path(f"/proc/sys/net/{name}").write_text(value, encoding="ascii")
        except OSError:
            if name == "ipv4/ip_forward":  # what the others are for is nearly so without them
                raise
    os.write(ready, b".")
    if os.read(go, 1) != b".":
        os._exit(1)
    batch("ip", of["ip"])
    batch("tc", of["tc"])


def started(of: dict[str, Any]) -> tuple[int, int, int]:
    """A vertex's process, what it says and how it is told to go on."""
    said, ready = os.pipe()
    go, told = os.pipe()
    pid = os.fork()
    if pid:
        os.close(ready)
        os.close(go)
        return pid, said, told
    try:
        os.close(said)
        os.close(told)
        vertex(of, ready, go)
        os.write(ready, b".")
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        os.dup2(0, 2)
        os.execvp("sleep", ["sleep", "infinity"])
    except (Refused, OSError) as error:
        os.write(ready, str(error).encode()[:4000])
    finally:
        os._exit(1)


def heard(said: int) -> None:
    """Waits until a vertex reports that it is ready."""
    found = os.read(said, 4096)
    if found != b".":
        raise Refused(found.decode() or "a process of the testbed ended")


def made(spec: dict[str, Any]) -> list[int]:
    if Path("/etc/hosts").exists():
        mount(spec["hosts"], "/etc/hosts", "", MS_BIND)
    all_ = [started(of) for of in spec["vertices"]]
    for _, said, _ in all_:
        heard(said)
    pids = [pid for pid, _, _ in all_]
    batch("ip", [re.sub(r"@(\d+)@", lambda found: str(pids[int(found[1])]), line) for line in spec["joining"]])
    for _, _, told in all_:
        os.write(told, b".")
    for _, said, told in all_:
        heard(said)
        os.close(said)
        os.close(told)
    return pids


def main() -> None:
    try:
        print(json.dumps({"processes": made(json.loads(sys.stdin.readline()))}), flush=True)
    except (Refused, OSError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return
    if sys.stdin.readline() != "stay\n":
        return
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans of the testbed's processes leave no zombies
    for signal_ in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.execvp("sleep", ["sleep", "infinity"])


if __name__ == "__main__":
    main()
