// One run of an application, as its command's task asks for it, on ranks that are threads.
#pragma once

#include "application/request.hpp"
#include "application/runtime.hpp"
#include "loopback/loopback_processes.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace kumihimo::application {

// The result of rank 0, with the task's first candidate. Even seeds delay messages.
inline Result<nlohmann::json> run_application(const nlohmann::json& task_text, std::span<const Application> all,
                                              std::int32_t ranks, std::uint64_t seed = 1,
                                              const Communication& communication = {}) {
  const Result<ApplicationTask> task = parse_task(task_text.dump(), all);
  if (!task) return task.error();
  nlohmann::json found;
  const auto [status, printed] = run_processes(ranks, seed % 2 == 0, seed, [&](Processes& processes) -> Status {
    std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, communication));
    ApplicationRequest request = task->request;
    request.candidate = task->candidates[0];
    Result<nlohmann::json> result = request.application->run(request, *runtime);
    if (Status s = runtime->agree_on(result); !s) return s;
    if (processes.rank() == 0) found = std::move(*result);
    return Nothing{};
  });
  if (!status) return status.error();
  return found;
}

} // namespace kumihimo::application
