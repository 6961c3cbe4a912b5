// Whether every rank gets what it wants where that comes in one message, or is there already (PostCondition::direct):
// looked at rank by rank, so that no rank is left out. Each element that a rank wants must be received once, in a
// message of the rank that has it, or be copied there, or lie there; and what is sent or copied must never be written.
// Then the places that a message's sender takes must be those that its receiver wants: their hashes, of all messages,
// cancel out.
#pragma once

#include "program/binding.hpp"
#include "verify/post_condition.hpp"
#include "verify/rank_kinds.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace kumihimo::verify {

class Deliveries {
 public:
  explicit Deliveries(const Subject& subject)
      : subject_(subject), applies_(subject.post_condition.direct && subject.data->one_buffer) {}

  // Every rank once. `kind`: its number among ranks that use their memory alike.
  void add(const Program& program, const Binding& binding, std::int32_t kind);
  // All ranks have what they want. If not: either some rank may lack it, or programs are of another form.
  bool shown() const { return applies_ && suspects_.empty() && sum_ == 0; }
  // Ranks that may lack something, of at most the first few; where only the sum differs, all programs are made again.
  std::vector<std::int32_t> ranks_to_check() const;

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
  // Pattern of the first rank of a kind, whose rows are right. Another rank's are the same with its own peers if it
  // wants the same of them, and if two peers are one rank where they were one.
  struct Pattern {
    std::vector<std::int32_t> peers; // of all messages, in the order of the program; the rank itself first
    std::vector<ExpectedElements> wanted;
    std::vector<std::size_t> owner; // place in `peers` of the rank that has what is wanted
    Rows rows;
    std::vector<std::size_t> senders, receivers; // places of the peers of rows.received and rows.sent
  };
  Rows rows_of(const Program& program, const Binding& binding, std::vector<ExpectedElements> wanted) const;
  std::optional<Pattern> pattern_of(const Program& program, std::int32_t me,
                                    const std::vector<ExpectedElements>& wanted, const Rows& rows) const;
  static bool fits(const Pattern& pattern, const std::vector<std::int32_t>& peers,
                   const std::vector<ExpectedElements>& wanted);

  const Subject& subject_;
  bool applies_;
  std::uint64_t sum_ = 0; // of all sends less all receives
  std::vector<std::int32_t> suspects_;
  std::map<std::int32_t, std::optional<Pattern>> patterns_; // by kind
};

} // namespace kumihimo::verify
