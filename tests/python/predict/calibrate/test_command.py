"""`kumihimo machine calibrate` as a user runs it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from small_machine import MACHINE, TRUTH, csv_of

from kumihimo import _machine
from kumihimo.predict.calibrate import cases
from kumihimo.predict.campaign.description import toml

FIT = ("--fit", "message_cost,link_bandwidth")


@pytest.fixture
def files(tmp_path, true_times):
    (tmp_path / "small.toml").write_text(MACHINE)
    (tmp_path / "times.csv").write_text(csv_of(true_times))
    return tmp_path


def test_writes_a_machine_file_that_predicts_the_measured_times(kumihimo, files, true_times):
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", "--out", "new.toml")
    assert ended.code == 0, ended.err
    assert "fitted to 80 times: 8 to 16 ranks on 8 to 16 nodes, 8 B to 1 MiB" in ended.out
    assert "validated on 40 times, where nodes >= 64" in ended.out
    assert "Validation by algorithm" in ended.out and "Validation by size" in ended.out
    written = toml((files / "new.toml").read_text(), files / "new.toml")
    assert written["software"]["message_cost"]["value"].startswith(TRUTH["message_cost"].split()[0])
    assert written["software"]["message_cost"]["fitted"].startswith("kumihimo machine calibrate: 80 times of times.csv")
    assert "# Fitted to times.csv, and validated where nodes >= 64." in (files / "new.toml").read_text()
    case = next(case for case in true_times if case.values["shape"] == "4x4x4")
    words = [case.values["collective"], "--machine", "./new.toml"]
    words += [word for name in ("algorithm", "shape", "bytes") for word in (f"--{name}", str(case.values[name]))]
    predicted = json.loads(kumihimo("simulate", *words, "--json").out)["results"][0]["seconds"]
    assert predicted == pytest.approx(case.seconds, rel=0.01)
    shown = kumihimo("machine", "show", "./new.toml").out
    assert "fitted" in shown and "95 % within" in shown


def test_json_names_the_part_of_each_time(kumihimo, files, true_times):
    ended = kumihimo(
        "machine", "calibrate", "small.toml", "times.csv", *FIT, "--validate-on", "bytes > 64KiB", "--json"
    )
    told = json.loads(ended.out)
    assert told["validate_on"] == "bytes > 64KiB"
    assert {each["key"] for each in told["fitted"]} == {"software.message_cost", "network.link_bandwidth"}
    assert all(each["low"] <= each["value"] <= each["high"] for each in told["fitted"])
    assert [each["part"] for each in told["results"]] == [
        "validation" if case.values["bytes"] > 65536 else "fit" for case in true_times
    ]
    agreed = told["agreement"]["validation"]
    assert agreed["times"] == 30 and agreed["median"] <= agreed["ninth_decile"] <= abs(agreed["worst"])
    assert agreed["worst_at"] in {each["at"] for each in told["results"] if each["part"] == "validation"}


def test_a_toml_file_explains_a_csv_file_in_other_words(kumihimo, files, true_times):
    lines = ["call,algo,dims,size,us,kind"]
    for case in true_times:
        v = case.values
        us = 1e6 * case.seconds
        lines.append(f"{v['collective'].upper()},my-{v['algorithm']},{v['shape']},{v['bytes']},{us!r},x")
    lines.append("BARRIER,my-none,4x4x4,8,1,y")
    (files / "other.csv").write_text("\n".join(lines))
    names = "\n".join(f'"my-{name}" = "{name}"' for name in {case.values["algorithm"] for case in true_times})
    (files / "other.toml").write_text(f"""
