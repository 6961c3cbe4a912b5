"""Who sends to a process: patterns by name, for any number of ranks, and traffic from files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kumihimo import _traffic
from kumihimo.predict.memory.designs import PROMOTED_AFTER, PatternOfRank
from kumihimo.text import files
from kumihimo.text.errors import did_you_mean, wrong_value

PEERS = {  # of a process, by ranks
    "all": lambda ranks: ranks - 1,
    "ring": lambda ranks: min(2, ranks - 1),
    "recursive_doubling": lambda ranks: (ranks - 1).bit_length(),
    "halo:6": lambda ranks: min(6, ranks - 1),
    "halo:26": lambda ranks: min(26, ranks - 1),
}


def by_name(name: str, ranks: int, messages: int) -> PatternOfRank:
    """`name`: one of PEERS, or a number of peers. `messages`: that each sends."""
    if name.isascii() and name.isdigit():
        peers = min(int(name), ranks - 1)
    elif name in PEERS:
        peers = PEERS[name](ranks)
    else:
        rule = f"--pattern must be one of {', '.join(PEERS)}, or a number of peers"
        raise wrong_value(rule, repr(name), did_you_mean(name, PEERS))
    return PatternOfRank(ranks, peers, peers if messages >= PROMOTED_AFTER else 0)


def of_file(path: Path) -> PatternOfRank:
    """Pattern of the rank to which most others send, from lines of sender, receiver, bytes and messages."""
    traffic = _traffic.parse_traffic(files.read_text(path, "the traffic"), str(path))
    peers: Counter[int] = Counter()
    busy: Counter[int] = Counter()
    for sender in range(traffic.ranks):
        receivers, _, messages = traffic.row(sender)
        for receiver, count in zip(receivers, messages):
            if receiver != sender:
                peers[receiver] += 1
                busy[receiver] += count >= PROMOTED_AFTER
    if not peers:
        raise wrong_value("--traffic must have messages between ranks", path)
    most = max(peers, key=lambda rank: (busy[rank], peers[rank]))
    return PatternOfRank(traffic.ranks, max(peers.values()), busy[most])
