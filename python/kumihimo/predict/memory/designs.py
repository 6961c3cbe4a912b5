"""Bytes of a process for receiving from its peers, in the designs of channels.

A peer is a rank that sends to the process. A design of two modes has nothing for other ranks. The sizes are those of
src/run/fabric/channel_sizes.hpp, whose defaults are the K computer's. What a network's library takes for itself
is apart: an address and a connection for each peer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

ORDINARY_PER_RANK = 145 * 256 * 4  # 256 buffers of 145 bytes for each of 4 interfaces: 148,480 B
SMALL = 16 * 128
LARGE = 64 * 16_384
MOST_LARGE = 1024  # from a limit of 1 GiB
OUR_MOST_LARGE = 32
PROMOTED_AFTER = 15  # messages
POOL = 4096 * 128  # slots that small channels share
# Of libfabric 1.17 over TCP, measured: an entry of the address table, and a connection with its buffers.
ADDRESS, CONNECTION = 381, 19_000
# The network fabric (src/run/fabric): blocks of 64 B + 16 KiB, 64 receives for each of 2 engines, shared by all peers,
# and 64 for what it sends; and of each rank its address card, of each peer an entry beside its state.
SHARED_BLOCKS = 3 * 64 * (64 + 16_384)
CARD, ENTRY = 64, 350
# Of a peer in the tables of two_mode_channels.hpp and channel_memory.hpp, measured with 32 large channels.
STATE = 65


@dataclass(frozen=True)
class PatternOfRank:
    """Messages that the process with most peers receives."""

    ranks: int
    peers: int  # that send to it
    busy: int  # of these, the ones that send at least PROMOTED_AFTER messages


def ordinary(pattern: PatternOfRank) -> int:
    """Buffers for every other rank, contacted or not."""
    return ORDINARY_PER_RANK * (pattern.ranks - 1)


def two_modes(pattern: PatternOfRank) -> int:
    """As on K: the first busy peers get a large channel; it comes beside the small one."""
    return SMALL * pattern.peers + LARGE * min(pattern.busy, MOST_LARGE)


def few_large(pattern: PatternOfRank) -> int:
    """Small channels as on K, at most 32 large ones, which replace the small ones."""
    large = min(pattern.busy, OUR_MOST_LARGE)
    return SMALL * (pattern.peers - large) + LARGE * large


def pooled(pattern: PatternOfRank) -> int:
    """One pool of slots for all small channels, and at most 32 large ones."""
    return (POOL if pattern.peers else 0) + LARGE * min(pattern.busy, OUR_MOST_LARGE)


def fabric(pattern: PatternOfRank) -> int:
    """The network fabric by default: two modes with K's sizes, where a large channel replaces the small one. Messages
    come to shared blocks first, and long ones are put into the program's own buffers."""
    large = min(pattern.busy, MOST_LARGE)
    channels = SMALL * (pattern.peers - large) + LARGE * large
    return SHARED_BLOCKS + CARD * pattern.ranks + (ENTRY + STATE) * pattern.peers + channels


def state(pattern: PatternOfRank) -> int:
    """Tables of the designs with two modes, beside their slots."""
    return STATE * pattern.peers


def library(pattern: PatternOfRank) -> int:
    """Memory of libfabric over TCP."""
    return (ADDRESS + CONNECTION) * pattern.peers


DESIGNS: dict[str, Callable[[PatternOfRank], int]] = {
    "ordinary": ordinary,
    "two modes": two_modes,
    "32 large": few_large,
    "pooled": pooled,
    "fabric": fabric,
}

PUBLISHED = (
    ("82,944 ranks, ordinary design (K)", "12.3 GB"),
    ("82,944 small channels (K)", "162 MiB"),
    ("1,024 large channels (K)", "1 GiB"),
    ("two modes at full scale (K), as measured there", "about 400 MB"),
    ("MPICH ch4:ofi on Aurora, a peer and process", "13.4 kB"),
)
