"""Predictions by the packet model (ADR 40): collectives and other programs, packet by packet."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field

from kumihimo import _goal, _machine, _packet, _placement, _simulate, doubts, faults, over_time, programs, simulation
from kumihimo.errors import wrong_value
from kumihimo.noise import Noise, members_of, model_of

ROUTINGS = ("dimension_order", "adaptive")
LARGEST = 2**40


def options(
    routing: str | None, packet_bytes: int | None, buffer_packets: int | None, seed: int, page: bool = False
) -> _packet.Options:
    """`routing`: of ROUTINGS, or none. `page`: asks for what the page of links over time shows."""
    given = {"packet_bytes": packet_bytes, "buffer_packets": buffer_packets}
    for name, number in (*given.items(), ("packet_seed", seed)):
        least = 0 if name == "packet_seed" else 1
        if number is not None and not least <= number < LARGEST:
            raise wrong_value(f"--{name.replace('_', '-')} must be {least} to {LARGEST - 1}", number)
    numbers = {name: number for name, number in given.items() if number is not None}
    if page:
        numbers |= {"links_over_time": True, "bins": over_time.BINS}
    return _packet.Options(adaptive=routing == "adaptive", seed=seed, **numbers)


@dataclass
class Setting:
    """Where programs run and what is asked of them: what all predictions of a command share."""

    job: _machine.Job
    placement: _placement.Placement | None
    options: _packet.Options
    links: bool = False  # whether the result has the bytes of each
    dying: faults.Dying | None = None
    noise: Noise | None = None
    maps: list[over_time.Map] = field(
        default_factory=list
    )  # of the predictions, if the options ask for links over time

    def doubt(self, sets: object, result: dict, *, simd: bool = True) -> str:
        """How far off the time without noise may be."""
        seconds = result.get("noise_free_seconds", result["seconds"])
        return doubts.of_packet(seconds, doubts.by_flow(sets, self.job, self.placement, simd=simd))

    def run(self, sets: object, *rest: object) -> dict:
        """The members of a result that the model gives; all but `faults` are of the run without them."""
        asked = self.options.with_noise(model_of(self.noise))
        found = _packet.simulate(sets, self.job, self.placement, asked, *rest)
        if self.options.links_over_time:
            self.maps.append(over_time.of_links(self.job.machine, found.link_utilisation, found.bin_seconds))
        extra = {}
        if self.noise is not None:
            without = _packet.simulate(sets, self.job, self.placement, self.options, *rest)
            extra |= members_of(self.noise, found.seconds, without.seconds)
        if self.dying is not None:
            times = self.dying.times(sets.ranks, found.seconds)
            dead = _packet.simulate(sets, self.job, self.placement, asked.with_deaths(times), *rest)
            extra["faults"] = faults.about(dead.aftermath, self.dying, times)
        return {
            "model": "packet",
            "seconds": found.seconds,
            "last_rank": found.last_rank,
            "operations": found.operations,
            "messages": found.messages,
            **traffic(found, self.job, self.options),
            **({"link_bytes": list(found.link_bytes)} if self.links else {}),
            "limiting": "",
            "accuracy": "",
            **extra,
        }

    def of_programs(self, those: programs.Programs) -> dict:
        with programs.unchanged(those.sets):
            result = self.run(those.sets)
            return {**those.result(), **result, "accuracy": self.doubt(those.sets, result)}

    def of_goal(self, name: str, graphs: _goal.Graphs) -> dict:
        return {"programs": name, "ranks": graphs.ranks, **self.run(graphs)}


def traffic(found: _packet.Outcome, job: _machine.Job, asked: _packet.Options) -> dict:
    """What the packets met, and how they were made."""
    use = {of.name: {"links": of.links, "shares": list(of.utilisation)} for of in found.classes}
    return {
        "packets": found.packets,
        "packet_hops": found.packet_hops,
        "links": found.links,
        "links_waiting_share": found.links_waiting_share,
        "packets_waiting_share": found.packets_waiting_share,
        "utilisation": {"bin_seconds": found.bin_seconds, "by_class": use},
        "routing": asked.routing,
        "packet_bytes": asked.packet_bytes,
        "buffer_packets": _packet.buffer_packets_of(job, asked),
        "seed": asked.seed,
    }


@dataclass
class Asked(simulation.Asked):
    """A collective in this model."""

    packets: _packet.Options = field(default_factory=_packet.Options)
    dying: faults.Dying | None = None
    noise: Noise | None = None
    maps: list[over_time.Map] = field(default_factory=list)  # of the cases, if they were asked for

    def predict(self, case: simulation.Case) -> dict:
        collective, _, schedule = simulation.built(self, case)
        bounds = json.loads(_simulate.simulate_bound(collective, self.job, self.placement, not self.simd).to_json())
        setting = Setting(self.job, self.placement, self.packets, self.links, self.dying, self.noise, self.maps)
        started = time.perf_counter()
        members = setting.run(schedule, not self.simd)
        members["accuracy"] = setting.doubt(schedule, members, simd=self.simd)
        wall = time.perf_counter() - started
        members |= {"bound_seconds": bounds["bound_seconds"], "bounds": bounds["bounds"], "wall_seconds": wall}
        return simulation.result_of(self, case, collective, schedule, members)
