"""Prints what the links of a testbed have carried. Run in a testbed, with a process of each vertex as arguments.

Imports nothing of the package: one process enters one vertex after another, and `nsenter` with a new process for each
would take seconds on a large testbed. Bytes and packets are those of the interfaces, which nothing resets. An interface
does not count what its queue has dropped: the queue does.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator

NEWNET = 0x40000000  # of setns(2)
GET_QUEUES, REQUEST_DUMP = 38, 0x301  # RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP
LAST = 2, 3  # NLMSG_ERROR, NLMSG_DONE: both begin with 0, or the number of an error below it
HEAD, QUEUE = struct.Struct("=IHHII"), struct.Struct("=BxxxiIII")  # nlmsghdr, tcmsg
ROOT = 0xFFFFFFFF  # the parent of an interface's first queue, which counts the drops of those below it
STATISTICS, OF_QUEUE = 7, 3  # TCA_STATS2, and in it TCA_STATS_QUEUE: length, backlog, drops


def attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, data[at + 4 : at + length]
        at += max(4, length + 3 & ~3)


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + HEAD.size <= len(data):
        length, kind, *_ = HEAD.unpack_from(data, at)
        yield kind, data[at + HEAD.size : at + length]
        at += max(HEAD.size, length + 3 & ~3)


def drops() -> dict[int, int]:
    """Packets that the queues of each interface have dropped, by its index."""
    found: dict[int, int] = {}
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.send(HEAD.pack(HEAD.size + QUEUE.size, GET_QUEUES, REQUEST_DUMP, 1, 0) + QUEUE.pack(0, 0, 0, 0, 0))
        while True:
            for kind, message in messages(kernel.recv(1 << 20)):
                if kind in LAST:
                    if number := -struct.unpack_from("=i", message)[0]:
                        sys.exit(f"the kernel does not list the queues of links: {os.strerror(number)}")
                    return found
                _, interface, _, parent, _ = QUEUE.unpack_from(message)
                statistics = dict(attributes(message[QUEUE.size :])).get(STATISTICS)
                if parent == ROOT and statistics is not None:
                    found[interface] = struct.unpack_from("=III", dict(attributes(statistics))[OF_QUEUE])[2]


def main() -> None:
    libc, links = ctypes.CDLL(None, use_errno=True), {}
    for pid in sys.argv[1:]:
        with open(f"/proc/{pid}/ns/net") as namespace:  # noqa: PTH123
            if libc.setns(namespace.fileno(), NEWNET):
                sys.exit(f"node of process {pid}: {ctypes.get_errno()}")
        dropped = drops()
        with open("/proc/thread-self/net/dev") as devices:  # noqa: PTH123
            rows = [line.replace(":", " ").split() for line in devices]
        for name, *counts in rows:
            if name[0] == "l" and name[1:].isdigit():
                lost = int(counts[11]) + dropped.get(socket.if_nametoindex(name), 0)
                links[name[1:]] = [int(counts[8]), int(counts[9]), lost]
    print(json.dumps({"seconds": time.monotonic(), "links": links}))


if __name__ == "__main__":
    main()
