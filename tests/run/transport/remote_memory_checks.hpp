// What every transport with remote memory must do, whatever is below it: the conformance suite of
// transport/remote_memory.hpp. A new transport is one more row in remote_memory_test.cpp.
#pragma once

#include "transport/transport.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::transport::testing {

// Ranks with a transport each. Used for one check, since a check may make the transport fail.
class World {
 public:
  virtual ~World() = default;
  virtual std::int32_t ranks() const = 0;
  // fn on every rank at the same time; the first failure.
  virtual Status run(const std::function<Status(Rank, Transport&)>& fn) = 0;
};

struct RemoteMemoryCheck {
  std::string name;
  std::int32_t ranks;
  std::function<Status(World&)> run; // an error says what is wrong with the transport
};

std::vector<RemoteMemoryCheck> remote_memory_checks();

} // namespace kumihimo::transport::testing
