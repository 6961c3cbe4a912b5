"""`kumihimo simulate`: how long a collective would take on a described machine, by each algorithm."""

from __future__ import annotations

from collections import Counter

from kumihimo.cli import machines, options, output, progress, simulate_results
from kumihimo.cli.simulate_request import Request
from kumihimo.predict import models, subjects
from kumihimo.predict.prediction import Prediction, Setting
from kumihimo.predict.subjects import Subject
from kumihimo.text.errors import NotApplicable, not_applicable


@options.with_parameters()
@options.gathered
def command(collective: options.CollectiveProgramsOrGoal, request: Request) -> None:
    """Predict the time of a collective or a workload on a described machine.

    \b
    Examples:
    kumihimo simulate allreduce --machine k-computer --shape 48x6x32 --bytes 1GiB
    kumihimo simulate workload:rsdft --machine k-computer --shape 8x8x8 --algorithm allreduce=trinaryx3
    kumihimo simulate goal:trace.goal --model loggp --loggops L=2500,o=1500,g=1000,G=6,O=0,S=65535
    """
    models.check_name(request.model)
    of_job = not (request.machine or request.loggops)
    if of_job:
        request.machine = machines.of_job()
    kind = subjects.kind_of(collective)
    request.refuse_what_means_nothing(kind)
    if kind == "recording":
        from kumihimo.cli import simulate_workload

        simulate_workload.run(collective, request, of_job)
        return
    if request.background:
        from kumihimo.cli import simulate_background

        simulate_background.run(collective, request)
        return
    subject, setting = request.question(collective)
    predictions, results, passed_over = progress.run_interruptible(lambda: work(subject, setting))
    if not results:
        raise none_fits(passed_over)
    simulate_results.write_files(request, setting, predictions, results)
    if request.as_json:
        output.print_results_json(results, passed_over)
    else:
        simulate_results.print_all(subject, setting, results, passed_over)


def work(subject: Subject, setting: Setting) -> tuple[list[Prediction], list[dict], list[dict]]:
    """Of each case its prediction and result, or why there is none."""
    predictions: list[Prediction] = []
    results: list[dict] = []
    passed_over: list[dict] = []
    cases = subject.cases(setting)
    with progress.bar("simulating", len(cases)) as advance:
        for case in cases:
            try:
                prediction, result = subject.predict(setting, case)
                predictions.append(prediction)
                results.append(result)
            except NotApplicable as reason:
                if not subject.may_not_fit:
                    raise
                passed_over.append({"algorithm": case.variant.name, "bytes": case.bytes, "reason": str(reason)})
            advance(case.variant.name if case and case.variant else "")
    return predictions, results, passed_over


def none_fits(passed_over: list[dict]) -> NotApplicable:
    """With the reason that most algorithms share alone, where there is one: that is of the model or the machine."""
    reasons = Counter(each["reason"] for each in passed_over)
    reason, number = reasons.most_common(1)[0] if reasons else ("", 0)
    if number > 1 and len(passed_over) < 2 * number:
        return NotApplicable(reason)
    return not_applicable("no algorithm fits these ranks", "; ".join(output.reasons(passed_over)))
