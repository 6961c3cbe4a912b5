"""The options of `kumihimo simulate`: their words and their help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumihimo import _machine
from kumihimo.cli import machines, options
from kumihimo.cli.options import option
from kumihimo.collectives.given import GivenOption
from kumihimo.predict import models
from kumihimo.predict.request import SimulationRequest

OF_LOGGP = "Model loggp (LogGOPS)"
OF_PACKET = "Model packet"
OF_BACKGROUND = "Model packet, beside other jobs"
FAULTS = "Faults and noise"


@dataclass(eq=False, repr=False)
class Request(SimulationRequest):
    """The options with their help; the defaults are those of SimulationRequest."""

    machine: option(
        "--machine -m M",
        "Name of a machine (see `machine list`), or a machine file [default: what KUMIHIMO_MACHINE says].",
    )
    software: options.Software
    sizes: option("--bytes -b SIZES", "Message sizes: 64KiB, 8,1GiB or 8..16MiB (doubling).")
    shape: options.Shape
    box: options.Box
    dead: options.Dead
    routing: options.Routing
    algorithm: options.AlgorithmOrAll
    ranks: options.RanksOfMachine
    ranks_per_node: options.RanksPerNodeOrMachine
    given: option("--allocation WHAT", "Hosts: env (Slurm, Flux, PBS, LSF), a hostfile or a list: node[001-004]:8.")
    order: options.Order
    placement: options.Placement
    model: option("--model MODEL", f"Model: {models.described()}.")
    no_simd: option("--no-simd", "Use the machine's scalar reduction rate.")
    type_: options.Type
    operation: options.Operation
    root: options.Root
    counts: options.Counts
    neighbours: options.Neighbours
    without: option(
        "--without STAGE",
        f"Stage of the model flow to leave out: {models.either(models.STAGES)}; repeatable.",
        list[str],
    )
    explain: option("--explain", "Show what each stage of the model flow did, and how long it took.")
    links: option("--links", "Show the busiest links; with --json the bytes of all links.")
    loggops: option(
        "--loggops L=..,o=..",
        "L, o, g in ns, G, O in ns per byte, S (longest eager message) in bytes [default: the machine's].",
        group=OF_LOGGP,
    )
    cpus: option("--cpus N", "Processors of a rank [default: the machine's, or 1].", int, OF_LOGGP)
    nics: option("--nics N", "Network interfaces of a rank [default: the machine's, or 1].", int, OF_LOGGP)
    by_rank: option("--by-rank", "Show the ranks that end last; with --json all ranks.", group=OF_LOGGP)
    timeline: options.written("--timeline FILE", "Write a timeline, which ui.perfetto.dev opens.", group=OF_LOGGP)
    packet_bytes: option("--packet-bytes N", "Payload of a packet [default: 2048].", int, OF_PACKET)
    buffer_packets: option(
        "--buffer-packets N",
        "Packets in the buffer of each virtual channel [default: 4, or more on long links].",
        int,
        OF_PACKET,
    )
    packet_seed: option("--packet-seed N", "Seed of the first turns of arbiters.", int, OF_PACKET)
    background: option(
        "--background JOB",
        "Another job on nodes that --ranks leave free: uniform, neighbour or alltoall, then "
        ":share=50%,load=30%,bytes=64KiB,spread=scattered, or goal:FILE,share=50%; may be repeated.",
        list[str],
        OF_BACKGROUND,
    )
    spread: option(
        "--spread NAME", "Nodes of the job watched: compact, scattered or both [default: compact].", str, OF_BACKGROUND
    )
    repeats: option("--repeats N", "Number of seeds, from --packet-seed on [default: 20].", int, OF_BACKGROUND)
    warm_up: options.duration(
        "--warm-up TIME",
        "Simulated time before the job watched starts, as 500us [default: by rule].",
        may_be_zero=True,
        group=OF_BACKGROUND,
    )
    page: options.written(
        "--page FILE",
        "Write a page: links over time (--model packet), times beside others (--background), or how noise spreads "
        "(--model loggp).",
    )
    noise: option(
        "--noise NOISE",
        "Noise of the operating system: periodic:10us/1ms (length/interval; or 1000:10e-6, events per second and "
        "seconds of one), exponential:10us/1ms or trace:FILE; then "
        ",cosched (at the same times on all ranks) ,every=4 (ranks 0, 4, 8 ...) ,ranks=0-7+16 (only these) ,seed=7.",
        group=FAULTS,
    )
    dies: option(
        "--dies NODE@TIME",
        "Node that dies: 5@20us, or 5@50% of the time without faults; repeatable (--model loggp or packet, and flow "
        "or exact for a GOAL file).",
        list[str],
        FAULTS,
    )
    slow: option(
        "--slow PART=FACTOR",
        "Slow node 5=0.5, or slow link between neighbours 5-6=0.1; repeatable (--model flow, exact or packet).",
        list[str],
        FAULTS,
    )
    as_json: options.Json = False

    def loaded_machine(self) -> _machine.Machine:
        return machines.load(self.machine, self.software)

    def explicit(self) -> Iterator[GivenOption]:
        return options.given()
