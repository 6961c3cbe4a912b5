"""scripts/changed-tests picks what a change can reach, and everything for a file that it does not know."""

from __future__ import annotations

import re
import runpy
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest


@pytest.fixture(scope="module")
def script(repository):
    return SimpleNamespace(**runpy.run_path(str(repository / "scripts" / "changed-tests")))


@pytest.fixture(scope="module")
def graph(script, repository):
    return script.Graph(repository)


@pytest.fixture(scope="module")
def pick(script, graph):
    """Whether a name of ctest is run, and the files of pytest, after changes of these files."""

    def picked(*files: str):
        targets, names, tests = script.selection(graph, list(files))
        assert bool(targets) == bool(names)
        return (lambda name: bool(names and re.search(names, name))), set(tests)

    return picked


def test_a_layer_reaches_its_tests_and_those_of_the_layers_above(pick):
    runs, tests = pick("src/numerics/sparse/matrix.cpp")
    assert runs("sparse.1") and runs("sparse.2") and runs("poisson3d") and runs("mpi.openmpi.2")
    assert not any(map(runs, ("fft", "packet", "base", "interpose", "interpose.openmpi.alone", "record.mpich.late.2")))
    assert "tests/python/app/test_command.py" in tests
    assert "tests/python/mapping/test_page.py" not in tests


def test_a_layer_of_all_reaches_all(pick, graph):
    runs, tests = pick("src/foundation/base/result.hpp")
    assert all(map(runs, ("base", "conformance.3", "interpose.mpich.ring.2", "mpi.openmpi.fabric.2", "lu_app")))
    missing = {test for test in graph.tests if "/test_" in test and not test.startswith("tests/python/docs")} - tests
    assert all("/scripts/" in test or "/text/" in test or "/pages/" in test for test in missing), missing


def test_a_preload_library_reaches_unmodified_programs(pick):
    runs, tests = pick("src/preload/record/recorder.cpp")
    assert runs("record") and runs("record.openmpi.late.2") and not runs("interpose.openmpi.alone")
    assert "tests/python/cli/test_record.py" in tests and "tests/python/collectives/test_properties.py" not in tests


def test_a_binding_reaches_what_imports_it(pick):
    runs, tests = pick("bindings/lu.cpp")
    assert not runs("lu") and "tests/python/cli/test_simulate_lu.py" in tests
    assert "tests/python/cli/test_checkpoint.py" not in tests


def test_a_module_of_python_reaches_tests_that_import_it_or_run_a_verb_of_it(pick):
    runs, tests = pick("python/kumihimo/predict/checkpoint/page.py", "python/kumihimo/cli/checkpoint.py")
    assert not runs("saved_state")
    assert {"tests/python/cli/test_checkpoint.py", "tests/python/storage/test_every_output.py"} <= tests
    assert len(tests) < 40 and "tests/python/cli/test_verify.py" not in tests


def test_the_library_reaches_its_tests_and_examples_alone(pick):
    _, tests = pick("python/kumihimo/api/predictions.py")
    assert "tests/python/api/test_library.py" in tests
    assert len(tests) < 10 and "tests/python/cli/test_verify.py" not in tests


def test_a_template_is_part_of_the_modules_around_it(pick):
    assert "tests/python/mapping/test_page.py" in pick("python/kumihimo/pages/scripts/base.js")[1]


def test_a_test_reaches_itself_and_a_helper_who_imports_it(pick):
    assert pick("tests/python/cli/test_verify.py")[1] == {"tests/python/docs", "tests/python/cli/test_verify.py"}
    _, tests = pick("tests/python/private_slurm.py")
    assert "tests/python/cli/test_slurm.py" in tests and len(tests) < 20
    assert "tests/python/fft/test_fft.py" in pick("tests/python/fft/conftest.py")[1]
    runs, tests = pick("tests/predict/packet/any_test.cpp")
    assert runs("packet") and not runs("loggp") and tests == {"tests/python/docs"}
    assert pick("tests/mpi/interpose/program.c")[0]("interpose.openmpi.ring.2")


def test_the_documentation_is_always_tested_and_reaches_what_reads_it(pick):
    _, tests = pick("docs/lu.md")
    assert {"tests/python/docs", "tests/python/cli/test_reference.py"} <= tests
    assert pick()[1] == {"tests/python/docs"}


@pytest.mark.parametrize(
    "file",
    [
        *("Makefile", "CMakeLists.txt", "src/CMakeLists.txt", "cmake/KumihimoLayer.cmake", "scripts/test"),
        *("requirements/run.txt", "machines/fugaku.toml", "bindings/border.hpp", "include/kumihimo/fft.h"),
        *("src/gone/layer.cpp", "python/kumihimo/text/gone.py", "tests/errors/python/sitecustomize.py"),
    ],
)
def test_a_file_that_no_rule_knows_reaches_everything(script, graph, file):
    assert script.selection(graph, ["docs/lu.md", file]) == file


def test_every_test_of_cpp_is_in_a_folder_that_can_be_picked(graph, script, repository):
    text = (repository / "scripts" / "changed-tests").read_text()
    assert all(f'"{folder}"' in text for folder in script.STARTED)
    for path in (repository / "tests").rglob("CMakeLists.txt"):
        folder = path.parent.relative_to(repository).as_posix()
        if "kumihimo_tests(" in path.read_text():
            assert any(name.endswith("_tests") for name in graph.folders[folder]), folder


def test_the_command_compares_with_where_the_branch_left(script, tmp_path, repository):
    def git(*words):
        identity = ("-c", "user.name=n", "-c", "user.email=e")
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-b", "main")
    (tmp_path / "old").write_text("a\n" * 9)
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "mine")
    git("mv", "old", "new")
    git("commit", "-m", "two")
    git("checkout", "main")
    (tmp_path / "of_others").write_text("b")
    git("add", ".")
    git("commit", "-m", "three")
    git("checkout", "mine")
    (tmp_path / "untracked").write_text("c")
    assert sorted(script.changed_files(tmp_path, "main")) == ["new", "old", "untracked"]


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_an_unknown_revision_is_said(repository):
    script = repository / "scripts" / "changed-tests"
    done = subprocess.run([sys.executable, script, "no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "git merge-base failed" in done.stderr
