#include "application/run_task.hpp"

#include "application/checkpoints.hpp"
#include "application/machine_rates.hpp"
#include "application/runtime.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <new>
#include <set>

namespace kumihimo::application {
namespace {

using nlohmann::json;

std::string label_of(const RequestedVariant& candidate) {
  std::string text(candidate.variant->name);
  for (const auto& [name, value] : candidate.parameters) text += fmt::format(", {} {}", name, value);
  return text;
}

Result<json> about(const ApplicationTask& task, Processes& processes, const std::string& threads_text) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  json found = {{"application", task.request.application->name},
                {"size", task.request.size},
                {"golden_hash", task.request.application->golden_hash},
                {"ranks", processes.ranks()},
                {"nodes", std::set<std::int64_t>(nodes.begin(), nodes.end()).size()},
                {"threads", threads::count()},
                {"pinning", threads_text},
                {"sums", processes.ranks() > 1 ? json(task.sums) : json()}};
  if (task.rates) {
    const MachineRates rates = TRY(measure_rates(processes));
    found["rates"] = {{"triad_bytes_per_second", rates.triad_bytes_per_second}, {"peak_flops", rates.peak_flops}};
  }
  return found;
}

std::vector<const RequestedVariant*> in_order_of_set_up(const ApplicationTask& task) {
  std::vector<const RequestedVariant*> order;
  for (const RequestedVariant& candidate : task.candidates) order.push_back(&candidate);
  if (const auto shared = task.request.application->shared_set_up; shared && !task.in_order)
    std::stable_sort(order.begin(), order.end(),
                     [&](const RequestedVariant* x, const RequestedVariant* y) { return shared(*x) < shared(*y); });
  return order;
}

// By the words of the command line.
RunIdentity identity_of(const ApplicationTask& task, const ApplicationRequest& request, std::int32_t ranks) {
  const Application& application = *request.application;
  RunIdentity found;
  found.application = application.name;
  const auto& stateless = application.stateless_variants;
  const bool is_stateless = std::ranges::find(stateless, request.candidate.variant->name) != stateless.end();
  if (application.restart_on && !is_stateless) found.restart_on = application.restart_on(request);
  json problem = {{"version", KUMIHIMO_VERSION},
                  {"--size", request.size},
                  {"--tolerance", request.tolerance},
                  {"--method", request.method}};
  for (const auto& [name, value] : request.options) problem["--set " + name] = value;
  json variant = {{"--variant", request.candidate.variant->name}};
  for (const auto& [name, value] : request.candidate.parameters) variant["--set " + name] = value;
  found.of_problem = std::move(problem);
  found.of_variant = std::move(variant);
  found.of_ranks = json{{"--ranks", ranks}, {"--grid", task.grid.value_or("")}, {"--sums", task.sums}};
  return found;
}

Result<json> run_one(const ApplicationRequest& request, Runtime& runtime) {
  try {
    return request.application->run(request, runtime);
  } catch (const std::bad_alloc&) {
    if (runtime.ranks() > 1) throw; // the others wait for this rank in an exchange: the job must end
    return failed("out of memory", fmt::format("size {}", request.size), "use a smaller --size or more ranks");
  }
}

} // namespace

Status run_task(const ApplicationTask& task, Processes& processes, const std::string& threads_text, KeptCopies* kept) {
  std::unique_ptr<Runtime> runtime = TRY(Runtime::make(processes, {task.sums, task.grid}));
  json head = TRY(about(task, processes, threads_text));
  processes.print({{"about", std::move(head)}});
  std::set<const RequestedVariant*> unfit;
  const std::vector<const RequestedVariant*> order = in_order_of_set_up(task);
  for (int turn = 0; turn < task.turns; ++turn)
    for (const RequestedVariant* const each : order) {
      const RequestedVariant& candidate = *each;
      if (unfit.contains(each)) continue;
      ApplicationRequest request = task.request;
      request.candidate = candidate;
      runtime->set_label(label_of(candidate));
      if (Status s = runtime->start_checkpoints(task.checkpoints, identity_of(task, request, processes.ranks()), kept);
          !s)
        return s;
      Result<json> found = run_one(request, *runtime);
      if (Status s = runtime->agree_on(found); !s) {
        if (s.error().kind == Error::Kind::bad_input || task.candidates.size() == 1) return s;
        unfit.insert(each);
        found = json{{"not_applicable", s.error().sentence()}, {"failed", s.error().kind == Error::Kind::failed}};
      } else if (runtime->checkpoints().is_asked())
        (*found)["checkpoints"] = runtime->checkpoints().json();
      found->update({{"variant", candidate.variant->name}, {"parameters", candidate.parameters}, {"turn", turn}});
      processes.print({{"result", std::move(*found)}});
    }
  return Nothing{};
}

} // namespace kumihimo::application
