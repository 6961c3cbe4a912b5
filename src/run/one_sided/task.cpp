#include "one_sided/task.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::one_sided {
namespace {

template <class Names>
Status known(std::string_view what, const std::string& name, const Names& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return Nothing{};
  return wrong_value(fmt::format("{} must be one of {}", what, fmt::join(names, ", ")), "'" + name + "'");
}

std::vector<std::string_view> measure_names() {
  std::vector<std::string_view> names;
  for (const MeasureRow& row : measure_rows) names.push_back(row.name);
  return names;
}

constexpr std::int64_t most_bytes = std::int64_t{1} << 30;

Status check(const OneSidedTask& task, std::int32_t ranks) {
  if (ranks < 2) return wrong_value("one-sided communication is measured on at least 2 ranks", ranks);
  for (const std::string& name : task.measures)
    if (Status s = known("a measure", name, measure_names()); !s) return s;
  for (const std::int64_t bytes : task.sizes)
    if (bytes < 4 || bytes % 4 != 0 || bytes > most_bytes)
      return wrong_value("a size must be a multiple of 4 from 4 to 1073741824", bytes);
  if (task.window < 1 || task.window > 1 << 20)
    return wrong_value("a window must have 1 to 1048576 messages", task.window);
  if (!(task.case_seconds > 0 && task.case_seconds <= 3600))
    return wrong_value("the time of a case must be from 0 to 3600 s", fmt::format("{}", task.case_seconds));
  return Nothing{};
}

} // namespace

Result<OneSidedTask> one_sided_task_of(const nlohmann::json& given, std::int32_t ranks) {
  OneSidedTask task;
  given.at("backend").get_to(task.backend);
  task.image = given.value("image", "");
  task.options = given.value("options", "");
  task.windows = given.value("windows", task.windows);
  task.synchronisations = given.value("synchronisations", task.synchronisations);
  given.at("measured").get_to(task.measures);
  given.at("sizes").get_to(task.sizes);
  task.window = given.value("window", task.window);
  task.span = given.value("span", task.span);
  task.case_seconds = given.value("case_seconds", task.case_seconds);
  if (Status s = check(task, ranks); !s) return s.error();
  for (const std::int64_t bytes : task.sizes) task.span = std::max(task.span, bytes);
  return task;
}

std::vector<PlacedPair> pairs_of(const std::vector<std::int64_t>& node_of_rank) {
  std::vector<PlacedPair> pairs;
  const auto begin = node_of_rank.begin() + 1, end = node_of_rank.end();
  const auto rank_at = [&](auto at) { return static_cast<std::int32_t>(at - node_of_rank.begin()); };
  const auto is_here = [&](std::int64_t node) { return node == node_of_rank[0]; };
  if (const auto near = std::find_if(begin, end, is_here); near != end) pairs.push_back({"node", {0, rank_at(near)}});
  if (const auto far = std::find_if_not(begin, end, is_here); far != end)
    pairs.push_back({"network", {0, rank_at(far)}});
  return pairs;
}

} // namespace kumihimo::one_sided
