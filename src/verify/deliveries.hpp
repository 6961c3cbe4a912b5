// Whether every rank gets what it wants where that comes in one message, or is there already (Goal::direct): looked at
// rank by rank, so that no rank is left out. Each element that a rank wants must be received once, in a message of the
// rank that has it, or be copied there, or lie there; and what is sent or copied must never be written. Then the places
// that a message's sender takes must be those that its receiver wants: their hashes, of all messages, cancel out.
#pragma once

#include "program/binding.hpp"
#include "verify/goal.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::verify {

class Deliveries {
 public:
  explicit Deliveries(const Subject& subject)
      : subject_(subject), applies_(subject.goal.direct && subject.data->one_buffer) {}

  void add(const Program& program, const Binding& binding); // every rank once
  // All ranks have what they want. If not: either some rank may lack it, or programs are of another form.
  bool shown() const { return applies_ && suspects_.empty() && sum_ == 0; }
  // Ranks that may lack something, of at most the first few; where only the sum differs, all programs are made again.
  std::vector<std::int32_t> suspects() const;

 private:
  struct Message { // as one end sees it
    std::int32_t from = 0, to = 0;
    std::uint64_t key = 0, places = 0;
  };
  struct Rows { // of one rank
    std::vector<Message> sent, received;
    bool fits = true;  // the programs are of the form that this looks at
    bool right = true; // by this rank's program alone
  };
  Rows rows_of(const Program& program, const Binding& binding) const;

  const Subject& subject_;
  bool applies_;
  std::uint64_t sum_ = 0; // of all sends less all receives
  std::vector<std::int32_t> suspects_;
};

} // namespace kumihimo::verify
