"""A test of ReFrame: the asserts of a program are its sanity, what they measured its figures.

    reframe -c reframe_asserts.py -r

ReFrame compares the figures with its own references of the system, if it has any, and keeps them in its results.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class SolverKeepsItsAsserts(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    local = True
    sourcesdir = str(Path(__file__).parent)
    prerun_cmds = ["mpicc -g -O2 $(python3 -m kumihimo.run.header) solver.c -o solver -lm"]
    executable = "kumihimo"
    executable_opts = ["record", "--asserts", "asserts.toml", "--repeat", "6", "--json", "result.json"]
    executable_opts += ["--", "mpirun", "--oversubscribe", "-n", "2", "./solver"]

    def result(self):
        return json.loads(Path(self.stagedir, "result.json").read_text())

    @sanity_function
    def no_assert_is_missed(self):
        verdicts = {each["subject"] + ": " + each["assert"]: each["verdict"] for each in self.result()["asserts"]}
        wrong = [name for name, verdict in verdicts.items() if verdict in ("missed", "unreadable")]
        return sn.assert_true(verdicts and not wrong, msg="missed: " + "; ".join(wrong))

    @performance_function("s")
    def seconds(self):
        runs = [max(task["seconds"] for task in run["tasks"]) for run in self.result()["repeats"]]
        return sorted(runs)[len(runs) // 2]

    @performance_function("asserts")
    def met(self):
        return sum(each["verdict"] == "met" for each in self.result()["asserts"])
