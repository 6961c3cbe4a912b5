"""scripts/check-includes accepts the tree as it is and rejects each kind of sabotage."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest


@pytest.fixture
def check(repository):
    def run(source):
        done = subprocess.run(
            [sys.executable, repository / "scripts" / "check-includes", source],
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    return run


@pytest.fixture
def tree(tmp_path):
    """Four layers: base <- schedule <- verify, and machine beside them."""
    for layer, depends in {"base": "", "schedule": "DEPENDS base", "verify": "DEPENDS schedule", "machine": ""}.items():
        folder = tmp_path / layer
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(f"kumihimo_layer({layer} {depends} LIBRARIES fmt::fmt)\n")
        (folder / f"{layer}.hpp").write_text("#pragma once\n#include <vector>\n")
    (tmp_path / "verify" / "deep").mkdir()
    (tmp_path / "verify" / "deep" / "match.cpp").write_text(
        '#include "base/base.hpp"\n#include "schedule/schedule.hpp"\n#include "verify/verify.hpp"\n'
    )
    (tmp_path / "machine" / "file.cpp").write_text("#include <fstream>\n")
    return tmp_path


def test_the_repository_follows_its_own_rules(check, repository):
    assert check(repository / "src") == (0, "check-includes: every include follows the link lists\n")


def test_a_sound_tree_passes(check, tree):
    assert check(tree)[0] == 0


@pytest.mark.parametrize(
    ("path", "line", "told"),
    [
        ("base/up.hpp", '#include "schedule/schedule.hpp"', "schedule is not among its DEPENDS (none)"),
        ("machine/beside.cpp", '  #  include "verify/verify.hpp"', "verify is not among its DEPENDS"),
        ("verify/near.cpp", '#include "verify.hpp"', "does not start with the folder of a layer"),
        ("verify/far.cpp", '#include "nowhere/x.hpp"', "does not start with the folder of a layer"),
        ("verify/deep/clock.cpp", "#include <chrono>", "knows no clocks"),
        ("schedule/thread.hpp", "#include <thread>", "knows no threads"),
        ("base/file.cpp", "#include <fstream>", "knows no files"),
        ("machine/numbers.cpp", "#include <filesystem>", "knows no files"),
        ("schedule/mpi.cpp", "#include <mpi.h>", "knows no MPI"),
        ("schedule/mpi_quoted.cpp", '#include "mpi.h"', "knows no MPI"),
        ("verify/gpu.cu", "#include <cuda_runtime.h>", "knows no GPUs"),
        ("base/CMakeLists.txt", "kumihimo_layer(base DEPENDS verify)", "base depends on itself"),
        ("base/CMakeLists.txt", "kumihimo_layer(base DEPENDS ghost)", "which is no layer"),
    ],
)
def test_sabotage_is_rejected_by_file_and_line(check, tree, path, line, told):
    (tree / path).write_text(f"{line}\n")
    code, out = check(tree)
    assert code == 1
    assert told in out
    if path.endswith((".hpp", ".cpp", ".cu")):
        assert f"{tree / path}:1: " in out


def test_an_empty_folder_is_no_success(check, tmp_path):
    assert check(tmp_path)[0] == 1
    shutil.rmtree(tmp_path)
    assert check(tmp_path)[0] == 1
