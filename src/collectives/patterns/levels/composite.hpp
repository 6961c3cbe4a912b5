// Parts that the combinator of levels puts together: groups, and stages with the schedules of their parts.
#pragma once

#include "collectives/patterns/levels/groups.hpp"
#include "collectives/patterns/levels/stages.hpp"
#include "schedule/schedule.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo {

// A stage with its schedules; one within groups has one for each kind of group.
struct Stage {
  StageRow row;
  std::vector<std::shared_ptr<const Schedule>> of_group; // or one, between them
  std::int32_t lanes = 0;
};

struct Composite {
  Collective collective;
  Segments segments;
  Groups groups;
  std::vector<Stage> stages;
  std::string_view unit; // "node", "group"
  // Numbering for an alltoall whose leaders pass blocks on, or send several in a message: where each of the leaders'
  // blocks begins, which are equally long. They arrive apart, and go into rows by a step of each leader's own.
  std::optional<Numbering> relayed = {};

  std::int32_t root_group() const { return collective.has_root() ? groups.group_of(collective.root) : 0; }
  bool of_blocks() const { return collective.kind->moves_data() && !collective.kind->is_vector(); }
  // Whether a rank puts its blocks in order of the seats before the first stage, or back after the last: not where its
  // buffer is one block.
  bool seats_input(Rank r) const {
    return seats_blocks() && collective.kind->sends_to_each() && is_at(collective.kind->input, r);
  }
  bool seats_output(Rank r) const {
    return seats_blocks() && collective.kind->receives_from_each() && is_at(collective.kind->output, r);
  }
  bool is_at(const CollectiveRow::Side& side, Rank r) const {
    return side.whose == WhichRanks::all || (side.whose == WhichRanks::root && r == collective.root);
  }
  bool seats_blocks() const { return of_blocks() && !groups.in_rank_order(); }
};

// Leaders name their blocks among those of all pairs of ranks, and exchange as many as the largest groups have.
bool pairs_fit(const Composite& whole);

// The collective that a stage performs on a group's ranks, or on the leaders where there is no group.
Collective collective_of(const Composite& whole, const StageRow& row, const RankGroup* group);

} // namespace kumihimo
