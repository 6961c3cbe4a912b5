#include "replay/recording.hpp"

#include "base/hash.hpp"
#include "goal/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>

namespace kumihimo::replay {
namespace {

constexpr std::array kind_names = {"computing",
                                   "a call",
                                   "the end of a call",
                                   "a send",
                                   "a receive",
                                   "a collective",
                                   "a send",
                                   "a receive",
                                   "a collective",
                                   "the end of a send",
                                   "the end of a receive",
                                   "the end of a collective"};
constexpr std::int64_t most_nanoseconds = goal::most_nanoseconds, most_bytes = goal::most_message_bytes;
constexpr std::uint32_t most_places = 1U << 24;
constexpr const char* record_again = "record the program again; a full buffer or a killed rank cuts a trace off";

const CollectiveRow& row_of(const Event& event) { return *all_collectives[event.collective]; }

struct Envelope {
  std::int32_t sender = 0, receiver = 0, tag = 0;
  std::uint32_t communicator = 0;
  bool operator==(const Envelope&) const = default;
};
struct HashOfEnvelope {
  std::size_t operator()(const Envelope& e) const {
    const auto words = [](std::int32_t high, std::uint32_t low) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | low;
    };
    return mixed(words(e.sender, static_cast<std::uint32_t>(e.receiver)), words(e.tag, e.communicator));
  }
};

// What one rank asks for in a collective.
struct Asked {
  std::int32_t rank = 0; // in the communicator
  const Event* event = nullptr;
};

// Of equal lengths nothing; otherwise the table.
std::vector<std::int64_t> irregular(std::vector<std::int64_t> lengths) {
  const bool equal = std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end();
  return equal ? std::vector<std::int64_t>{} : std::move(lengths);
}

} // namespace

std::uint32_t Recording::add_communicator(std::vector<std::int32_t> members) {
  auto& own = own_.emplace_back();
  for (std::size_t r = 0; r < members.size(); ++r) own.emplace(members[r], static_cast<std::int32_t>(r));
  communicators_.push_back(std::move(members));
  return static_cast<std::uint32_t>(communicators_.size() - 1);
}

std::uint32_t Recording::add_parts(std::vector<std::int64_t> bytes) {
  parts_.push_back(std::move(bytes));
  return static_cast<std::uint32_t>(parts_.size());
}

void Recording::set(std::int32_t rank, std::vector<Event> events) {
  events.shrink_to_fit();
  events_[static_cast<std::size_t>(rank)] = std::move(events);
}

std::int32_t Recording::rank_in(std::uint32_t communicator, std::int32_t rank_of_world) const {
  if (communicator == 0) return rank_of_world;
  const auto it = own_[communicator].find(rank_of_world);
  return it == own_[communicator].end() ? -1 : it->second;
}

std::int64_t Recording::count_of(std::uint32_t call) const {
  std::int64_t count = 0;
  for (const auto& sequence : sequences_) count += std::count(sequence.begin(), sequence.end(), call);
  return count;
}

std::string Recording::name_of(std::int32_t rank, std::size_t event) const {
  const auto& events = of(rank);
  std::size_t call = std::min(event, events.size() - 1);
  while (call > 0 && events[call].kind != Kind::enter) --call;
  const bool named = name_of_place_ && events[call].kind == Kind::enter;
  return fmt::format("rank {}, event {}{}", rank, event, named ? " of " + name_of_place_(events[call].place) : "");
}

Status Recording::complete() {
  if (Status s = check_communicators(); !s) return s;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    if (Status s = check(rank); !s) return s;
    if (Status s = resolve_requests(rank); !s) return s;
  }
  if (Status s = find_collectives(); !s) return s;
  return check_messages();
}

Status Recording::check_communicators() const {
  for (std::uint32_t c = 1; c < communicators(); ++c) {
    const auto wrong = [&](const std::string& rule, std::int64_t found) {
      return located(fmt::format("communicator {}", c), wrong_value(rule, found, record_again));
    };
    const auto& members = communicators_[c];
    if (members.empty()) return wrong("it must have members", 0);
    for (const std::int32_t member : members)
      if (member < 0 || member >= ranks())
        return wrong(fmt::format("a member must be a rank from 0 to {}", ranks() - 1), member);
    if (own_[c].size() != members.size())
      return wrong("each member must be another rank", static_cast<std::int64_t>(own_[c].size()));
  }
  for (const auto& each : parts_)
    for (const std::int64_t bytes : each)
      if (bytes < 0 || bytes > most_bytes)
        return wrong_value(fmt::format("a part must be from 0 to {} bytes", most_bytes), bytes, record_again);
  return Nothing{};
}

