"""`kumihimo simulate`: how long a collective would take on a described machine, by each algorithm."""

from __future__ import annotations

from kumihimo.cli import machines, options, output, progress, simulate_results
from kumihimo.cli.simulate_request import Request
from kumihimo.predict import models, subjects
from kumihimo.predict.prediction import Setting
from kumihimo.predict.request import SimulationOutcome, predict_all
from kumihimo.predict.subjects import Subject


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
    request.check(kind)
    if kind == "recording":
        from kumihimo.cli import simulate_workload

        simulate_workload.run(collective, request, of_job)
        return
    if request.background:
        from kumihimo.cli import simulate_background

        simulate_background.run(collective, request)
        return
    subject, setting = request.question(collective)
    found = progress.run_interruptible(lambda: work(subject, setting))
    simulate_results.write_files(request, setting, found.predictions, found.results)
    if request.as_json:
        output.print_results_json(found.results, found.passed_over)
    else:
        simulate_results.print_all(subject, setting, found.results, found.passed_over)


def work(subject: Subject, setting: Setting) -> SimulationOutcome:
    cases = subject.cases(setting)
    with progress.bar("simulating", len(cases)) as advance:
        return predict_all(subject, setting, cases, advance)
