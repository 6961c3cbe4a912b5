#include "verify/deliveries.hpp"

#include "base/hash.hpp"
#include "program/cursor.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kumihimo::verify {
namespace {

constexpr std::size_t most_suspects = 8;

using Runs = std::vector<ElementRun>;

// Runs that adjoin are one, however they were cut.
class Places {
 public:
  void add(std::int64_t first, std::int64_t count) {
    if (count_ > 0 && first_ + count_ == first) return void(count_ += count);
    flush();
    first_ = first, count_ = count;
  }
  std::uint64_t hash() { return flush(), hash_; }

 private:
  void flush() {
    if (count_ > 0) hash_ = mixed(mixed(hash_, static_cast<std::uint64_t>(first_)), static_cast<std::uint64_t>(count_));
    count_ = 0;
  }
  std::uint64_t hash_ = 0;
  std::int64_t first_ = 0, count_ = 0;
};

std::uint64_t hash_of(const Runs& runs) {
  Places places;
  for (const ElementRun& run : runs) places.add(run.first, run.count);
  return places.hash();
}

bool is_before(const ElementRun& a, const ElementRun& b) { return a.first < b.first; }

// The first of sorted disjoint runs that ends behind a place.
template <class List>
auto first_behind(const List& list, std::int64_t place) {
  return std::lower_bound(list.begin(), list.end(), place,
                          [](const auto& run, std::int64_t at) { return run.first + run.count <= at; });
}
bool share(const Runs& sorted, const ElementRun& run) {
  const auto at = first_behind(sorted, run.first);
  return at != sorted.end() && at->first < run.first + run.count;
}

// Adds the contents that the elements of a target should have, if all come from one rank.
bool add_wanted(const std::vector<ExpectedElements>& wanted, const Runs& target, std::int32_t from, Places& places) {
  for (const ElementRun& run : target)
    for (std::int64_t at = run.first; at < run.first + run.count;) {
      const auto w = first_behind(wanted, at);
      if (w == wanted.end() || w->first > at || w->low != from || w->high != from + 1) return false;
      const std::int64_t count = std::min(run.first + run.count, w->first + w->count) - at;
      places.add(w->position + at - w->first, count);
      at += count;
    }
  return true;
}

// The rank itself, and the peers of all its messages in the order of the program.
std::vector<std::int32_t> peers_of(const Program& program, std::int32_t me) {
  std::vector<std::int32_t> peers{me};
  for (const Lane& lane : program.lanes)
    for_each_round(lane, 0, [&](const Round& round, Values values) {
      for (const Step& step : round.steps)
        if (step.sends() || step.receives()) peers.push_back(static_cast<std::int32_t>(step.peer.evaluate(values)));
    });
  return peers;
}

std::size_t place_of(const std::vector<std::int32_t>& peers, std::int32_t rank) {
  return static_cast<std::size_t>(std::find(peers.begin(), peers.end(), rank) - peers.begin());
}

// Whether two of one list are one rank exactly where two of the other are.
bool pair_off(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  if (a.size() != b.size()) return false;
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::size_t i = 0; i < a.size(); ++i) pairs.emplace_back(a[i], b[i]);
  const auto are_one_to_one = [&] {
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t i = 1; i < pairs.size(); ++i)
      if (pairs[i].first == pairs[i - 1].first && pairs[i].second != pairs[i - 1].second) return false;
    return true;
  };
  if (!are_one_to_one()) return false;
  for (auto& [x, y] : pairs) std::swap(x, y);
  return are_one_to_one();
}

} // namespace

std::optional<Deliveries::Pattern> Deliveries::pattern_of(const Program& program, std::int32_t me,
                                                          const std::vector<ExpectedElements>& wanted,
                                                          const Rows& rows) const {
  Pattern pattern{peers_of(program, me), wanted, {}, rows, {}, {}};
  for (const ExpectedElements& w : wanted) {
    pattern.owner.push_back(place_of(pattern.peers, w.low));
    if (w.high != w.low + 1 || pattern.owner.back() == pattern.peers.size()) return std::nullopt;
  }
  for (const Message& m : rows.received) pattern.senders.push_back(place_of(pattern.peers, m.from));
  for (const Message& m : rows.sent) pattern.receivers.push_back(place_of(pattern.peers, m.to));
  return pattern;
}

bool Deliveries::fits(const Pattern& pattern, const std::vector<std::int32_t>& peers,
                      const std::vector<ExpectedElements>& wanted) {
  if (wanted.size() != pattern.wanted.size() || !pair_off(pattern.peers, peers)) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const ExpectedElements &mine = wanted[i], &known = pattern.wanted[i];
    if (mine.first != known.first || mine.count != known.count || mine.position != known.position) return false;
    if (mine.low != peers[pattern.owner[i]] || mine.high != mine.low + 1) return false;
  }
  return true;
}

