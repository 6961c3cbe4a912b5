"""Every model with every subject and every option of a model: an option changes what is told, or is refused."""

from __future__ import annotations

import json

import pytest

from kumihimo import _predict, cli
from kumihimo.predict import models, noise
from kumihimo.text import schema
from kumihimo.text.errors import BadInput

GOAL = "num_ranks 4\n" + "".join(
    f"rank {r} {{\ns: send 4096b to {(r + 1) % 4} tag 0\nr: recv 4096b from {(r + 3) % 4} tag 0\n}}\n" for r in range(4)
)
SUBJECTS = {
    "collective": "allreduce -a double_binary -b 64KiB",
    "programs": "halo:8x8x8",
    "goal": "goal:{folder}/ring.goal",
}
MACHINE = "-m k-computer -s 2x2"
# Values that matter; the hosts of an --allocation say how many ranks there are.
OPTIONS = {
    "links": "--links",
    "loggops": "--loggops L=9999",
    "cpus": "--cpus 1",
    "nics": "--nics 1",
    "by_rank": "--by-rank",
    "timeline": "--timeline {folder}/timeline.json",
    "packet_bytes": "--packet-bytes 512",
    "buffer_packets": "--buffer-packets 9",
    "packet_seed": "--packet-seed 5",
    "page": "--page {folder}/page.html --noise periodic:10us/1ms",
    "noise": "--noise periodic:10us/1ms",
    "dies": "--dies 1@1us",
    "slow": "--slow 1=0.1",
    "no_simd": "--no-simd",
    "order": "--order random:3",
    "background": "--background uniform:load=40%,bytes=16KiB --repeats 2 {free}",
    "repeats": "--repeats 2",
    "spread": "--spread both",
    "warm_up": "--warm-up 1us",
    "without": "--without levels",
    "explain": "--explain",
}
# What leaves nodes free for other jobs: a GOAL file has its ranks.
FREE = {"goal": "--shape 2x4"}
# These show in a text only, or in other programs: where loops are sampled, or ranks have several lanes.
WITHOUT_TRACE = {
    ("order", "collective"): ("cost", "bound", "loggp"),
    ("order", "programs"): ("loggp",),
    ("nics", "programs"): ("loggp",),
}
ONLY_BESIDE_OTHERS = ("repeats", "spread", "warm_up")


@pytest.fixture
def simulate(capfd, tmp_path):
    (tmp_path / "ring.goal").write_text(GOAL, encoding="utf-8")

    def run(words: str) -> tuple[int, str, str]:
        code = cli.carry_out(["simulate", *words.format(folder=tmp_path).split(), "--json"])
        return code, *capfd.readouterr()

    return run


def told(out: str) -> list[dict]:
    """Without what differs from run to run."""
    results = json.loads(out)["results"]
    for result in results:
        result.pop("wall_seconds", None)
    return results


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("model", [each.name for each in models.MODELS])
def test_each_option_matters_or_is_refused(simulate, tmp_path, model, subject):
    line = f"{SUBJECTS[subject]} {MACHINE} --model {model}"
    code, plain, error = simulate(line)
    if model not in models.of(subject):
        accepted = models.either(models.of(subject))
        assert code == 2 and f"--model of {models.SUBJECTS[subject]} must be {accepted} (got '{model}')" in error
        return
    assert code == 0, error
    understood = models.options_of(model, subject)
    for option, words in OPTIONS.items():
        words = words.replace("{free}", FREE.get(subject, "--ranks 2"))
        code, out, error = simulate(f"{line} {words}")
        if option not in understood:
            assert code == 2 and error.count("\n") == 1 and out == "", (option, error)
            names = models.with_option(option, subject)
            flag = words.split()[0]
            assert (f"needs --model {models.either(names)} (got" if names else f"takes no {flag}") in error, error
        elif option in ONLY_BESIDE_OTHERS:
            assert code == 2 and "without --background takes no" in error, error
        else:
            assert code == 0, (option, error)
            if model not in WITHOUT_TRACE.get((option, subject), ()):
                same = option != "background" and told(out) == told(plain)
                written = [each for each in ("page.html", "timeline.json") if (tmp_path / each).exists()]
                assert not same or (option in ("page", "timeline") and written), option


def test_the_schema_is_made_from_the_models():
    path = schema.FOLDER / "prediction.schema.json"
    assert path.read_text(encoding="utf-8") == _predict.prediction_schema() + "\n", "run scripts/document"


