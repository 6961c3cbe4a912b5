"""Reads the command line that starts a program: the launcher, its options, and the programs with their ranks."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

MPI_LAUNCHERS = ("mpirun", "mpiexec", "orterun", "prterun")  # how their names begin
SRUN = "srun"
FLUX, FLUX_STARTS = "flux", ("run", "submit", "alloc", "batch")  # and its subcommands that name a program
# Options with which the others go on when a rank dies, so that the launcher's exit status counts.
RECOVERING = ("--with-ft", "--enable-recovery", "-enable-recovery", "-disable-auto-cleanup")
OTHER_LAUNCHERS = (SRUN, "aprun", "jsrun", FLUX, "prun")  # of batch systems
# Programs that start the one which their arguments name.
WRAPPERS: tuple[str, ...] = ("env", "time", "nice", "ionice", "nohup", "stdbuf", "timeout", "numactl", "taskset")
WRAPPERS += ("setarch", "chrt")
WRAPPERS += ("valgrind", "perf", "strace", "ltrace", "gdb", "singularity", "apptainer")


def names_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The options that take values, and those that take none, without their dashes. The value of any other option is guessed
# (takes_next).
MPI_NUMBERS, SRUN_NUMBERS = ("n", "np", "c"), ("n", "ntasks")  # of processes
MPI_TWO_VALUES = ("mca", "gmca", "prtemca", "gprtemca", "pmixmca", "gpmixmca", "omca", "gomca", "env", "genv")
MPI_VALUES = names_in(
    """
    H N am app bind-to bootstrap bootstrap-exec c configfile cpu-list cpu-set cpus-per-proc cpus-per-rank
    default-hostfile demux display dvm dvm-uri envlist errfile-pattern f forward-signals genvlist ghost gpath
    gpus-per-proc gwdir host hostfile hosts iface launcher launcher-exec localhost machine machinefile map-by
    max-restarts membind n nameserver np npernode npersocket ompi-server order-nodes outfile-pattern output
    output-filename path perhost personality ppn prefix preload-files prepend-pattern pset rank-by rankfile
    report-pid report-uri rf rmk runtime-options slot-list stdin stream-buffering timeout topolib tune usize wd
    wdir x
    """
)
MPI_FLAGS = names_in(
    """
    V allow-run-as-root bind-to-core bind-to-none bind-to-socket bycore bynode byslot bysocket continuous d
    debug-daemons debug-devel disable-auto-cleanup disable-hostname-propagation disable-x display-allocation
    display-devel-map display-map do-not-launch do-not-resolve enable-recovery enable-x envall envnone genvall
    genvnone get-stack-traces h help index-argv-by-rank info l leave-session-attached merge-stderr-to-stdout
    nolocal nooversubscribe novm oversubscribe pernode pmi-port preload-binary prepend-rank print-all-exitcodes
    profile q quiet report-bindings report-child-jobs-separately report-state-on-timeout s show-progress
    skip-launch-node tag-output timestamp-output use-hwthread-cpus v verbose version xml
    """
)
SRUN_VALUES = names_in(
    """
    A B C D G J L M N S T W account acctg-freq b bb bbf bcast-exclude begin c chdir cluster-constraint clusters
    comment constraint container core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task d
    deadline delay-boot dependency distribution e epilog error exclude export extra-node-info gpu-bind gpu-freq
    gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint i input j job-name jobid
    licenses m mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi n network nodefile
    nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres o
    output p partition power priority profile prolog q qos r relative reservation signal slurmd-debug
    sockets-per-node switches task-epilog task-prolog thread-spec threads threads-per-core time time-min t tmp
    tres-per-task tres-bind w wait wckey x
    """
)
SRUN_FLAGS = names_in(
    """
    E H I K O Q V X Z bcast compress contiguous disable-status exact exclusive h help hold immediate k
    kill-on-bad-exit l label multi-prog nice no-allocate no-kill overcommit overlap oversubscribe preserve-env
    propagate pty quiet quit-on-interrupt reboot resv-ports s send-libs share spread-job u unbuffered usage
    use-min-nodes v verbose version
    """
)

# Of srun: where the processes run, which is the same for a measurement.
SRUN_PLACES = names_in(
    """
    A B C G M N O S account c clusters constraint core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu
    cpus-per-task distribution exact exclude exclusive extra-node-info gpu-bind gpu-freq gpus gpus-per-node
    gpus-per-socket gpus-per-task gres gres-flags hint jobid licenses m mem mem-bind mem-per-cpu mem-per-gpu
    mincpus network nodelist nodes ntasks-per-core ntasks-per-node ntasks-per-socket overcommit overlap
    oversubscribe p partition q qos r relative reservation resv-ports s sockets-per-node threads-per-core time t
    w x
    """
)


@dataclass(frozen=True)
class LaunchedProgram:
    """`options` of the launcher before it; `words`: the program with its arguments, or none where the line names none;
    `ranks`: 0 where the line does not say how many."""

    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    ranks: int = 0


@dataclass(frozen=True)
class LaunchLine:
    """`launcher`: the name of its file, or empty where the line starts a program or a script itself."""

    launcher: str
    programs: tuple[LaunchedProgram, ...]

    @property
    def is_of_mpi(self) -> bool:
        return self.launcher.startswith(MPI_LAUNCHERS)

    @property
    def is_srun(self) -> bool:
        return self.launcher == SRUN

    @property
    def ranks(self) -> int:
        return sum(program.ranks for program in self.programs)

    @property
    def names_a_program(self) -> bool:
        return any(program.words and shutil.which(program.words[0]) for program in self.programs)


def places(line: LaunchLine) -> list[str]:
    """The options of srun that say where the processes run; none of another launcher."""
    found, words, place = [], list(line.programs[0].options) if line.is_srun else [], 0
    while place < len(words):
        name, _, values = option_at(words, place, is_srun=True)
        if name in SRUN_PLACES:
            found += words[place : place + 1 + values]
        place += 1 + values
    return found


def with_srun_export(command: Sequence[str], changed: Callable[[str], str]) -> list[str]:
    """The command, with another value of srun's own --export. The arguments of the program that it starts stay."""
    found = list(command)
    for words in chain(command):
        if Path(words[0]).name != SRUN:
            continue
        first, options, place = len(command) - len(words) + 1, list(program_in(words[1:], True).options), 0
        while place < len(options):
            name, glued, values = option_at(options, place, is_srun=True)
            if name == "export" and glued is not None:
                found[first + place] = f"--export={changed(glued)}"
            elif name == "export" and place + 1 < len(options):
                found[first + place + 1] = changed(options[place + 1])
            place += 1 + values
        break
    return found


