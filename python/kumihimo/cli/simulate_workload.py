"""`kumihimo simulate workload:NAME`: a generated program, in the models that replay recorded ones."""

from __future__ import annotations

from kumihimo.cli import progress, replay
from kumihimo.cli.replay import ReplayOutputs
from kumihimo.cli.replay_models import ReplayRequest
from kumihimo.cli.simulate_request import Request
from kumihimo.collectives import arguments
from kumihimo.predict.replay import choices
from kumihimo.predict.replay.study import ReplayQuestion
from kumihimo.predict.workloads import catalogue
from kumihimo.text.errors import wrong_value


def run(name: str, request: Request, whole: bool) -> None:
    """On as many ranks as the nodes that the options name, or the workload's number. `whole`: the machine is that of
    the job."""
    asked = ReplayRequest(
        request.model, request.machine, request.shape, request.box, request.dead or [], request.routing,
        request.ranks_per_node, request.given, request.order, request.placement, request.loggops, request.noise,
        request.packet_bytes, request.buffer_packets, request.packet_seed, request.dies or [], request.slow or [],
        request.software, whole and request.ranks is None,
    )  # fmt: skip
    asked.check()
    call = catalogue.asked(name, request.ranks or asked.slots())
    wished = choices.Wished.read(algorithms_in(request.algorithm), None)
    trace = progress.run_interruptible(call.trace)
    question = ReplayQuestion(trace, trace.recording, asked.on(call.ranks), wished)
    wanted = ReplayOutputs(False, request.by_rank, request.page, request.timeline, None, request.as_json)
    replay.answer(question, name, wanted, {})


def algorithms_in(text: str) -> list[str]:
    """ "allreduce=ring,bcast=chain"; all: the usual ones."""
    if text == arguments.ALL:
        return []
    if "=" not in text:
        rule = "--algorithm of a workload must be COLLECTIVE=NAME"
        raise wrong_value(rule, f"'{text}'", "as in --algorithm allreduce=ring,alltoall=pairwise")
    return text.split(",")
