#include "replay/extrapolate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <tuple>

namespace kumihimo::replay {
namespace {

using Place = std::vector<std::int32_t>; // coordinates

std::int32_t product(const Grid& grid) { return std::accumulate(grid.begin(), grid.end(), 1, std::multiplies<>()); }

Place place_in(const Grid& grid, std::int32_t rank) {
  Place place(grid.size());
  for (std::size_t a = grid.size(); a-- > 0; rank /= grid[a]) place[a] = rank % grid[a];
  return place;
}
std::int32_t rank_at(const Grid& grid, const Place& place) {
  std::int32_t rank = 0;
  for (std::size_t a = 0; a < grid.size(); ++a) rank = rank * grid[a] + place[a];
  return rank;
}

std::string text_of(const Grid& grid) { return fmt::format("{}", fmt::join(grid, "x")); }

// Steps along an axis, the short way round.
std::int32_t step(std::int32_t from, std::int32_t to, std::int32_t length) {
  std::int32_t d = to - from;
  if (2 * d > length) d -= length;
  if (2 * d < -length) d += length;
  return d;
}

// The place along an axis that does the same in a grid of another length.
std::int32_t model_along(std::int32_t at, std::int32_t from, std::int32_t to) {
  if (from == to || at == 0) return at;
  if (at == to - 1) return from - 1;
  return 1 + (at - 1) % (from - 2);
}

// Which of the first, the last, and the places between.
std::int32_t class_of(const Grid& grid, std::int32_t rank) {
  std::int32_t which = 0;
  const Place place = place_in(grid, rank);
  for (std::size_t a = 0; a < grid.size(); ++a)
    which = 3 * which + (place[a] == 0 ? 0 : place[a] == grid[a] - 1 ? 1 : 2);
  return which;
}

// Whom a rank sends to, or receives from, on which communicator and with which tag, and how often.
struct RecordedExchange {
  std::int32_t peer = 0, tag = 0;
  std::uint32_t communicator = 0;
  bool sends = false;
  auto operator<=>(const RecordedExchange&) const = default;
};
using Exchanges = std::vector<std::pair<RecordedExchange, std::int64_t>>;

Result<std::vector<Exchanges>> exchanges_of(const Recording& recording) {
  std::vector<Exchanges> all;
  for (std::int32_t rank = 0; rank < recording.ranks(); ++rank) {
    std::map<RecordedExchange, std::int64_t> counts;
    const auto count = [&](std::span<const Event> events, std::size_t) -> Status {
      for (const Event& e : events)
        if (is_message(e)) {
          const trace::MessageEvent& m = e.message();
          ++counts[{m.peer, m.tag, m.communicator, is_send(e.kind)}];
        }
      return Nothing{};
    };
    if (Status s = for_each_part(recording.stream(rank), count); !s) return s.error();
    all.emplace_back(counts.begin(), counts.end());
  }
  return all;
}

// How often a rank sends to, or receives from, which distance on which family of communicators with which tag.
using Pattern = std::map<std::tuple<std::vector<std::int32_t>, bool, std::uint32_t, std::int32_t>, std::int64_t>;
using Families = std::vector<std::uint32_t>; // by communicator; empty: they are not told apart

Pattern pattern_of(const Exchanges& exchanges, const Grid& grid, const Families& families, std::int32_t rank) {
  Pattern pattern;
  const Place own = place_in(grid, rank);
  for (const auto& [each, count] : exchanges) {
    std::vector<std::int32_t> distance(grid.size());
    const Place other = place_in(grid, each.peer);
    for (std::size_t a = 0; a < grid.size(); ++a) distance[a] = step(own[a], other[a], grid[a]);
    const std::uint32_t family = families.empty() ? 0 : families[each.communicator];
    pattern[{std::move(distance), each.sends, family, each.tag}] += count;
  }
  return pattern;
}

// The first rank whose pattern differs from that of another at such a place, and that other.
std::optional<std::pair<std::int32_t, std::int32_t>> irregular_rank(const std::vector<Exchanges>& all, const Grid& grid,
                                                                    const Families& families = {}) {
  std::map<std::int32_t, std::pair<std::int32_t, Pattern>> first;
  std::int32_t rank = 0;
  for (const Exchanges& exchanges : all) {
    Pattern pattern = pattern_of(exchanges, grid, families, rank);
    const auto [it, is_new] = first.try_emplace(class_of(grid, rank), rank, Pattern{});
    if (is_new)
      it->second.second = std::move(pattern);
    else if (it->second.second != pattern)
      return std::pair(rank, it->second.first);
    ++rank;
  }
  return std::nullopt;
}

std::int64_t distance_of(const std::vector<Exchanges>& all, const Grid& grid) {
  std::int64_t sum = 0, rank = 0;
  for (const Exchanges& exchanges : all)
    for (const auto& [key, count] : pattern_of(exchanges, grid, {}, static_cast<std::int32_t>(rank++)))
      for (const std::int32_t d : std::get<0>(key)) sum += count * std::abs(d);
  return sum;
}

constexpr std::size_t most_axes = 3;

void for_each_grid(std::int32_t ranks, Grid& grid, const std::function<void(const Grid&)>& fn) {
  grid.push_back(ranks);
  fn(grid);
  grid.pop_back();
  if (grid.size() + 1 == most_axes) return;
  for (std::int32_t length = 2; length <= ranks / 2; ++length) {
    if (ranks % length != 0) continue;
    grid.push_back(length);
    for_each_grid(ranks / length, grid, fn);
    grid.pop_back();
  }
}

} // namespace

Result<Grid> grid_of(const Recording& recording) {
  const auto exchanges = TRY(exchanges_of(recording));
  std::optional<Grid> best;
  std::int64_t least = 0;
  Grid grid;
  for_each_grid(recording.ranks(), grid, [&](const Grid& candidate) {
    if (irregular_rank(exchanges, candidate)) return;
    const std::int64_t distance = distance_of(exchanges, candidate);
    if (!best || distance < least) best = candidate, least = distance;
  });
  if (best) return *best;
  const auto [rank, other] = *irregular_rank(exchanges, {recording.ranks()});
  return not_applicable(fmt::format("the messages are not those of neighbours in a grid: ranks {} and {} exchange with "
                                    "others at different distances",
                                    other, rank),
                        {}, "give --ranks as recorded");
}

Grid scaled_grid(const Grid& grid, std::int32_t ranks) {
  std::optional<Grid> best;
  double least = 0;
  Grid candidate;
  const std::function<void(std::int32_t)> extend = [&](std::int32_t left) {
    if (candidate.size() + 1 == grid.size()) {
      candidate.push_back(left);
      double spread = 0; // of the factors by which the axes grow
      const double mean = std::log(static_cast<double>(ranks) / product(grid)) / static_cast<double>(grid.size());
      for (std::size_t a = 0; a < grid.size(); ++a)
        spread += std::pow(std::log(static_cast<double>(candidate[a]) / grid[a]) - mean, 2);
      if (!best || spread < least - 1e-12) best = candidate, least = spread;
      candidate.pop_back();
      return;
    }
    for (std::int32_t length = 1; length <= left; ++length) {
      if (left % length != 0) continue;
      candidate.push_back(length);
      extend(left / length);
      candidate.pop_back();
    }
  };
  extend(ranks);
  return *best;
}

Extrapolation::Extrapolation(const Recording& recording, Grid from, Grid to, bool strong)
    : recording_(&recording), from_(std::move(from)), to_(std::move(to)), strong_(strong), ranks_(product(to_)),
      volume_(static_cast<double>(product(from_)) / ranks_) {}

Result<Extrapolation> Extrapolation::make(const Recording& recording, Grid from, Grid to, bool strong) {
  if (product(from) != recording.ranks())
    return wrong_value("the grid must have as many ranks as the recording",
                       fmt::format("{} for {}", text_of(from), recording.ranks()));
  if (from.size() != to.size())
    return wrong_value("the new grid must have as many axes as the recorded one",
                       fmt::format("{} for {}", text_of(to), text_of(from)));
  Extrapolation made(recording, std::move(from), std::move(to), strong);
  for (std::size_t a = 0; a < made.from_.size(); ++a)
    if (made.from_[a] != made.to_[a] && (made.from_[a] < 3 || made.to_[a] < 2))
      return not_applicable(
          fmt::format("an axis must have 3 recorded ranks or more to be extrapolated, and 2 or more then"),
          fmt::format("{} to {}", text_of(made.from_), text_of(made.to_)), "record on a larger grid");
  if (Status s = made.find_communicators(); !s) return s.error();
  if (Status s = made.check_messages(); !s) return s.error();
  if (Status s = made.find_calls(); !s) return s.error();
  return made;
}

Status Extrapolation::check_messages() const {
  const auto exchanges = TRY(exchanges_of(*recording_));
  if (const auto found = irregular_rank(exchanges, from_, family_of_))
    return not_applicable(
        fmt::format("the messages are not regular on the grid {}: ranks {} and {} exchange with others "
                    "at different distances",
                    text_of(from_), found->second, found->first),
        {}, "give another --grid");
  for (std::int32_t rank = 0; rank < recording_->ranks(); ++rank)
    for (const auto& [key, count] : pattern_of(exchanges[static_cast<std::size_t>(rank)], from_, family_of_, rank))
      for (std::size_t a = 0; a < from_.size(); ++a)
        if (from_[a] != to_[a] && 2 * std::abs(std::get<0>(key)[a]) == from_[a])
          return not_applicable(fmt::format("rank {} exchanges over half of an axis of the grid {}, in an unknown "
                                            "direction",
                                            rank, text_of(from_)),
                                {}, "record on an odd number of ranks along this axis");
  return Nothing{};
}

std::int32_t Extrapolation::model_of(std::int32_t rank) const {
  Place place = place_in(to_, rank);
  for (std::size_t a = 0; a < place.size(); ++a) place[a] = model_along(place[a], from_[a], to_[a]);
  return rank_at(from_, place);
}

// --- communicators ---

Status Extrapolation::find_communicators() {
  std::vector<bool> used(recording_->communicators(), false);
  used[0] = true;
  const auto look = [&](std::span<const Event> events, std::size_t) -> Status {
    for (const Event& e : events) {
      if (is_collective(e.kind)) used[e.collective().communicator] = true;
      if (is_message(e)) used[e.message().communicator] = true;
    }
    return Nothing{};
  };
  for (std::int32_t rank = 0; rank < recording_->ranks(); ++rank)
    if (Status s = for_each_part(recording_->stream(rank), look); !s) return s;
  for (std::uint32_t c = 0; c < recording_->communicators(); ++c)
    family_of_.push_back(used[c] ? TRY(family_of(c)) : none);
  // Of each new one the recorded one that its first member's model is in.
  for (std::uint32_t f = 0; f < families_.size(); ++f) {
    Family& family = families_[f];
    family.first = static_cast<std::uint32_t>(of_recording_.size());
    for (std::int32_t i = 0; i < family.count; ++i) {
      of_recording_.push_back(none), family_of_new_.push_back(f);
      const std::int32_t model = model_of(member(family.first + static_cast<std::uint32_t>(i), 0));
      for (std::uint32_t c = 0; c < recording_->communicators(); ++c)
        if (family_of_[c] == f && recording_->rank_in(c, model) >= 0) of_recording_.back() = c;
    }
  }
  return Nothing{};
}

Result<std::uint32_t> Extrapolation::family_of(std::uint32_t communicator) {
  Family family;
  const std::int32_t size = recording_->size_of(communicator);
  const Place first = place_in(from_, recording_->member(communicator, 0));
  family.along.assign(from_.size(), false);
  for (std::int32_t r = 1; r < size; ++r) {
    const Place place = place_in(from_, recording_->member(communicator, r));
    for (std::size_t a = 0; a < place.size(); ++a)
      if (place[a] != first[a]) family.along[a] = true;
  }
  if (communicator == 0) family.along.assign(from_.size(), true);
  std::int32_t recorded = 1;
  for (std::size_t a = 0; a < from_.size(); ++a) {
    if (family.along[a]) recorded *= from_[a];
    (family.along[a] ? family.size : family.count) *= to_[a];
  }
  bool whole = recorded == size;
  for (std::int32_t r = 1; r < size && whole && !recording_->sequence(communicator).empty(); ++r)
    whole = recording_->member(communicator, r) > recording_->member(communicator, r - 1);
  if (!whole)
    return not_applicable(
        fmt::format("communicator {} must be all ranks along some axes of the grid {}, in their order", communicator,
                    text_of(from_)),
        {}, "give another --grid, or --ranks as recorded");
  // One with the same members is another of its kind.
  const auto has_same = [&](std::uint32_t f) {
    for (std::uint32_t c = 0; c < family_of_.size(); ++c)
      if (family_of_[c] == f && recording_->member(c, 0) == recording_->member(communicator, 0)) return true;
    return false;
  };
  for (std::uint32_t f = 0; f < families_.size(); ++f)
    if (families_[f].along == family.along && !has_same(f)) return f;
  families_.push_back(std::move(family));
  return static_cast<std::uint32_t>(families_.size() - 1);
}

// Among the places along the family's axes, or along the others.
std::int32_t Extrapolation::place_of(const Family& family, std::int32_t rank, bool along) const {
  const Place place = place_in(to_, rank);
  std::int32_t number = 0;
  for (std::size_t a = 0; a < to_.size(); ++a)
    if (family.along[a] == along) number = number * to_[a] + place[a];
  return number;
}

std::int32_t Extrapolation::size_of(std::uint32_t communicator) const {
  return families_[family_of_new_[communicator]].size;
}

std::int32_t Extrapolation::member(std::uint32_t communicator, std::int32_t rank) const {
  const Family& family = families_[family_of_new_[communicator]];
  std::int32_t instance = static_cast<std::int32_t>(communicator - family.first);
  Place place(to_.size());
  for (std::size_t a = to_.size(); a-- > 0;) {
    std::int32_t& from = family.along[a] ? rank : instance;
    place[a] = from % to_[a];
    from /= to_[a];
  }
  return rank_at(to_, place);
}

std::int32_t Extrapolation::rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const {
  const Family& family = families_[family_of_new_[communicator]];
  const auto instance = static_cast<std::int32_t>(communicator - family.first);
  return place_of(family, rank_of_world, false) == instance ? place_of(family, rank_of_world, true) : -1;
}

// --- collectives ---

Status Extrapolation::find_calls() {
  std::map<RecordedCollective, std::uint32_t> known;
  for (std::uint32_t c = 0; c < communicators(); ++c) {
    const Family& family = families_[family_of_new_[c]];
    if (of_recording_[c] == none) continue;
    for (const std::uint32_t old : recording_->sequence(of_recording_[c])) {
      const auto found = numbers_.find({c, old});
      if (found != numbers_.end()) {
        ++counts_[found->second];
        continue;
      }
      RecordedCollective call = recording_->calls()[old];
      const CollectiveRow& row = *all_collectives[call.collective];
      if (!call.table.empty())
        return not_applicable(fmt::format("the {} of communicator {} has blocks of different lengths, for which there "
                                          "is no rule",
                                          row.name, call.communicator),
                              {}, "give --ranks as recorded");
      Place root = place_in(from_, recording_->member(call.communicator, call.root));
      for (std::size_t a = 0; a < root.size() && row.has_root(); ++a) {
        if (!family.along[a] || from_[a] == to_[a] || root[a] == 0) continue;
        if (root[a] != from_[a] - 1)
          return not_applicable(
              fmt::format("the root {} of a {} is in the middle of the grid {}", call.root, row.name, text_of(from_)),
              {}, "give --ranks as recorded");
        root[a] = to_[a] - 1;
      }
      std::int32_t place = 0;
      for (std::size_t a = 0; a < root.size(); ++a)
        if (family.along[a]) place = place * to_[a] + root[a];
      call.root = row.has_root() ? place : 0;
      const double of_pair = static_cast<double>(recording_->size_of(call.communicator)) / family.size;
      if (!row.is_vector() && row.moves_data())
        call.bytes = scaled(call.bytes, (row.of_pairs() ? of_pair : 1) * (strong_ ? volume_ : 1));
      call.communicator = c;
      const auto [it, is_new] = known.try_emplace(call, static_cast<std::uint32_t>(calls_.size()));
      if (is_new) calls_.push_back(call), counts_.push_back(0);
      ++counts_[it->second];
      numbers_[{c, old}] = it->second;
    }
  }
  return Nothing{};
}

std::uint32_t Extrapolation::call_of(std::uint32_t communicator, std::size_t n) const {
  return numbers_.at({communicator, recording_->sequence(of_recording_[communicator])[n]});
}

// At least a byte of what has some.
std::int64_t Extrapolation::scaled(std::int64_t bytes, double by) const {
  return bytes == 0 ? 0 : std::max<std::int64_t>(1, std::llround(static_cast<double>(bytes) * by));
}

// --- events ---

// The events of the recorded rank that does the same.
class Extrapolation::Copied : public EventStream {
 public:
  Copied(const Extrapolation& of, std::int32_t rank, const AtOnce& at_once)
      : of_(of), here_(place_in(of.to_, rank)), there_(place_in(of.from_, of.model_of(rank))),
        model_(of.recording_->stream(of.model_of(rank), at_once)) {
    for (const Family& family : of.families_)
      own_.push_back(family.first + static_cast<std::uint32_t>(of.place_of(family, rank, false)));
  }

