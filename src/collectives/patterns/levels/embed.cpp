#include "collectives/patterns/levels/embed.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kumihimo {

Numbering::Numbering(std::vector<std::int64_t> of) : size_(static_cast<std::int64_t>(of.size())) {
  if (of.empty()) return;
  first_ = of[0];
  if (of.size() > 1) apart_ = of[1] - of[0];
  for (std::size_t i = 0; i < of.size(); ++i)
    if (of[i] != first_ + static_cast<std::int64_t>(i) * apart_) {
      table_ = std::make_shared<const Table>(std::move(of));
      return;
    }
}

Expression Numbering::operator()(const Expression& number) const {
  return table_ ? Expression::look_up(table_, number) : number * apart_ + first_;
}
std::int64_t Numbering::at(std::int64_t number) const {
  return table_ ? (*table_)[static_cast<std::size_t>(number)] : number * apart_ + first_;
}
std::optional<std::int64_t> Numbering::apart() const {
  return table_ ? std::nullopt : std::optional<std::int64_t>(apart_);
}

namespace {

constexpr auto several_at_once =
    "the --outer algorithm relays blocks or sends several at once, which needs equal blocks and groups of equal size; "
    "use these, or pairwise or linear between leaders";

class Embedder {
 public:
  Embedder(const Embedding& embedding, Program& whole)
      : e_(embedding), whole_(whole), first_scratch_(static_cast<std::int32_t>(whole.scratch.size())) {}

  std::optional<std::string> add(const Program& part) {
    if (e_.meaning != PartData::signals)
      for (const Scratch& s : part.scratch) whole_.scratch.push_back(renamed(s));
    for (Lane lane : part.lanes) {
      lane.body = renamed(std::move(lane.body));
      if (lane.body.empty()) continue;
      lane.id = moved(lane.id);
      lane.role = e_.role + ", " + lane.role;
      for (After& after : lane.after)
        for (LaneId& id : after.lanes) id = moved(id);
      if (e_.first_lane > 0) lane.after.push_back({below(), e_.after});
      whole_.lanes.push_back(std::move(lane));
    }
    return obstacle_;
  }

 private:
  LaneId moved(LaneId id) const { return LaneId{id.value + e_.first_lane}; }
  std::vector<LaneId> below() const {
    std::vector<LaneId> ids;
    for (std::int32_t l = 0; l < e_.first_lane; ++l) ids.emplace_back(l);
    return ids;
  }

  Body renamed(Body body) {
    Body kept;
    for (Node& node : body) {
      if (Round* round = std::get_if<Round>(&node)) {
        std::vector<Step> steps;
        for (Step& step : round->steps)
          if (std::optional<Step> s = renamed(std::move(step))) steps.push_back(std::move(*s));
        round->steps = std::move(steps);
        if (round->steps.empty()) continue;
      } else {
        Loop& loop = std::get<Loop>(node);
        loop.body = renamed(std::move(loop.body));
        if (loop.body.empty()) continue;
      }
      kept.push_back(std::move(node));
    }
    return kept;
  }

  std::optional<Step> renamed(Step step) {
    if (step.sends() || step.receives()) step.peer = (*e_.peers)(step.peer);
    if (e_.meaning == PartData::signals) {
      if (step.sends()) return signal(std::move(step.peer));
      if (step.receives()) return wait_signal(std::move(step.peer));
      if (step.kind == StepKind::offload) return offload();
      return std::nullopt;
    }
    for (Chunk* chunk : {&step.source, &step.right, &step.target})
      if (chunk->exists()) rename(*chunk);
    return step;
  }

  void rename(Chunk& chunk) {
    const bool input = chunk.buffer.kind == Buffer::Kind::input;
    if (chunk.buffer.kind == Buffer::Kind::scratch) {
      if (e_.meaning == PartData::blocks_of_pairs) obstacle_ = several_at_once;
      rename(chunk.extent);
      chunk.buffer.index += first_scratch_;
      if (e_.meaning != PartData::same && is_declared(e_.scratch)) chunk.extent.layout = e_.scratch;
      return;
    }
    const EmbeddedBuffer& spot = input ? e_.input : e_.output;
    if (e_.meaning == PartData::blocks_of_pairs)
      pair_up(chunk.extent, input);
    else if (e_.by_group && !input)
      sort_by_group(chunk.extent);
    else
      rename(chunk.extent);
    chunk.buffer = spot.array.buffer;
    if (e_.meaning == PartData::same) return;
    chunk.extent.layout = spot.layout;
    for (RunList& list : chunk.extent.runs) {
      if (spot.own_block)
        list.first = *spot.own_block;
      else
        list.first -= spot.before;
    }
  }