def test_each_stage_can_be_left_out_and_tells_what_it_did(simulate):
    line = f"{SUBJECTS['collective']} {MACHINE} --explain"
    names = [name for name, *_ in _predict.stages()]
    for left_out in models.STAGES:
        code, out, error = simulate(f"{line} --without {left_out}")
        assert (code, error) == (0, "")
        (result,) = json.loads(out)["results"]
        assert [each["stage"] for each in result["stages"]] == names
        assert [each["stage"] for each in result["stages"] if each["is_off"]] == [left_out]
        assert all(each["what"] for each in result["stages"])
        assert schema.fault(result, "prediction") == ""
    code, out, error = simulate(f"{line} --without symmetry --without levels")
    assert [each["stage"] for each in told(out)[0]["stages"] if each["is_off"]] == ["symmetry", "levels"]
    for wrong in ("compile", "lvels"):
        code, _, error = simulate(f"{line} --without {wrong}")
        rule = f"--without must be one of {models.either(models.STAGES)} (got '{wrong}')"
        assert (code, error) == (2, f"kumihimo: {rule}\n")


def test_the_table_of_stages_is_that_of_the_model(repository):
    page = (repository / "docs/reference/simulate.md").read_text(encoding="utf-8")
    for name, does, without in _predict.stages():
        assert f"| `{name}` | {does} | {without or 'always on'} |" in page


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("model", [each.name for each in models.MODELS])
def test_results_follow_the_schema(simulate, model, subject):
    if model not in models.of(subject):
        return
    noise = " --noise periodic:10us/1ms" if "noise" in models.options_of(model, subject) else ""
    code, out, error = simulate(f"{SUBJECTS[subject]} {MACHINE} --model {model}{noise}")
    assert (code, error) == (0, "")
    for result in json.loads(out)["results"]:
        assert schema.fault(result, "prediction") == ""
        assert schema.fault({**result, "seconds": "fast"}, "prediction").startswith("seconds is 'fast'")


def test_every_option_is_tried():
    every = frozenset().union(*map(models.understood, SUBJECTS))
    assert every - set(OPTIONS) == {"given", "placement"}, "tried beside --order in tests/python/cli"


def test_a_model_that_no_subject_has_is_no_row():
    accepted = {model.name: {each.subject for each in model.accepts} for model in models.MODELS}
    assert all(accepted.values())
    assert set().union(*accepted.values()) == set(models.SUBJECTS)


@pytest.mark.parametrize("noise", ["20000:10e-6", "periodic:10us/50us"])
def test_noise_has_one_grammar(simulate, noise):
    code, out, error = simulate(f"{SUBJECTS['collective']} {MACHINE} --model packet --noise {noise}")
    assert code == 0, error
    code, of_app, error = simulate(f"app poisson3d {MACHINE} --cells 8 --method cg --iterations 4 --noise {noise}")
    assert code == 0, error
    assert json.loads(of_app)["results"][0]["noise"]["seconds"] == pytest.approx(10e-6)
    _, longer, _ = simulate(f"{SUBJECTS['collective']} {MACHINE} --model packet --noise periodic:10us/50us")
    results = (told(out)[0], told(longer)[0])
    assert results[0]["seconds"] == results[1]["seconds"] > results[0]["noise_free_seconds"]


def test_exact_and_flow_are_one_fluid_of_a_goal_file(simulate):
    seconds = {}
    for model in ("flow", "exact"):
        code, out, error = simulate(f"{SUBJECTS['goal']} {MACHINE} --model {model}")
        assert code == 0, error
        seconds[model] = told(out)[0]["seconds"]
    assert seconds["exact"] == seconds["flow"] > 0


def test_noise_without_events_is_none(simulate):
    for words in (f"{SUBJECTS['collective']} {MACHINE} --model packet", f"app poisson3d {MACHINE} --cells 8"):
        code, _, error = simulate(f"{words} --noise 0:100e-6")
        assert code == 2 and "--noise must have events, and a time of each, above 0 (got '0:100e-6')" in error


@pytest.mark.parametrize("text", ["1e-4:1", "1e13:1e-14", "1:1001", "1:1e-13"])
def test_rates_of_noise_outside_the_range(text):
    with pytest.raises(BadInput) as caught:
        noise.parsed(text)
    rule = "EVENTS:SECONDS of --noise must be 0.001 to 1e12 events per second, each of 1e-12 to 1000 seconds"
    assert str(caught.value) == f"{rule} (got '{text}')"
    assert noise.parsed("1e-3:900").interval == noise.LONGEST


@pytest.mark.parametrize("form", ["{}:1", "1:{}", "periodic:{}s/1s"])
def test_noise_of_400_digits_is_refused(form):
    with pytest.raises(BadInput, match="--noise must be"):
        noise.parsed(form.format("9" * 400))


@pytest.mark.parametrize("noise", ["exponential:10us/1ms", "periodic:10us/1ms,cosched", "1000:1e-5,every=2"])
def test_an_application_has_any_noise(simulate, noise):
    code, out, error = simulate(f"app poisson3d {MACHINE} --cells 8 --method cg --iterations 4 --noise {noise}")
    assert code == 0, error
    assert json.loads(out)["results"][0]["noise"]["text"] == noise
