"""What `kumihimo simulate` is asked: its options, and the question that they make."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Optional

from kumihimo import _machine, _packet, _predict
from kumihimo.cli import machines, options
from kumihimo.cli.options import option
from kumihimo.collectives import arguments, program_sets
from kumihimo.collectives.arguments import CollectiveArguments, Ranks
from kumihimo.network import placement as placements
from kumihimo.predict import faults, models, over_time, packet, simulation, subjects
from kumihimo.predict import noise as noises
from kumihimo.predict.prediction import Setting
from kumihimo.predict.subjects import Subject
from kumihimo.processes import allocation
from kumihimo.text.errors import missing, wrong_value

OF_LOGGP = "Model loggp (LogGOPS)"
OF_PACKET = "Model packet"
OF_BACKGROUND = "Model packet, beside other jobs"
FAULTS = "Faults and noise"
OF_PROGRAMS = ("machine", "box", "dead", "routing", "model")  # beside what models heed
OF_MACHINE = ("software", "box", "dead", "routing", "given", "order", "placement", "no_simd")
OF_COLLECTIVES = ("sizes", "type_", "operation", "root", "counts", "neighbours")
NOT_OF_GOAL = (*OF_COLLECTIVES, "algorithm")
OF_BACKGROUND_JOBS = ("spread", "repeats", "warm_up")


@dataclass
class Request:
    """The options, as they were given."""

    machine: option(
        "--machine -m M",
        "Name of a machine (see `machine list`), or a machine file [default: what KUMIHIMO_MACHINE says].",
    ) = None
    software: options.Software = None
    sizes: option("--bytes -b SIZES", "Message sizes: 64KiB, 8,1GiB or 8..16MiB (doubling).") = None
    shape: options.Shape = None
    box: options.Box = None
    dead: options.Dead = None
    routing: options.Routing = None
    algorithm: options.AlgorithmOrAll = arguments.ALL
    ranks: options.RanksOfMachine = None
    ranks_per_node: options.RanksPerNodeOrMachine = None
    given: option("--allocation WHAT", "Hosts: env (Slurm, PBS, LSF), a hostfile or a list: node[001-004]:8.") = None
    order: options.Order = None
    placement: options.Placement = None
    model: option("--model MODEL", f"Model: {models.described()}.") = "flow"
    no_simd: option("--no-simd", "Use the machine's scalar reduction rate.") = False
    type_: options.Type = "float64"
    operation: options.Operation = "sum"
    root: options.Root = 0
    parameters: Optional[dict] = None
    counts: options.Counts = None
    neighbours: options.Neighbours = None
    without: option(
        "--without STAGE",
        f"Stage of the model flow to leave out: {models.either(models.STAGES)}; repeatable.",
        list[str],
    ) = None
    explain: option("--explain", "Show what each stage of the model flow did, and how long it took.") = False
    links: option("--links", "Show the busiest links; with --json the bytes of all links.") = False
    loggops: option(
        "--loggops L=..,o=..",
        "L, o, g in ns, G, O in ns per byte, S (longest eager message) in bytes [default: the machine's].",
        group=OF_LOGGP,
    ) = None
    cpus: option("--cpus N", "Processors of a rank [default: the machine's, or 1].", int, OF_LOGGP) = None
    nics: option("--nics N", "Network interfaces of a rank [default: the machine's, or 1].", int, OF_LOGGP) = None
    by_rank: option("--by-rank", "Show the ranks that end last; with --json all ranks.", group=OF_LOGGP) = False
    timeline: options.written("--timeline FILE", "Write a timeline, which ui.perfetto.dev opens.", group=OF_LOGGP) = (
        None
    )
    packet_bytes: option("--packet-bytes N", "Payload of a packet [default: 2048].", int, OF_PACKET) = None
    buffer_packets: option(
        "--buffer-packets N",
        "Packets in the buffer of each virtual channel [default: 4, or more on long links].",
        int,
        OF_PACKET,
    ) = None
    packet_seed: option("--packet-seed N", "Seed of the first turns of arbiters.", int, OF_PACKET) = 1
    background: option(
        "--background JOB",
        "Another job on nodes that --ranks leave free: uniform, neighbour or alltoall, then "
        ":share=50%,load=30%,bytes=64KiB,spread=scattered, or goal:FILE,share=50%; may be repeated.",
        list[str],
        OF_BACKGROUND,
    ) = None
    spread: option(
        "--spread NAME", "Nodes of the job watched: compact, scattered or both [default: compact].", str, OF_BACKGROUND
    ) = None
    repeats: option("--repeats N", "Number of seeds, from --packet-seed on [default: 20].", int, OF_BACKGROUND) = None
    warm_up: options.duration(
        "--warm-up TIME",
        "Simulated time before the job watched starts, as 500us [default: by rule].",
        may_be_zero=True,
        group=OF_BACKGROUND,
    ) = None
    page: options.written(
        "--page FILE",
        "Write a page: links over time (--model packet), times beside others (--background), or how noise spreads "
        "(--model loggp).",
    ) = None
    noise: option(
        "--noise NOISE",
        "Noise of the operating system: periodic:10us/1ms (length/interval; or 1000:10e-6, events per second and "
        "seconds of one), exponential:10us/1ms or trace:FILE; then "
        ",cosched (at the same times on all ranks) ,every=4 (ranks 0, 4, 8 ...) ,ranks=0-7+16 (only these) ,seed=7.",
        group=FAULTS,
    ) = None
    dies: option(
        "--dies NODE@TIME",
        "Node that dies: 5@20us, or 5@50% of the time without faults; repeatable (--model loggp or packet, and flow "
        "or exact for a GOAL file).",
        list[str],
        FAULTS,
    ) = None
    slow: option(
        "--slow PART=FACTOR",
        "Slow node 5=0.5, or slow link between neighbours 5-6=0.1; repeatable (--model flow, exact or packet).",
        list[str],
        FAULTS,
    ) = None
    as_json: options.Json = False

    def refuse_what_means_nothing(self, kind: str) -> None:
        """Refuses options that mean nothing to the subject, to the model, or without a machine or background jobs."""
        options.refuse_beside_model(self.model, kind)
        if not self.background:
            options.refuse_beside("simulate without --background", *OF_BACKGROUND_JOBS)
        if self.model != "loggp" and self.machine is None:
            raise missing("--machine", "see kumihimo simulate --help")
        if kind == "goal":
            options.refuse_beside("a GOAL file", *NOT_OF_GOAL, *(self.parameters or {}))
        elif kind == "recording":
            options.refuse_beside("a workload", *OF_COLLECTIVES, *(self.parameters or {}))
        elif kind == "programs":
            options.refuse_beside_programs(*OF_PROGRAMS, *models.understood("programs"))
        if self.machine is None:
            options.refuse_beside("the model loggp without --machine", *OF_MACHINE)
        if self.model == "bound" and self.algorithm == arguments.ALL and self.parameters:
            given = f"--{next(iter(self.parameters)).replace('_', '-')}"
            raise wrong_value("the bound has no parameters", given, "leave it out, or name an --algorithm")

    def subject(self, name: str) -> Subject:
        kind = subjects.kind_of(name)
        if kind == "goal":
            return subjects.read_goal(name)
        if kind == "programs":
            return subjects.ProgramSets(program_sets.named(name))
        options.refuse_beside_collective(name)
        asked = CollectiveArguments(
            name,
            type=self.type_,
            operation=self.operation,
            root=self.root,
            counts=self.counts,
            neighbours=arguments.neighbours_named(self.neighbours),
        )
        return subjects.CollectiveSubject.of(asked, self.algorithm, self.parameters or {}, self.sizes)

    @property
    def routing_of_packets(self) -> str | None:
        """A way that only packets are routed by; another --routing is one of the machine's."""
        return self.routing if self.model == "packet" and self.routing in packet.ROUTINGS else None

    @property
    def part(self) -> simulation.PartOfMachine:
        routing = None if self.routing_of_packets else self.routing
        return simulation.PartOfMachine(self.box, self.dead or [], routing, self.slow or [])

    @property
    def loaded(self) -> _machine.Machine:
        return machines.load(self.machine, self.software)

    @property
    def asked_ranks(self) -> Ranks:
        return Ranks(self.shape, self.ranks, arguments.ranks_per_node_named(self.ranks_per_node))

    def question(self, name: str) -> tuple[Subject, Setting]:
        """The subject and where it runs, what disturbs it, and what is to be told."""
        noise = noises.named(self.noise)
        part, wanted = self.part, placements.wanted(self.order, self.placement)
        hosts = None if self.given is None else allocation.read(self.given, os.environ)
        told = self.told(noise)
        if self.machine is None:  # before a long file is read
            nowhere = Setting(self.model, options=told)
            _predict.loggops(nowhere.place, nowhere.native_options)
        subject = self.subject(name)
        asked = self.asked_ranks if hosts else subject.ranks(self.asked_ranks)
        job = None if self.machine is None else self.job(asked, part, hosts, wanted)
        subject.check(job)
        ranks = None if subject.kind == "goal" and self.model == "loggp" else self.ranks
        placed = job and simulation.placed(job, wanted, hosts, ranks)
        deaths = faults.deaths(self.dies, job and job.machine)
        setting = Setting(self.model, job, placed, not self.no_simd, noise, deaths, options=told)
        return subject, setting if job else self.alone(setting, subject, asked)

    def job(
        self,
        asked: Ranks,
        part: simulation.PartOfMachine,
        hosts: allocation.Allocation | None,
        wanted: placements.Wanted | None,
    ) -> _machine.Job:
        """On all nodes that a placement file may name: it may place fewer ranks than they have slots."""
        machine = self.loaded
        if wanted is not None and simulation.has_places_for_few(machine, wanted):
            asked = replace(asked, ranks=None)
        return simulation.on(machine, asked, part, hosts)

    def alone(self, setting: Setting, subject: Subject, asked: Ranks) -> Setting:
        """Ranks without a machine."""
        asked = subjects.alone(asked)
        each = asked.ranks_per_node
        if setting.deaths and not isinstance(each, int):
            rule = "--dies without --machine needs as many ranks on each node"
            raise wrong_value(rule, ",".join(map(str, each)), "give --ranks-per-node one number")
        space = None if subject.kind == "goal" else arguments.rank_space(asked)
        return replace(setting, space=space, ranks_per_node=each if isinstance(each, int) else 1)

    def told(self, noise: noises.Noise | None) -> dict[str, object]:
        """Of _predict.Options."""
        if self.model == "loggp" and self.page is not None and noise is None:
            raise missing("--noise", "--page shows how noise spreads; add --noise periodic:10us/1ms")
        return {
            "link_bytes": self.links,
            "without": self.without or [],
            "explain": self.explain,
            "by_rank": self.by_rank,
            "timeline": self.timeline is not None,
            "over_time": self.page is not None,
            "map_rows": over_time.MOST_ROWS,
            "map_bins": over_time.BINS,
            "packets": self.packets,
            "loggops": self.loggops,
            "cpus": self.cpus,
            "nics": self.nics,
        }

    @property
    def packets(self) -> _packet.Options:
        return packet.options(self.routing_of_packets, self.packet_bytes, self.buffer_packets, self.packet_seed)
