"""scripts/check-names accepts the tree as it is and rejects a name with two meanings."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def check(repository):
    def run(root):
        line = [sys.executable, repository / "scripts" / "check-names", root]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    return run


@pytest.fixture
def tree(tmp_path):
    for name, text in {
        "src/a/plan.hpp": "namespace a {\nstruct Plan {\n  struct Part {};\n};\nclass Loop;\n} // namespace a\n",
        "src/b/other.cpp": "enum class Other { one };\nstruct Other::Part {\n};\nstruct Plan;\nclass Loop {\n};\n",
        "src/b/prediction.hpp": "struct Prediction {\n};\nstruct Machine {\n};\nstruct Job {\n};\n",
        "python/kumihimo/kernel/loops.py": "class Loop:\n    class Part:\n        pass\n",
        "python/kumihimo/predict/prediction.py": "class Prediction:\n    pass\n",
        "python/kumihimo/api/machines.py": "class Machine:\n    pass\nclass Job:\n    pass\n",
        "apps/c.hpp": "template <class T>\nstruct Of {};\ntemplate <>\nstruct Of<int> {};\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_repository_follows_its_own_rules(check, repository):
    code, printed = check(repository)
    assert (code, printed.splitlines()[-1]) == (0, "check-names: every class has a name of its own")


def test_inner_classes_declarations_and_specialisations_are_no_second_name(check, tree):
    assert check(tree)[0] == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("src/b/plan.cpp", "namespace {\nstruct Plan { int a; };\n}\n"),
        ("src/b/plan.hpp", "template <class T>\nclass Plan final : public Base {\n};\n"),
        ("bindings/plan.cpp", "struct [[nodiscard]] Plan\n{\n};\n"),
        ("apps/plan.hpp", "enum class Plan : int { one };\n"),
        ("python/kumihimo/plan.py", "class Plan(Base):\n    pass\n"),
    ],
)
def test_a_second_class_of_a_name_is_found(check, tree, file, text):
    (tree / file).parent.mkdir(parents=True, exist_ok=True)
    (tree / file).write_text(text)
    code, printed = check(tree)
    assert code == 1
    assert ": Plan is defined again in " in printed
    assert printed.splitlines()[-1] == "check-names: 1 wrong"


def test_an_exception_that_is_none_any_more_is_found(check, tree):
    (tree / "python/kumihimo/kernel/loops.py").unlink()
    assert "Loop is not defined twice any more; remove it from REPEATED" in check(tree)[1]
