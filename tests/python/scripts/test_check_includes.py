"""scripts/check-includes accepts the tree as it is and rejects each kind of sabotage."""

from __future__ import annotations

import re
import runpy
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


HOUSES = """kumihimo_house(base)
kumihimo_house(schedule USES base)
kumihimo_house(verify USES base schedule)
kumihimo_house(machine)
kumihimo_house(others LAYERS simulate measure)
"""


@pytest.fixture
def tree(tmp_path):
    """base <- schedule <- verify, and beside them two pure layers and one that is not. The last two share a house."""
    (tmp_path / "CMakeLists.txt").write_text(HOUSES)
    above = {"schedule": "DEPENDS base", "verify": "DEPENDS schedule"}
    for layer in ("base", "schedule", "verify", "machine", "simulate", "measure"):
        depends = above.get(layer, "")
        folder = tmp_path / ("others" if layer in ("simulate", "measure") else "") / layer
        folder.mkdir(parents=True)
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
        ("others/simulate/CMakeLists.txt", "kumihimo_layer(simulate DEPENDS measure)", "pure and depends on measure"),
        ("others/simulate/clock.cpp", "#include <chrono>", "knows no clocks"),
    ],
)
def test_sabotage_is_rejected_by_file_and_line(check, tree, path, line, told):
    (tree / path).write_text(f"{line}\n")
    code, out = check(tree)
    assert code == 1
    assert told in out
    if path.endswith((".hpp", ".cpp", ".cu")):
        assert f"{tree / path}:1: " in out


@pytest.mark.parametrize(
    ("line", "other", "told"),
    [
        ("kumihimo_house(verify USES base schedule)", "kumihimo_house(verify USES schedule)", "verify depend on base"),
        ("kumihimo_house(machine)", "kumihimo_house(machine USES base)", "no layer of it depends on one of base"),
        ("kumihimo_house(machine)", "", "machine is a layer in no house"),
        ("kumihimo_house(machine)", "kumihimo_house(machine LAYERS machine ghost)", "ghost is no layer"),
        ("kumihimo_house(base)", "kumihimo_house(base USES schedule)", "schedule, which does not stand before it"),
    ],
)
def test_a_house_uses_only_those_before_it(check, tree, line, other, told):
    (tree / "CMakeLists.txt").write_text(HOUSES.replace(f"{line}\n", f"{other}\n"))
    code, out = check(tree)
    assert code == 1
    assert told in out


def test_modules_of_a_folder_do_not_include_in_a_cycle(check, tree):
    for name, below in (("one", "two"), ("two", "three"), ("three", "verify")):
        (tree / "verify" / f"{name}.hpp").write_text(f'#include "verify/{below}.hpp"\n')
    assert check(tree)[0] == 0
    source = tree / "verify" / "three.cpp"  # its header and this are one module
    source.write_text('#include "verify/one.hpp"\n')
    code, out = check(tree)
    assert code == 1
    assert f"{source}:1: verify/three includes verify/one, which depends on it" in out


def test_folders_of_a_layer_do_not_include_in_a_cycle(check, tree):
    for path, below in (("flow/walk", "exact/events"), ("exact/fluid", "solver/rates"), ("solver/rates", "walk")):
        (tree / "verify" / path).parent.mkdir(exist_ok=True)
        (tree / "verify" / f"{path}.hpp").write_text(f'#include "verify/{below}.hpp"\n')
    assert check(tree)[0] == 0
    source = tree / "verify" / "solver" / "shares.cpp"  # no module of the cycle
    source.write_text('#include "verify/flow/levels.hpp"\n')
    code, out = check(tree)
    assert code == 1
    assert f"{source}:1: solver includes flow, which depends on it" in out
    source.unlink()
    (tree / "verify" / "all.cpp").write_text('#include "verify/solver/rates.hpp"\n')  # which needs verify/walk.hpp
    code, out = check(tree)
    assert code == 1
    assert f"{tree / 'verify' / 'all.cpp'}:1: verify itself includes solver, which depends on it" in out


def test_modules_that_may_close_a_cycle_would(repository):
    script = runpy.run_path(str(repository / "scripts" / "check-includes"))
    folders, allowed = script["read_layers"](repository / "src"), dict(script["MAY_CLOSE_A_CYCLE"])
    script["MAY_CLOSE_A_CYCLE"].clear()
    told = [
        line
        for layer in sorted({a.split("/")[0] for a, _ in allowed})
        for line in script["cycles"](script["module_includes"](folders[layer]))
    ]
    for module, other in allowed:
        assert any(f": {module} includes {other}, " in line for line in told), (module, other)


def test_the_map_names_the_pure_folders_and_what_each_may_use(repository):
    script = runpy.run_path(str(repository / "scripts" / "check-includes"))
    lists = script["link_lists"](repository / "src")
    text = (repository / "ARCHITECTURE.md").read_text()
    named = re.search(r"^Pure folders [^:]*:([^.]*)\.$", text, re.MULTILINE).group(1)
    assert set(re.findall(r"`(\w+)`", named)) == script["PURE"]
    assert script["PURE"] <= set(lists)

    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", text, re.MULTILINE))
    assert set(rows) == set(lists)
    below = {name: script["reachable"](name, lists) for name in lists}
    for name, uses in rows.items():
        mentioned = {layer for layer in lists if re.search(rf"\b{layer}\b", uses)}
        if uses.startswith("all but"):
            mentioned = set(lists) - mentioned - {name}
        # Written down are the layers that bring the others with them.
        assert mentioned.union(*(below[layer] for layer in mentioned)) == below[name], name


def test_an_empty_folder_is_no_success(check, tmp_path):
    assert check(tmp_path)[0] == 1
    shutil.rmtree(tmp_path)
    assert check(tmp_path)[0] == 1


def test_a_header_includes_no_json(check, tree):
    (tree / "machine" / "machine.hpp").write_text("#pragma once\n#include <nlohmann/json.hpp>\n")
    (tree / "machine" / "file.cpp").write_text("#include <nlohmann/json.hpp>\n")
    code, printed = check(tree)
    assert code == 1
    assert printed.splitlines()[0].endswith(
        "machine/machine.hpp:2: <nlohmann/json.hpp> is for sources; include <nlohmann/json_fwd.hpp> or "
        "base/json_member.hpp in a header"
    )
    assert printed.splitlines()[1:] == ["check-includes: 1 wrong"]
