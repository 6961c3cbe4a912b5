#include "fft3d/profile_table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <string>
#include <vector>

namespace kumihimo::fft3d {

using distributed_fft::profile_parts;
using nlohmann::json;

json profile_of(const distributed_fft::TransformProfile& profile, double own_seconds,
                application::Processes& processes) {
  std::vector<std::string> names(profile_parts.begin(), profile_parts.end());
  std::vector<double> seconds;
  for (std::size_t part = 0; part < names.size(); ++part) seconds.push_back(profile.seconds(part));
  names.emplace_back("the rest");
  seconds.push_back(own_seconds - std::accumulate(seconds.begin(), seconds.end(), 0.0));
  seconds.push_back(own_seconds);
  const std::vector<double> largest = processes.largest(seconds), total = processes.total(seconds);
  const double ranks = processes.ranks();
  json rows = json::array();
  for (std::size_t part = 0; part < names.size(); ++part) {
    const double mean = total[part] / ranks;
    if (largest[part] <= 0) continue;
    rows.push_back({{"name", names[part]},
                    {"mean", mean},
                    {"largest", largest[part]},
                    {"imbalance", ranks > 1 ? (largest[part] - mean) / largest[part] * ranks / (ranks - 1) : 0.0},
                    {"share", total.back() > 0 ? total[part] / total.back() : 0.0}});
  }
  return rows;
}

json profile_table(const json& profile) {
  json rows = json::array();
  for (const json& row : profile)
    rows.push_back({row["name"], fmt::format("{:.4g}", 1e3 * row["mean"].get<double>()),
                    fmt::format("{:.4g}", 1e3 * row["largest"].get<double>()),
                    fmt::format("{:.1f}", 100 * row["imbalance"].get<double>()),
                    fmt::format("{:.1f}", 100 * row["share"].get<double>())});
  return {{"name", "profile"},
          {"title", "Where the time goes"},
          {"columns", {"part", "mean, ms", "slowest rank, ms", "imbalance, %", "share, %"}},
          {"rows", std::move(rows)},
          {"caption", "Imbalance: (slowest - mean) / slowest × ranks / (ranks - 1). Ranks meet before each exchange."}};
}

} // namespace kumihimo::fft3d