[measured]
file = "other.csv"
where = "kind == 'x'"
[measured.columns]
collective = "lower(call)"
algorithm = "algo"
shape = "dims"
bytes = "size"
seconds = "us * 1e-6"
[measured.names.algorithm]
{names}
""")
    both = [
        json.loads(kumihimo("machine", "calibrate", "small.toml", file, *FIT, "--json").out)
        for file in ("times.csv", "other.toml")
    ]
    for a, b in zip(*(told["fitted"] for told in both)):
        assert a["value"] == pytest.approx(b["value"], rel=1e-6)


def test_algorithms_that_do_not_fit_are_left_out_and_named(kumihimo, files):
    with (files / "times.csv").open("a") as file:
        file.write("bcast,trinaryx6,2x2x2,8,1,mine\n")
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT)
    assert ended.code == 0, ended.err
    assert "Left out, 1 time:" in ended.out and "bcast trinaryx6" in ended.out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("bcast,binomial,2x2x2,8,-1,mine", "measured seconds must be numbers above 0"),
        ("bcast,binomial,2x2x2,8,fast,mine", "measured seconds must be numbers above 0"),
        ("bcast,binomial,2x2x2,eight,1,mine", "a size must be a whole number of bytes"),
        ("bcast,binomal,2x2x2,8,1,mine", "binomial"),
        ("broadcast,binomial,2x2x2,8,1,mine", "bcast"),
        ("bcast,binomial,9x9x9x9,8,1,mine", "9x9x9x9"),
        ("bcast,binomial,2x2x2,12,1,mine", "multiple of 8"),
        (",binomial,2x2x2,8,1,mine", "the collective is missing"),
    ],
)
def test_a_wrong_line_is_named(kumihimo, files, line, words):
    with (files / "times.csv").open("a") as file:
        file.write(line + "\n")
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT)
    assert ended.code == 2
    assert "times.csv:122:" in ended.err and words in ended.err, ended.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("smal.toml", "times.csv"), "the machine must be described by a file"),
        (("fugako", "times.csv"), "did you mean fugaku?"),
        (("small.toml", "absent.csv"), "absent.csv"),
        (("small.toml", "times.csv", "--fit", "mesage_cost"), "did you mean message_cost?"),
        (("small.toml", "times.csv", "--validate-on", "node > 9"), "did you mean nodes?"),
        (("small.toml", "times.csv", "--model", "cost"), "--model must be one of flow, exact"),
        (("small.toml", "header.csv"), "header.csv:1: the column algorithm is missing; did you mean algoritm?"),
        (("small.toml", "column.toml"), "did you mean segment_bytes?"),
    ],
)
def test_wrong_arguments(kumihimo, files, arguments, words):
    (files / "header.csv").write_text("collective,algoritm,shape,bytes,seconds\n")
    (files / "column.toml").write_text(
        '[measured]\nfile = "times.csv"\n[measured.columns]\nseconds = "seconds"\nsegment_byte = "bytes"\n'
    )
    ended = kumihimo("machine", "calibrate", *arguments)
    assert ended.code == 2 and words in ended.err, ended.err


def test_a_byte_order_mark_is_no_part_of_a_column(kumihimo, files, true_times):
    """As spreadsheets write it."""
    (files / "times.csv").write_text(csv_of(true_times), encoding="utf-8-sig")
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT, "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["fitted"]


def test_too_few_times_are_told_with_the_numbers(kumihimo, files, true_times):
    """The guide's own example: of three times one is kept."""
    largest = next(case for case in true_times if case.values["shape"] == "4x4x4")
    (files / "times.csv").write_text(csv_of([*true_times[:2], largest]))
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT)
    assert ended.code == 2
    assert "there must be more times to fit than numbers (message_cost, link_bandwidth) (got 2 and 2); add" in ended.err


def test_prints_how_small_jobs_predict_larger_ones(kumihimo, files):
    ended = kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT, "--out", "new.toml")
    assert ended.code == 0, ended.err
    assert "Fitted to small jobs, judged on larger ones" in ended.out
    assert "at most 8" in ended.out and "at most 16" in ended.out
    assert "the largest jobs by intervals of smaller ones:" in ended.out
    written = toml((files / "new.toml").read_text(), files / "new.toml")["prediction_errors"]
    assert (written["fewest_nodes"], written["most_nodes"]) == (8, 64)
    assert any((row["algorithms"], row["lengths"]) == ("all", "all") for row in written["rows"])
    asked = ("simulate", "bcast", "-m", "./new.toml", "-s", "4x4x4", "-b", "8", "-a", "trinaryx3", "--json")
    found = json.loads(kumihimo(*asked).out)["results"][0]
    assert found["interval"]["low_seconds"] <= found["interval"]["high_seconds"]
    told = json.loads(kumihimo("machine", "calibrate", "small.toml", "times.csv", *FIT, "--json").out)
    assert [each["judged_nodes"] for each in told["by_scale"]["judged"]] == [16, 64]
    none = ("machine", "calibrate", "small.toml", "times.csv", *FIT, "--scales", "none", "--json")
    left_out = json.loads(kumihimo(*none).out)
    assert left_out["by_scale"]["judged"] == [] and left_out["prediction_errors"] == []


