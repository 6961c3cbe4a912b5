"""docs/guides/transforms.md: its code is that of the example files, and these solve their equation."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import mpi4py_wheel
import pytest

from kumihimo.fft import library
from kumihimo.processes import mpi

RIGHT = re.compile(r"(\d) ranks, \w+, \d+x\d+ ranks, lines by .*: largest error (\d\.\de-\d\d)\n")


@pytest.mark.parametrize(("language", "file"), [("python", "poisson.py"), ("c", "poisson.c")])
def test_its_code_is_in_the_examples(repository, language: str, file: str) -> None:
    guide = (repository / "docs" / "guides" / "transforms.md").read_text(encoding="utf-8")
    source = (repository / "docs" / "guides" / "fft" / file).read_text(encoding="utf-8")
    blocks = re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        assert block in source


def check(ended: subprocess.CompletedProcess, ranks: int) -> None:
    found = RIGHT.fullmatch(ended.stdout)
    assert ended.returncode == 0 and found, ended
    assert int(found.group(1)) == ranks and float(found.group(2)) < 1e-13


def compiler(installation: mpi.Installation) -> str:
    name = installation.launcher.name
    found = shutil.which(f"mpicc.{installation.family}") or str(installation.prefix / "bin" / "mpicc")
    if not Path(found).is_file():
        pytest.skip(f"no mpicc beside {name}")
    return found


@pytest.mark.mpi
@pytest.mark.skipif(not mpi4py_wheel.is_here(), reason="no mpi4py beside this Python")
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_the_python_example(on_ranks, repository, family: str) -> None:
    for ranks in (1, 2, 3):
        check(on_ranks(ranks, sys.executable, repository / "docs" / "guides" / "fft" / "poisson.py"), ranks)


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_the_c_example(on_ranks, repository, installation, tmp_path, family: str) -> None:
    program, source = tmp_path / "poisson", repository / "docs" / "guides" / "fft" / "poisson.c"
    options = library.compiler_options().split()
    warns = ("-Wall", "-Wextra", "-Werror", "-O2")
    subprocess.run([compiler(installation), *warns, source, "-o", program, *options, "-lm"], check=True)
    for ranks in (1, 2, 3):
        check(on_ranks(ranks, program), ranks)


MISTAKES = r"""
#include <stdio.h>
#include <kumihimo/fft.h>
int main(int argc, char** argv) {
  const int64_t points[3] = {8, 0, 8}, right[3] = {8, 8, 8};
  kumihimo_fft* plan = NULL;
  if (kumihimo_fft_create(MPI_COMM_SELF, right, 1, KUMIHIMO_FFT_REAL, NULL, &plan)) puts(kumihimo_fft_error());
  MPI_Init(&argc, &argv);
  if (kumihimo_fft_create(MPI_COMM_SELF, points, 1, KUMIHIMO_FFT_REAL, NULL, &plan)) puts(kumihimo_fft_error());
  if (kumihimo_fft_create(MPI_COMM_SELF, right, 0, KUMIHIMO_FFT_REAL, NULL, &plan)) puts(kumihimo_fft_error());
  if (kumihimo_fft_create(MPI_COMM_SELF, right, 1, 7, NULL, &plan)) puts(kumihimo_fft_error());
  if (kumihimo_fft_create(MPI_COMM_SELF, right, 1, KUMIHIMO_FFT_REAL, "window", &plan)) puts(kumihimo_fft_error());
  MPI_Comm none = MPI_COMM_NULL;
  if (kumihimo_fft_create_at(&none, sizeof none + 4, right, 1, 0, NULL, &plan)) puts(kumihimo_fft_error());
  if (kumihimo_fft_create(MPI_COMM_SELF, right, 1, KUMIHIMO_FFT_REAL, "planning=0", &plan)) return 1;
  if (kumihimo_fft_forward(plan, NULL, NULL)) puts(kumihimo_fft_error());
  MPI_Finalize();
  kumihimo_fft_destroy(plan);
  kumihimo_fft_destroy(NULL);
  return 0;
}
"""


@pytest.mark.mpi
@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_mistakes_of_a_c_program_are_one_sentence_each(on_ranks, installation, tmp_path, family: str) -> None:
    source, program = tmp_path / "mistakes.c", tmp_path / "mistakes"
    source.write_text(MISTAKES, encoding="utf-8")
    subprocess.run([compiler(installation), source, "-o", program, *library.compiler_options().split()], check=True)
    ended = on_ranks(1, program)
    assert ended.returncode == 0, ended
    lines = ended.stdout.splitlines()
    wanted = (
        "a transform needs MPI, which is not running; call MPI_Init before",
        "8x0x8",
        "bands must be a number from 1 to 65536 (got '0')",
        "the kind must be KUMIHIMO_FFT_COMPLEX or KUMIHIMO_FFT_REAL (got 7)",
        "options of a transform must be words NAME=VALUE (got 'window')",
        "compile it with the mpicc of that library",
        "a transform needs the addresses of a grid and of a spectrum (got a null pointer)",
    )
    assert len(lines) == len(wanted), lines
    for line, part in zip(lines, wanted):
        assert part in line
