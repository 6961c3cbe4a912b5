#include "verify/happens_before.hpp"

#include <algorithm>

namespace kumihimo::verify {
HappensBefore::HappensBefore(const Subject& subject, std::int32_t from)
    : barrier_(subject.post_condition.barrier), ranks_(subject.ranks()) {
  if (!barrier_) return;
  const std::int32_t tracked = std::min(ranks_ - std::max(from, 0), most_entries);
  bit_.assign(ranks_, -1);
  for (std::int32_t i = 0; i < tracked; ++i) {
    const auto rank = from >= 0 ? from + i : static_cast<std::int32_t>(std::int64_t{i} * ranks_ / tracked);
    bit_[rank] = i;
    tracked_.push_back(rank);
  }
  const std::size_t words = (static_cast<std::size_t>(tracked) + 63) / 64;
  for (std::int32_t r = 0; r < ranks_; ++r) {
    Set set(words, 0);
    if (bit_[r] >= 0) set[bit_[r] / 64] |= std::uint64_t{1} << bit_[r] % 64;
    own_.push_back(static_cast<std::int32_t>(sets_.size()));
    sets_.push_back(std::move(set));
  }
  left_ = own_;
}

std::int32_t HappensBefore::join(std::int32_t a, std::int32_t b) {
  if (a == b || b < 0) return a;
  if (a < 0) return b;
  Set both = sets_[a];
  for (std::size_t w = 0; w < both.size(); ++w) both[w] |= sets_[b][w];
  if (both == sets_[a]) return a;
  if (both == sets_[b]) return b;
  sets_.push_back(std::move(both));
  return static_cast<std::int32_t>(sets_.size()) - 1;
}

void HappensBefore::join(Token& into, const Token& other) {
  into.hops = std::max(into.hops, other.hops);
  into.set = join(into.set, other.set);
}

Token HappensBefore::begin(const RankState& state, std::int32_t lane) {
  if (!barrier_) return {};
  Token t{0, own_[state.rank.value]};
  for (std::int32_t other = 0; other < static_cast<std::int32_t>(state.lanes.size()); ++other)
    for (std::int64_t s = 0, known = state.surely_complete(lane, other); s < known; ++s)
      t.set = join(t.set, state.lanes[other].left_with[s]);
  return t;
}

void HappensBefore::enter(Activation& a, std::int32_t node) {
  NodeState& n = a.states[node];
  n.done = n.joined = n.start;
  n.unjoined = a.nodes[node].first_child;
}

void HappensBefore::start_child(Activation& a, std::int32_t node, std::int32_t child) {
  NodeState& n = a.states[node];
  while (n.unjoined >= 0 && a.nodes[n.unjoined].iteration + a.nodes[node].in_flight <= a.nodes[child].iteration) {
    join(n.joined, a.states[n.unjoined].done);
    n.unjoined = a.nodes[n.unjoined].next_sibling;
  }
  a.states[child].start = n.joined;
}

void HappensBefore::leave(Activation& a, std::int32_t node) {
  join(a.states[a.nodes[node].parent].done, a.states[node].done);
}

void HappensBefore::complete(RankState& state, const Activation& a) {
  if (!barrier_) return;
  state.lanes[a.lane].left_with[a.segment] = a.states[0].done.set;
  left_[a.rank] = join(left_[a.rank], a.states[0].done.set);
}

void HappensBefore::transfer(const Activation& from, std::int32_t sender, Activation& to, std::int32_t receiver) {
  Token t = from.states[sender].start;
  ++t.hops;
  join(to.states[receiver].done, t);
}

void HappensBefore::share(const Activation& from, std::int32_t source, Activation& to, std::int32_t target) {
  join(to.states[target].done, from.states[source].done);
}

std::optional<HappensBefore::RankNotEntered> HappensBefore::unaware() const {
  if (!barrier_) return std::nullopt;
  for (std::int32_t r = 0; r < ranks_; ++r)
    for (std::int32_t rank : tracked_) {
      const std::int32_t bit = bit_[rank];
      if (!(sets_[left_[r]][bit / 64] >> bit % 64 & 1)) return RankNotEntered{r, rank};
    }
  return std::nullopt;
}

} // namespace kumihimo::verify
