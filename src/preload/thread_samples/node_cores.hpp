// The cores of this node, and the share of its processor time that the control groups leave to this process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::thread_samples {

struct NodeCores {
  std::string allowed;              // processors, "0-3,8", as the control groups allow
  std::vector<std::string> cores;   // the processors of each core that has an allowed one, also those not allowed
  std::vector<std::string> domains; // the processors of each NUMA domain
  std::optional<double> quota;      // processors' worth of time; none: no limit
};

// `allowed`: as widen_calling_thread() tells. `root`: "/", or a folder of files in their place, for tests.
NodeCores node_cores(const std::string& allowed, const std::string& root = "/");

// The least quota on the path of this process, by the text of /proc/self/cgroup: cpu.max of control groups 2,
// cpu.cfs_quota_us of control groups 1. A container sees its own group as the root.
std::optional<double> processor_quota(const std::string& root, std::string_view groups);

} // namespace kumihimo::thread_samples
