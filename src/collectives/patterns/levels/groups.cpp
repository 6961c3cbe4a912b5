#include "collectives/patterns/levels/groups.hpp"

#include <algorithm>
#include <numeric>

namespace kumihimo {
namespace {

Numbering numbers_of(const std::vector<Rank>& ranks) {
  std::vector<std::int64_t> numbers;
  for (const Rank r : ranks) numbers.push_back(r.value);
  return Numbering(std::move(numbers));
}

} // namespace

Groups::Groups(const Collective& collective, const RankSpace& space, std::optional<std::int64_t> most)
    : group_of_(static_cast<std::size_t>(space.ranks())), place_of_(group_of_.size()) {
  for (const std::vector<Rank>& node : space.nodes()) {
    const auto each = static_cast<std::size_t>(most.value_or(space.ranks()));
    for (std::size_t at = 0; at < node.size(); at += each) {
      const auto begin = node.begin() + static_cast<std::ptrdiff_t>(at);
      seat({begin, begin + static_cast<std::ptrdiff_t>(std::min(each, node.size() - at))}, collective);
    }
  }
  std::vector<Rank> leaders;
  std::vector<std::int64_t> begins;
  for (const RankGroup& group : groups_) {
    leaders.push_back(group.leading());
    begins.push_back(group.first_seat);
  }
  begins.push_back(space.ranks());
  leaders_ = numbers_of(leaders);
  begins_ = Numbering(std::move(begins));
  for (std::size_t s = 0; s < seats_.size(); ++s) in_rank_order_ &= seats_[s] == static_cast<std::int64_t>(s);
  rank_in_seat_ = Numbering(seats_);
}

void Groups::seat(std::vector<Rank> members, const Collective& collective) {
  RankGroup group;
  group.first_seat = static_cast<std::int64_t>(seats_.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto r = static_cast<std::size_t>(members[i].value);
    group_of_[r] = number();
    place_of_[r] = static_cast<std::int32_t>(i);
    seats_.push_back(members[i].value);
    if (collective.has_root() && members[i] == collective.root) group.leader = place_of_[r];
  }
  group.ranks = numbers_of(members);
  std::vector<std::int64_t> own(members.size() + 1);
  std::iota(own.begin(), own.end(), group.first_seat);
  if (collective.kind->of_pairs())
    for (std::int64_t& begin : own) begin *= collective.ranks;
  group.blocks = Numbering(std::move(own));
  group.members = std::move(members);
  groups_.push_back(std::move(group));
}

std::int64_t Groups::largest() const {
  std::int64_t most = 0;
  for (const RankGroup& group : groups_) most = std::max(most, group.size());
  return most;
}

std::vector<BlockLayout> Groups::orders(const Collective& c) const {
  const std::int64_t P = c.ranks;
  std::vector<BlockLayout> layouts(4);
  layouts[0] = {"seats", "seat", P};
  const char* names[] = {"pairs_by_source", "pairs_by_destination", "pairs_by_group"};
  for (std::size_t i = 1; i < layouts.size(); ++i) layouts[i] = {names[i - 1], "pair", P * P};
  const bool pairs = c.kind->of_pairs();
  if (!pairs) layouts.resize(1);
  if (!c.counts.irregular()) {
    for (BlockLayout& layout : layouts) layout.each = c.counts.each;
    return layouts;
  }
  std::vector<std::vector<std::int64_t>> begins(layouts.size(), {0});
  const std::vector<std::int64_t>& table = *c.counts.table;
  const auto add = [&](Layout layout, std::int64_t at) {
    std::vector<std::int64_t>& order =
        begins[static_cast<std::size_t>(layout) - static_cast<std::size_t>(SeatOrders::seats)];
    order.push_back(order.back() + table[static_cast<std::size_t>(at)]);
  };
  for (const std::int64_t a : seats_)
    if (!pairs)
      add(SeatOrders::seats, a);
    else
      for (const std::int64_t b : seats_) {
        add(SeatOrders::pairs_by_source, a * P + b);
        add(SeatOrders::pairs_by_destination, b * P + a);
      }
  for (const RankGroup& group : groups_)
    for (const std::int64_t to : pairs ? seats_ : std::vector<std::int64_t>{})
      for (const Rank from : group.members) add(SeatOrders::pairs_by_group, from.value * P + to);
  if (pairs) begins[0].resize(static_cast<std::size_t>(P) + 1); // no block of an alltoall is named by a seat
  for (std::size_t i = 0; i < layouts.size(); ++i)
    layouts[i].begins = std::make_shared<const std::vector<std::int64_t>>(std::move(begins[i]));
  return layouts;
}

RankSpace space_of_leaders(const RankSpace& space, const Groups& groups) {
  const RankSpace nodes = space.between_nodes();
  if (groups.number() == nodes.ranks()) return nodes;
  const std::int32_t each = groups.number() / nodes.ranks();
  if (space.ranks_per_node() == 0) return RankSpace::row(groups.number()); // nodes may have unequal numbers of groups
  if (nodes.ranks() == 1) return RankSpace::node(each);
  return nodes.has_shape() ? RankSpace::box(nodes.shape(), each)
                           : RankSpace::on_switches(nodes.ranks(), each, nodes.levels());
}

} // namespace kumihimo