Deliveries::Rows Deliveries::rows_of(const Program& program, const Binding& binding,
                                     std::vector<ExpectedElements> wanted) const {
  Rows rows;
  rows.fits = subject_.segments.count == 1 && program.scratch.empty();
  const std::int32_t me = binding.rank().value;
  std::sort(wanted.begin(), wanted.end(),
            [](const ExpectedElements& a, const ExpectedElements& b) { return a.first < b.first; });
  Runs written, read, runs;
  std::map<std::tuple<std::int32_t, std::int32_t, bool>, std::uint64_t> ordinals; // by lane, peer and side
  const auto runs_of = [&](const Chunk& chunk, Values values, Runs& all) -> const Runs& {
    runs.clear();
    binding.append_chunk(program, chunk, values, runs);
    all.insert(all.end(), runs.begin(), runs.end());
    return runs;
  };
  for (const Lane& lane : program.lanes)
    for_each_round(lane, 0, [&](const Round& round, Values values) {
      for (const Step& step : round.steps) {
        if (step.kind == StepKind::compute || step.is_signal()) continue;
        if (step.kind == StepKind::copy) {
          const std::uint64_t taken = hash_of(runs_of(step.source, values, read));
          Places places;
          rows.right &= add_wanted(wanted, runs_of(step.target, values, written), me, places) && places.hash() == taken;
          continue;
        }
        rows.fits &= step.kind == StepKind::send || step.kind == StepKind::receive;
        if (!rows.fits) return;
        const auto peer = static_cast<std::int32_t>(step.peer.evaluate(values));
        const bool sends = step.sends();
        Message m{sends ? me : peer, sends ? peer : me, 0, 0};
        const Runs& data = sends ? runs_of(step.source, values, read) : runs_of(step.target, values, written);
        if (data.empty()) continue; // matches nothing
        m.key = mixed(static_cast<std::uint64_t>(lane.id.value), ordinals[{lane.id.value, peer, sends}]++);
        Places places;
        if (!sends) rows.right &= add_wanted(wanted, data, peer, places);
        m.places = sends ? hash_of(data) : places.hash();
        (sends ? rows.sent : rows.received).push_back(m);
      }
    });
  std::sort(written.begin(), written.end(), is_before);
  std::int64_t delivered = 0, end = 0;
  for (const ElementRun& run : written) {
    rows.right &= run.first >= end; // each element once
    end = run.first + run.count;
    delivered += run.count;
  }
  if (!rows.right) return rows;
  for (const ElementRun& run : read) rows.right &= !share(written, run);
  for (const ExpectedElements& w : wanted) {
    const bool lies_there = w.low == me && w.high == me + 1 && w.position == w.first;
    if (lies_there && !share(written, {w.first, w.count})) continue;
    delivered -= w.count;
  }
  rows.right &= delivered == 0;
  return rows;
}

void Deliveries::add(const Program& program, const Binding& binding, std::int32_t kind) {
  if (!applies_) return;
  const std::int32_t me = binding.rank().value;
  const std::vector<ExpectedElements> wanted = subject_.post_condition.wanted(binding.rank());
  Rows rows;
  const auto known = patterns_.find(kind);
  const std::vector<std::int32_t> peers =
      known != patterns_.end() && known->second ? peers_of(program, me) : std::vector<std::int32_t>();
  if (!peers.empty() && fits(*known->second, peers, wanted)) {
    const Pattern& pattern = *known->second;
    rows = pattern.rows;
    for (std::size_t i = 0; i < rows.received.size(); ++i)
      rows.received[i].from = peers[pattern.senders[i]], rows.received[i].to = me;
    for (std::size_t i = 0; i < rows.sent.size(); ++i)
      rows.sent[i].from = me, rows.sent[i].to = peers[pattern.receivers[i]];
  } else {
    rows = rows_of(program, binding, wanted);
    if (kind != RankKinds::none && known == patterns_.end())
      patterns_[kind] = rows.fits && rows.right ? pattern_of(program, me, wanted, rows) : std::nullopt;
  }
  applies_ = rows.fits;
  if (!rows.right && suspects_.size() < most_suspects) suspects_.push_back(me);
  const auto hash = [](const Message& m) {
    const std::uint64_t ends = static_cast<std::uint64_t>(m.from) << 32 | static_cast<std::uint32_t>(m.to);
    return mixed(mixed(ends, m.key), m.places);
  };
  for (const Message& m : rows.sent) sum_ += hash(m);
  for (const Message& m : rows.received) sum_ -= hash(m);
}

std::vector<std::int32_t> Deliveries::ranks_to_check() const {
  if (!applies_ || !suspects_.empty() || sum_ == 0) return suspects_;
  // Per receiving rank: its senders' messages less the elements that it wants.
  std::unordered_map<std::int32_t, std::uint64_t> of_receiver;
  for (std::int32_t r = 0; r < subject_.ranks(); ++r) {
    const Rows rows =
        rows_of(subject_.program(Rank{r}), Binding(subject_, Rank{r}), subject_.post_condition.wanted(Rank{r}));
    for (const Message& m : rows.sent)
      of_receiver[m.to] += mixed(mixed(static_cast<std::uint64_t>(m.from), m.key), m.places);
    for (const Message& m : rows.received)
      of_receiver[m.to] -= mixed(mixed(static_cast<std::uint64_t>(m.from), m.key), m.places);
  }
  std::vector<std::int32_t> found;
  for (const auto& [rank, sum] : of_receiver)
    if (sum != 0) found.push_back(rank);
  std::sort(found.begin(), found.end());
  if (found.size() > most_suspects) found.resize(most_suspects);
  return found;
}

} // namespace kumihimo::verify