def test_a_calibration_writes_into_a_state_of_the_software(kumihimo, files, true_times):
    """A new one; the numbers outside stay, and the next calibration starts from it."""
    arguments = ("machine", "calibrate", "small.toml", "times.csv", *FIT, "--software", "mpi-5", "--out")
    ended = kumihimo(*arguments, "new.toml")
    assert ended.code == 0, ended.err
    written = toml((files / "new.toml").read_text(), files / "new.toml")
    assert written["software"]["message_cost"]["assumed"] == 'a "guess"'
    assert "fitted" in written["software"]["mpi-5"]["message_cost"]
    assert "fitted" in written["software"]["mpi-5"]["network"]["link_bandwidth"]
    assert written["software"]["mpi-5"]["prediction_errors"]["rows"]
    asked = ("simulate", "bcast", "-m", "./new.toml", "-s", "4x4x4", "-b", "1MiB", "-a", "trinaryx3", "--json")
    base, state, named = (
        json.loads(kumihimo(*asked, *more).out)["results"][0]
        for more in ((), ("--software", "mpi-5"), ("--software", "base"))
    )
    assert base["seconds"] == named["seconds"] != state["seconds"]
    assert "interval" in state and "interval" not in base
    assert "mpi-5, in force" in kumihimo("machine", "show", "./new.toml", "--software", "mpi-5").out
    again = kumihimo("machine", "calibrate", "./new.toml", "times.csv", *FIT, "--software", "mpi-5", "--json")
    fitted = {each["key"]: each for each in json.loads(again.out)["fitted"]}
    cost = fitted["software.message_cost"]
    assert cost["before"] == pytest.approx(cost["value"], rel=1e-2)
    refused = kumihimo(*asked, "--software", "mpi-6")
    assert refused.code == 2 and "use one of base, mpi-5" in refused.err


def test_times_of_other_states_are_left_out(kumihimo, files, true_times):
    lines = csv_of(true_times).splitlines()
    lines = [lines[0] + ",software", *(f"{line},{'old' if i % 2 else 'new'}" for i, line in enumerate(lines[1:]))]
    (files / "states.csv").write_text("\n".join(lines))
    asked = ("machine", "calibrate", "small.toml", "states.csv", *FIT, "--scales", "none", "--json")
    told = json.loads(kumihimo(*asked, "--software", "new").out)
    assert len(told["results"]) == 60
    refused = kumihimo(*asked)
    assert refused.code == 2 and "--software" in refused.err and "with one of new, old" in refused.err


def test_times_of_another_state_than_the_default_are_refused(kumihimo, files, true_times):
    """They would change numbers that they say nothing of."""
    lines = csv_of(true_times).splitlines()
    (files / "new.csv").write_text("\n".join([lines[0] + ",software", *(f"{line},new" for line in lines[1:])]))
    text = f'default_software = "old"\n{MACHINE}\n[software.old]\n[software.new]\n'
    (files / "states.toml").write_text(text)
    asked = (*FIT, "--scales", "none", "--json")
    refused = kumihimo("machine", "calibrate", "./states.toml", "new.csv", *asked)
    assert refused.code == 2 and "(got 'old'); use --software with one of new" in refused.err, refused.err
    assert kumihimo("machine", "calibrate", "./states.toml", "new.csv", *asked, "--software", "base").code == 2
    for more in (("./states.toml", "new.csv", "--software", "new"), ("small.toml", "new.csv")):
        ended = kumihimo("machine", "calibrate", *more, *asked)
        assert ended.code == 0, ended.err


def test_a_new_state_leaves_the_base_as_it_is(kumihimo, files, true_times):
    """Of times by another form of a put's cost than the file's."""
    puts = 'put_setup = { value = "9 us", assumed = "a guess" }\nsegment_bytes ='
    text = MACHINE.replace("segment_bytes =", puts)
    (files / "puts.toml").write_text(text)
    machine = _machine.parse(
        text.replace("put_setup", 'put_turn_latency = { value = "40 us", assumed = "x" }\nput_setup'), ""
    )
    few = [replace(case) for case in true_times if case.values["bytes"] in (8, 2**20)]
    for case, seconds in zip(few, cases.Predictor(few, machine).seconds(machine, few)):
        case.seconds = seconds
    (files / "few.csv").write_text(csv_of(few))
    ended = kumihimo("machine", "calibrate", "puts.toml", "few.csv", "--software", "new", "--out", "new.toml")
    assert ended.code == 0, ended.err
    written = (files / "new.toml").read_text()
    base = toml(written, files / "new.toml")["software"]
    assert "put_setup" in base.pop("new") and "on trial" not in written
    assert base == toml(text, files / "puts.toml")["software"]
