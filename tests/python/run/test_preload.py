"""Which of our objects is loaded before which MPI library."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumihimo.processes import mpi
from kumihimo.run import preload
from kumihimo.text.errors import BadInput


def library(folder: Path, *names: str) -> Path:
    path = folder / "libmpi.so"
    path.write_bytes(b"\x7fELF\0" + b"\0".join(name.encode() for name in names) + b"\0")
    return path


def test_no_object_has_names_that_the_library_lacks(tmp_path: Path) -> None:
    assert preload.suffix_of(None) == ".so"
    assert preload.suffix_of(library(tmp_path, "MPI_Send", "MPI_Allreduce")) == ".so"
    assert preload.suffix_of(library(tmp_path, *preload.NAMES_OF_MPI_4)) == "-mpi4.so"
    assert preload.suffix_of(library(tmp_path, *preload.NAMES_OF_MPI_4[1:])) == ".so"
    assert preload.suffix_of(library(tmp_path, *preload.NAMES_OF_MPI_4, *preload.LARGE_COUNTS)) == "-mpi4-counts.so"
    of_mpi_4_1 = (*preload.NAMES_OF_MPI_4, *preload.LARGE_COUNTS, *preload.NAMES_OF_MPI_4_1)
    assert preload.suffix_of(library(tmp_path, *of_mpi_4_1)) == "-mpi4.1.so"
    assert preload.suffix_of(library(tmp_path, *of_mpi_4_1[:-1])) == "-mpi4-counts.so"
    assert preload.suffix_of(library(tmp_path, *preload.LARGE_COUNTS)) == ".so"
    longer = [f"{name}x" for name in preload.NAMES_OF_MPI_4]
    assert preload.suffix_of(library(tmp_path, *longer)) == ".so"


@pytest.mark.parametrize(("family", "suffix"), [("openmpi", ".so"), ("mpich", "-mpi4-counts.so")])
def test_of_the_libraries_here(family: str, suffix: str) -> None:
    installed = [i for i in mpi.discover() if i.family == family and i.version.startswith("4.")]
    if not installed:
        pytest.skip(f"no {family} 4 on this machine")
    found = preload.library_beside(installed[0].launcher, family)
    assert found == installed[0].library
    assert preload.suffix_of(found) == suffix


GIVEN = {"LD_PRELOAD": "ours.so", "KUMIHIMO_ALGORITHM": "ring"}
X = ["-x", "LD_PRELOAD=ours.so", "-x", "KUMIHIMO_ALGORITHM=ring"]


@pytest.mark.parametrize(
    ("line", "handed"),
    [
        ("", ""),
        ("-n 2 ./a", "X -n 2 ./a"),
        ("-n 1 ./a : -n 1 ./b b : ./c", "X -n 1 ./a : X -n 1 ./b b : X ./c"),
        ("./a x:y ::", "X ./a x:y ::"),
        ("./a :", "X ./a :"),
        (": ./a : : ./b", ": X ./a : : X ./b"),
    ],
)
def test_open_mpi_hands_the_settings_to_each_program_of_a_line(line: str, handed: str) -> None:
    expected = [part for word in handed.split() for part in (X if word == "X" else [word])]
    assert preload.preloading("openmpi", GIVEN, line.split()) == expected


def test_others_need_them_once() -> None:
    line = ["-n", "1", "./a", ":", "-n", "1", "./b"]
    assert preload.preloading("mpich", {"A": "b"}, line) == ["-genv", "A", "b", *line]
    assert preload.preloading(None, {"A": "b"}, line) == line


def test_what_the_user_says_of_memory_goes_to_all_processes(monkeypatch):
    monkeypatch.setenv("KUMIHIMO_SHARED_STORES", "streamed")
    monkeypatch.setenv("KUMIHIMO_WISDOM", "ours")
    assert preload.handed_on() == {"KUMIHIMO_SHARED_STORES": "streamed"}
    monkeypatch.setenv("KUMIHIMO_SHARED_STORES", "stream")
    with pytest.raises(BadInput, match=r"cached or streamed in the environment \(got 'stream'\)"):
        preload.handed_on()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("NONE", "LD_PRELOAD,A"),
        ("ALL", "ALL"),
        ("B", "B,LD_PRELOAD,A"),
        ("ALL,LD_PRELOAD=/x", "ALL,LD_PRELOAD=/ours:/x"),
        ("B,LD_PRELOAD=/x", "B,LD_PRELOAD=/ours:/x,A"),
    ],
)
def test_srun_exports_our_variables_too(names, expected):
    assert preload.exporting(names, {"LD_PRELOAD": "/ours", "A": "b"}) == expected
