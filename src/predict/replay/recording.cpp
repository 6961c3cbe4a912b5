#include "replay/recording.hpp"

#include "base/hash.hpp"
#include "goal/graph.hpp"
#include "replay/asked_collectives.hpp"
#include "replay/record_again.hpp"
#include "replay/resolved_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

namespace kumihimo::replay {
namespace {

constexpr std::array<const char*, trace::kinds> kind_names = {"a call",
                                                              "the end of a call",
                                                              "a send",
                                                              "a receive",
                                                              "a collective",
                                                              "a send",
                                                              "a receive",
                                                              "a collective",
                                                              "the end of a send",
                                                              "the end of a receive",
                                                              "the end of a collective",
                                                              "the beginning of a region",
                                                              "the end of a region",
                                                              "the beginning of the program",
                                                              "the end of the program",
                                                              "computing"};
constexpr std::int64_t most_nanoseconds = goal::most_nanoseconds, most_bytes = goal::most_message_bytes;
constexpr std::uint32_t most_places = 1U << 24;

struct RecordedEnvelope {
  std::int32_t sender = 0, receiver = 0, tag = 0;
  std::uint32_t communicator = 0;
  bool operator==(const RecordedEnvelope&) const = default;
};
std::pair<std::uint64_t, std::uint64_t> words_of(const RecordedEnvelope& e) {
  const auto word = [](std::int32_t high, std::uint32_t low) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | low;
  };
  return {word(e.sender, static_cast<std::uint32_t>(e.receiver)), word(e.tag, e.communicator)};
}
struct HashOfEnvelope {
  std::size_t operator()(const RecordedEnvelope& e) const {
    const auto [a, b] = words_of(e);
    return mixed(a, b);
  }
};

// fn(envelope, 1 of a send and -1 of a receive, its place)
template <class Fn>
void each_message(std::int32_t rank, std::span<const Event> events, Fn&& fn) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_message(events[i])) continue;
    const trace::MessageEvent& m = events[i].message();
    if (is_send(events[i].kind))
      fn(RecordedEnvelope{rank, m.peer, m.tag, m.communicator}, 1, i);
    else
      fn(RecordedEnvelope{m.peer, rank, m.tag, m.communicator}, -1, i);
  }
}

// Whether all messages have both ends: two sums of hashes, of sends less receives, are 0 if they have. If they have
// not, both are 0 by a chance of 1 in 2^128; then the model still finds a message without its other end.
class Balance {
 public:
  void add(std::int32_t rank, std::span<const Event> events) {
    each_message(rank, events, [&](const RecordedEnvelope& envelope, int sign, std::size_t) {
      const auto [a, b] = words_of(envelope);
      const std::uint64_t first = mixed(a, b), second = mixed(b, a);
      first_ += sign > 0 ? first : 0 - first;
      second_ += sign > 0 ? second : 0 - second;
    });
  }
  bool is_even() const { return first_ == 0 && second_ == 0; }

 private:
  std::uint64_t first_ = 0, second_ = 0;
};

class MemoryStream : public EventStream {
 public:
  explicit MemoryStream(std::span<const Event> events) : left_(events) {}
  Result<std::span<const Event>> next() override { return std::exchange(left_, {}); }

 private:
  std::span<const Event> left_;
};

Error wrong_event(std::string rule, const Got& got = {}) { return wrong_value(std::move(rule), got, record_again); }

} // namespace

std::uint32_t Recording::add_communicator(std::vector<std::int32_t> members) {
  Communicator made;
  made.in_order = members.size() == static_cast<std::size_t>(ranks());
  for (std::size_t r = 0; r < members.size(); ++r) made.in_order &= members[r] == static_cast<std::int32_t>(r);
  for (std::size_t r = 0; r < members.size() && !made.in_order; ++r)
    made.own.emplace(members[r], static_cast<std::int32_t>(r));
  made.members = std::move(members);
  communicators_.push_back(std::move(made));
  return communicators() - 1;
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
  const Communicator& of = communicators_[communicator];
  if (communicator == 0 || of.in_order) return rank_of_world;
  const auto it = of.own.find(rank_of_world);
  return it == of.own.end() ? -1 : it->second;
}

std::int64_t Recording::count_of(std::uint32_t call) const {
  std::int64_t count = 0;
  for (const auto& sequence : sequences_) count += std::count(sequence.begin(), sequence.end(), call);
  return count;
}

std::string Recording::name_of(std::int32_t rank, std::span<const Event> events, std::size_t event,
                               std::size_t before) const {
  if (events.empty()) return fmt::format("rank {}", rank);
  std::size_t call = std::min(event, events.size() - 1);
  while (call > 0 && events[call].kind != EventKind::enter) --call;
  const bool named = name_of_place_ && events[call].kind == EventKind::enter;
  return fmt::format("rank {}, event {}{}", rank, before + event,
                     named ? " of " + name_of_place_(events[call].enter().site) : "");
}

