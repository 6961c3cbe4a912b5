"""What `make dist` makes: the same archive and the same modules in any folder at any time, which ask for no libstdc++
and no glibc newer than 2.34."""

from __future__ import annotations

import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

SDIST = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
TIME = "1700000000"
MODULES = ("_base", "_topology", "_machine")


def run(command: list, folder: Path, **environment: str) -> str:
    line, variables = [*map(str, command)], {**os.environ, **environment}
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=3600, env=variables)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def trees(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The tree, with changes that are not committed, in two folders with different times."""
    names = run(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], repository).split("\0")
    present = [name for name in names if name and (repository / name).is_file()]
    found = []
    for name in ("one", "another-name"):
        tree = tmp_path_factory.mktemp("dist") / name
        with tarfile.open(fileobj=io.BytesIO(archived(repository, present))) as archive:
            archive.extractall(tree)
        found.append(tree)
    for path in found[1].rglob("*"):
        os.utime(path, (1, 1))
    return found


def archived(repository: Path, names: list[str]) -> bytes:
    done = subprocess.run(
        ["tar", "-c", "--null", "-T", "-"],
        cwd=repository,
        input="\0".join(names).encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_source_archive_has_the_same_bytes_again(trees: list[Path], tmp_path: Path) -> None:
    made = []
    for number, tree in enumerate(trees):
        out = tmp_path / str(number)
        name = run([sys.executable, "-c", SDIST, out], tree, SOURCE_DATE_EPOCH=TIME).split()[-1]
        made.append(out / name)
    assert hash_of(made[0]) == hash_of(made[1])
    with tarfile.open(made[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"PKG-INFO", "LICENSE", "THIRD_PARTY.md", "CMakeLists.txt", "python/kumihimo/py.typed"} <= names
    assert not any(name.startswith(("build/", ".venv/", ".git/")) for name in names)


@pytest.mark.long
def test_modules_have_the_same_bytes_again_and_run_elsewhere(trees: list[Path]) -> None:
    options = [
        "-DKUMIHIMO_PYTHON=ON",
        "-DKUMIHIMO_PORTABLE=ON",
        "-DKUMIHIMO_TESTS=OFF",
        f"-DPython_EXECUTABLE={sys.executable}",
    ]
    found: list[dict[str, str]] = []
    for tree in trees:
        build = tree / "build/portable"
        run(
            ["cmake", "-S", tree, "-B", build, "-G", "Ninja", *options],
            tree,
            SOURCE_DATE_EPOCH=TIME,
            CCACHE_DISABLE="1",
        )
        run(["cmake", "--build", build, "--target", *MODULES], tree, SOURCE_DATE_EPOCH=TIME, CCACHE_DISABLE="1")
        paths = [path for name in MODULES for path in build.glob(f"bindings/{name}.*.so")]
        assert len(paths) == len(MODULES)
        found.append({path.name: hash_of(path) for path in paths})
        for path in paths:
            needed = re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", path], tree))
            assert not [name for name in needed if name.startswith(("libstdc++", "libtomlplusplus", "libfmt"))]
            versions = re.findall(r"GLIBC_2\.(\d+)", run(["objdump", "-T", path], tree))
            assert max(map(int, versions)) <= 34
    assert found[0] == found[1]
