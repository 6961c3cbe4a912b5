// Random cases for both models: any algorithm, on any small machine, of any length, with any parameters.
#pragma once

#include "support.hpp"

#include <random>

namespace kumihimo::simulate_test {

struct RandomCase {
  const Variant* variant = nullptr;
  Job job;
  std::int64_t bytes = 0; // of the vector, or of a block
  DataType type = DataType::float64;
  Rank root = Rank{0};
  Parameters parameters;

  Result<Schedule> schedule(std::int64_t with_bytes) const {
    const RankSpace space = job.rank_space();
    return variant->build(make_collective(variant->kind, space.ranks(), with_bytes / size_of(type), type,
                                          Operation::sum,
                                          make_collective(variant->kind, 2, 1).has_root() ? root : Rank{0}),
                          space, parameters);
  }
  Result<Schedule> schedule() const { return schedule(bytes); }
  std::string text() const;
};

class RandomCases {
 public:
  explicit RandomCases(std::uint64_t seed) : random_(seed) {}
  RandomCase next(); // whether its schedule can be built is for the caller to find out

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  std::int64_t spread(std::int64_t least, std::int64_t most); // log-uniform
  std::string shape();
  Job job();
  Parameters parameters(const Variant& variant);

  std::mt19937_64 random_;
};

} // namespace kumihimo::simulate_test
