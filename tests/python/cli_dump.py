"""Executes an expanded schedule as the head of src/programs/export/json.hpp describes it, sharing no code with the
native side: values are the sets of contributions that an element holds, each by its rank and place in the input, so
that a missing, doubled or misplaced one shows."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from itertools import zip_longest


def run(dump: dict) -> dict[int, list[Counter]]:
    """The output of every rank: one multiset of contributions an element. Raises AssertionError where a message
    finds no receive, or lanes wait for each other."""
    machine = _Machine(dump)
    while machine.advance():
        pass
    assert all(lane.done for lanes in machine.lanes for lane in lanes), "lanes wait for each other"
    assert not any(machine.mail.values()), "a message was not received"
    return {rank: machine.memory[rank]["output"] for rank in range(dump["ranks"])}


def wanted(dump: dict, rank: int) -> list[Counter]:
    """What the collective leaves on a rank; nothing where it leaves none."""
    kind, counts, root, everyone = dump["collective"], dump["count"], dump["root"], range(dump["ranks"])

    def summed(ranks: range, first: int, count: int) -> list[Counter]:
        return [Counter((q, first + i) for q in ranks) for i in range(count)]

    def gathered(count_of, first_of) -> list[Counter]:
        return [one for q in everyone for one in summed(range(q, q + 1), first_of(q), count_of(q))]

    if kind in ("allgather", "gather"):
        return gathered(lambda q: counts[q], lambda q: 0) if kind == "allgather" or rank == root else []
    if kind.startswith("neighbor_"):
        return of_neighbours(dump, rank)
    if kind == "alltoall":
        return gathered(lambda q: counts[q][rank], lambda q: sum(counts[q][:rank]))
    if kind in ("scatter", "reduce_scatter"):
        ranks = everyone if kind == "reduce_scatter" else range(root, root + 1)
        return summed(ranks, sum(counts[:rank]), counts[rank])
    ranks = {
        "bcast": range(root, root + 1),
        "reduce": everyone if rank == root else range(0),
        "allreduce": everyone,
        "scan": range(rank + 1),
        "exscan": range(rank),
        "barrier": range(0),
    }[kind]
    return summed(ranks, 0, counts) if ranks else []


def of_neighbours(dump: dict, rank: int) -> list[Counter | None]:
    """Each source's block for this edge, of neighbor_allgather its only one; what nobody sends is never written."""
    output = []
    for source, block, count in dump["sources"][rank]:
        first = sum(dump["count"][source][:block]) if dump["collective"] == "neighbor_alltoall" else 0
        output += [Counter({(source, first + i): 1}) if source >= 0 else None for i in range(count)]
    return output


def input_length(dump: dict, rank: int) -> int:
    kind, counts = dump["collective"], dump["count"]
    if kind in ("allgather", "gather", "neighbor_allgather"):
        return counts[rank]
    if kind in ("alltoall", "neighbor_alltoall"):
        return sum(counts[rank])
    if kind in ("scatter", "reduce_scatter"):
        return sum(counts) if kind == "reduce_scatter" or rank == dump["root"] else 0
    return 0 if kind == "barrier" or (kind == "bcast" and rank != dump["root"]) else counts


def rounds_of(items: list[dict]) -> list[list[dict]]:
    """The steps of each round in program order, one iteration of every loop after another; of what starts together the
    n-th rounds of all as one."""
    rounds = []
    for item in items:
        if "iterations" in item:
            rounds += [r for iteration in item["iterations"] for r in rounds_of(iteration)]
        elif "together" in item:
            beside = zip_longest(*map(rounds_of, item["together"]), fillvalue=[])
            rounds += [[step for steps in each for step in steps] for each in beside]
        else:
            rounds.append(item["steps"])
    return rounds


class _Lane:
    def __init__(self, rank: int, lane: dict) -> None:
        self.rank, self.id, self.after = rank, lane["lane"], lane["after"]
        self.rounds = [(s, r) for s, items in enumerate(lane["segments"]) for r in rounds_of(items)]
        self.segments = len(lane["segments"])
        self.at = 0
        self.received: set[int] = set()  # steps of the round at hand that are complete

    @property
    def done(self) -> bool:
        return self.at == len(self.rounds)

    def passed(self, segment: int) -> bool:
        return all(s > segment for s, _ in self.rounds[self.at :])


