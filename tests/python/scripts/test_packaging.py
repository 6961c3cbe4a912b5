"""The recipes of packaging/: Spack's agree with pyproject.toml, containers install known packages, and Debian's package
is built and used where the tools are."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kumihimo.predict.campaign.description import toml

RECIPES = "packaging/spack/spack_repo/kumihimo"
BUILD_SYSTEMS: dict[str, tuple[str, ...]] = {  # modules of Spack's own repository, as its interface 2.0 has them
    "spack_repo": (),
    "spack_repo.builtin": (),
    "spack_repo.builtin.build_systems": (),
    "spack_repo.builtin.build_systems.cmake": ("CMakePackage",),
    "spack_repo.builtin.build_systems.python": ("PythonPackage",),
}


class Recipe:
    """Stands for a package class of Spack: directives in the class body are recorded."""

    define = staticmethod(lambda name, value: f"-D{name}={value}")


def recipe(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[type, dict[str, list]]:
    said: dict[str, list] = {}
    module = types.ModuleType("spack.package")
    for directive in ("version", "variant", "depends_on", "conflicts", "license"):
        setattr(
            module, directive, lambda *words, _name=directive, **more: said.setdefault(_name, []).append((words, more))
        )
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    for name, classes in BUILD_SYSTEMS.items():
        systems = types.ModuleType(name)
        for each in classes:
            setattr(systems, each, Recipe)
        monkeypatch.setitem(sys.modules, name, systems)
    names = runpy.run_path(str(path))
    (found,) = [
        each for each in names.values() if isinstance(each, type) and issubclass(each, Recipe) and each is not Recipe
    ]
    return found, said


def test_spack_has_the_dependencies_of_the_package(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, said = recipe(repository / RECIPES / "packages/kumihimo/package.py", monkeypatch)
    file = repository / "pyproject.toml"
    project = toml(file.read_text(encoding="utf-8"), file)["project"]
    wanted = {each.name.lower(): each for each in map(Requirement, project["dependencies"])}
    specs = dict(
        re.match(r"py-(\w+)@(.*)", words[0]).groups()
        for words, more in said["depends_on"]
        if "run" in more.get("type", ()) and words[0].startswith("py-")
    )
    assert wanted.keys() <= specs.keys() | {"typer"}
    for name, each in wanted.items():
        (least,) = [one.version for one in each.specifier if one.operator == ">="]
        assert re.split(r"[,:]", specs[name])[0] == least, name
    assert said["license"] == [((project["license"],), {})]


def test_spack_builds_the_library_of_cmake(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, said = recipe(repository / RECIPES / "packages/kumihimo_cpp/package.py", monkeypatch)
    options = {each.partition("=")[0][2:] for each in found().cmake_args()}
    top = (repository / "CMakeLists.txt").read_text(encoding="utf-8")
    assert options <= set(re.findall(r"option\((\w+)", top))
    assert found.build_targets == ["kumihimo_cpp"]
    assert {words[0].partition("@")[0] for words, _ in said["depends_on"]} >= {
        "fmt",
        "hwloc",
        "nlohmann-json",
        "tomlplusplus",
    }


def test_spack_finds_the_recipes(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of interface 2.0 the folders are the namespace, and a recipe takes itself from the checkout around it."""
    folder = repository / RECIPES
    assert (folder / "repo.yaml").read_text(encoding="utf-8") == "repo:\n  namespace: kumihimo\n  api: v2.0\n"
    recipes = [*folder.glob("packages/*/package.py")]
    assert {each.parent.name for each in recipes} == {"kumihimo", "kumihimo_cpp"}
    for each in recipes:
        found, _ = recipe(each, monkeypatch)
        assert found.git == f"file://{repository.resolve()}"


@pytest.mark.parametrize("name", ["Containerfile", "kumihimo.def"])
def test_images_install_packages_that_set_up_knows(repository: Path, name: str) -> None:
    text = (repository / "packaging/containers" / name).read_text(encoding="utf-8")
    known = (repository / "scripts/system-packages.sh").read_text(encoding="utf-8")
    (line,) = re.findall(r"apt-get install -y --no-install-recommends ([^\n\\&]+)", text)
    assert [each for each in line.split() if each not in known and each != "man-db"] == []
    assert "build/dist" in text


def run(command: list, folder: Path, **environment: str) -> str:
    line, variables = [*map(str, command)], {**os.environ, **environment}
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=3600, env=variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.long
def test_the_debian_package_is_built_and_found(repository: Path, tmp_path: Path) -> None:
    if not all(map(shutil.which, ("dpkg-buildpackage", "dh"))):
        pytest.skip("no dpkg-buildpackage here")
    tree = tmp_path / "kumihimo"
    tree.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=repository, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x"], cwd=tree, input=archive, check=True)
    shutil.copytree(tree / "packaging/debian", tree / "debian")
    run(["dpkg-buildpackage", "-b", "-us", "-uc", "-Pnopython"], tree)
    (package,) = tmp_path.glob("libkumihimo-dev_*.deb")
    run(["dpkg-deb", "-x", package, "root"], tmp_path)
    assert "libhwloc-dev" in run(["dpkg-deb", "-f", package, "Depends"], tmp_path)
    prefix = tmp_path / "root/usr"
    run(["cmake", "-S", repository / "examples/cpp", "-B", "own", f"-DCMAKE_PREFIX_PATH={prefix}"], tmp_path)
    run(["cmake", "--build", "own"], tmp_path)
    assert run([tmp_path / "own/own_algorithm"], tmp_path).startswith("proven: ")
