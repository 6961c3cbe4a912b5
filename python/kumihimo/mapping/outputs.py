"""Map files of launchers: which are asked for, written, and read back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kumihimo import _placement
from kumihimo.mapping.request import JobNetwork
from kumihimo.processes import mpi
from kumihimo.text import files
from kumihimo.text.errors import BadInput, did_you_mean, failed, wrong_value
from kumihimo.text.json_types import JsonObject

FILES = {  # by format, without another name
    "openmpi4": "rankfile",
    "openmpi5": "rankfile",
    "hydra": "hostfile",
    "mpich5": "mpich-rankmap",
    "slurm": "slurm-hostfile",
    "cray": "MPICH_RANK_ORDER",
    "vcoord": "vcoordfile",
    "permutation": "permutation",
    "placement": "placement",
}
ALIASES = ("rankfile", "hostfile")


@dataclass(frozen=True)
class WantedFile:
    format: str
    file: Path


def wanted(texts: list[str]) -> list[WantedFile]:
    """From FORMAT or FORMAT:FILE."""
    found = []
    for text in texts:
        name, colon, file = text.partition(":")
        known = (*_placement.map_formats(), *ALIASES)
        if name not in known:
            rule = f"--output must begin with {', '.join(known[:-1])} or {known[-1]}"
            raise wrong_value(rule, f"'{name}'", did_you_mean(name, known))
        if colon and not file:
            raise wrong_value("--output must name a file after the colon", f"'{text}'", "leave the colon out")
        format_ = name if name not in ALIASES else "hydra" if name == "hostfile" else rankfile_format()
        found.append(WantedFile(format_, Path(file or FILES.get(format_, format_))))
    return found


def rankfile_format() -> str:
    """Form of rankfiles of the installed Open MPI; without one the older form."""
    version = next((i.version for i in mpi.discover() if i.family == "openmpi"), "")
    return "openmpi5" if version.startswith("5") else "openmpi4"


def text_of(format_: str, placement: _placement.Placement, on: JobNetwork, alike: bool) -> str:
    return _placement.write_map(format_, placement, list(on.names), on.shape, on.cores_per_node(), alike)


def check_files(asked: list[WantedFile], page: Path | None) -> None:
    """Before the search: map files are read again, so they are no devices. No two files are the same."""
    for each in asked:
        files.check_regular_or_new(each.file, "--output")
        files.check_writable(each.file, "--output")
    found: set[Path] = set()
    for each in asked:
        if files.real(each.file) in found:
            advice = "add a name, such as openmpi5:map.txt"
            raise wrong_value("each --output needs a file of its own", each.file, advice)
        found.add(files.real(each.file))
    if page is not None and files.real(page) in found:
        raise wrong_value("--page needs a file of its own", f"{page}, as for --output", "name another file")


def check(asked: list[WantedFile], usual: _placement.Placement, on: JobNetwork, alike: bool) -> None:
    """Before the search: whether these formats can name the nodes of the job."""
    for each in asked:
        try:
            text_of(each.format, usual, on, alike)
        except BadInput as error:
            raise wrong_value(f"--output {each.format}: {error.problem}", None, error.advice) from None


def written(each: WantedFile, placement: _placement.Placement, on: JobNetwork, alike: bool) -> JsonObject:
    """The file, read back and compared."""
    text = text_of(each.format, placement, on, alike)
    files.write_whole(each.file, text)
    read = _placement.read_map(
        each.format,
        files.read_text(each.file, "the map file"),
        str(each.file),
        placement.slots,
        list(on.names),
        on.shape,
        on.cores_per_node(),
        alike,
    )
    same = read.node_of_rank == placement.node_of_rank
    if not same or not (alike or read.slot_of_rank == placement.slot_of_rank):
        raise failed(f"{each.file} differs from the placement after it was written", "", "write it again")
    return {
        "format": each.format,
        "file": str(each.file),
        "launch": _placement.launch_hint(each.format, str(each.file), placement.ranks),
        "warning": _placement.map_warning(each.format, placement),
    }
