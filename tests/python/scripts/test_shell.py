"""The shell scripts: limits and signals end all that a part started, locks say that they wait, packages are installed
over what an interrupted install left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

MAKEFILE = "test:\n\t@bash -c 'echo $$$$ >$@.pid; exec sleep 1000'\ntest-asan test-tsan:\n"


@pytest.fixture
def place(repository, tmp_path) -> Path:
    """A repository with scripts, and a `make test` that hangs in a child."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".ci").mkdir()
    for name in (
        "scripts/environment.sh",
        "scripts/parts.sh",
        "scripts/system-packages.sh",
        "scripts/mpi-libraries.sh",
        "scripts/search.sh",
        "scripts/amgcl.sh",
        ".ci/run",
    ):
        (tmp_path / name).write_text((repository / name).read_text())
    (tmp_path / "Makefile").write_text(MAKEFILE)
    return tmp_path


def start(place: Path, *command: str, **options) -> subprocess.Popen:
    return subprocess.Popen(
        command,
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal's foreground group
        **options,
    )


def sourced(place: Path, script: str, **options) -> subprocess.Popen:
    return start(place, "bash", "-c", f". scripts/environment.sh; . scripts/parts.sh\n{script}", **options)


def pid_in(path: Path) -> int:
    deadline = time.monotonic() + 30
    while not path.exists() or not path.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(path.read_text())


def ends(pid: int) -> bool:
    """Whether a process ends within 20 s: a signal that was sent to a group reaches a busy machine's members later."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z"):
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_ci_ends_what_it_started(place, number):
    run = start(place, "bash", ".ci/run")
    sleeper = pid_in(place / "test.pid")

    os.killpg(run.pid, number)  # as Ctrl-C does: to the group of the terminal
    _, err = run.communicate(timeout=20)

    assert run.returncode == 130
    assert "CI: interrupted after" in err
    assert ends(sleeper)


def test_the_limit_ends_the_children_too(place):
    run = sourced(place, "limited 1 bash -c 'sleep 1000 & echo $! >child.pid; wait' || echo ended with $?")
    sleeper = pid_in(place / "child.pid")

    out, _ = run.communicate(timeout=20)

    assert out == "ended with 124\n"
    assert ends(sleeper)


def test_a_limited_command_keeps_its_status_and_can_be_interrupted(place):
    """An asynchronous command of a script ignores SIGINT; tests of Ctrl-C below it need the default."""
    script = "limited 9 bash -c 'exit 3' || echo $?; limited 9 grep SigIgn /proc/self/status"

    out, _ = sourced(place, script).communicate(timeout=20)

    status, ignored = out.splitlines()
    assert status == "3"
    assert not int(ignored.split()[1], 16) & 1 << (signal.SIGINT - 1)


def test_a_lock_that_is_held_is_waited_for_with_a_word(place):
    first = sourced(place, "lock 9 setup; echo held; read -r line", stdin=subprocess.PIPE)
    assert first.stdout.readline() == "held\n"
    second = sourced(place, "lock 9 setup; echo mine")
    assert second.stderr.readline() == "kumihimo: waiting for another make in this folder\n"
    assert second.poll() is None

    first.communicate("go on\n", timeout=20)
    out, err = second.communicate(timeout=20)

    assert (out, err) == ("mine\n", "")


def test_a_free_lock_is_taken_without_a_word(place):
    assert sourced(place, "lock 9 setup").communicate(timeout=20) == ("", "")


def test_packages_are_installed_over_an_interrupted_install(place):
    """With an apt-get that refuses until dpkg was put right, and that leaves a service running."""
    tools = place / "tools"
    tools.mkdir()
    for name, lines in {
        "id": "echo 0",
        "dpkg": 'echo "dpkg $*" >>calls; touch healed',
        "apt-get": """[ -e healed ] || { echo "dpkg was interrupted, you must run 'dpkg --configure -a'"; exit 100; }
echo "apt-get ${!#}" >>calls
sleep 1000 >/dev/null 2>&1 &
echo $! >service.pid""",
    }.items():
        (tools / name).write_text(f"#!/bin/bash\n{lines}\n")
        (tools / name).chmod(0o755)
    script = """. scripts/system-packages.sh