Status Recording::check(std::int32_t rank) const {
  const auto& events = of(rank);
  bool inside = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    const auto wrong = [&](const std::string& rule, std::int64_t found) {
      return located(name_of(rank, i), wrong_value(rule, found, record_again));
    };
    if ((e.kind == Kind::enter || e.kind == Kind::compute) && inside)
      return located(name_of(rank, i), wrong_value("a call must end before the next event", {}, record_again));
    if (e.kind != Kind::enter && e.kind != Kind::compute && !inside)
      return located(name_of(rank, i),
                     wrong_value(fmt::format("{} must be within a call", kind_names[static_cast<std::size_t>(e.kind)]),
                                 {}, record_again));
    if (e.kind == Kind::enter || e.kind == Kind::leave) inside = e.kind == Kind::enter;
    const std::int64_t most = e.kind == Kind::compute ? most_nanoseconds : most_bytes;
    if (e.amount < 0 || e.amount > most)
      return wrong(fmt::format("a time or size must be from 0 to {}", most), e.amount);
    if (e.place >= most_places) return wrong(fmt::format("a place must be below {}", most_places), e.place);
    const bool has_peer = is_send(e.kind) || e.kind == Kind::receive || e.kind == Kind::end_receive;
    if (has_peer && (e.peer < 0 || e.peer >= ranks()))
      return wrong(fmt::format("a peer must be a rank from 0 to {}", ranks() - 1), e.peer);
    if (has_peer && e.tag < 0) return wrong("a tag must be at least 0", e.tag);
    if (!has_peer && e.kind != Kind::collective && e.kind != Kind::end_collective) continue;
    if (e.communicator >= communicators()) return wrong("a communicator must be a known one", e.communicator);
    if (rank_in(e.communicator, rank) < 0)
      return wrong("a rank must be a member of the communicator of its messages and collectives", e.communicator);
    if (has_peer && rank_in(e.communicator, e.peer) < 0)
      return wrong("a peer must be a member of the communicator of its message", e.peer);
    if (has_peer) continue;
    if (e.collective >= collective_kinds) return wrong("a collective must be a known one", e.collective);
    if (row_of(e).has_root() && (e.peer < 0 || e.peer >= size_of(e.communicator)))
      return wrong(fmt::format("a root must be a rank from 0 to {}", size_of(e.communicator) - 1), e.peer);
    if (e.parts > parts_.size()) return wrong("a list of parts must be a known one", e.parts);
    if (e.parts > 0 && parts(e.parts).size() != static_cast<std::size_t>(size_of(e.communicator)))
      return wrong("there must be a part for each rank of the communicator",
                   static_cast<std::int64_t>(parts(e.parts).size()));
  }
  if (inside) return located(name_of(rank, events.size() - 1), wrong_value("the last call must end", {}, record_again));
  return Nothing{};
}

// What a receive got, and what a collective is, stands at the end of its request.
Status Recording::resolve_requests(std::int32_t rank) {
  auto& events = events_[static_cast<std::size_t>(rank)];
  std::unordered_map<std::int64_t, std::size_t> begun;
  for (std::size_t i = 0; i < events.size(); ++i) {
    Event& event = events[i];
    if (starts(event.kind)) begun[event.request] = i;
    if (!ends(event.kind)) continue;
    const auto it = begun.find(event.request);
    const auto expected = static_cast<Kind>(static_cast<int>(event.kind) - 3);
    if (it == begun.end() || events[it->second].kind != expected)
      return located(
          name_of(rank, i),
          wrong_value(fmt::format("request {} ends, which began as no such request", event.request), {}, record_again));
    Event& start = events[it->second];
    if (event.kind != Kind::end_send) {
      start = event;
      start.kind = expected;
    }
    begun.erase(it);
  }
  // What never ended: a receive that was cancelled got nothing, and what a collective was is unknown.
  for (const auto& [request, at] : begun) {
    if (events[at].kind == Kind::start_collective)
      return located(name_of(rank, at), wrong_value("a collective must end", {}, record_again));
    if (events[at].kind == Kind::start_receive) events[at].peer = -1;
  }
  return Nothing{};
}

Status Recording::check_messages() const {
  std::unordered_map<Envelope, std::int64_t, HashOfEnvelope> balance; // sends less receives
  const auto each = [&](auto&& fn) {
    for (std::int32_t rank = 0; rank < ranks(); ++rank)
      for (std::size_t i = 0; i < of(rank).size(); ++i) {
        const Event& e = of(rank)[i];
        if (is_send(e.kind)) fn(Envelope{rank, e.peer, e.tag, e.communicator}, 1, rank, i);
        if (is_receive(e.kind) && e.peer >= 0) fn(Envelope{e.peer, rank, e.tag, e.communicator}, -1, rank, i);
      }
  };
  each([&](const Envelope& envelope, int more, std::int32_t, std::size_t) { balance[envelope] += more; });
  std::optional<std::pair<std::int32_t, std::size_t>> last;
  std::int64_t unmatched = 0;
  for (const auto& [envelope, n] : balance) unmatched += std::abs(n);
  if (unmatched == 0) return Nothing{};
  // The first rank with too many, and the last of its events for that pair.
  std::optional<Envelope> first;
  each([&](const Envelope& envelope, int more, std::int32_t rank, std::size_t i) {
    const std::int64_t n = balance[envelope];
    if (n == 0 || (n > 0) != (more > 0)) return;
    if (!first) first = envelope;
    if (*first == envelope) last = {rank, i};
  });
  const bool sent = balance[*first] > 0;
  const Event& e = of(last->first)[last->second];
  return located(
      name_of(last->first, last->second),
      wrong_value(fmt::format("{} of {} bytes {} rank {} with tag {}{} has no matching {}; in all {} messages have "
                              "one end alone",
                              sent ? "a send" : "a receive", e.amount, sent ? "to" : "from", e.peer, e.tag,
                              e.communicator == 0 ? "" : fmt::format(" on communicator {}", e.communicator),
                              sent ? "receive" : "send", unmatched),
                  {}, record_again));
}

