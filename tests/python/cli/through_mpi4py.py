"""A program on mpi4py as its users write them: collectives of every kind, with what an interposer takes over and what
it must hand on, each result compared with what MPI says. Rank 0 ends with "all right"; a wrong result ends the job.

mpi4py begins MPI by MPI_Init_thread and makes its calls by the forms with large counts (MPI_X_c) where there are any.
"""

from array import array
from functools import reduce

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, ranks = world.rank, world.size
everyone = range(ranks)
COUNT = 1000
DOUBLE = MPI.DOUBLE


def expect(found, expected, what):
    if found != expected:
        print(f"rank {rank}: {what}: expected {short(expected)}, found {short(found)}", flush=True)
        world.Abort(1)


def short(value):
    text = str(value)
    return text if len(text) < 200 else f"{text[:200]} ..."


def numbers(of, count=COUNT):
    """Whole numbers, whose sums have one value in any order."""
    return array("d", (of * 10.0 + i for i in range(count)))


def zeros(count=COUNT):
    return array("d", bytes(8 * count))


def added(count=COUNT, upto=ranks):
    return array("d", (sum(values) for values in zip(*(numbers(r, count) for r in range(upto)))))


def behind_each_other(parts):
    return array("d", (value for part in parts for value in part))


def rooted():
    for root in everyone:
        data = numbers(root) if rank == root else zeros()
        world.Bcast(data, root)
        expect(data, numbers(root), "Bcast")
        total = zeros()
        world.Reduce(numbers(rank), total, MPI.SUM, root)
        expect(total, added() if rank == root else zeros(), "Reduce")
        all_of, block = zeros(COUNT * ranks), zeros()
        world.Gather(numbers(rank), all_of if rank == root else None, root)
        world.Scatter(all_of if rank == root else None, block, root)
        expect(block, numbers(rank), "Scatter of what Gather has brought")


def of_all():
    total = zeros()
    world.Allreduce(numbers(rank), total)  # the call whose place the recorder tells
    expect(total, added(), "Allreduce")
    largest = array("i", [0])
    world.Allreduce(array("i", [rank]), largest, MPI.MAX)
    expect(largest[0], ranks - 1, "Allreduce of MAX")
    world.Scan(numbers(rank), total)
    expect(total, added(upto=rank + 1), "Scan")
    world.Exscan(numbers(rank), total)
    if rank > 0:
        expect(total, added(upto=rank), "Exscan")
    all_of = zeros(COUNT * ranks)
    world.Allgather(numbers(rank), all_of)
    expect(all_of, behind_each_other(numbers(r) for r in everyone), "Allgather")
    counts = [r + 1 for r in everyone]
    uneven = zeros(sum(counts))
    world.Allgatherv(numbers(rank, rank + 1), [uneven, counts])
    expect(uneven, behind_each_other(numbers(r, r + 1) for r in everyone), "Allgatherv")
    exchanged = zeros(COUNT * ranks)
    world.Alltoall(behind_each_other(numbers(rank * 100 + r) for r in everyone), exchanged)
    expect(exchanged, behind_each_other(numbers(r * 100 + rank) for r in everyone), "Alltoall")
    block = zeros()
    world.Reduce_scatter_block(numbers(rank, COUNT * ranks), block)
    expect(block, added(COUNT * ranks)[COUNT * rank : COUNT * (rank + 1)], "Reduce_scatter_block")
    part = zeros(rank + 1)
    world.Reduce_scatter(numbers(rank, sum(counts)), part, counts)
    expect(part, added(sum(counts))[sum(counts[:rank]) : sum(counts[: rank + 1])], "Reduce_scatter")
    world.Barrier()


def in_place():
    data = numbers(rank)
    world.Allreduce(MPI.IN_PLACE, data)
    expect(data, added(), "Allreduce in place")
    data = numbers(rank)
    if rank == 0:
        world.Reduce(MPI.IN_PLACE, data)
        expect(data, added(), "Reduce in place at its root")
    else:
        world.Reduce(data, None)
    all_of = zeros(COUNT * ranks)
    all_of[COUNT * rank : COUNT * (rank + 1)] = numbers(rank)
    world.Allgather(MPI.IN_PLACE, all_of)
    expect(all_of, behind_each_other(numbers(r) for r in everyone), "Allgather in place")


