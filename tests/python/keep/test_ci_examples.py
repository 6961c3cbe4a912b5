"""The jobs and the test of docs/guides/ci: what they do after the installation runs here.

ReFrame itself is no requirement of the tests: it needs 200 MB of packages. Where it is installed it runs the test; else
a stand-in for its module loads the class and evaluates what ReFrame would.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

EXAMPLES = Path(__file__).parents[3] / "docs" / "guides" / "ci"
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMP_NUM_THREADS": "1",
}


def has_open_mpi() -> bool:
    """As the jobs install it."""
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        return False
    told = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, timeout=60, check=False)
    return "Open MPI" in told.stdout


pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(not has_open_mpi(), reason="mpicc and mpirun in PATH are not Open MPI's"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLES, tmp_path / "checkout"))


def run(script: str, folder: Path, **more: str) -> subprocess.CompletedProcess:
    words = ["bash", "-e", "-c", script]
    return subprocess.run(
        words, capture_output=True, text=True, timeout=1500, check=False, cwd=folder, env={**ENVIRONMENT, **more}
    )


ALWAYS_MET = "mpi <= 100 %"  # on a machine that stops for a minute, the others may be "cannot tell", never missed


def check_results(folder: Path) -> None:
    found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    verdicts = {each["assert"]: each["verdict"] for each in found["asserts"]}
    assert len(verdicts) == 4 and set(verdicts.values()) <= {"met", "cannot tell"}, verdicts
    assert verdicts[ALWAYS_MET] == "met" and len(found["repeats"]) == 6
    suites = ElementTree.parse(folder / "junit.xml").getroot()
    untold = list(verdicts.values()).count("cannot tell")
    counts = [int(suites.get(name)) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == [4, 0, 0, untold]


def test_the_job_of_github(checkout: Path) -> None:
    job = yaml.safe_load((checkout / "github.yml").read_text(encoding="utf-8"))["jobs"]["asserts"]
    assert job["runs-on"].startswith("ubuntu-") and all("run" in step or "uses" in step for step in job["steps"])
    steps = [step["run"] for step in job["steps"] if "run" in step and step["name"] != "install"]
    assert len(steps) == 2
    ran = run("\n".join(steps), checkout, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(checkout))
    assert ran.returncode == 0, ran.stderr
    assert "residual" in ran.stdout and "::error" not in ran.stderr
    check_results(checkout)
    kept = next(step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", ""))
    assert all((checkout / name).is_file() for name in kept.split())


def test_a_missed_assert_fails_the_job_of_github(checkout: Path) -> None:
    source = checkout / "solver.c"
    source.write_text(source.read_text(encoding="utf-8").replace("seconds <= 1;", "seconds <= 1 ns;"), encoding="utf-8")
    job = yaml.safe_load((checkout / "github.yml").read_text(encoding="utf-8"))["jobs"]["asserts"]
    steps = [step["run"] for step in job["steps"] if "run" in step and step["name"] != "install"]
    ran = run("\n".join(steps), checkout, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(checkout))
    assert ran.returncode == 1, ran.stderr
    line = next(n for n, text in enumerate(source.read_text().splitlines(), 1) if "kumihimo_begin" in text)
    assert f"::error file=solver.c,line={line},title=kumihimo asserts::missed: region solve" in ran.stderr


def test_the_job_of_gitlab(checkout: Path) -> None:
    job = yaml.safe_load((checkout / "gitlab.yml").read_text(encoding="utf-8"))["asserts"]
    assert set(job) <= {"image", "variables", "before_script", "script", "artifacts"}, "keys of GitLab's schema"
    ran = run("\n".join(job["script"]), checkout, **job["variables"])
    assert ran.returncode == 0, ran.stderr
    check_results(checkout)
    assert (checkout / job["artifacts"]["reports"]["junit"]).is_file()
    assert all((checkout / name).is_file() for name in job["artifacts"]["paths"])


def stand_in() -> dict[str, types.ModuleType]:
    """What the example takes from ReFrame."""
    reframe, utility = types.ModuleType("reframe"), types.ModuleType("reframe.utility")
    sanity = types.ModuleType("reframe.utility.sanity")

    class RunOnlyRegressionTest:
        pass

    def assert_true(value: object, msg: str) -> bool:
        assert value, msg
        return True

    reframe.simple_test = lambda test: test
    reframe.RunOnlyRegressionTest = RunOnlyRegressionTest
    reframe.utility, utility.sanity, sanity.assert_true = utility, sanity, assert_true
    return {"reframe": reframe, "reframe.utility": utility, "reframe.utility.sanity": sanity}


def test_the_test_of_reframe(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reframe := shutil.which("reframe"):
        ran = run(f"{reframe} -c reframe_asserts.py -r --prefix {checkout.parent}", checkout)
        assert ran.returncode == 0 and "Ran 1/1 test case" in ran.stdout and "P: seconds:" in ran.stdout, ran
        return
    for name, module in stand_in().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr("builtins.sanity_function", lambda f: f, raising=False)  # as ReFrame's classes have them
    monkeypatch.setattr("builtins.performance_function", lambda unit: lambda f: f, raising=False)
    spec = importlib.util.spec_from_file_location("reframe_asserts", checkout / "reframe_asserts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    test = module.SolverKeepsItsAsserts()
    words = " ".join([test.executable, *test.executable_opts])
    assert test.sourcesdir == str(checkout)
    assert run("\n".join([*test.prerun_cmds, words]), checkout).returncode == 0
    test.stagedir = str(checkout)
    found = test.result()
    met = [each["assert"] for each in found["asserts"] if each["verdict"] == "met"]
    assert test.no_assert_is_missed() and test.met() == len(met) and ALWAYS_MET in met and test.seconds() > 0
    found["asserts"][0]["verdict"] = "missed"
    (checkout / "result.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(AssertionError, match="missed: region solve"):
        test.no_assert_is_missed()