def read(command: Sequence[str]) -> LaunchLine:
    """Wrappers may stand before the launcher, as in `time mpirun ...`."""
    for words in chain(command):
        name = Path(words[0]).name
        if is_launcher(name):
            parts = list(between_colons(after_subcommand(words[1:]) if name == FLUX else words[1:]))
            found = tuple(program_in(part, name == SRUN) for part in parts)
            if name == SRUN and "--multi-prog" in found[0].options and found[0].words:
                found = tuple(multiple_programs(found[0])) or found
            return LaunchLine(name, found)
    return LaunchLine("", (LaunchedProgram((), tuple(command)),))


def after_subcommand(words: list[str]) -> list[str]:
    """The arguments of `flux run`, also as `flux -v mini run`."""
    found = next((at for at, word in enumerate(words) if word in FLUX_STARTS), -1)
    is_last = all(word.startswith("-") or word == "mini" for word in words[: max(0, found)])
    return words[found + 1 :] if is_last else words


def is_launcher(name: str) -> bool:
    return name.startswith(MPI_LAUNCHERS) or name in OTHER_LAUNCHERS


def chain(words: Sequence[str]) -> Iterator[list[str]]:
    """These words, and those of each program that a wrapper among them starts."""
    rest = list(words)
    while rest:
        yield rest
        rest = from_program(rest[1:]) if Path(rest[0]).name in WRAPPERS else []


