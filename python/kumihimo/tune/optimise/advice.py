"""Advice that would help a program beside other algorithms, from its profile."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from kumihimo.processes import allocation
from kumihimo.run.profile.collectives import Collectives
from kumihimo.text.quantities import share_text

WORTH = 0.05  # of the program's time
SHORT = 1024  # bytes: a call of fewer costs its latency alone


def of(profile: Collectives, path: Path) -> list[str]:
    """`path` of the profile."""
    found = []
    waiting = profile.share(profile.waiting_seconds)
    if waiting >= WORTH:
        most = profile.late[0]
        whose = f", first of rank {most.rank} before {most.call} at {most.place}" if most.is_one_rank else ""
        found.append(f"balance the load{whose}: ranks wait for late ones {share_text(waiting)} of the time")
    short = profile.share(sum(use.transferring_seconds for use in profile.uses if use.largest < SHORT))
    if short >= WORTH:
        found.append(f"fewer and longer calls: {share_text(short)} of the time is in calls of less than {SHORT} bytes")
    long = profile.share(sum(u.transferring_seconds for u in profile.uses if u.largest >= SHORT and u.blocking))
    if long >= WORTH:
        found.append(f"overlap with computation by non-blocking calls: {share_text(long)} of the time is transfer")
    if profile.hosts > 1 and profile.message_bytes:  # else `place` has nothing to go by
        known = any(os.environ.get(name) for name in (allocation.SHAPE, allocation.MACHINE))
        line = shlex.join(["kumihimo", "place", "--traffic", str(path)]) + ("" if known else " --shape SHAPE")
        found.append(f"placement: the ranks are on {profile.hosts} nodes; `{line}` chooses the node of each")
    if profile.share(profile.split_seconds) < WORTH:
        rest = share_text(1 - profile.share(profile.split_seconds))
        found.append(f"look at the computation: {rest} of the time is not in collectives")
    return found
