"""docs/guides/remote-memory.md: its code is that of the example files, and these move the right numbers."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from remote_memory_programs import PROVIDERS

from kumihimo.processes import mpi

FOLDER = Path("docs") / "guides" / "remote_memory"


@pytest.mark.parametrize(("language", "file"), [("c", "ring.c"), ("cpp", "tickets.cpp")])
def test_its_code_is_in_the_examples(repository, language: str, file: str) -> None:
    guide = (repository / "docs" / "guides" / "remote-memory.md").read_text(encoding="utf-8")
    source = (repository / FOLDER / file).read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        assert block in source


def compiler(installation: mpi.Installation, name: str) -> str:
    found = shutil.which(f"{name}.{installation.family}") or str(installation.prefix / "bin" / name)
    if not Path(found).is_file():
        pytest.skip(f"no {name} beside {installation.launcher.name}")
    return found


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_the_c_example(on_ranks, repository, installation, options, tmp_path, family: str) -> None:
    program = tmp_path / "ring"
    line = [compiler(installation, "mpicc"), "-O2", repository / FOLDER / "ring.c", "-o", program, *options]
    subprocess.run(line, check=True)
    for provider in PROVIDERS:
        for ranks in (1, 2, 3):
            ended = on_ranks(ranks, program, f"provider={provider}")
            assert ended.returncode == 0, ended
            assert ended.stdout.startswith(f"{ranks} ranks over {provider} on "), ended
            assert ended.stdout.endswith("\n0 wrong numbers\n"), ended


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_the_cpp_example(on_ranks, repository, installation, options, tmp_path, family: str) -> None:
    program = tmp_path / "tickets"
    line = [compiler(installation, "mpicxx"), "-O2", repository / FOLDER / "tickets.cpp", "-o", program, *options]
    subprocess.run(line, check=True)
    for provider in PROVIDERS:
        for ranks in (1, 2, 3):
            ended = on_ranks(ranks, program, f"provider={provider} atomics=1")
            if provider == "net":  # announces atomics and has none
                assert ended.returncode != 0 and "has no fetch-add and compare-and-swap" in ended.stderr, ended
                continue
            assert ended.returncode == 0, ended
            assert ended.stdout.endswith("\n0 wrong squares\n"), ended
