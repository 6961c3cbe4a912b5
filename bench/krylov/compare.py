#!/usr/bin/env python3
"""Methods of conjugate gradients on a network with latency, beside the prediction of `kumihimo simulate app`.

    bench/krylov/compare.py [--ranks 2] [--size 24x24x24] [--delays 0,0.1,0.5,2] [--launches 5] [--methods cg,gropp,...]

Each rank runs in a network namespace of its own, with its own host name, so Open MPI and the engine take it for a node.
Packets between the namespaces are delayed (delayed_network.cpp): this needs neither netem in the kernel nor a second
machine. Methods alternate within each round of launches. Times are medians.

The predicted machine has the latency that a ping-pong of packets showed, and computes at the rate of `cg` without
delay. No other number is fitted. Each solution is compared with the known one: within the bound that follows from the
tolerance. Needs Linux, root, iproute2, nsenter, unshare and Open MPI.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from kumihimo.app import prediction
from kumihimo.app.catalogue import PROGRAM
from kumihimo.cli import machine as machines
from kumihimo.collectives.arguments import Ranks
from kumihimo.predict import simulation
from kumihimo.processes import mpi
from kumihimo.processes.package_files import program
from kumihimo.text.quantities import seconds_text

ROOT = Path(__file__).resolve().parents[2]
SUBNET = "10.99.0.0/24"
PORT = 5001
LAUNCH_SECONDS = 120.0
MACHINE = """name = "namespaces"
summary = "network namespaces with delayed packets"
[topology]
family = "fat_tree"
arity = "{ranks}"
parents = "1"
[network]
link_bandwidth = {{ value = "1 GB/s", assumed = "messages are short" }}
link_peak = {{ value = "1 GB/s", assumed = "messages are short" }}
hop_latency = {{ value = "1 ns", assumed = "all latency is in relay_latency" }}
engines = {{ value = 1, assumed = "one device" }}
engine_bandwidth = {{ value = "1 GB/s", assumed = "messages are short" }}
injection_bandwidth = {{ value = "1 GB/s", assumed = "messages are short" }}
[node]
ranks_per_node = {{ value = 1, assumed = "one rank a namespace" }}
cores = {{ value = 1, assumed = "one rank a namespace" }}
memory = {{ value = "1 GiB", assumed = "not used" }}
memory_bandwidth = {{ value = "{bandwidth:.6f} GB/s", measured = "cg without delay" }}
flop_rate = {{ value = "1000 Gflop/s", assumed = "bound by bytes" }}
reduction_rate = {{ value = "1 GB/s", assumed = "sums are short" }}
reduction_rate_scalar = {{ value = "1 GB/s", assumed = "sums are short" }}
shared_memory_bandwidth = {{ value = "1 GB/s", assumed = "not used" }}
shared_memory_latency = {{ value = "1 us", assumed = "not used" }}
[software]
message_cost = {{ value = "1 ns", assumed = "in relay_latency" }}
relay_latency = {{ value = "{latency:.3f} us", measured = "ping-pong of packets" }}
segment_bytes = {{ value = "128 KiB", assumed = "not used" }}
"""
# mpirun calls it as `agent HOST COMMAND...`.
AGENT = """#!/bin/sh
host=$1
shift
exec nice -n -20 nsenter --net=/run/netns/$host unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
"""


class Network:
    """Namespaces whose packets arrive `delay` seconds late."""

    def __init__(self, ranks: int, delay: float, agent: Path) -> None:
        self.names = [f"kumihimo-{os.getpid()}-{i}" for i in range(ranks)]
        self._agent, self._delay = agent, delay

    def __enter__(self) -> Network:
        self._forwarder = None
        try:
            for name in self.names:
                subprocess.run(["ip", "netns", "add", name], check=True)
            self._forwarder = subprocess.Popen(
                [ROOT / "build/release/bench/krylov/delayed_network", repr(self._delay), *self.names],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            if self._forwarder.stdout.readline() != "ready\n":
                raise SystemExit("the delayed network did not start; its error is above")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._forwarder:
            self._forwarder.stdin.close()
            self._forwarder.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)

    def latency(self, rounds: int = 200) -> float:
        """Half of the median round trip of a packet."""
        with in_namespace(self.names[1]):
            far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with in_namespace(self.names[0]):
            near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with near, far:
            far.bind(("10.99.0.2", PORT))
            for each in (near, far):
                each.settimeout(5)

            child = os.fork()  # threads would wait for each other's interpreter lock
            if child == 0:
                with contextlib.suppress(OSError):
                    for _ in range(rounds):
                        far.sendto(*far.recvfrom(64))
                os._exit(0)
            trips = []
            for _ in range(rounds):
                begin = time.perf_counter()
                near.sendto(b"x" * 8, ("10.99.0.2", PORT))
                near.recv(64)
                trips.append(time.perf_counter() - begin)
            os.waitpid(child, 0)
        return median(trips) / 2

    def run(self, command: list[str | Path]) -> list[dict]:
        """One process in each namespace; the JSON objects that they printed."""
        installation = mpi.choose("openmpi")
        launcher = [installation.launcher, "--allow-run-as-root", "--bind-to", "none"]
        settings = {
            "plm_rsh_agent": self._agent,
            "plm_rsh_no_tree_spawn": 1,
            "oob_tcp_if_include": SUBNET,
            "btl_tcp_if_include": SUBNET,
            "btl": "tcp,self",
            "pml": "ob1",
            "mpi_yield_when_idle": 1,
        }
        for name, value in settings.items():
            launcher += ["--mca", name, str(value)]
        hosts = ",".join(f"{name}:1" for name in self.names)
        words = [self._agent, self.names[0], *launcher, "-H", hosts, "-n", len(self.names), *command]
        done = subprocess.run(
            [str(word) for word in words], capture_output=True, text=True, timeout=LAUNCH_SECONDS, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"a launch failed: {done.stdout[-1000:]}{done.stderr[-2000:]}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@contextlib.contextmanager
def in_namespace(name: str) -> Iterator[None]:
    """This thread, for the sockets that it opens."""
    with Path("/proc/thread-self/ns/net").open("rb") as own, Path(f"/run/netns/{name}").open("rb") as other:
        set_namespace(other.fileno())
        try:
            yield
        finally:
            set_namespace(own.fileno())


def set_namespace(file: int) -> None:
    import ctypes

    clone_newnet = 0x40000000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(file, clone_newnet) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def solve(network: Network, binary: Path, asked: argparse.Namespace, method: str, folder: Path) -> dict:
    task = {
        "application": "poisson3d",
        "size": asked.size,
        "options": {"rhs": "manufactured"},
        "method": method,
        "tolerance": asked.tolerance,
        "most_iterations": 10_000,
        "may_stop_early": False,
        "seed": 1,
        "check": True,
        "candidates": [{"variant": asked.variant, "parameters": {}}],
        "turns": 1,
        "threads": 1,
        "rates": False,
        "library": str(mpi.choose("openmpi").library),
    }
    path = folder / "task.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    objects = network.run([binary, path])
    for each in objects:
        if "error" in each:
            raise SystemExit(f"{method}: {each['error']}")
    return next(each["result"] for each in objects if "result" in each)


def computing_seconds(result: dict) -> float:
    """Of an iteration: what is neither halo nor sums."""
    waiting = ("halo exchange", "sums over ranks")
    return sum(k["seconds"] for k in result["kernels"] if k["name"] not in waiting) / result["iterations"]


def predicted(
    asked: argparse.Namespace, grid: list[int], bandwidth: float, latency: float, folder: Path
) -> dict[str, float]:
    path = folder / "namespaces.toml"
    text = MACHINE.format(ranks=asked.ranks, bandwidth=bandwidth * 1e-9, latency=latency * 1e6)
    path.write_text(text, encoding="utf-8")
    job = simulation.on(machines.load(str(path)), Ranks(None, asked.ranks, 1))
    of = prediction.IterationRequest(
        "poisson3d", size=prediction.box(asked.size, "--size"), grid=tuple(grid), model="exact"
    )
    return {method: prediction.predicted(of, method, job)["seconds"] for method in asked.methods}


def missing() -> list[str]:
    lacks = [f"`{each}`" for each in ("ip", "nsenter", "unshare") if shutil.which(each) is None]
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        lacks.append("root")
    if not Path("/dev/net/tun").exists():
        lacks.append("/dev/net/tun")
    return lacks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2, help="2 to 4")
    parser.add_argument("--size", default="24x24x24")
    parser.add_argument("--delays", default="0,0.1,0.5,2", help="one way, in milliseconds; the first must be 0")
    parser.add_argument("--launches", type=int, default=5)
    parser.add_argument("--methods", default="cg,chronopoulos_gear,gropp,pipelined")
    parser.add_argument("--variant", default="AR-0")
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--program", type=Path, action="append", help="instead of the package's; several: compared")
    asked = parser.parse_args()
    if lacks := missing():
        print(f"bench/krylov needs {', '.join(lacks)}", file=sys.stderr)
        return 2
    asked.methods = asked.methods.split(",")
    delays = [float(each) * 1e-3 for each in asked.delays.split(",")]
    binaries = asked.program or [program(PROGRAM)]
    with tempfile.TemporaryDirectory(prefix="kumihimo-krylov-") as name:
        measure(asked, delays, binaries, Path(name))
    return 0


def measure(asked: argparse.Namespace, delays: list[float], binaries: list[Path], folder: Path) -> None:
    agent = folder / "agent"
    agent.write_text(AGENT, encoding="utf-8")
    agent.chmod(0o755)
    found: dict[tuple[int, float, str], list[dict]] = {}
    latencies: dict[float, list[float]] = {delay: [] for delay in delays}
    for _ in range(asked.launches):
        for delay in delays:
            with Network(asked.ranks, delay, agent) as network:
                latencies[delay].append(network.latency())
                for method in asked.methods:
                    for i, binary in enumerate(binaries):
                        result = solve(network, binary, asked, method, folder)
                        found.setdefault((i, delay, method), []).append(result)
    reference = found[0, delays[0], prediction.PLAIN]
    grid = reference[0]["grid"]
    cells = [-(-n // p) for n, p in zip(prediction.box(asked.size, "--size"), grid)]
    computing = median(computing_seconds(each) for each in reference)
    rows = cells[0] * cells[1] * cells[2]
    bandwidth = rows * bytes_of_cg() / computing
    boxes = ["x".join(map(str, each)) for each in (grid, cells)]
    print(f"poisson3d {asked.size}, {asked.ranks} ranks ({boxes[0]}) of {boxes[1]} cells, {asked.launches} launches")
    print(f"computing of an iteration of cg: {seconds_text(computing)}")
    for delay in delays:
        latency = median(latencies[delay])
        guess = predicted(asked, grid, bandwidth, latency, folder)
        print(f"\ndelay {seconds_text(delay) if delay else 'none'}, measured one way {seconds_text(latency)}")
        print(
            f"{'method':<18} {'measured':>10} {'lowest':>10} {'predicted':>10} {'to cg':>7} {'predicted':>9}"
            "  iterations"
        )
        for i, binary in enumerate(binaries):
            if len(binaries) > 1:
                print(binary)
            times = {method: seconds_of(found[i, delay, method]) for method in asked.methods}
            plain = median(times[prediction.PLAIN])
            for method in asked.methods:
                own = median(times[method])
                print(
                    f"{method:<18} {seconds_text(own):>10} {seconds_text(min(times[method])):>10}"
                    f" {seconds_text(guess[method]):>10} {own / plain:>7.2f}"
                    f" {guess[method] / guess[prediction.PLAIN]:>9.2f}  {found[i, delay, method][0]['iterations']}"
                )
    worst = max(each["residual"] for of in found.values() for each in of)
    if worst > asked.tolerance or not all(each.get("checked") for of in found.values() for each in of):
        raise SystemExit(f"a solution missed the tolerance: residual {worst:g}")
    solves = sum(map(len, found.values()))
    print(f"\nAll {solves} solutions meet the tolerance {asked.tolerance:g} and passed the check of the solution.")


def bytes_of_cg() -> float:
    """Of a cell and iteration: product, IC(0) and vector loops (src/numerics/krylov_programs/applications.def)."""
    return 104 + 128 + 104


def seconds_of(results: list[dict]) -> list[float]:
    return [each["seconds"] / each["iterations"] for each in results]


if __name__ == "__main__":
    sys.exit(main())