  Result<std::span<const Event>> next() override {
    const auto events = TRY(model_->next());
    events_.assign(events.begin(), events.end());
    for (Event& e : events_) {
      if (e.kind == EventKind::compute && of_.strong_)
        e.compute().ns = std::llround(static_cast<double>(e.compute().ns) * of_.volume_);
      if (is_collective(e.kind)) {
        trace::CollectiveEvent& what = e.collective();
        what.communicator = own_[of_.family_of_[what.communicator]];
        what.parts = 0;
      }
      if (is_message(e)) move(e.message());
    }
    return std::span<const Event>(events_);
  }

 private:
  void move(trace::MessageEvent& m) const {
    m.communicator = own_[of_.family_of_[m.communicator]];
    Place peer = place_in(of_.from_, m.peer);
    double face = 1; // of a rank's volume, across the axes along which the message goes
    for (std::size_t a = 0; a < peer.size(); ++a) {
      const std::int32_t from = of_.from_[a], to = of_.to_[a];
      const std::int32_t d = step(there_[a], peer[a], from);
      if (d == 0) face *= static_cast<double>(from) / to;
      peer[a] = (here_[a] + d + to) % to;
    }
    m.peer = rank_at(of_.to_, peer);
    if (of_.strong_) m.bytes = of_.scaled(m.bytes, face);
  }

  const Extrapolation& of_;
  Place here_, there_;
  std::vector<std::uint32_t> own_; // communicators, by family
  std::unique_ptr<EventStream> model_;
  std::vector<Event> events_;
};

std::unique_ptr<EventStream> Extrapolation::stream(std::int32_t rank, const AtOnce& at_once) const {
  return std::make_unique<Copied>(*this, rank, at_once);
}

} // namespace kumihimo::replay
