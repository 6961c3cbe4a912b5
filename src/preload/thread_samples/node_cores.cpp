#include "thread_samples/node_cores.hpp"

#include "thread_samples/kernel_files.hpp"
#include "thread_samples/processor_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

namespace kumihimo::thread_samples {
namespace {

// Of "max 100000" or "150000 100000".
std::optional<double> share_in(const std::string& text) {
  char* rest = nullptr;
  const double quota = std::strtod(text.c_str(), &rest);
  if (rest == text.c_str() || quota <= 0) return {};
  const double period = std::strtod(rest, nullptr);
  return period > 0 ? std::optional(quota / period) : std::nullopt;
}

void keep_least(std::optional<double>& least, std::optional<double> found) {
  if (found) least = least ? std::min(*least, *found) : *found;
}

// Whether `list`, such as "cpu,cpuacct", names the controller of processor time.
bool names_cpu(std::string_view list) {
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    if (name == "cpu") return true;
    list.remove_prefix(std::min(list.size(), name.size() + 1));
  }
  return false;
}

// Of a group and of those around it.
std::optional<double> quota_on(const std::string& mount, std::string group, bool second_version) {
  std::optional<double> least;
  while (true) {
    const std::string folder = mount + (group == "/" ? "" : group);
    keep_least(least, second_version ? share_in(kernel_text(folder + "/cpu.max"))
                                     : share_in(kernel_text(folder + "/cpu.cfs_quota_us") + " " +
                                                kernel_text(folder + "/cpu.cfs_period_us")));
    const std::size_t slash = group.rfind('/');
    if (group.empty() || group == "/" || slash == std::string::npos) return least;
    group.resize(slash);
  }
}

} // namespace

std::optional<double> processor_quota(const std::string& root, std::string_view groups) {
  std::optional<double> least;
  while (!groups.empty()) { // "4:cpu,cpuacct:/path", or "0::/path" of control groups 2
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty())
      for (const char* const mount : {"sys/fs/cgroup", "sys/fs/cgroup/unified"})
        keep_least(least, quota_on(root + mount, path, true));
    else if (names_cpu(controllers))
      for (const std::string& mount : {std::string("cpu"), std::string(controllers)})
        keep_least(least, quota_on(root + "sys/fs/cgroup/" + mount, path, false));
  }
  return least;
}

NodeCores node_cores(const std::string& allowed, const std::string& root) {
  NodeCores found{.allowed = allowed};
  std::set<int> seen;
  for (const int processor : processors_in(allowed)) {
    if (seen.contains(processor)) continue;
    const std::string path = fmt::format("{}sys/devices/system/cpu/cpu{}/topology/", root, processor);
    std::string core = kernel_text(path + "core_cpus_list");
    if (core.empty()) core = kernel_text(path + "thread_siblings_list"); // before Linux 5.3
    if (core.empty()) core = std::to_string(processor);
    for (const int one : processors_in(core)) seen.insert(one);
    seen.insert(processor);
    found.cores.push_back(std::move(core));
  }
  for (const int domain : processors_in(kernel_text(root + "sys/devices/system/node/online"))) {
    std::string list = kernel_text(fmt::format("{}sys/devices/system/node/node{}/cpulist", root, domain));
    if (!list.empty()) found.domains.push_back(std::move(list));
  }
  found.quota = processor_quota(root, kernel_text(root + "proc/self/cgroup"));
  return found;
}

} // namespace kumihimo::thread_samples
