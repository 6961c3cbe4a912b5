"""The C++ package: installed into a folder, found by find_package, used by the examples; its reference is current."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

TARGETS = {"network", "programs", "collectives", "verify", "predict", "place"}
OTHERS = re.compile(r"#include [<\"](fmt|nlohmann|toml\+\+|hwloc)")


def run(command: Sequence[object], folder: Path) -> str:
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package is, after a move: it must not know where it was installed."""
    tree = repository / "build/release"
    if not (tree / "build.ninja").exists():
        pytest.skip("no build/release here")
    folder = tmp_path_factory.mktemp("cpp")
    run(["cmake", "--build", tree, "--target", "kumihimo_cpp", "-j", 2, "--", "--quiet"], folder)
    run(["cmake", "--install", tree, "--component", "cpp", "--prefix", folder / "installed"], folder)
    return (folder / "installed").rename(folder / "moved")


@pytest.fixture(scope="module")
def built(repository: Path, prefix: Path) -> Path:
    """The examples, built as a user builds them."""
    tree = prefix.parent / "examples"
    run(["cmake", "-S", repository / "examples/cpp", "-B", tree, f"-DCMAKE_PREFIX_PATH={prefix}"], prefix)
    run(["cmake", "--build", tree], prefix)
    return tree


def shown(repository: Path, program: str) -> str:
    """What docs/cpp.md says that the program prints."""
    page = (repository / "docs/cpp.md").read_text(encoding="utf-8")
    return re.sub(r"^    ", "", re.search(rf"    \$ own/{program}.*\n((    .*\n)+)", page)[1], flags=re.MULTILINE)


def test_an_own_algorithm_is_proven_and_its_fault_found(repository: Path, built: Path) -> None:
    printed = run([built / "own_algorithm"], built)
    assert re.fullmatch(r"proven: ok: .*\nwrong: rank 0, .*is made of the wrong elements.*\n", printed), printed
    assert printed == shown(repository, "own_algorithm")


def test_predictions_are_those_of_the_command(repository: Path, prefix: Path, built: Path, kumihimo: Callable) -> None:
    machine = prefix / "share/kumihimo/machines/fugaku.toml"
    printed = run([built / "predict_own", machine, "4x6x16"], built)
    assert printed == shown(repository, "predict_own")
    line = "simulate allreduce --machine fugaku --shape 4x6x16 --bytes 4MiB --algorithm all --json"
    results = json.loads(kumihimo(*line.split()).out)["results"]
    best = min(results, key=lambda each: each["seconds"])
    assert f"4194304 bytes: {best['algorithm']}, {best['seconds'] * 1e6:g} us" in printed


def test_a_wrong_machine_file_is_an_error_of_one_sentence(built: Path, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text("[topology]\nfamily = 'ring'\n")
    done = subprocess.run(
        [built / "predict_own", tmp_path / "wrong.toml", "4"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "wrong.toml" in done.stderr


def test_only_the_folder_kumihimo_is_taken(prefix: Path) -> None:
    assert [path.name for path in (prefix / "include").iterdir()] == ["kumihimo"]
    headers = [path.read_text(encoding="utf-8") for path in (prefix / "include").rglob("*.hpp")]
    assert len(headers) > 60
    assert not [text for text in headers if OTHERS.search(text)]
    targets = (prefix / "lib/cmake/kumihimo/kumihimoTargets.cmake").read_text(encoding="utf-8")
    assert set(re.findall(r"kumihimo::(\w+)", targets)) >= TARGETS
    assert "/usr/" not in targets


def test_another_minor_version_is_refused(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(newer LANGUAGES CXX)\nfind_package(kumihimo 0.2 REQUIRED)\n"
    )
    line = ["cmake", "-S", ".", "-B", "tree", f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "compatible with requested version" in done.stderr


@pytest.mark.parametrize("header", sorted(TARGETS))
def test_a_header_is_complete_by_itself(prefix: Path, tmp_path: Path, header: str) -> None:
    (tmp_path / "alone.cpp").write_text(f"#include <kumihimo/{header}.hpp>\nint main() {{}}\n")
    flags = [
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Wno-missing-field-initializers",
        "-Werror",
        "-fsyntax-only",
        f"-I{prefix / 'include'}",
    ]
    run(["c++", *flags, "alone.cpp"], tmp_path)


def test_the_examples_are_short(repository: Path) -> None:
    files = [*(repository / "examples/cpp").glob("*.cpp")]
    assert len(files) == 2
    assert all(len(path.read_text(encoding="utf-8").splitlines()) <= 30 for path in files)


def test_the_reference_is_up_to_date(repository: Path) -> None:
    page = run([sys.executable, repository / "scripts/cpp-reference"], repository)
    assert page == (repository / "docs/cpp-reference.md").read_text(encoding="utf-8"), "run scripts/document"
    assert "private:" not in page
    assert "Report check(const Schedule& schedule, const VerifyOptions& options = {});" in page


def test_the_reference_shows_whole_namespaces_and_no_part_of_a_macro(repository: Path) -> None:
    page = (repository / "docs/cpp-reference.md").read_text(encoding="utf-8")
    assert page.count("\nnamespace kumihimo::verify {\n") == page.count("\n} // namespace kumihimo::verify\n") > 0
    assert "#define TRY(...)" in page
    assert "##" not in re.sub(r"^#+ .*", "", page, flags=re.MULTILINE)