  // A block of the leaders: what one's group has for another's is one range; where it arrives, it goes to the rows of
  // its destinations. By destination and then by source at both ends.
  void pair_up(Extent& extent, bool leaves) {
    RunList& list = extent.runs[0];
    if (extent.runs.size() != 1 || list.count != Expression(1) || list.inner.runs * list.outer.runs != 1) {
      obstacle_ = several_at_once;
      return;
    }
    const Expression begin = (*e_.begins)(list.first), ranks = (*e_.begins)(list.first + 1) - begin;
    const std::int64_t row = e_.first_own * e_.blocks;
    if (leaves)
      list = {begin * e_.own + row, ranks * e_.own, {}, {}};
    else
      list = {begin + row, ranks, {e_.blocks, e_.own}, {}};
  }

  // Rows of members, where the leader sorts them: those of a row lie apart, and their order stays.
  void sort_by_group(Extent& extent) {
    for (RunList& list : extent.runs) {
      if (!list.count.is_constant() || list.inner.runs * list.outer.runs != 1) {
        obstacle_ = "the inner or outer algorithm moves the rows of a group with a stride";
        return;
      }
      list = {list.first + e_.first_own * e_.blocks, 1, {e_.own, e_.blocks}, {1, list.count.constant()}};
    }
  }

  void rename(Extent& extent) {
    if (e_.meaning == PartData::vector_of_blocks) return cut_all_blocks(extent);
    if (e_.meaning == PartData::groups_of_blocks) {
      std::vector<RunList> lists;
      for (const RunList& list : extent.runs) spread(list, lists);
      if (lists.size() > 2)
        obstacle_ = "the inner or outer algorithm moves blocks with a stride, which needs groups of equal size";
      extent.runs = std::move(lists);
    }
  }

  // One part of the vector, or all of it, in every block.
  void cut_all_blocks(Extent& extent) {
    const RunList& list = extent.runs[0];
    const bool one_run = extent.runs.size() == 1 && list.inner.runs == 1 && list.outer.runs == 1;
    Extent all = blocks(e_.scratch, 0, e_.blocks);
    if (one_run && list.count == Expression(1)) {
      all.parts = extent.parts;
      all.part = list.first;
    } else if (!one_run || list.count != Expression(extent.parts)) {
      obstacle_ = "the inner or outer algorithm cuts a vector into ranges, which blocks do not have";
    }
    extent = std::move(all);
  }

  void spread(const RunList& list, std::vector<RunList>& lists) {
    const Numbering& begins = *e_.begins;
    if (const auto apart = begins.apart()) {
      RunList grouped{begins(list.first), list.count * *apart, list.inner, list.outer};
      grouped.inner.stride *= *apart;
      grouped.outer.stride *= *apart;
      lists.push_back(std::move(grouped));
      return;
    }
    for (std::int64_t o = 0; o < list.outer.runs; ++o)
      for (std::int64_t i = 0; i < list.inner.runs && lists.size() <= 2; ++i) {
        const Expression first = list.first + (o * list.outer.stride + i * list.inner.stride);
        lists.push_back({begins(first), begins(first + list.count) - begins(first), {}, {}});
      }
  }

  Scratch renamed(Scratch s) {
    s.lane = moved(s.lane);
    if (e_.meaning == PartData::vector_of_blocks) {
      if (s.units != 1 && s.units != s.parts)
        obstacle_ = "the scratch memory of the inner or outer algorithm holds ranges of a vector";
      if (s.units == s.parts) s.parts = 1;
      s.layout = e_.scratch;
      s.units = e_.blocks;
    }
    if (e_.meaning == PartData::groups_of_blocks) rename_groups(s);
    return s;
  }

  void rename_groups(Scratch& s) {
    if (is_declared(e_.scratch)) s.layout = e_.scratch;
    const Numbering& begins = *e_.begins;
    const std::int64_t groups = begins.size() - 1;
    if (s.named) {
      const std::int64_t straight = std::min(s.units, groups - s.first), first = s.first;
      if (straight < s.units && (begins.at(0) != 0 || begins.at(groups) != e_.blocks ||
                                 (is_declared(s.layout) && s.layout != SeatOrders::seats)))
        obstacle_ = "the scratch memory of the inner or outer algorithm wraps around the blocks of a node";
      s.first = begins.at(first);
      s.units = begins.at(first + straight) - begins.at(first) + begins.at(s.units - straight) - begins.at(0);
      return;
    }
    std::vector<std::int64_t> sizes;
    for (std::int64_t g = 0; g < groups; ++g) sizes.push_back(begins.at(g + 1) - begins.at(g));
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    s.units = std::accumulate(sizes.begin(), sizes.begin() + std::min(s.units, groups), std::int64_t{0});
  }

  const Embedding& e_;
  Program& whole_;
  std::int32_t first_scratch_;
  std::optional<std::string> obstacle_;
};

} // namespace

std::optional<std::string> embed(const Program& part, const Embedding& embedding, Program& whole) {
  return Embedder(embedding, whole).add(part);
}

} // namespace kumihimo
