#include "one_sided/measurement.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::one_sided {
namespace {

nlohmann::json to_json(const OneSidedPeers& peers, const OneSidedCase& measured) {
  nlohmann::json object = measured.labels;
  object.update({{"measure", measured.measure}, {"bytes", measured.bytes}, {"ranks", peers.ranks()}});
  if (measured.pair) object["pair"] = {measured.pair->first, measured.pair->second};
  return object;
}

} // namespace

void print_begin(OneSidedPeers& peers, const OneSidedCase& measured) {
  peers.print({{"begins", to_json(peers, measured)}});
}

void print_result(OneSidedPeers& peers, const OneSidedCase& measured, const Result<OneSidedFigures>& found,
                  const std::vector<std::int64_t>& wrong) {
  nlohmann::json object = to_json(peers, measured);
  if (!found) {
    object["not_applicable"] = found.error().sentence();
    return peers.print(object);
  }
  const measure::Summary& s = found->seconds;
  object.update({{"seconds", s.median},
                 {"interval_low", s.median_interval.low},
                 {"interval_high", s.median_interval.high},
                 {"p10", s.p10},
                 {"p90", s.p90},
                 {"samples", s.samples},
                 {"outliers", s.outliers}});
  for (const auto& [name, value] : found->more) object[name] = value;
  const auto first = std::find_if(wrong.begin(), wrong.end(), [](std::int64_t at) { return at >= 0; });
  object["right"] = first == wrong.end();
  if (first != wrong.end())
    object["found"] = fmt::format("rank {} found a wrong value at {}", first - wrong.begin(), *first);
  peers.print(object);
}

double compute(std::int64_t iterations) {
  volatile double x = 1.0;
  for (std::int64_t i = 0; i < iterations; ++i) x = x * 0.999 + 0.001;
  return x;
}

std::int64_t iterations_of(double seconds) {
  static const double each = [] {
    constexpr std::int64_t tried = 100'000;
    double least = 1;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t start = measure::now_ns();
      compute(tried);
      least = std::min(least, measure::seconds_since(start));
    }
    return least / tried;
  }();
  return std::max(std::int64_t{1}, static_cast<std::int64_t>(seconds / each));
}

} // namespace kumihimo::one_sided
