#include "application/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::application {
namespace {

using nlohmann::json;

template <class T>
void read(const json& from, const char* name, T& value) {
  if (const auto it = from.find(name); it != from.end() && !it->is_null()) value = it->get<T>();
}

template <class Rows>
std::string names_of(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Result<RequestedVariant> candidate_of(const Application& application, const json& given) {
  RequestedVariant candidate;
  const auto name = given.at("variant").get<std::string>();
  for (const VariantDescription& row : application.variants)
    if (row.name == name) candidate.variant = &row;
  if (!candidate.variant)
    return wrong_value(fmt::format("a variant of {} is one of {}", application.name, names_of(application.variants)),
                       fmt::format("'{}'", name));
  ParameterValues values;
  if (const auto it = given.find("parameters"); it != given.end()) values = it->get<ParameterValues>();
  for (const auto& [key, value] : values) {
    const auto& taken = candidate.variant->parameters;
    const auto found =
        std::find_if(taken.begin(), taken.end(), [&](const auto& t) { return t.parameter->name == key; });
    if (found == taken.end())
      return not_applicable(fmt::format("the variant {} has no parameter {}", name, key), {},
                            taken.empty() ? "leave it out" : "");
    if (Status s = found->parameter->check(value); !s) return s.error();
  }
  candidate.parameters = with_defaults(candidate.variant->parameters, std::move(values));
  return candidate;
}

Status read_options(const Application& application, const json& given, ApplicationRequest& request) {
  for (const ApplicationOption& option : application.options)
    request.options.emplace(option.name, option.default_value);
  const auto it = given.find("options");
  if (it == given.end()) return Nothing{};
  for (const auto& [name, value] : it->items()) {
    const auto found =
        std::find_if(application.options.begin(), application.options.end(),
                     [&, n = std::string_view(name)](const ApplicationOption& o) { return o.name == n; });
    if (found == application.options.end())
      return not_applicable(fmt::format("{} has no option {}", application.name, name), {},
                            fmt::format("its options: {}", names_of(application.options)));
    const auto word = value.get<std::string>();
    if (Status s = check_choice(*found, word); !s) return s;
    request.options.find(name)->second = word;
  }
  return Nothing{};
}

Status read_method(const Application& application, const json& given, ApplicationRequest& request) {
  if (application.methods.empty()) return Nothing{};
  request.method = application.methods.front();
  read(given, "method", request.method);
  const auto& methods = application.methods;
  if (std::find(methods.begin(), methods.end(), request.method) == methods.end())
    return wrong_value(fmt::format("a method of {} is one of {}", application.name, fmt::join(methods, ", ")),
                       fmt::format("'{}'", request.method));
  return Nothing{};
}

Status check_ranges(const ApplicationTask& task) {
  const ApplicationRequest& r = task.request;
  if (!(r.tolerance > 0 && r.tolerance < 1))
    return wrong_value("the tolerance must be between 0 and 1", fmt::format("{}", r.tolerance));
  if (r.most_iterations < 1) return wrong_value("the limit of iterations must be at least 1", r.most_iterations);
  if (task.turns < 1) return wrong_value("the number of runs must be at least 1", task.turns);
  if (task.threads < 0) return wrong_value("the number of threads must be at least 1", task.threads);
  if (task.candidates.empty()) return missing("a variant", "name one of the application");
  if (task.checkpoints.any() && (task.candidates.size() > 1 || task.turns > 1))
    return wrong_value("checkpoints are of one run of one variant",
                       fmt::format("{} variants, {} runs", task.candidates.size(), task.turns), "name one variant");
  return Nothing{};
}

Result<ApplicationTask> task_of(const json& given, std::span<const Application> applications) {
  ApplicationTask task;
  const Application* const application =
      TRY(find_application(applications, given.at("application").get<std::string>()));
  ApplicationRequest& request = task.request;
  request.application = application;
  request.size = application->default_size;
  request.most_iterations = application->most_iterations;
  read(given, "size", request.size);
  read(given, "tolerance", request.tolerance);
  read(given, "most_iterations", request.most_iterations);
  read(given, "may_stop_early", request.may_stop_early);
  read(given, "check", request.checks);
  read(given, "wisdom_folder", request.wisdom_folder);
  read(given, "turns", task.turns);
  read(given, "in_order", task.in_order);
  read(given, "threads", task.threads);
  read(given, "library", task.library);
  read(given, "sums", task.sums);
  read(given, "rates", task.rates);
  if (const auto it = given.find("grid"); it != given.end() && !it->is_null()) task.grid = it->get<std::string>();
  if (const auto it = given.find("checkpoints"); it != given.end())
    task.checkpoints = TRY(parse_checkpoint_options(*it));
  if (Status s = read_options(*application, given, request); !s) return s.error();
  if (Status s = read_method(*application, given, request); !s) return s.error();
  for (const json& each : given.at("candidates")) {
    RequestedVariant candidate = TRY(candidate_of(*application, each));
    task.candidates.push_back(std::move(candidate));
  }
  if (Status s = check_ranges(task); !s) return s.error();
  return task;
}

Error not_a_task(const json::exception& error) {
  return wrong_value("the task must be JSON that describes a run", error.what());
}

} // namespace

Status check_choice(const ApplicationOption& option, const std::string& word) {
  if (option.choices.empty() || std::ranges::find(option.choices, word) != option.choices.end()) return Nothing{};
  return wrong_value(fmt::format("{} must be one of {}", option.name, fmt::join(option.choices, ", ")),
                     fmt::format("'{}'", word));
}

Result<std::string> library_of_task(const std::string& text) {
  try {
    std::string library;
    read(json::parse(text), "library", library);
    return library;
  } catch (const json::exception& error) {
    return not_a_task(error);
  }
}

Result<ApplicationTask> parse_task(const std::string& text, std::span<const Application> applications) {
  try {
    return task_of(json::parse(text), applications);
  } catch (const json::exception& error) {
    return not_a_task(error);
  }
}

} // namespace kumihimo::application
