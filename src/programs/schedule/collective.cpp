#include "schedule/collective.hpp"

#include "base/int128.hpp"
#include "base/text_parsing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <random>

namespace kumihimo {

Result<CollectiveKind> parse_collective(std::string_view name) {
  std::vector<std::string_view> names;
  for (const CollectiveKind kind : all_collectives) {
    if (kind->name == name) return kind;
    names.push_back(kind->name);
  }
  return wrong_value("unknown collective", fmt::format("'{}'", name),
                     fmt::format("use one of {}", fmt::join(names, ", ")));
}

bool Collective::aliased(Rank rank) const {
  return kind->has_one_buffer() || (in_place && (!has_root() || rank == root));
}

std::int32_t Collective::most_blocks() const { return neighbours ? neighbours->most_blocks() : ranks; }

Collective make_collective(CollectiveKind kind, std::int32_t ranks, std::int64_t count, DataType type,
                           Operation operation, Rank root, bool in_place) {
  Collective c;
  c.kind = kind;
  c.ranks = ranks;
  c.counts.each = count;
  c.type = type;
  c.type_bytes = size_of(type);
  c.operation = operation;
  c.commutative = is_commutative(operation);
  c.root = root;
  c.in_place = in_place || kind->has_one_buffer();
  if (kind->of_neighbours() && ranks > 0) {
    c.neighbours =
        std::make_shared<const Neighbourhood>(Neighbourhood::cartesian({{ranks, true}}, fmt::format("cart:{}", ranks)));
  }
  return c;
}

Result<Collective> with_neighbours(Collective c, std::shared_ptr<const Neighbourhood> neighbours) {
  if (!c.kind->of_neighbours())
    return wrong_value("neighbours belong to neighbor_allgather and neighbor_alltoall", name_of(c.kind));
  if (neighbours->ranks() != c.ranks)
    return wrong_value(fmt::format("the neighbours must be those of {} ranks", c.ranks),
                       fmt::format("{} of {}", neighbours->name(), neighbours->ranks()));
  if (c.counts.irregular()) return wrong_value("give the neighbours before the counts of their blocks");
  c.neighbours = std::move(neighbours);
  return c;
}

namespace {

Result<std::int64_t> entries_of(const Collective& c) {
  const Counts::Known known = c.kind->irregular;
  if (known == Counts::Known::uniform)
    return wrong_value(fmt::format("{} has no form with different counts", name_of(c.kind)), {}, "give one count");
  constexpr std::int64_t most = std::int64_t{1} << 27;
  const std::int64_t entries = c.neighbours && c.kind->sends_to_each()
                                   ? c.neighbours->destinations_before(Rank{c.ranks})
                                   : std::int64_t{c.ranks} * (known == Counts::Known::local ? c.ranks : 1);
  if (entries > most)
    return wrong_value(fmt::format("a table has at most {} counts", most), entries, "take fewer ranks");
  return entries;
}

std::string_view of_what(CollectiveKind kind) { // there is one count for each
  if (kind->of_neighbours() && kind->sends_to_each()) return "destination, rank after rank";
  return kind->irregular == Known::local ? "pair of ranks, row after row" : "rank";
}

} // namespace

Result<Collective> with_counts(Collective c, std::vector<std::int64_t> table) {
  const std::int64_t entries = TRY(entries_of(c));
  const auto given = static_cast<std::int64_t>(table.size());
  if (given != entries)
    return wrong_value(fmt::format("the table needs {} counts, one for each {}", entries, of_what(c.kind)), given);
  constexpr std::int64_t most = std::int64_t{1} << 60;
  const std::int64_t limit = most / c.type_bytes;
  std::int64_t sum = 0;
  for (const std::int64_t n : table) {
    if (n < 0) return wrong_value("a count must be at least 0", n);
    if (n > limit - sum) return wrong_value("all blocks together must be less than 2^60 bytes", n);
    sum += n;
  }
  if (c.kind->irregular == Known::local && c.in_place)
    for (std::int64_t a = 0; a < c.ranks; ++a)
      for (std::int64_t b = 0; b < a; ++b)
        if (table[a * c.ranks + b] != table[b * c.ranks + a])
          return wrong_value(
              "in place, two ranks must send each other equally many elements",
              fmt::format("{} from rank {} to {}, {} back", table[a * c.ranks + b], a, b, table[b * c.ranks + a]));
  c.counts = {c.kind->irregular, sum / std::max<std::int64_t>(1, entries),
              std::make_shared<const std::vector<std::int64_t>>(std::move(table))};
  return c;
}

Collective with_local_counts(Collective c, Rank rank) {
  OwnBlocks none;
  const bool one = c.neighbours && !c.kind->sends_to_each();
  const auto blocks = static_cast<std::size_t>(c.ranks);
  none.input.resize(one ? 1 : c.neighbours ? c.neighbours->destinations(rank).size() : blocks);
  none.output.resize(c.neighbours ? c.neighbours->sources(rank).size() : blocks);
  c.counts = {c.kind->irregular, 0, nullptr, std::make_shared<const OwnBlocks>(std::move(none))};
  return c;
}

Result<std::vector<std::int64_t>> spread_counts(std::string_view spread, const Collective& c) {
  const std::int64_t entries = TRY(entries_of(c));
  constexpr std::string_view random = "random:";
  std::uint64_t seed = 0;
  const bool drawn = spread.starts_with(random);
  if (drawn) {
    if (!read_number(spread.substr(random.size()), seed))
      return wrong_value("the seed is a number from 0 to 2^64 - 1, as in random:7", fmt::format("'{}'", spread));
  } else if (spread != "zeros" && spread != "one_huge" && spread != "ramp") {
    return wrong_value("counts are numbers, or zeros, one_huge, ramp, random:SEED", fmt::format("'{}'", spread));
  }
  const std::int64_t each = c.counts.each, last = std::max<std::int64_t>(1, entries - 1), huge = entries / 2;
  if (each > std::numeric_limits<std::int64_t>::max() / 4 / c.type_bytes / (entries + 1))
    return wrong_value("all blocks together must be less than 2^60 bytes",
                       fmt::format("{} blocks of {} elements", entries, each));
  std::mt19937_64 engine(seed);
  std::vector<std::int64_t> table(static_cast<std::size_t>(entries));
  for (std::int64_t i = 0; i < entries; ++i) {
    std::int64_t& n = table[static_cast<std::size_t>(i)];
    if (drawn) {
      const std::uint64_t dice = engine() >> 11U;
      n = dice % 4 == 0 ? 0 : static_cast<std::int64_t>(dice / 4 % (2 * static_cast<std::uint64_t>(each) + 1));
    } else if (spread == "zeros") {
      n = i % 3 == 1 ? 3 * each : 0;
    } else if (spread == "one_huge") {
      n = i == huge ? entries * each : std::min<std::int64_t>(each, 1);
    } else {
      n = static_cast<std::int64_t>(static_cast<Wide>(2 * each) * i / last);
    }
  }
  if (c.kind->irregular == Known::local && c.in_place)
    for (std::int64_t a = 0; a < c.ranks; ++a)
      for (std::int64_t b = 0; b < a; ++b) table[b * c.ranks + a] = table[a * c.ranks + b];
  return table;
}

std::int64_t elements_to(const Collective& c, Rank rank, std::int64_t destination) {
  if (!c.counts.irregular()) return c.counts.each;
  const bool one = c.neighbours && !c.kind->sends_to_each();
  const std::int64_t at = one ? rank.value : c.neighbours->destinations_before(rank) + destination;
  return (*c.counts.table)[static_cast<std::size_t>(at)];
}

std::int64_t elements_from(const Collective& c, Rank rank, std::int64_t source) {
  if (!c.counts.irregular()) return c.counts.each;
  const Neighbourhood::End from = c.neighbours->sources(rank)[static_cast<std::size_t>(source)];
  return from.exists() ? elements_to(c, Rank{from.rank}, from.block) : 0;
}

} // namespace kumihimo