std::unique_ptr<EventStream> Recording::resolved(std::int32_t rank, std::unique_ptr<EventStream> events) const {
  return std::make_unique<ResolvedStream>(
      std::move(events), [this, rank](std::span<const Event> all, std::size_t event, std::size_t before) {
        return name_of(rank, all, event, before);
      });
}

std::unique_ptr<EventStream> Recording::stream(std::int32_t rank, const AtOnce& at_once) const {
  if (reader_) return resolved(rank, reader_->stream(rank, at_once));
  return std::make_unique<MemoryStream>(events_[static_cast<std::size_t>(rank)]);
}

// Of what is in memory.
Status Recording::resolve(std::int32_t rank) {
  std::vector<Event>& events = events_[static_cast<std::size_t>(rank)];
  std::vector<Event> found;
  found.reserve(events.size());
  const auto append = [&](std::span<const Event> some, std::size_t) -> Status {
    found.insert(found.end(), some.begin(), some.end());
    return Nothing{};
  };
  if (Status s = for_each_part(resolved(rank, std::make_unique<MemoryStream>(events)), append); !s) return s;
  events = std::move(found);
  return Nothing{};
}

// What the reader has found so far is known to others from now on.
Status Recording::take_from_reader() {
  const std::uint32_t first = communicators(), first_list = static_cast<std::uint32_t>(parts_.size());
  const auto& found = reader_->communicators();
  while (communicators_.size() <= found.size()) add_communicator(found[communicators_.size() - 1]);
  const auto& lists = reader_->parts();
  while (parts_.size() < lists.size()) add_parts(lists[parts_.size()]);
  return check_communicators(first, first_list);
}

Status Recording::complete() {
  if (Status s = check_communicators(1, 0); !s) return s;
  AskedCollectives asked(
      *this, [this](std::uint32_t number) -> const auto& { return parts(number); },
      [this](std::int32_t rank, std::span<const Event> events, std::size_t event, std::size_t before) {
        return name_of(rank, events, event, before);
      });
  Balance balance;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    const auto add = [&](std::span<const Event> events, std::size_t before) -> Status {
      if (reader_)
        if (Status s = take_from_reader(); !s) return s;
      if (Status s = check(rank, events, before); !s) return s;
      balance.add(rank, events);
      return asked.add(rank, events, before);
    };
    if (!reader_)
      if (Status s = resolve(rank); !s) return s;
    if (Status s = for_each_part(stream(rank), add); !s) return s;
  }
  auto found = TRY(asked.finish());
  calls_ = std::move(found.calls), sequences_ = std::move(found.sequences);
  if (!balance.is_even()) return unmatched();
  return Nothing{};
}

Status Recording::check_communicators(std::uint32_t first, std::uint32_t first_list) const {
  for (std::uint32_t c = first; c < communicators(); ++c) {
    const auto wrong = [&](const std::string& rule, std::int64_t found) {
      return located(fmt::format("communicator {}", c), wrong_event(rule, found));
    };
    const Communicator& of = communicators_[c];
    if (of.members.empty()) return wrong("it must have members", 0);
    for (const std::int32_t member : of.members)
      if (member < 0 || member >= ranks())
        return wrong(fmt::format("a member must be a rank from 0 to {}", ranks() - 1), member);
    if (!of.in_order && of.own.size() != of.members.size())
      return wrong("each member must be another rank", static_cast<std::int64_t>(of.own.size()));
  }
  for (std::size_t list = first_list; list < parts_.size(); ++list)
    for (const std::int64_t bytes : parts_[list])
      if (bytes < 0 || bytes > most_bytes)
        return wrong_event(fmt::format("a part must be from 0 to {} bytes", most_bytes), bytes);
  return Nothing{};
}

