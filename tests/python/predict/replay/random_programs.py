"""Recorded programs drawn at random: all that a recorder tells of one that runs to its end."""

from __future__ import annotations

import random

from kumihimo._trace import Kind

from .conftest import DUPLICATE, WORLD, Rank

SPLIT, UNKNOWN = 3, 4  # of ranks of the same parity, in reverse order; of all, whose order nobody knows
REGIONS = ["solve", "MPI_Send", "exchange"]


class Program:
    """Ranks in lockstep: what all of them do in one step ends in it, so that nothing waits for ever."""

    def __init__(self, seed: int) -> None:
        self.chance = chance = random.Random(seed)
        self.size = chance.choice((1, 2, 3, 4, 6))
        self.ranks = [Rank() for _ in range(self.size)]
        self.requests = [0] * self.size
        for number, rank in enumerate(self.ranks):
            members = self.of_parity(number)
            split = {"name": "MPI_Comm_split", "site": 0, "size": len(members), "leader": members[0], "inter": False}
            again = {"name": "MPI_Comm_create", "site": 1, "size": self.size, "leader": 0, "inter": False}
            rank.communicators = [split | {"rank": members.index(number)}, again | {"rank": None}]
            rank.regions = chance.sample(REGIONS, len(REGIONS))  # each rank numbers them for itself
            if seed % 2:
                rank.call("MPI_Init").compute(chance.randrange(50))
        for _ in range(chance.randrange(40)):
            chance.choice((self.silent, self.message, self.exchange, self.reduce, self.blocks, self.parts))()
            self.compute()

    def of_parity(self, rank: int) -> list[int]:
        return [other for other in reversed(range(self.size)) if other % 2 == rank % 2]

    def compute(self) -> None:
        for rank in self.ranks:
            for _ in range(self.chance.randrange(3)):
                rank.compute(self.chance.choice((0, 1, 7, 1000, 123_456)))
                if self.chance.randrange(3) == 0:  # of some that end, none has begun
                    rank.region(self.chance.randrange(2) == 0, self.chance.randrange(len(REGIONS)))
            if self.chance.randrange(3) == 0:
                rank.recorded(self.chance.choice((1, 50, 5000)))
            if self.chance.randrange(3) == 0:
                rank.had_processor(self.chance.choice((1, 90, 100_000)))

    def silent(self) -> None:
        name = self.chance.choice(("MPI_Test", "MPI_Initialized", "MPI_Neighbor_allgather"))
        for rank in self.ranks:
            told = [(Kind.collective, 8, -1, -1, 0)] if name == "MPI_Neighbor_allgather" else []
            rank.call(name, *told)

    def request(self, rank: int) -> int:
        self.requests[rank] += 1
        return self.requests[rank]

    def message(self) -> None:
        sender, receiver = (self.chance.randrange(self.size) for _ in range(2))
        size, tag, on = self.chance.randrange(2000), self.chance.randrange(3), self.between(sender, receiver)
        started, got = self.request(sender), self.request(receiver)
        kind = self.chance.choice(("MPI_Send", "MPI_Bsend", "MPI_Isend"))
        receives = self.ranks[receiver]
        early = sender == receiver or self.chance.randrange(2)
        if early:
            receives.call("MPI_Irecv", (Kind.start_receive, 0, -1, -1, got), on=on)
        if kind == "MPI_Isend":
            self.ranks[sender].call(kind, (Kind.start_send, size, receiver, tag, started), on=on).compute(5)
            self.ranks[sender].call("MPI_Wait", (Kind.end_send, size, receiver, tag, started), on=on)
        else:
            self.ranks[sender].call(kind, (Kind.send, size, receiver, tag, 0), on=on)
        if early:
            receives.compute(9).call("MPI_Wait", (Kind.end_receive, size, sender, tag, got), on=on)
        else:
            receives.call("MPI_Recv", (Kind.receive, size, sender, tag, 0), on=on)

    def between(self, one: int, other: int) -> int:
        known = (WORLD, DUPLICATE, UNKNOWN, SPLIT) if one % 2 == other % 2 else (WORLD, DUPLICATE, UNKNOWN)
        return self.chance.choice(known)

    def exchange(self) -> None:
        """As a halo exchange does it: all start, then wait in one call."""
        tag, on = self.chance.randrange(3), self.chance.choice((WORLD, DUPLICATE))
        for number, rank in enumerate(self.ranks):
            after, before = (number + 1) % self.size, (number - 1) % self.size
            got, sent = self.request(number), self.request(number)
            rank.call("MPI_Irecv", (Kind.start_receive, 0, -1, -1, got), on=on)
            rank.call("MPI_Isend", (Kind.start_send, 64, after, tag, sent), on=on).compute(11 * number)
            rank.call(
                "MPI_Wait", (Kind.end_send, 64, after, tag, sent), (Kind.end_receive, 64, before, tag, got), on=on
            )

    def reduce(self) -> None:
        on, size = self.chance.choice((WORLD, DUPLICATE, SPLIT, UNKNOWN)), self.chance.choice((0, 8, 4096))
        for rank in self.ranks:
            rank.call("MPI_Allreduce", (Kind.collective, size, -1, -1, 0), on=on)

    def blocks(self) -> None:
        """With a root, or of unequal lengths."""
        on = self.chance.choice((WORLD, DUPLICATE, SPLIT))
        name, length = self.chance.choice(("MPI_Bcast", "MPI_Scatter", "MPI_Allgatherv")), self.chance.choice((8, 24))
        for number, rank in enumerate(self.ranks):
            members = self.of_parity(number) if on == SPLIT else list(range(self.size))
            own, root = members.index(number), len(members) - 1
            size = length * (len(members) if name == "MPI_Scatter" and own == root else 1)
            size += 8 * own if name == "MPI_Allgatherv" and length == 24 else 0
            rank.call(name, (Kind.collective, size, -1 if name == "MPI_Allgatherv" else root, -1, 0), on=on)

    def parts(self) -> None:
        for number, rank in enumerate(self.ranks):
            parts = [self.chance.choice((0, 8, 40)) for _ in range(self.size)]
            request = self.request(number)
            told = [(kind, sum(parts), -1, -1, request) for kind in (Kind.start_collective, Kind.end_collective)]
            rank.call("MPI_Ialltoallv", told[0], parts=parts).compute(3)
            rank.call("MPI_Ialltoallv", told[1], parts=parts)
