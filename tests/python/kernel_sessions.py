"""Users' kernels in this process, with synthetic times, and what their tuning found."""

from __future__ import annotations

from collections.abc import Callable

from kumihimo.kernel import declaration, programs, serving


class InProcess:
    """A session without a process: checks are real, and times come from `cost(variant, parameters, size)`."""

    def __init__(self, cost: Callable[[str, dict, int], float]) -> None:
        self.server = serving.KernelServer(declaration.declared)
        self.cost, self.asked = cost, []

    def listing(self) -> dict:
        return self.server.answer({"do": "list"})

    def ask(self, request: dict, seconds: float) -> dict:
        self.asked.append(request)
        if request["do"] == "time":
            return {"seconds": self.cost(request["variant"], request["parameters"], request["size"])}
        return self.server.answer(request)

    def close(self) -> None:
        pass


def decision_of(found: programs.TunedKernels, size: int) -> dict:
    return next(each for each in found.decisions if each["size"] == size)


def refused_of(found: programs.TunedKernels) -> dict[str, str]:
    return {row["variant"]: row["refused"] for each in found.decisions for row in each["tried"] if "refused" in row}
