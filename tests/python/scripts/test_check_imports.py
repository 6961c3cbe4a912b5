"""scripts/check-imports accepts the package as it is and rejects each kind of sabotage."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def check(repository):
    def run(package):
        script = repository / "scripts" / "check-imports"
        done = subprocess.run([sys.executable, script, package], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


@pytest.fixture
def package(tmp_path):
    """text <- tune <- cli."""
    for folder in (".", "text", "tune", "cli"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "__init__.py").write_text("")
    name = tmp_path.name
    (tmp_path / "text" / "sizes.py").write_text("import os\n")
    (tmp_path / "tune" / "search.py").write_text(f"from {name}.text import sizes\nfrom {name} import _native\n")
    (tmp_path / "cli" / "tune.py").write_text(f"def work():\n    from {name}.tune.search import fastest\n")
    return tmp_path


def test_the_package_follows_its_houses(check, repository):
    assert check(repository / "python" / "kumihimo") == (0, "check-imports: every import follows the houses\n")


def test_a_sound_package_passes(check, package):
    assert check(package)[0] == 0


def test_a_folder_without_a_package_is_refused(check, tmp_path):
    assert check(tmp_path)[0] == 1


@pytest.mark.parametrize("line", ["from {} import cli", "import {}.cli.tune", "def f():\n    from {}.cli import tune"])
def test_an_import_of_a_house_above_is_found(check, package, line):
    (package / "tune" / "other.py").write_text(line.format(package.name) + "\n")
    code, out = check(package)
    assert code == 1 and f"{package}/tune/other.py:{line.count(chr(10)) + 1}: tune imports " in out
    assert "cli stands above it" in out


def test_a_relative_import_is_found(check, package):
    (package / "tune" / "other.py").write_text("from ..text import sizes\n")
    assert "a relative import" in check(package)[1]


def test_a_new_folder_is_no_house(check, package):
    (package / "utilities").mkdir()
    (package / "utilities" / "__init__.py").write_text("")
    assert "utilities is no house" in check(package)[1]


def test_a_circle_of_modules_is_found(check, package):
    for one, two in (("a", "b"), ("b", "a")):
        (package / "text" / f"{one}.py").write_text(f"from {package.name}.text import {two}\n")
    assert check(package)[1].count("which imports it again") == 2


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    {}\nexcept ImportError:\n    pass",
        "try:\n    import os\nexcept ImportError:\n    {}",
        "if True:\n    pass\nelse:\n    {}",
        "if TYPE_CHECKING:\n    pass\nelse:\n    {}",
        "class C:\n    {}",
        "def f():\n    {}",
        "class C:\n    async def f(self):\n        if self:\n            {}",
    ],
)
def test_an_import_in_any_block_closes_a_circle(check, package, text):
    (package / "text" / "a.py").write_text(f"from {package.name}.text import b\n")
    (package / "text" / "b.py").write_text(text.format(f"from {package.name}.text import a") + "\n")
    code, out = check(package)
    assert code == 1 and out.count("which imports it again") == 2
    assert f"{package}/text/b.py:{text[: text.index('{')].count(chr(10)) + 1}: " in out


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_an_import_for_types_closes_no_circle(check, package, test):
    (package / "text" / "a.py").write_text(f"from {package.name}.text import b\n")
    (package / "text" / "b.py").write_text(f"if {test}:\n    from {package.name}.text import a\n")
    assert check(package)[0] == 0


def test_functions_alone_of_a_dispatcher_may_close_a_circle(check, package):
    folder = package / "network" / "imports"
    folder.mkdir(parents=True)
    (package / "network" / "__init__.py").write_text("")
    (folder / "reader.py").write_text(f"from {package.name}.network.imports import Kind\n")
    late, at_once = "def f():\n    from {0}.network.imports import reader\n", "from {0}.network.imports import reader\n"
    for text, code in ((late, 0), (at_once, 1)):
        (folder / "__init__.py").write_text(text.format(package.name))
        assert check(package)[0] == code
