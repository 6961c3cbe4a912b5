// How much a rank sends to each other rank: what a placement of recorded programs is judged by.
#pragma once

#include "goal/graph.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace kumihimo::goal {

struct SentTo {
  std::int32_t rank = 0;
  std::uint64_t bytes = 0, messages = 0;
  bool operator==(const SentTo&) const = default;
};

// Sums of a rank's sends by receiver.
class SendSums {
 public:
  void add(std::int32_t to, std::uint64_t bytes, std::uint64_t messages = 1) {
    SentTo& sum = sums_[to];
    sum.rank = to, sum.bytes += bytes, sum.messages += messages;
  }
  std::vector<SentTo> rows() const; // in ascending order of receivers; the rank itself may be among them

 private:
  std::map<std::int32_t, SentTo> sums_;
};

// Of all sends of `rank`.
std::vector<SentTo> sends_of(const Graphs& graphs, std::int32_t rank);

} // namespace kumihimo::goal
