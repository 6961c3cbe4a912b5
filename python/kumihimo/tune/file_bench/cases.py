"""A user's request, as the steps of a bench driver's task (src/run/file_bench/file_task.hpp)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from kumihimo.text.json_types import JsonObject

APIS = ("posix", "mpiio", "mpiio-collective", "hdf5", "hdf5-collective")
LAYOUTS = ("each", "shared")
CACHES = ("keep", "evict", "drop", "direct")
OF_FILES = ("create", "stat", "read", "rename", "remove")
OF_FOLDERS = ("create", "stat", "rename", "remove")
A_NODE = -1  # as a shift: that of a node
BLOCK_OF_DISK = 4096  # bytes that a small file takes at least
ALIGNMENT = 4096  # of transfers with O_DIRECT


@dataclass(frozen=True)
class DataSet:
    """Files of data, as IOR lays them out: a segment is a block of each rank, a block several transfers."""

    name: str
    api: str = "posix"
    shared: bool = False
    transfer: int = 1 << 20
    block: int = 64 << 20
    segments: int = 1
    cache: str = "evict"
    sync: bool = True
    check: bool = True
    shift: int = A_NODE
    limit: float = 0.0
    seed: int = 1
    hints: tuple[tuple[str, str], ...] = ()
    hdf5: str = ""

    def bytes(self, ranks: int) -> int:
        return self.block * self.segments * ranks

    def as_task(self) -> JsonObject:
        return {**asdict(self), "hints": [list(each) for each in self.hints]}

    @property
    def layout(self) -> str:
        return "shared" if self.shared else "each"


@dataclass(frozen=True)
class ItemSet:
    """Small files or folders, as mdtest makes them."""

    name: str
    folders: bool = False
    one_folder: bool = False
    per_rank: int = 500
    bytes_each: int = 0
    sync: bool = False
    shift: int = A_NODE
    limit: float = 0.0
    seed: int = 1

    def bytes(self, ranks: int) -> int:
        """On the disk, at most."""
        each = -(-self.bytes_each // BLOCK_OF_DISK) * BLOCK_OF_DISK
        return (each + BLOCK_OF_DISK * self.folders) * self.per_rank * ranks

    def as_task(self) -> JsonObject:
        task = asdict(self)
        return {**task, "bytes": task.pop("bytes_each")}

    @property
    def operations(self) -> tuple[str, ...]:
        return OF_FOLDERS if self.folders else OF_FILES


@dataclass(frozen=True)
class FileSteps:
    """All that one launch does. `steps` are those of the task."""

    data: tuple[DataSet, ...] = ()
    items: tuple[ItemSet, ...] = ()
    steps: tuple[JsonObject, ...] = ()

    def as_task(self) -> JsonObject:
        return {
            "data": [each.as_task() for each in self.data],
            "items": [each.as_task() for each in self.items],
            "steps": list(self.steps),
        }

    def bytes(self, ranks: int) -> int:
        """On the disk at a time: sets follow one another, each removed before the next."""
        sizes = [each.bytes(ranks) for each in self.data] + [each.bytes(ranks) for each in self.items]
        sizes += [step["bytes"] for step in self.steps if step["do"] == "roof"]
        # A saved state has two generations, and a third while it is written.
        sizes += [3 * step["state"]["bytes"] * ranks for step in self.steps if step["do"] == "save"]
        return max(sizes, default=0)

    def names(self, ranks: int) -> int:
        """Files and folders at a time, at most."""
        return max((each.per_rank * ranks for each in self.items), default=0) + 2 * ranks + 2


def measured_by_turns(
    data: tuple[DataSet, ...], items: tuple[ItemSet, ...], iterations: int, roof_bytes: int
) -> FileSteps:
    """All sets once in each iteration, so that what else the machine does touches all of them alike."""
    steps: list[JsonObject] = []
    if data:
        steps.append({"do": "roof", "bytes": roof_bytes, "transfer": min(roof_bytes, 8 << 20)})
    for number in range(1, iterations + 1):
        for items_of in items:
            words = ("plant", *items_of.operations, "clear")
            steps += [{"do": word, "items": items_of.name, "iteration": number} for word in words]
        for data_of in data:
            words = ("write", "read", "remove")
            steps += [{"do": word, "data": data_of.name, "iteration": number} for word in words]
    return FileSteps(data, items, tuple(steps))


def step_text(step: JsonObject) -> str:
    """A step, for the progress bar. What stands before the colon changes seldom."""
    what = f"{step['do']} {step.get('data') or step.get('items') or ''}".strip()
    return f"iteration {step['iteration']}: {what}" if "iteration" in step else f"{what}: once"