def derived():
    """Every second number at the root, one behind the other elsewhere; an operation for which the order counts."""
    every_second = DOUBLE.Create_vector(COUNT, 1, 2).Commit()
    if rank == 0:
        world.Bcast([numbers(0, 2 * COUNT), 1, every_second])
    else:
        data = zeros()
        world.Bcast(data)
        expect(data, numbers(0, 2 * COUNT)[::2], "Bcast of every second number")
    every_second.Free()
    pairs = DOUBLE.Create_contiguous(2).Commit()
    compose = MPI.Op.Create(composed, commute=False)
    result = zeros(2)
    world.Allreduce([array("d", [rank + 2.0, 1.0]), 1, pairs], [result, 1, pairs], compose)
    expect(tuple(result), reduce(after, ((r + 2.0, 1.0) for r in everyone)), "Allreduce by an operation of our own")
    compose.Free()
    pairs.Free()


def after(first, second):
    """x -> a x + b, and then another one."""
    return first[0] * second[0], first[1] * second[0] + second[1]


def composed(first, second, _type):
    left, right = memoryview(first).cast("d"), memoryview(second).cast("d")
    right[0], right[1] = after(left, right)


def nonblocking():
    """Several at once, with messages between them; a rank waits for the last one first."""
    totals, data = [zeros() for _ in range(3)], numbers(7) if rank == 0 else zeros()
    mine = numbers(rank)
    requests = [world.Iallreduce(mine, total) for total in totals]
    requests += [world.Ibcast(data), world.Ibarrier()]
    arrived = zeros()
    message = world.Irecv(arrived, (rank - 1) % ranks)
    world.Send(mine, (rank + 1) % ranks)
    while not requests[-1].Test():
        pass
    MPI.Request.Waitall([message, *requests])
    expect(arrived, numbers((rank - 1) % ranks), "Irecv")
    expect(data, numbers(7), "Ibcast")
    for total in totals:
        expect(total, added(), "Iallreduce")


def communicators():
    """A part of all ranks, in another order; a rank alone; two groups, whose calls are the library's."""
    backwards = world.Split(0, -rank)
    data = numbers(rank) if backwards.rank == 0 else zeros()
    backwards.Bcast(data)
    expect(data, numbers(ranks - 1), "Bcast of the last rank")
    backwards.Free()
    alone = zeros()
    MPI.COMM_SELF.Allreduce(numbers(rank), alone)
    expect(alone, numbers(rank), "Allreduce of a rank alone")
    if ranks > 1:
        mine = world.Split(rank % 2, rank)
        between = mine.Create_intercomm(0, world, 1 - rank % 2)
        theirs = array("d", [0.0])
        between.Allreduce(array("d", [rank + 1.0]), theirs)
        expect(theirs[0], sum(r + 1.0 for r in everyone if r % 2 != rank % 2), "Allreduce between two groups")
        between.Free()
        mine.Free()


def objects():
    """Whatever Python can pickle: its length goes first, then its bytes."""
    expect(world.bcast({"from": rank, "text": "x" * 5000}), {"from": 0, "text": "x" * 5000}, "bcast")
    expect(world.allreduce([rank]), list(everyone), "allreduce of lists")
    expect(world.gather("y" * rank), ["y" * r for r in everyone] if rank == 0 else None, "gather")


def corners():
    """No elements; a root that there is not, after which the program goes on."""
    world.Allreduce(zeros(0), zeros(0))
    try:
        world.Bcast(zeros(), ranks)
        expect("none", "an error", "Bcast from a rank that there is not")
    except MPI.Exception as error:
        expect(error.Get_error_class(), MPI.ERR_ROOT, "its error")
    world.Barrier()


expect(MPI.Is_initialized(), True, "MPI begun by the import")
expect(MPI.Query_thread() > MPI.THREAD_SINGLE, True, "threads")
for part in (rooted, of_all, in_place, derived, nonblocking, communicators, objects, corners):
    part()
if rank == 0:
    print("all right", flush=True)