list_missing() { missing=''; wanted=''; }
lock 9 setup
missing=' new-package' wanted=''
install_missing build"""

    run = sourced(place, script, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    _, err = run.communicate(timeout=20)
    pid_in(place / "service.pid")
    try:
        assert run.returncode == 0, err
        calls = (place / "calls").read_text().splitlines()
        assert calls == ["dpkg --configure -a", "apt-get update", "apt-get new-package"]
        again = sourced(place, "lock 9 setup; echo free")
        assert again.communicate(timeout=5) == ("free\n", ""), "the service holds the lock"
    finally:
        os.killpg(run.pid, signal.SIGKILL)


def tool(folder: Path, name: str, lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{lines}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("user", "sudo", "required"), [(0, 1, "ON"), (1000, 0, "ON"), (1000, 1, "OFF")])
def test_a_lack_of_an_mpi_library_fails_where_set_up_may_install_it(place, user, sudo, required):
    tools = place / "tools"
    tool(tools, "id", f"echo {user}")
    tool(tools, "sudo", f"exit {sudo}")
    tool(tools, "apt-get", "exit 1")
    tool(tools, "cmake", 'printf "%s\\n" "$@" >>calls')

    run = sourced(place, "build_preset dev", env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    _, err = run.communicate(timeout=20)

    assert run.returncode == 0, err
    assert f"KUMIHIMO_REQUIRE_MPI={required}" in (place / "calls").read_text().splitlines()


@pytest.mark.parametrize(("wrapper", "package"), [("mpicc.openmpi", "libopenmpi-dev"), ("mpicc.mpich", "libmpich-dev")])
def test_set_up_takes_a_compiler_wrapper_without_headers_as_absent(place, tmp_path, wrapper, package):
    script = f"PATH={tmp_path}/bin:$PATH list_missing test 2>/dev/null; echo $wanted"
    tool(tmp_path / "bin", wrapper, "exit 1")  # as the launcher's package has it
    assert package in sourced(place, script).communicate(timeout=20)[0].split()
    tool(tmp_path / "bin", wrapper, "exit 0")
    assert package not in sourced(place, script).communicate(timeout=20)[0].split()


MPI_LIBRARIES = {"openmpi-bin": ("mpirun.openmpi", "libmpi.so.40"), "mpich": ("mpiexec.hydra", "libmpich.so.12")}


def wanted(place: Path, prefix: Path) -> set[str]:
    """Of the MPI libraries, what a build wants where nothing but this prefix is in PATH."""
    script = f"PATH={prefix}/bin list_missing build 2>/dev/null; echo $wanted"
    out, err = sourced(place, script).communicate(timeout=20)
    return set(out.split()) & set(MPI_LIBRARIES) if out else pytest.fail(err)


def test_set_up_takes_an_mpi_library_as_present_where_its_tests_find_it(place, tmp_path, repository):
    listed = (repository / "tests/mpi/CMakeLists.txt").read_text()
    for package, (launcher, library) in MPI_LIBRARIES.items():
        assert f"NAMES {launcher})" in listed
        assert f"NAMES {library}" in listed
        prefix = tmp_path / package
        tool(prefix / "bin", "mpirun", "echo 'mpirun (Open MPI) 4.1.4'")  # a name that those tests do not look for
        tool(prefix / "bin", launcher, "exit 1")
        assert wanted(place, prefix) == set(MPI_LIBRARIES), "its shared library is not there"
        (prefix / "lib").mkdir()
        (prefix / "lib" / library).write_text("")
        assert wanted(place, prefix) == set(MPI_LIBRARIES) - {package}


def test_mpi_libraries_of_the_tests_are_installed_once_and_gone_without_where_they_cannot_be(place):
    (place / "requirements").mkdir()
    for name in ("openmpi-5", "mpich-5"):
        (place / f"requirements/{name}.txt").write_text(f"{name}\n")
    script = ". scripts/mpi-libraries.sh; install_mpi_libraries; echo went on"
    tool(place / ".venv/bin", "python", "echo no network; exit 1")
    out, err = sourced(place, script).communicate(timeout=20)
    assert out == "went on\n"
    assert err.count("going on without it (see build/mpi/") == 2, err
    assert (place / "build/mpi/mpich-5.log").read_text() == "no network\n"

    tool(place / ".venv/bin", "python", 'echo "$*" >>calls; mkdir -p build/mpi/openmpi-5 build/mpi/mpich-5')
    for _ in range(2):
        out, err = sourced(place, script).communicate(timeout=20)
        assert out == "went on\n"
    assert err == "", "what is there is not asked for again"
    calls = (place / "calls").read_text().splitlines()
    assert [re.search(r"--prefix (\S+)", call).group(1) for call in calls] == [
        str(place.resolve() / "build/mpi" / name) for name in ("openmpi-5", "mpich-5")
    ]
    (place / "requirements/mpich-5.txt").write_text("another\n")
    assert "mpich-5" in sourced(place, script).communicate(timeout=20)[1], "another version is"


def test_without_optuna_the_set_up_goes_on_and_remembers(place):
    (place / "requirements").mkdir()
    (place / "requirements" / "search.txt").write_text("optuna==5.0.0\n")
    python = place / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    (place / ".venv" / ".installed").mkdir()
    python.write_text('#!/bin/sh\necho asked >>"$0.asked"\nexit 1\n')
    python.chmod(0o755)
    script = "set -e; . scripts/search.sh; install_search; install_search; echo went on"
    out, err = sourced(place, script).communicate(timeout=60)
    assert out == "went on\n" and err.count("going on without Optuna") == 1, err
    assert (place / ".venv/bin/python.asked").read_text() == "asked\n"
    python.write_text("#!/bin/sh\nexit 0\n")
    (place / ".venv/.installed/search.txt.failed").unlink()
    out, err = sourced(place, script).communicate(timeout=60)
    assert out == "went on\n" and "without" not in err and err.count("installing") == 1


@pytest.mark.parametrize(
    ("name", "remembered"),
    [("search", ".venv/.installed/search.txt.failed"), ("amgcl", "build/amgcl/tried.txt")],
)
def test_an_interrupted_download_ends_the_set_up_and_is_not_remembered_as_a_failure(place, name, remembered):
    (place / "requirements").mkdir()
    (place / f"requirements/{name}.txt").write_text("a package\n")
    (place / ".venv/.installed").mkdir(parents=True)
    # As pip does, it ends with 1 after Ctrl-C.
    tool(place / ".venv/bin", "python", "trap 'exit 1' INT; echo $$ >pip.pid; while :; do sleep 0.1; done")
    run = sourced(place, f". scripts/{name}.sh; install_{name}; echo went on")
    pid_in(place / "pip.pid")

    os.killpg(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)

    assert run.returncode == 130
    assert out == "" and "going on" not in err
    assert not (place / remembered).exists()