def between_colons(words: Iterable[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for word in words:
        if word == ":":
            yield part
            part = []
        else:
            part.append(word)
    yield part


def program_in(words: list[str], is_srun: bool) -> LaunchedProgram:
    """The program of the words between two colons."""
    ranks, place = 0, 0
    while place < len(words) and words[place].startswith("-") and words[place] != "--":
        name, glued, values = option_at(words, place, is_srun)
        value = glued if glued is not None else words[place + 1] if values and place + 1 < len(words) else ""
        if name in (SRUN_NUMBERS if is_srun else MPI_NUMBERS) and value.isdecimal():
            ranks = int(value)
        place += 1 + values
    start = place + 1 if words[place : place + 1] == ["--"] else place
    return LaunchedProgram(tuple(words[:place]), tuple(words[start:]), ranks)


def option_at(words: list[str], place: int, is_srun: bool) -> tuple[str, str | None, int]:
    """Its name, its value where that is part of the word, and how many of the next words are values."""
    word = words[place]
    name, equals, value = word.lstrip("-").partition("=")
    if equals:
        return name, value, 0
    if is_srun and not word.startswith("--") and len(name) > 1:  # -n4, -lun4
        flags = "".join(flag for flag in SRUN_FLAGS if len(flag) == 1)
        rest = name.lstrip(flags).lstrip("0123456789")  # -K and -I may have a number
        return rest[:1], rest[1:] or None, int(len(rest) == 1)
    if glued := re.fullmatch(r"(n|np)(\d+)", name):
        return glued[1], glued[2], 0
    if not is_srun and name in MPI_TWO_VALUES:
        return name, None, 2
    if name in (SRUN_VALUES if is_srun else MPI_VALUES):
        return name, None, 1
    if name in (SRUN_FLAGS if is_srun else MPI_FLAGS):
        return name, None, 0
    return name, None, int(takes_next(words[place + 1 :]))


def takes_next(words: list[str]) -> bool:
    """Whether an unknown option has the next word as its value: as `node`, which may also be a program, but not the
    path of one."""
    return bool(words) and not words[0].startswith("-") and not ("/" in words[0] and shutil.which(words[0]))


def multiple_programs(asked: LaunchedProgram) -> Iterator[LaunchedProgram]:
    """The programs in the file of `srun --multi-prog`, by their first ranks."""
    path = Path(asked.words[0])
    try:
        if not path.is_file():  # what can be read only once is for srun
            return
        text = path.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
        lines = [shlex.split(line, comments=True) for line in text.splitlines()]
    except (OSError, ValueError):  # srun says so
        return
    found = []
    for line in lines:
        ranks, *words = line or [""]
        if words:
            numbers = list(numbers_of(ranks))
            found.append(
                (min(numbers, default=asked.ranks), LaunchedProgram(asked.options, tuple(words), len(numbers)))
            )
    rest = max(0, asked.ranks - sum(program.ranks for _, program in found))
    for _, program in sorted(found, key=lambda each: each[0]):
        yield program if program.ranks else replace(program, ranks=rest)


def numbers_of(text: str) -> Iterator[int]:
    """The numbers of 0-2,5; none of *, which stands for the rest."""
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def from_program(words: list[str]) -> list[str]:
    """A wrapper's arguments from the first word on that can be the program. A word after an option is its value,
    unless it is the path of a program or a launcher. A launcher is it, whatever comes before: `perf stat mpirun`."""
    for place, word in enumerate(words):
        if is_launcher(Path(word).name) and shutil.which(word):
            return words[place:]
    before = ""
    for place, word in enumerate(words):
        is_setting = re.match(r"[A-Za-z_]\w*=", word)
        is_value = before.startswith("-") and before != "--" and "=" not in before and "/" not in word
        is_value = is_value and not is_launcher(word)
        if not word.startswith("-") and not is_setting and not is_value and shutil.which(word):
            return words[place:]
        before = word
    return []
