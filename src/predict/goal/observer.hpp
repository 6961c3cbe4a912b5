// What ranks do when, as a model that simulates graphs tells it.
#pragma once

#include "goal/graph.hpp"

#include <cstdint>

namespace kumihimo::goal {

// A calc; a send, or an arrival, as long as it occupies a processor (loggp) or is in software (packet). Times in
// picoseconds.
struct ProcessorWork {
  std::int32_t rank = 0;
  std::int32_t peer = 0;             // of a send its receiver, of an arrival its sender
  std::uint32_t operation = 0;       // of `rank`; of an arrival: the send of `peer`
  Kind kind = Kind::calc;            // receive: an arrival
  std::uint8_t cpu = 0;              // in the model packet a message has none: its interface
  Time start = 0, end = 0, lost = 0; // `lost` to noise in between
};

// Is told of all work in the order in which it starts.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void busy(const ProcessorWork& work) = 0;
};

} // namespace kumihimo::goal
