// The check of matching: for every ordered pair of ranks and every lane, the sends from a to b equal the receives of b
// from a, message by message, as symbols. Loops match if trip counts and lengths are equal. If one side has written an
// iteration outside its loop, it is split off the other side's loop. No loop is iterated to compare it.
#pragma once

#include "verify/message_stream.hpp"
#include "verify/post_condition.hpp"

#include <functional>

namespace kumihimo::verify {

// The first message of two streams that has no partner, or a partner of another length.
struct Difference {
  bool on_sending_side = true; // whose message `at` is
  StepLocation at;             // without rank and lane
  std::string what;
};

// The bindings of both ends, to compare lengths whose symbols differ.
struct EndBindings {
  const Binding& sender;
  const Binding& receiver;
};
std::optional<Difference> compare(const MessageStream& sends, const MessageStream& receives, const EndBindings& ends);

// Collects the channels of all ranks, then compares.
class Matching {
 public:
  Matching(const Subject& schedule, const VerifyOptions& options);

  void add(const Program& program, const Binding& binding); // every rank once
  void check(std::vector<Finding>& findings);

  std::int64_t pairs() const { return static_cast<std::int64_t>(sends_.size()); }
  // Whether every message is at one position in both programs; known after check().
  bool aligned() const { return !sampled() && aligned_; }
  bool sampled() const { return !sampled_lanes_.empty(); }

 private:
  struct Entry {
    std::int32_t from, to, lane;
    bool signal;
    std::uint64_t hash, positions;
  };
  void compare_pair(const Entry& e, std::vector<Finding>& findings);
  void check_sampled(std::int32_t lane, std::vector<Finding>& findings);

  const Subject& schedule_;
  const VerifyOptions& options_;
  std::vector<Entry> sends_, receives_;
  std::int64_t left_; // pairs that may still be listed
  std::vector<std::int32_t> sampled_lanes_;
  bool aligned_ = true;
};

} // namespace kumihimo::verify
