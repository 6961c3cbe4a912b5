"""How far predictions of loggp and packet may be off: what they leave out, judged by the model flow.

flow says the exact time of small programs, and a range round it of larger ones (ADR 30). A prediction that is more than
20 % away from that time or range has a sentence in its `accuracy`, in the form of flow's.
"""

from __future__ import annotations

from math import ceil

from kumihimo import _machine, _placement, _simulate, programs, quantities
from kumihimo.errors import KumihimoError

SMALL = 0.2
LOGGP_SHORT = "LogGOPS knows no links, engines or memories that messages share"
LOGGP_LONG = "LogGOPS sends and takes the messages of a rank one after another, which share its engines"
PACKET = (
    "packets wait for buffers and arbiters; packet leaves out eager_peers, lane_bandwidth, put_setup, input_copy_rate "
    "and what ranks of a node share"
)


def of_loggp(seconds: float, flow: _simulate.Prediction | None) -> str:
    return _against(seconds, flow, LOGGP_SHORT, LOGGP_LONG)


def of_packet(seconds: float, flow: _simulate.Prediction | None) -> str:
    return _against(seconds, flow, PACKET, PACKET)


def by_flow(
    sets: object, job: _machine.Job, placement: _placement.Placement | None, *, simd: bool = True
) -> _simulate.Prediction | None:
    """What flow says of the same programs; None: it refuses them."""
    try:
        if isinstance(sets, programs.SETS):
            return _simulate.simulate(sets, job, placement, "flow")
        return _simulate.simulate(sets, job, placement, "flow", not simd)
    except KumihimoError:  # also programs that deadlock in its way of taking turns alone
        return None


def _against(seconds: float, flow: _simulate.Prediction | None, short: str, long: str) -> str:
    if flow is None or flow.seconds <= 0:
        return ""
    may_be_long, may_be_short = (flow.too_long, flow.too_short) if flow.accuracy else (0.0, 0.0)
    too_long = max(0.0, seconds * (1 + may_be_long) / flow.seconds - 1)
    too_short = max(0.0, 1 - seconds * (1 - may_be_short) / flow.seconds)
    if max(too_long, too_short) <= SMALL:
        return ""
    why = [long if seconds > flow.seconds else short] if abs(seconds / flow.seconds - 1) > SMALL else []
    why += [f"flow says {quantities.seconds_text(flow.seconds)}"]
    why += [f"which is in doubt itself: {flow.accuracy.rpartition(': ')[0]}"] if flow.accuracy else []
    longest = f"{ceil(1 + too_long)} times the exact time" if too_long > 1 else f"{ceil(100 * too_long)} % too long"
    return f"{'; '.join(why)}: up to {longest}, up to {ceil(100 * too_short)} % too short"
