"""Collectives of the K computer. The figures of trinaryx3 are those of the demo (demo/experiment/published.py)."""

from __future__ import annotations

from functools import cache

from kumihimo.app.published_figures.figure import PublishedFigure
from kumihimo.app.published_figures.kernel_rates import KernelRates, collective_result, collective_seconds, job_on
from kumihimo.collectives.arguments import CollectiveArguments, variants
from kumihimo.demo.experiment import published, sweep
from kumihimo.demo.experiment.cases import WantedPrediction, predict_all
from kumihimo.predict import packet, simulation
from kumihimo.predict.prediction import Setting
from kumihimo.text.json_types import JsonObject

K, GIB = "k-computer", 2**30
BCAST_SHAPE = "48x36x32"  # 55,296 nodes
# Those of Open MPI, from which K's library was made: coll/tuned of its version 1.4.
BLIND_ALLREDUCE = ("recursive_doubling", "ring", "linear", "binomial")
BLIND_BCAST = ("linear", "binomial", "binary", "chain")
ALLTOALL_BLOCK = 256 * 2**10
PACKETS = 8192  # bytes
MYNAVI = "K computer overview, Mynavi news 2012-02-21"


@cache
def parts() -> dict[tuple[str, bool], JsonObject]:
    """Bcast, reduce and allreduce of 1 GiB by trinaryx3, with SIMD and without."""
    found = sweep.parts(job_on(K, published.PAPER_SHAPE).machine, lambda *_: None)
    return {(each["collective"], each["simd"]): each for each in found}


@cache
def blind_allreduces() -> dict[str, float]:
    machine = job_on(K, published.PAPER_SHAPE).machine
    wanted = [WantedPrediction(machine, name, GIB) for name in BLIND_ALLREDUCE]
    return {each["algorithm"]: each["seconds"] for each in predict_all("blind", wanted)}


def bandwidth(_: KernelRates) -> float:
    return 2 * GIB / parts()["allreduce", True]["seconds"]


def ratio_to_blind(_: KernelRates) -> float:
    return min(blind_allreduces().values()) / parts()["allreduce", True]["seconds"]


def of_part(collective: str, member: str):
    return lambda _: parts()[collective, True][member]


def without_simd(collective: str):
    return lambda _: parts()[collective, False]["seconds"] / parts()[collective, True]["seconds"]


# By the keys of the demo: the unit, and what is predicted.
OF_DEMO = {
    "bytes_per_second": ("bytes/s", bandwidth),
    "ratio_to_blind": ("ratio", ratio_to_blind),
    "compute_share_reduce": ("share", of_part("reduce", "compute_share")),
    "compute_share_allreduce": ("share", of_part("allreduce", "compute_share")),
    "scalar_ratio_reduce": ("ratio", without_simd("reduce")),
    "scalar_ratio_allreduce": ("ratio", without_simd("allreduce")),
    "seconds_reduce": ("s", of_part("reduce", "seconds")),
    "seconds_bcast": ("s", of_part("bcast", "seconds")),
}
INPUTS = ("seconds_bcast",)  # to which two assumed costs were set
FITTED = "costs of a message and a relay, to a bcast of 98 ms"
REASONS = {
    "ratio_to_blind": "The ring is predicted faster than was measured at most, 1.71 for 1.4 GB/s, and trinaryx3 "
    "a little slower. What K's ring lost is not in the sources."
}
ASSUMED = {"ratio_to_blind": "the algorithms of Open MPI 1.4: " + ", ".join(BLIND_ALLREDUCE)}


def of_demo(key: str) -> PublishedFigure:
    unit, predict = OF_DEMO[key]
    row = published.FIGURES[key]
    return PublishedFigure(
        f"k-{key.replace('_', '-')}",
        row["what"],
        unit,
        row["source"],
        row["value"],
        predict,
        ASSUMED.get(key, ""),
        REASONS.get(key, ""),
        is_input=key in INPUTS,
        fitted="" if key in INPUTS else FITTED,
    )


def ring_bandwidth(_: KernelRates) -> float:
    return 2 * GIB / blind_allreduces()["ring"]


def bcast_ratio(_: KernelRates) -> float:
    """Against the best of Open MPI's."""
    job = job_on(K, BCAST_SHAPE)
    best = min(collective_seconds(job, "bcast", name, GIB) for name in BLIND_BCAST)
    return best / collective_seconds(job, "bcast", published.SUBJECT, GIB)


def paced_share(_: KernelRates) -> float:
    found = collective_result(job_on(K, published.PAPER_SHAPE), "alltoall", "paced", ALLTOALL_BLOCK)
    return found["bound_seconds"] / found["seconds"]


def links_waited(_: KernelRates) -> float:
    options = {"packets": packet.options(None, PACKETS, None, 1)}
    setting = Setting("packet", job_on(K, published.PAPER_SHAPE), options=options)
    asked = simulation.CollectiveQuestion(setting, CollectiveArguments("allreduce"), published.SUBJECT, {})
    case = simulation.Case(variants("allreduce", published.SUBJECT)[0], 2**20)
    return simulation.predict(asked, case)["links_waiting_share"]


def barrier_ratio(_: KernelRates) -> float:
    job = job_on(K, published.FULL_SHAPE)
    software, engine = (collective_seconds(job, "barrier", name, 0) for name in ("dissemination", "offloaded"))
    return software / engine


FIGURES = (
    *map(of_demo, OF_DEMO),
    PublishedFigure(
        "k-ring",
        "bandwidth of allreduce by a ring, at most, 9,216 nodes",
        "bytes/s",
        published.SOURCE,
        1.4e9,
        ring_bandwidth,
        "1 GiB",
        fitted=FITTED,
    ),
    PublishedFigure(
        "k-bcast-ratio",
        "bcast by trinary trees against Open MPI's, at most, 55,296 nodes",
        "ratio",
        "Adachi et al., CSRD 28, 2013: 4 to 11 times",
        11.0,
        bcast_ratio,
        f"1 GiB; the best of {', '.join(BLIND_BCAST)}",
    ),
    PublishedFigure(
        "k-alltoall-paced",
        "share of the theoretical bound that the new alltoall of long messages reaches, more than",
        "share",
        MYNAVI,
        0.9,
        paced_share,
        "9,216 nodes as 48x6x32, blocks of 256 KiB",
        "The shape of that job is not published. On shapes whose longest axis is less long the model comes closer to "
        "the bound.",
    ),
    PublishedFigure(
        "k-links-waited",
        "links on which a packet waited, allreduce of 1 MiB by trinaryx3, 9,216 nodes",
        "share",
        published.SOURCE,
        0.0089,
        links_waited,
        "packets of 8 KiB",
        "By its proof the algorithm never puts two messages on a link. What waited on K is not in the sources: "
        "messages of the system, or ranks that begin late.",
        fitted=FITTED,
    ),
    PublishedFigure(
        "k-barrier-engine",
        "barrier by the engine against software, at most",
        "ratio",
        "K computer overview talks 2012",
        7.8,
        barrier_ratio,
        is_input=True,
    ),
    PublishedFigure(
        "k-alltoall-others",
        "share of the bound of the second and of the old alltoall: 67 %, 50 to 60 %",
        "share",
        MYNAVI,
        reason="What these algorithms send in which order is not published.",
    ),
)
