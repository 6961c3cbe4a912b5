// Collapsed loops: after one iteration the rest follows at the pace of the slowest rank that the loop connects, since
// each iteration waits for the messages of the one before. If messages leave before their receivers are ready, slow
// ones delay nobody else: then it follows at the mean pace of messages. If there is less than an element for each
// iteration, most iterations are empty and wait for nobody. Then the elements go from rank to rank at the mean pace of
// messages, and pass a slower rank only once it can have done its share of the iterations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

class LoopSets {
 public:
  // One rank enters a collapsed loop; `around`: the member that it is of the next one outside, -1 without.
  std::int32_t enter(std::int32_t around) {
    const std::int32_t member = count();
    Set& s = sets_.emplace_back();
    s.up = s.next = member;
    s.around = around;
    return member;
  }
  // Two ranks exchanged a message inside.
  void connect(std::int32_t a, std::int32_t b) {
    a = root(a), b = root(b);
    if (a == b) return;
    if (sets_[a].size < sets_[b].size) std::swap(a, b);
    sets_[b].up = a;
    sets_[a].size += sets_[b].size;
    sets_[a].waiting += sets_[b].waiting;
    sets_[a].pace = std::max(sets_[a].pace, sets_[b].pace);
    sets_[a].passing += sets_[b].passing;
    sets_[a].passed += sets_[b].passed, sets_[a].passed_early += sets_[b].passed_early;
    sets_[a].filled = std::max(sets_[a].filled, sets_[b].filled);
    std::swap(sets_[a].next, sets_[b].next); // joins two rings into one
  }
  // A member has done its first iteration, which occupied it for `pace` seconds. True when all have.
  bool arrive(std::int32_t member, double pace, std::int32_t frame) {
    sets_[member].frame = frame;
    Set& s = sets_[root(member)];
    s.pace = std::max(s.pace, pace);
    return ++s.waiting == s.size;
  }
  // A message of one iteration took so long to a member. `early`: it left when its sender was ready.
  void pass(std::int32_t member, double seconds, bool early) {
    Set& s = sets_[root(member)];
    s.passing += seconds;
    ++s.passed, s.passed_early += early ? 1 : 0;
  }
  // A member's step has data in this share of the iterations.
  void fill(std::int32_t member, double share) {
    Set& s = sets_[root(member)];
    s.filled = std::max(s.filled, share);
  }
  double pace(std::int32_t member) {
    const Set& s = sets_[root(member)];
    const bool early = s.passed >= s.size && s.passed_early == s.passed;
    return std::min(s.pace, std::max(s.passing / s.size, early ? 0 : s.filled * s.pace));
  }

  // fn(frame) for all members that have arrived and were not released.
  template <class F>
  void release(std::int32_t member, F&& fn) {
    std::int32_t at = member;
    do {
      const std::int32_t next = sets_[at].next, frame = sets_[at].frame;
      sets_[at].frame = -1;
      if (frame >= 0) fn(frame);
      at = next;
    } while (at != member);
  }
  // How much longer a member, once released, takes for the iterations after the first.
  void set_rest(std::int32_t member, double seconds) { sets_[member].rest = seconds; }
  // Of all the loops around it too; of none: 0.
  double rest(std::int32_t member) const {
    double sum = 0;
    for (; member >= 0; member = sets_[member].around) sum += sets_[member].rest;
    return sum;
  }
  std::int32_t around(std::int32_t member) const { return sets_[member].around; } // -1: none
  bool waits(std::int32_t member) const { return sets_[member].frame >= 0; }      // has arrived, is not released
  std::int32_t count() const { return static_cast<std::int32_t>(sets_.size()); }
  void clear() { sets_.clear(); }

 private:
  struct Set {
    std::int32_t up = 0, next = 0, around = -1;
    std::int32_t size = 1, waiting = 0, frame = -1;
    double pace = 0, passing = 0;              // of the slowest that has arrived; of all messages, added up
    std::int32_t passed = 0, passed_early = 0; // messages
    double filled = 0;                         // the largest share of the iterations with data
    double rest = 0;
  };
  std::int32_t root(std::int32_t a) {
    while (sets_[a].up != a) a = sets_[a].up = sets_[sets_[a].up].up;
    return a;
  }
  std::vector<Set> sets_;
};

} // namespace kumihimo::simulation
