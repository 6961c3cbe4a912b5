// Facts that travel with control rather than with data: how many relays lie behind a point of a program, and, for
// barriers, which ranks are known to have entered. Only what surely happened before counts, whatever the interleaving:
// rounds, loops, windows and `after` of one rank, and a message's sender before its receiver.
#pragma once

#include "verify/activation.hpp"
#include "verify/rank_state.hpp"

#include <optional>
#include <vector>

namespace kumihimo::verify {

inline constexpr std::int32_t most_entries = 512; // ranks whose entry into a barrier is followed at once

class HappensBefore {
 public:
  // Follows the entries of ranks from `from` on; below 0: of some spread over all, if they are many.
  HappensBefore(const Subject& subject, std::int32_t from);

  Token begin(const RankState& state, std::int32_t lane); // of the segment that the lane has just begun
  void enter(Activation& a, std::int32_t node);
  void start_child(Activation& a, std::int32_t node, std::int32_t child);
  void leave(Activation& a, std::int32_t node); // complete: tells the parent
  void complete(RankState& state, const Activation& a);

  // A message between two rounds, which adds a relay; and what an engine's participants come to share.
  void transfer(const Activation& from, std::int32_t sender, Activation& to, std::int32_t receiver);
  void share(const Activation& from, std::int32_t source, Activation& to, std::int32_t target);

  struct RankNotEntered {
    std::int32_t rank, missing;
  };
  std::optional<RankNotEntered> unaware() const; // barriers only: who may leave too early

 private:
  using Set = std::vector<std::uint64_t>;
  void join(Token& into, const Token& other);
  std::int32_t join(std::int32_t a, std::int32_t b); // of sets

  bool barrier_;
  std::int32_t ranks_;
  std::vector<std::int32_t> tracked_; // ranks with a bit
  std::vector<std::int32_t> bit_;     // of each rank, or -1
  std::vector<Set> sets_;
  std::vector<std::int32_t> own_;  // the set of each rank alone
  std::vector<std::int32_t> left_; // what each rank knows when it has left
};

} // namespace kumihimo::verify
