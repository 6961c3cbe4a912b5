#include "collectives/patterns/levels/composite.hpp"

#include "base/int128.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo {
namespace {

std::int64_t elements_of_block(const Counts& counts, std::int64_t block) {
  return counts.irregular() ? (*counts.table)[static_cast<std::size_t>(block)] : counts.each;
}

Counts as_counts(std::vector<std::int64_t> blocks, bool irregular) {
  if (!irregular && std::equal(blocks.begin() + 1, blocks.end(), blocks.begin()))
    return {Counts::Known::uniform, blocks[0], nullptr};
  const auto number = static_cast<std::int64_t>(blocks.size());
  const std::int64_t sum = std::accumulate(blocks.begin(), blocks.end(), std::int64_t{0});
  return {Counts::Known::global, sum / number, std::make_shared<const std::vector<std::int64_t>>(std::move(blocks))};
}

} // namespace

bool pairs_fit(const Composite& whole) {
  const Collective& c = whole.collective;
  const Wide limit = (Wide{1} << 61) / c.type_bytes;
  if (c.counts.irregular()) {
    Wide all = 0;
    for (const std::int64_t n : *c.counts.table) all += n;
    return all < limit;
  }
  const Wide most = whole.groups.largest(), groups = whole.groups.number();
  return std::max(Wide{c.ranks} * c.ranks, most * most * groups) * c.counts.each < limit;
}

Collective collective_of(const Composite& whole, const StageRow& row, const RankGroup* group) {
  const Counts& counts = whole.collective.counts;
  const bool pairs = whole.collective.kind->of_pairs();
  Collective c = whole.collective;
  c.kind = row.kind;
  c.ranks = group ? static_cast<std::int32_t>(group->size()) : whole.groups.number();
  c.root = !c.has_root() ? Rank{0} : group ? Rank{group->leader} : Rank{whole.root_group()};
  c.in_place = row.from == row.to || row.kind->has_one_buffer();
  if (row.from_input_to_output())
    c.in_place = whole.collective.aliased(group->leading()) && !whole.seats_output(group->leading());
  if (row.meaning == PartData::signals) {
    c = make_collective(row.kind, c.ranks, row.kind->moves_data() ? 1 : 0, DataType::uint8, Operation::max, c.root);
  } else if (row.meaning == PartData::vector_of_blocks) {
    std::int64_t all = 0;
    for (std::int64_t b = 0; b < whole.collective.ranks; ++b) all += elements_of_block(counts, b);
    c.counts = {Counts::Known::uniform, all, nullptr};
  } else if (pairs) {
    // Rows of all a rank has, or blocks as large as the largest, which all have; their names alone count, and where
    // they are irregular there may be any number of segments.
    const std::int64_t most = whole.groups.largest();
    const std::int64_t each = counts.each * (row.between ? most * most : whole.collective.ranks);
    c.counts = {Counts::Known::uniform, counts.irregular() ? whole.segments.count : each, nullptr};
  } else if (row.meaning == PartData::groups_of_blocks) {
    const Numbering& begins = group ? group->blocks : whole.groups.begins();
    const Numbering& ranks = whole.groups.rank_in_seat();
    std::vector<std::int64_t> blocks(static_cast<std::size_t>(c.ranks), 0);
    for (std::int64_t g = 0; g < c.ranks; ++g)
      for (std::int64_t b = begins.at(g); b < begins.at(g + 1); ++b)
        blocks[static_cast<std::size_t>(g)] += elements_of_block(counts, ranks.at(b));
    c.counts = as_counts(std::move(blocks), counts.irregular());
  }
  return c;
}

} // namespace kumihimo