class _Machine:
    def __init__(self, dump: dict) -> None:
        self.lanes = [[_Lane(rank, lane) for lane in lanes] for rank, lanes in enumerate(dump["programs"])]
        self.mail: dict[tuple, deque] = defaultdict(deque)
        self.calls: dict[tuple, dict[int, list]] = defaultdict(dict)  # of the network's engine: what each rank gave
        self.memory = [self._buffers(dump, rank) for rank in range(dump["ranks"])]

    def _buffers(self, dump: dict, rank: int) -> dict[str, list]:
        """Input and output, which are one list where they are one memory; scratch grows as it is written."""
        bcast = dump["collective"] == "bcast"
        data = [Counter([(rank, i)]) for i in range(input_length(dump, rank))]
        length = dump["count"] if bcast else len(wanted(dump, rank))
        if bcast and not data:
            data = [None] * length
        at_root_alone = dump["collective"] == "reduce" and rank != dump["root"]
        same = bcast or (dump["in_place"] and not at_root_alone)
        return {"input": data, "output": data if same else [None] * length}

    def advance(self) -> bool:
        """One pass over all lanes; whether any step was made."""
        steps = [self._step(lane) for lanes in self.lanes for lane in lanes]
        return any(steps)

    def _step(self, lane: _Lane) -> bool:
        if lane.done:
            return False
        segment, steps = lane.rounds[lane.at]
        if not lane.received and not self._may_start(lane, segment):
            return False
        moved = [i for i, step in enumerate(steps) if i not in lane.received and self._perform(lane, segment, step)]
        lane.received.update(moved)
        if len(lane.received) == len(steps):
            lane.at, lane.received = lane.at + 1, set()
            return True
        return bool(moved)

    def _may_start(self, lane: _Lane, segment: int) -> bool:
        others = {other.id: other for other in self.lanes[lane.rank]}
        return all(
            others[i].passed(segment) if after["scope"] == "segment" else others[i].done
            for after in lane.after
            for i in after["lanes"]
            if i in others
        )

    def _perform(self, lane: _Lane, segment: int, step: dict) -> bool:
        kind, peer = step["kind"], step.get("peer")
        if kind == "offload":
            return self._offload(lane, step)
        if kind in ("send", "signal"):
            data = self._read(lane.rank, step["source"]) if kind == "send" else []
            if data or kind == "signal":
                self.mail[lane.rank, peer, lane.id, segment].append(data)
            return True
        arriving = None
        if kind in ("receive", "receive_reduce", "wait_signal"):
            length = sum(count for _, count in step["target"][1]) if "target" in step else None
            if length == 0:
                return True
            if not self.mail[peer, lane.rank, lane.id, segment]:
                return False
            arriving = self.mail[peer, lane.rank, lane.id, segment].popleft()
            assert length is None or len(arriving) == length, "lengths differ"
        if "target" in step:
            self._write(lane.rank, step["target"], self._result(lane.rank, step, arriving))
        return True

    def _offload(self, lane: _Lane, step: dict) -> bool:
        """The engine's call is over once all ranks that have the lane have come; without data it is a barrier."""
        came = self.calls[lane.id, lane.at]
        if lane.rank not in came:
            came[lane.rank] = self._read(lane.rank, step["source"]) if "source" in step else []
        having = [rank for rank, lanes in enumerate(self.lanes) if any(other.id == lane.id for other in lanes)]
        if set(came) != set(having):
            return False
        if "target" in step:
            all_of_them = [sum(one, Counter()) for one in zip(*(came[rank] for rank in having))]
            self._write(lane.rank, step["target"], all_of_them)
        return True

    def _result(self, rank: int, step: dict, arriving: list | None) -> list:
        if "left" not in step:
            return arriving if arriving is not None else self._read(rank, step["source"])
        sides = [arriving if step[s] == "arriving" else self._read(rank, step[s]) for s in ("left", "right")]
        return [a + b for a, b in zip(*sides)]

    def _read(self, rank: int, chunk: list) -> list:
        buffer = self.memory[rank].get(chunk[0], {})
        data = [buffer[i] for first, count in chunk[1] for i in range(first, first + count)]
        assert None not in data, "read before it was written"
        return data

    def _write(self, rank: int, chunk: list, data: list) -> None:
        buffer = self.memory[rank].setdefault(chunk[0], {})
        places = [i for first, count in chunk[1] for i in range(first, first + count)]
        for place, value in zip(places, data):
            buffer[place] = value
