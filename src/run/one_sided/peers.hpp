// The ranks of a launch beside the library that is measured: they agree on counts, compare what arrived and print.
// Nothing of it is timed.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace kumihimo::one_sided {

class OneSidedPeers {
 public:
  virtual ~OneSidedPeers() = default;
  virtual std::int32_t rank() const = 0;
  virtual std::int32_t ranks() const = 0;
  virtual std::vector<std::int64_t> node_of_rank() const = 0;
  // Collective, as all below.
  virtual std::vector<std::int64_t> gather(std::int64_t mine) = 0;
  virtual double largest(double mine) = 0;
  virtual Status agree(const Status& mine) = 0;         // the error of the lowest rank that has one
  virtual void print(const nlohmann::json& object) = 0; // by rank 0
};

} // namespace kumihimo::one_sided