Status Recording::check(std::int32_t rank, std::span<const Event> events, std::size_t before) const {
  bool inside = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& e = events[i];
    const auto wrong = [&](const std::string& rule, const Got& found = {}) {
      return located(name_of(rank, events, i, before), wrong_event(rule, found));
    };
    const auto within = [&](std::int64_t amount, std::int64_t most) { return amount >= 0 && amount <= most; };
    const auto out_of_range = [&](std::int64_t amount, std::int64_t most) {
      return wrong(fmt::format("a time or size must be from 0 to {}", most), amount);
    };
    const auto no_place = [&](std::uint32_t place) {
      return wrong(fmt::format("a place must be below {}", most_places), place);
    };
    if (e.kind == EventKind::enter || e.kind == EventKind::compute) {
      if (inside) return wrong("a call must end before the next event");
      inside = e.kind == EventKind::enter;
      if (inside && e.enter().site >= most_places) return no_place(e.enter().site);
      if (inside) continue;
      if (!within(e.compute().ns, most_nanoseconds)) return out_of_range(e.compute().ns, most_nanoseconds);
      if (e.compute().region >= most_places) return no_place(e.compute().region);
      continue;
    }
    if (static_cast<std::size_t>(e.kind) >= trace::kinds)
      return wrong("an event must be of a known kind", static_cast<int>(e.kind));
    const char* const name = kind_names[static_cast<std::size_t>(e.kind)];
    if (!inside) return wrong(fmt::format("{} must be within a call", name));
    if (e.kind == EventKind::leave) {
      inside = false;
    } else if (e.kind == EventKind::start_receive || e.kind == EventKind::start_collective) {
      continue; // it has what its end has
    } else if (has_message(e.kind)) {
      const trace::MessageEvent& m = e.message();
      if (!within(m.bytes, most_bytes)) return out_of_range(m.bytes, most_bytes);
      if (e.kind == EventKind::end_send) continue;
      if (m.peer < 0 || m.peer >= ranks())
        return wrong(fmt::format("a peer must be a rank from 0 to {}", ranks() - 1), m.peer);
      if (m.tag < 0) return wrong("a tag must be at least 0", m.tag);
      if (m.communicator >= communicators()) return wrong("a communicator must be a known one", m.communicator);
      if (rank_in(m.communicator, rank) < 0)
        return wrong("a rank must be a member of the communicator of its messages and collectives", m.communicator);
      if (rank_in(m.communicator, m.peer) < 0)
        return wrong("a peer must be a member of the communicator of its message", m.peer);
    } else if (has_collective(e.kind)) {
      const trace::CollectiveEvent& c = e.collective();
      if (!within(c.bytes, most_bytes)) return out_of_range(c.bytes, most_bytes);
      if (c.communicator >= communicators()) return wrong("a communicator must be a known one", c.communicator);
      if (rank_in(c.communicator, rank) < 0)
        return wrong("a rank must be a member of the communicator of its messages and collectives", c.communicator);
      if (c.row >= collective_kinds) return wrong("a collective must be a known one", c.row);
      const std::int32_t size = size_of(c.communicator);
      if (all_collectives[c.row]->has_root() && (c.root < 0 || c.root >= size))
        return wrong(fmt::format("a root must be a rank from 0 to {}", size - 1), c.root);
      if (c.parts > parts_.size()) return wrong("a list of parts must be a known one", c.parts);
      if (c.parts > 0 && parts(c.parts).size() != static_cast<std::size_t>(size))
        return wrong("there must be a part for each rank of the communicator", parts(c.parts).size());
    } else {
      return wrong(fmt::format("{} must not be within a call", name));
    }
  }
  if (!inside) return Nothing{};
  return located(name_of(rank, events, events.size() - 1, before), wrong_event("the last call must end"));
}

// Names the first envelope with too many sends or receives, and the last of its events.
Error Recording::unmatched() const {
  std::unordered_map<RecordedEnvelope, std::int64_t, HashOfEnvelope> balance; // sends less receives
  // fn(rank, events, how many came before them)
  const auto each_part = [&](auto&& fn) -> Status {
    for (std::int32_t rank = 0; rank < ranks(); ++rank) {
      const auto add = [&](std::span<const Event> events, std::size_t before) -> Status {
        return fn(rank, events, before), Nothing{};
      };
      if (Status s = for_each_part(stream(rank), add); !s) return s;
    }
    return Nothing{};
  };
  const auto count = [&](std::int32_t rank, std::span<const Event> events, std::size_t) {
    each_message(rank, events,
                 [&](const RecordedEnvelope& envelope, int more, std::size_t) { balance[envelope] += more; });
  };
  if (Status s = each_part(count); !s) return s.error();
  std::int64_t alone = 0;
  for (const auto& [envelope, n] : balance) alone += std::abs(n);
  std::optional<RecordedEnvelope> first;
  Event last;
  std::string name;
  const auto find = [&](std::int32_t rank, std::span<const Event> events, std::size_t before) {
    each_message(rank, events, [&](const RecordedEnvelope& envelope, int more, std::size_t i) {
      const std::int64_t n = balance[envelope];
      if (n == 0 || (n > 0) != (more > 0)) return;
      if (!first) first = envelope;
      if (!(*first == envelope)) return;
      last = events[i];
      name = name_of(rank, events, i, before);
    });
  };
  if (Status s = each_part(find); !s) return s.error();
  const bool sent = is_send(last.kind);
  const trace::MessageEvent& m = last.message();
  return located(name, wrong_event(fmt::format(
                           "{} of {} bytes {} rank {} with tag {}{} has no matching {}; in all {} messages have one "
                           "end alone",
                           sent ? "a send" : "a receive", m.bytes, sent ? "to" : "from", m.peer, m.tag,
                           m.communicator == 0 ? "" : fmt::format(" on communicator {}", m.communicator),
                           sent ? "receive" : "send", alone)));
}

} // namespace kumihimo::replay
