#include "application/kernel_times.hpp"

#include "application/processes.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::application {

std::size_t KernelTimes::declare(std::string name, KernelWork of_a_call, bool is_setup) {
  rows_.push_back({std::move(name), of_a_call, is_setup});
  return rows_.size() - 1;
}

nlohmann::json to_json(const KernelTimes& times, Processes& processes) {
  std::vector<double> seconds, work;
  for (const KernelTimes::Row& row : times.rows()) {
    seconds.push_back(static_cast<double>(row.nanoseconds) * 1e-9);
    work.push_back(row.work.bytes * static_cast<double>(row.calls));
    work.push_back(row.work.flops * static_cast<double>(row.calls));
  }
  seconds = processes.largest(seconds);
  work = processes.total(work);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    rows.push_back({{"name", times.rows()[i].name},
                    {"calls", times.rows()[i].calls},
                    {"seconds", seconds[i]},
                    {"bytes", work[2 * i]},
                    {"flops", work[2 * i + 1]}});
    if (times.rows()[i].is_setup) rows.back()["setup"] = true;
  }
  return rows;
}

} // namespace kumihimo::application
