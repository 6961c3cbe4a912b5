#include "replay/asked_collectives.hpp"

#include "replay/record_again.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace kumihimo::replay {
namespace {

const CollectiveRow& row_of(std::uint8_t row) { return *all_collectives[row]; }

std::int64_t per_rank(std::int64_t bytes, std::int64_t ranks) { return (bytes + ranks - 1) / ranks; }

// Whether the length that each rank asks for matters.
bool has_own_blocks(const CollectiveRow& row) {
  return row.moves_data() && !row.is_vector() && !row.of_pairs() && !row.reduces();
}

// Of equal lengths nothing; otherwise the table.
std::vector<std::int64_t> irregular(std::vector<std::int64_t> lengths) {
  const bool equal = std::adjacent_find(lengths.begin(), lengths.end(), std::not_equal_to<>()) == lengths.end();
  return equal ? std::vector<std::int64_t>{} : std::move(lengths);
}

std::string text_of(const CollectiveRow& row, std::int32_t root) {
  return row.has_root() ? fmt::format("{} of root {}", row.name, root) : std::string(row.name);
}

} // namespace

Status AskedCollectives::add(std::int32_t rank, std::span<const Event> events, std::size_t before) {
  communicators_.resize(source_.communicators());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!is_collective(events[i].kind)) continue;
    const trace::CollectiveEvent& what = events[i].collective();
    const std::uint32_t c = what.communicator;
    const std::int32_t own = source_.rank_in(c, rank);
    Communicator& of = communicators_[c];
    if (of.counts.empty()) of.counts.resize(static_cast<std::size_t>(source_.size_of(c)));
    const std::uint32_t n = of.counts[static_cast<std::size_t>(own)]++;
    const CollectiveRow& row = row_of(what.row);
    const std::int32_t root = row.has_root() ? what.root : 0;
    if (n == of.asked.size()) {
      Asked& first = of.asked.emplace_back();
      first.first_rank = rank, first.root = root, first.row = what.row;
    }
    Asked& asked = of.asked[n];
    if (asked.row != what.row || asked.root != root)
      return located(name_of_(rank, events, i, before),
                     wrong_value(fmt::format("the ranks of communicator {} disagree: rank {} calls {} where rank {} "
                                             "calls {}",
                                             c, rank, text_of(row, what.root), asked.first_rank,
                                             text_of(row_of(asked.row), asked.root)),
                                 {}, record_again));
    add(asked, c, own, what);
  }
  return Nothing{};
}

void AskedCollectives::add(Asked& asked, std::uint32_t communicator, std::int32_t own,
                           const trace::CollectiveEvent& what) {
  asked.sum += what.bytes, asked.most = std::max(asked.most, what.bytes);
  const CollectiveRow& row = row_of(asked.row);
  std::int64_t& known = row.input.whose == WhichRanks::root && own == asked.root ? asked.at_root : asked.length;
  const bool differs = known >= 0 && known != what.bytes && has_own_blocks(row);
  if (!asked.each && (differs || what.parts > 0)) {
    const auto size = static_cast<std::size_t>(source_.size_of(communicator));
    asked.each = std::make_unique<OfEach>();
    asked.each->lengths.assign(size, asked.length); // those of later ranks follow
    asked.each->parts.resize(size);
    if (asked.at_root >= 0) asked.each->lengths[static_cast<std::size_t>(asked.root)] = asked.at_root;
  }
  if (known < 0) known = what.bytes;
  if (!asked.each) return;
  asked.each->lengths[static_cast<std::size_t>(own)] = what.bytes;
  asked.each->parts[static_cast<std::size_t>(own)] = what.parts;
}

RecordedCollective AskedCollectives::call_of(std::uint32_t communicator, const Asked& asked) const {
  const CollectiveRow& row = row_of(asked.row);
  RecordedCollective call{communicator, asked.row, asked.root, 0, {}};
  const std::int64_t ranks = source_.size_of(communicator);
  const auto size = static_cast<std::size_t>(ranks);
  if (row.is_vector()) {
    call.bytes = asked.most;
  } else if (row.of_pairs()) {
    for (std::size_t r = 0; r < size && asked.each; ++r)
      for (std::size_t to = 0; to < size; ++to)
        call.table.push_back(asked.each->parts[r] > 0 ? parts_(asked.each->parts[r])[to]
                                                      : per_rank(asked.each->lengths[r], ranks));
    call.table = irregular(std::move(call.table));
    call.bytes = per_rank(asked.sum, ranks * ranks);
  } else if (row.reduces()) { // a rank says the sum of all blocks alone
    call.bytes = per_rank(asked.most, ranks);
  } else if (row.moves_data()) {
    std::int64_t sum = asked.sum;
    const bool of_root =
        row.input.whose == WhichRanks::root; // of the root all blocks: its own is what the others leave
    const auto root = static_cast<std::size_t>(asked.root);
    if (asked.each || of_root) {
      std::vector<std::int64_t> lengths =
          asked.each ? asked.each->lengths : std::vector<std::int64_t>(size, asked.length);
      if (of_root) {
        lengths[root] = std::max<std::int64_t>(0, 2 * asked.at_root - sum);
        sum += lengths[root] - asked.at_root;
      }
      call.table = irregular(std::move(lengths));
    }
    call.bytes = per_rank(sum, ranks);
  }
  return call;
}

Result<AskedCollectives::Found> AskedCollectives::finish() {
  Found found;
  communicators_.resize(source_.communicators());
  found.sequences.resize(communicators_.size());
  std::map<RecordedCollective, std::uint32_t> numbers;
  for (std::uint32_t c = 0; c < communicators_.size(); ++c) {
    const Communicator& of = communicators_[c];
    const auto lacks = [&](std::uint32_t count) { return count < of.asked.size(); };
    if (std::any_of(of.counts.begin(), of.counts.end(), lacks)) return lacking(c);
    found.sequences[c].reserve(of.asked.size());
    for (const Asked& asked : of.asked) {
      const auto [it, is_new] = numbers.try_emplace(call_of(c, asked), static_cast<std::uint32_t>(found.calls.size()));
      if (is_new) found.calls.push_back(it->first);
      found.sequences[c].push_back(it->second);
    }
  }
  return found;
}

// Names the first rank with fewest, and the last with most.
Error AskedCollectives::lacking(std::uint32_t communicator) const {
  const std::vector<std::uint32_t>& counts = communicators_[communicator].counts;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  const std::int32_t with = source_.member(communicator, static_cast<std::int32_t>(most - counts.begin()));
  const std::int32_t without = source_.member(communicator, static_cast<std::int32_t>(least - counts.begin()));
  std::string name;
  std::uint32_t n = 0;
  const auto find = [&](std::span<const Event> events, std::size_t before) -> Status {
    for (std::size_t i = 0; i < events.size(); ++i)
      if (is_collective(events[i].kind) && events[i].collective().communicator == communicator && n++ == *least)
        name = name_of_(with, events, i, before);
    return Nothing{};
  };
  if (Status s = for_each_part(source_.stream(with), find); !s) return s.error();
  const CollectiveRow& row = row_of(communicators_[communicator].asked[*least].row);
  return located(name,
                 wrong_value(fmt::format("rank {} lacks the {} that is number {} of communicator {}: its trace ends "
                                         "before",
                                         without, row.name, *least, communicator),
                             {}, record_again));
}

} // namespace kumihimo::replay