namespace {

std::int64_t per_rank(std::int64_t bytes, std::int32_t ranks) { return (bytes + ranks - 1) / ranks; }

} // namespace

Status Recording::find_collectives() {
  std::vector<std::vector<std::vector<std::size_t>>> of_all(communicators()); // by communicator and rank in it: events
  for (std::uint32_t c = 0; c < communicators(); ++c) of_all[c].resize(static_cast<std::size_t>(size_of(c)));
  for (std::int32_t rank = 0; rank < ranks(); ++rank)
    for (std::size_t i = 0; i < of(rank).size(); ++i)
      if (const Event& e = of(rank)[i]; is_collective(e.kind))
        of_all[e.communicator][static_cast<std::size_t>(rank_in(e.communicator, rank))].push_back(i);
  std::map<CollectiveCall, std::uint32_t> numbers;
  calls_.clear();
  sequences_.assign(communicators(), {});
  for (std::uint32_t c = 0; c < communicators(); ++c) {
    const auto& lists = of_all[c];
    const auto shorter = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const auto [least, most] = std::minmax_element(lists.begin(), lists.end(), shorter);
    if (least->size() < most->size()) {
      const std::int32_t with = member(c, static_cast<std::int32_t>(most - lists.begin()));
      const std::int32_t without = member(c, static_cast<std::int32_t>(least - lists.begin()));
      const std::size_t at = (*most)[least->size()];
      return located(name_of(with, at),
                     wrong_value(fmt::format("rank {} lacks the {} that is number {} of communicator {}: "
                                             "its trace ends before",
                                             without, row_of(of(with)[at]).name, least->size(), c),
                                 {}, record_again));
    }
    const auto size = static_cast<std::size_t>(size_of(c));
    for (std::size_t n = 0; n < most->size(); ++n) {
      const auto asked = [&](std::size_t r) -> const Event& {
        return of(member(c, static_cast<std::int32_t>(r)))[lists[r][n]];
      };
      const Event& first = asked(0);
      const CollectiveRow& row = row_of(first);
      CollectiveCall call{c, first.collective, row.has_root() ? first.peer : 0, 0, {}};
      std::vector<std::int64_t> lengths(size);
      bool any_parts = false;
      for (std::size_t r = 0; r < size; ++r) {
        const Event& e = asked(r);
        if (e.collective != first.collective || (row.has_root() && e.peer != first.peer))
          return located(
              name_of(member(c, static_cast<std::int32_t>(r)), lists[r][n]),
              wrong_value(fmt::format("the ranks of communicator {} disagree: rank {} calls {}{} where rank {} "
                                      "calls {}{}",
                                      c, member(c, static_cast<std::int32_t>(r)), row_of(e).name,
                                      row.has_root() ? fmt::format(" of root {}", e.peer) : "", member(c, 0), row.name,
                                      row.has_root() ? fmt::format(" of root {}", first.peer) : ""),
                          {}, record_again));
        lengths[r] = e.amount;
        any_parts |= e.parts > 0;
      }
      const auto at_root = static_cast<std::size_t>(call.root);
      if (row.is_vector()) {
        call.bytes = *std::max_element(lengths.begin(), lengths.end());
      } else if (row.of_pairs()) {
        for (std::size_t r = 0; r < size && any_parts; ++r) {
          const Event& e = asked(r);
          for (std::size_t to = 0; to < size; ++to)
            call.table.push_back(e.parts > 0 ? parts(e.parts)[to] : per_rank(e.amount, size_of(c)));
        }
        call.table = irregular(std::move(call.table));
        const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        call.bytes = per_rank(sum, static_cast<std::int32_t>(size * size));
      } else if (row.reduces()) { // a rank says the sum of all blocks alone
        call.bytes = per_rank(*std::max_element(lengths.begin(), lengths.end()), size_of(c));
      } else if (row.moves_data()) {
        if (row.input.whose == Ranks::root) // of the root all blocks: its own is what the others leave
          lengths[at_root] = std::max<std::int64_t>(
              0, 2 * lengths[at_root] - std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}));
        const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        call.bytes = per_rank(sum, size_of(c));
        call.table = irregular(std::move(lengths));
      }
      const auto [it, is_new] = numbers.try_emplace(call, static_cast<std::uint32_t>(calls_.size()));
      if (is_new) calls_.push_back(call);
      sequences_[c].push_back(it->second);
    }
  }
  return Nothing{};
}

} // namespace kumihimo::replay
