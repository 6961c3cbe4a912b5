#include "verify/structure.hpp"

#include "program/binding.hpp"
#include "program/cursor.hpp"
#include "verify/enumerate.hpp"
#include "verify/local_order.hpp"
#include "verify/post_condition.hpp"
#include "verify/symbolic_length.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kumihimo::verify {
namespace {

constexpr std::int64_t budget = 20'000; // values tried where bounds do not decide

class Structure {
 public:
  Structure(const Subject& schedule, const Program& program, Rank rank, std::size_t most, std::vector<Finding>& out)
      : schedule_(schedule), program_(program), binding_(schedule, rank), most_(most), out_(out) {
    place_.rank = rank.value;
  }

  void run() {
    check_lanes();
    for (const Scratch& s : program_.scratch) {
      if (s.parts < 1 || s.units < 0 || s.cells < 0)
        find("declares scratch with negative cells or units, or without parts");
      if (!schedule_.data->has(s.layout) || !is_whole(s.layout)) {
        find("declares scratch in a layout that the program set does not declare in whole");
        return; // nobody can tell how long it is
      }
    }
    for (const Lane& lane : program_.lanes) {
      place_.lane = lane.id.value;
      round_ = 0;
      trips_ = {schedule_.segments.count};
      check_body(lane.body);
      place_.lane = -1;
    }
  }

 private:
  void find(std::string what, Check check = Check::structure) {
    if (out_.size() < most_) out_.push_back({check, place_, std::move(what)});
  }

  // --- lanes

  void check_lanes() {
    for (std::size_t l = 0; l < program_.lanes.size(); ++l) {
      const Lane& lane = program_.lanes[l];
      place_.lane = lane.id.value;
      if (lane.id.value < 0) find("a lane's id is below 0");
      if (l > 0 && lane.id <= program_.lanes[l - 1].id) find("lanes are not in ascending order, each id once");
      if (lane.window < 1) find(fmt::format("the window must be at least 1 segment (got {})", lane.window));
    }
    place_.lane = -1;
    check_after();
  }

  void check_after() {
    std::vector<std::vector<std::size_t>> before(program_.lanes.size());
    for (std::size_t l = 0; l < program_.lanes.size(); ++l)
      for (const After& after : program_.lanes[l].after)
        for (LaneId id : after.lanes)
          for (std::size_t other = 0; other < program_.lanes.size(); ++other)
            if (program_.lanes[other].id == id) before[l].push_back(other);
    // Peels lanes off whose predecessors are gone; what stays waits in a circle.
    std::vector<bool> gone(before.size(), false);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t l = 0; l < before.size(); ++l)
        if (!gone[l] && std::all_of(before[l].begin(), before[l].end(), [&](std::size_t o) { return gone[o]; }))
          gone[l] = moved = true;
    }
    for (std::size_t l = 0; l < gone.size(); ++l) {
      if (gone[l]) continue;
      place_.lane = program_.lanes[l].id.value;
      find("waits for itself through a cycle of `after` lanes");
      place_.lane = -1;
      return;
    }
  }

  // --- bodies

  void check_body(const Body& body) {
    for (const Node& node : body) {
      if (const Round* round = std::get_if<Round>(&node)) {
        place_.round = round_++;
        for (std::size_t j = 0; j < round->steps.size(); ++j) {
          place_.step = static_cast<std::int32_t>(j);
          place_.kind = round->steps[j].kind;
          check_step(round->steps[j]);
        }
        place_.step = -1;
        if (well_formed(round->gap) && round->gap.range(trips_).low < 0) find("a gap is below 0");
        place_.round = -1;
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      if (loop.in_flight < 1) find("a loop must have at least 1 iteration in flight");
      if (loop.trip < 0) find("a loop has a negative number of iterations");
      if (loop.together && loop.trip != 1) find("a loop whose rounds start together must have one iteration");
      if (trips_.size() >= static_cast<std::size_t>(max_depth)) {
        find(fmt::format("loops nest deeper than {}", max_depth - 1));
        continue;
      }
      trips_.push_back(std::max<std::int64_t>(loop.trip, 0));
      if (loop.trip > 0)
        check_body(loop.body);
      else
        round_ += rounds_as_written(loop.body);
      trips_.pop_back();
    }
  }

  // --- steps

  enum class Provable : std::uint8_t { yes, no, unknown }; // unknown: right where tried, and not tried everywhere

  // Whether low <= e <= high always; the values at which it is not.
  Provable within(const Expression& e, std::int64_t low, std::int64_t high) {
    const Range r = e.range(trips_);
    if (r.low >= low && r.high <= high) return Provable::yes;
    bool good = true;
    const bool all = for_values(shortened(trips_, e), budget, [&](Values values) {
      const std::int64_t v = e.evaluate(values);
      good = v >= low && v <= high;
      if (!good) failed_at(values);
      return good;
    });
    return !good ? Provable::no : all ? Provable::yes : Provable::unknown;
  }

  void failed_at(Values values) {
    place_.segment = values[0];
    place_.loops.assign(values.begin() + 1, values.end());
  }
  void find_here(std::string what) {
    find(std::move(what));
    place_.segment = -1;
    place_.loops.clear();
  }

  // Before anything asks for its values: variables are those of enclosing loops, tables have what is looked up.
  bool well_formed(const Expression& e) {
    for (const Expression::Term& t : e.terms()) {
      if (t.kind == Expression::Term::Kind::variable) {
        if (t.variable.depth >= 0 && t.variable.depth < static_cast<std::int32_t>(trips_.size())) continue;
        return find(fmt::format("{} has a variable of no enclosing loop", e.text())), false;
      }
      if (!well_formed(*t.argument)) return false;
      if (t.kind != Expression::Term::Kind::look_up) continue;
      const auto size = static_cast<std::int64_t>(t.table->size());
      const Provable answer = size == 0 ? Provable::unknown : within(*t.argument, 0, size - 1);
      if (answer == Provable::yes) continue;
      find_here(fmt::format("looks up {} in a table of {}{}", t.argument->text(), size,
                            answer == Provable::no ? "" : ", and the index cannot be proven to be in range"));
      return false;
    }
    return true;
  }

  bool well_formed(const Step& step) {
    if (!well_formed(step.peer)) return false;
    for (const Chunk* chunk : {&step.source, &step.right, &step.target}) {
      if (!well_formed(chunk->at) || !well_formed(chunk->extent.part)) return false;
      for (const RunList& list : chunk->extent.runs)
        if (!well_formed(list.first) || !well_formed(list.count)) return false;
    }
    return true;
  }

  void check_step(const Step& step) {
    if (!well_formed(step)) return;
    if (step.sends() || step.receives()) {
      const Range r = step.peer.range(trips_);
      const Provable answer = within(step.peer, 0, schedule_.ranks() - 1);
      if (answer == Provable::unknown)
        return find(
            fmt::format("its peer {} cannot be proven to be a rank below {}", step.peer.text(), schedule_.ranks()));
      if (answer == Provable::no)
        return find_here(fmt::format("its peer {} ({} to {}) is not a rank below {}", step.peer.text(), r.low, r.high,
                                     schedule_.ranks()));
      if (step.peer.is_constant()) place_.peer = static_cast<std::int32_t>(step.peer.constant());
    }
    check_operands(step);
    for (const Chunk* chunk : {&step.source, &step.right, &step.target})
      if (chunk->exists()) check_chunk(*chunk, chunk == &step.target);
    check_lengths(step);
    place_.peer = -1;
  }

  void check_operands(const Step& step) {
    const auto check_operand = [&](std::string_view name, const Chunk& chunk, bool needed) {
      if (chunk.exists() != needed)
        find(fmt::format("{} {} {}", name_of(step.kind), needed ? "needs a" : "takes no", name));
    };
    check_operand("source", step.source, step.kind != StepKind::receive && step.has_data());
    check_operand("right operand", step.right, step.kind == StepKind::reduce);
    check_operand("target", step.target, step.kind != StepKind::send && step.has_data());
    if (step.target.buffer.kind == Buffer::Kind::input && !schedule_.data->one_buffer) find("writes the input");
    if (step.reduces() && !schedule_.data->operation) find("reduces where no operation is declared");
    const Work& w = step.work;
    if (!(w.seconds >= 0 && w.flops >= 0 && w.bytes >= 0)) find("has a negative compute time");
    if (step.kind == StepKind::offload && !schedule_.claims.offloads)
      find("uses the network's offload engine without claiming it", Check::claim);
  }

  void check_lengths(const Step& step) {
    for (const Chunk* chunk : {&step.source, &step.right}) {
      if (!chunk->exists() || !step.target.exists() || chunk->extent == step.target.extent) continue;
      const SymbolicLength a = symbolic_length_of(chunk->extent, binding_),
                           b = symbolic_length_of(step.target.extent, binding_);
      if (a == b) continue;
      bool same = true;
      const bool all = for_values(trips_, budget, [&](Values values) {
        same = binding_.length(chunk->extent, values) == binding_.length(step.target.extent, values);
        if (!same) failed_at(values);
        return same;
      });
      if (!same)
        find_here("its operands have different lengths");
      else if (!all)
        find("its operands cannot be proven to have the same length");
    }
  }

  void check_chunk(const Chunk& chunk, bool target) {
    const Buffer::Kind kind = chunk.buffer.kind;
    if (kind == Buffer::Kind::accumulator) return find("an accumulator was left unresolved");
    if (!check_extent(chunk.extent)) return;
    if (kind == Buffer::Kind::scratch) return check_scratch(chunk);
    check_buffer(chunk, target);
  }

  static constexpr std::int64_t far = std::int64_t{1} << 60;

  bool check_extent(const Extent& e) {
    if (e.parts < 1) return find("an extent must have at least 1 part"), false;
    if (static_cast<Wide>(e.parts) * schedule_.segments.count > far)
      return find(fmt::format("{} segments x {} parts must be at most 2^60", schedule_.segments.count, e.parts)), false;
    if (e.runs.empty() || e.runs.size() > most_run_lists)
      return find(fmt::format("an extent must have 1 to {} run lists", most_run_lists)), false;
    const bool vector = e.layout == Layout::vector;
    if (!schedule_.data->has(e.layout))
      return find(vector ? "names parts of a vector, which the program set does not declare"
                         : "names blocks of a layout that the program set does not declare"),
             false;
    for (const RunList& list : e.runs)
      if (list.inner.runs < 0 || list.outer.runs < 0) return find("a run list has a negative repeat count"), false;
    if (!is_whole(e.layout)) return find("names blocks of a layout that lacks the start of some block"), false;
    const std::int64_t units = vector ? e.parts : binding_.blocks_of(e.layout);
    for (const RunList& list : e.runs)
      if (!check_runs(list, 0, units, vector ? "parts" : "blocks")) return false;
    if (vector) return true;
    const Provable answer = within(e.part, 0, e.parts - 1);
    if (answer == Provable::no) return find_here("names a part that its blocks do not have"), false;
    if (answer == Provable::unknown) return find("names parts that its blocks cannot be proven to have"), false;
    return true;
  }

  // Whether a layout says where all its blocks begin.
  bool is_whole(Layout layout) const {
    if (layout == Layout::vector) return true;
    const BlockLayout& blocks = schedule_.data->layout(layout);
    return !blocks.begins || blocks.begins->size() == static_cast<std::size_t>(blocks.blocks) + 1;
  }

  // Every run that is not empty lies in [low, high).
  bool check_runs(const RunList& list, std::int64_t low, std::int64_t high, std::string_view unit) {
    if (list.count.range(trips_).high <= 0 || list.inner.runs == 0 || list.outer.runs == 0) return true;
    const Range spread = list.spread();
    if (within(list.first, low - spread.low, far) == Provable::yes &&
        within(list.first + list.count, -far, high - spread.high) == Provable::yes)
      return true;
    // Runs that may be empty may lie anywhere.
    place_.segment = -1, place_.loops.clear();
    bool good = true;
    const bool all = for_values(trips_, budget, [&](Values values) {
      const std::int64_t first = list.first.evaluate(values), count = list.count.evaluate(values);
      good = count <= 0 || (first + spread.low >= low && first + count + spread.high <= high);
      if (!good) failed_at(values);
      return good;
    });
    if (!good) find_here(fmt::format("names {} outside of {} to {}", unit, low, high - 1));
    if (good && !all) find(fmt::format("cannot be proven to name only {} from {} to {}", unit, low, high - 1));
    return good && all;
  }

  void check_buffer(const Chunk& chunk, bool target) {
    const DataLayout& data = *schedule_.data;
    const bool input = chunk.buffer.kind == Buffer::Kind::input;
    const Extent& e = chunk.extent;
    std::int64_t elements = input ? binding_.input_elements() : binding_.output_elements();
    if (data.one_buffer) elements = std::max(binding_.input_elements(), binding_.output_elements());
    const std::string name = input ? "input" : "output";
    if (is_declared(e.layout))
      return find(fmt::format("names {}s in the {}, which no buffer has", data.layout(e.layout).unit, name));
    const bool lacks = e.layout == Layout::vector ? elements < data.elements : elements == 0 && may_hold_some(e);
    if (lacks) return find(fmt::format("{} the {}, which this rank does not have", target ? "writes" : "reads", name));
    if (e.layout == Layout::vector) return;
    const Layout own = input ? Layout::input_blocks : Layout::output_blocks;
    if (e.layout != own && !same_numbering(data.layout(e.layout), data.layout(own)))
      return find(fmt::format("numbers the {}'s blocks by the layout of the other buffer", name));
    const std::int64_t block = binding_.only_block(chunk.buffer.kind);
    if (block < 0) return;
    for (const RunList& list : e.runs) check_runs(list, block, block + 1, fmt::format("blocks of the {}", name));
  }

  // Whether the extent has elements in some iteration; where not all can be tried, it may.
  bool may_hold_some(const Extent& e) const {
    bool some = false;
    const bool all = for_values(trips_, budget, [&](Values values) {
      some = binding_.length(e, values) > 0;
      return !some;
    });
    return some || !all;
  }

  void check_scratch(const Chunk& chunk) {
    const auto count = static_cast<std::int32_t>(program_.scratch.size());
    if (chunk.buffer.index < 0 || chunk.buffer.index >= count)
      return find(fmt::format("scratch {} is not declared", chunk.buffer.index));
    const Scratch& scratch = program_.scratch[chunk.buffer.index];
    place_.segment = 0;
    if (!scratch.shared && scratch.lane.value != place_.lane)
      return find_here(
          fmt::format("uses scratch {}, which belongs to lane {}", chunk.buffer.index, scratch.lane.value));
    place_.segment = -1;
    const Provable answer = within(chunk.at, 0, scratch.cells - 1);
    if (answer == Provable::unknown)
      return find(
          fmt::format("cannot be proven to use one of the {} cells of scratch {}", scratch.cells, chunk.buffer.index));
    if (answer == Provable::no)
      return find_here(fmt::format("uses a cell outside of the {} of scratch {}", scratch.cells, chunk.buffer.index));
    if (scratch.named) return check_named(chunk, scratch);
    if (surely_fits(chunk.extent, scratch)) return;
    const std::int64_t cell = binding_.cell_elements(scratch);
    bool good = true;
    const bool all = for_values(trips_, budget, [&](Values values) {
      good = binding_.length(chunk.extent, values) <= cell;
      if (!good) failed_at(values);
      return good;
    });
    if (!good)
      find_here(fmt::format("its data are longer than a cell of scratch {}, {} elements", chunk.buffer.index, cell));
    else if (!all)
      find(fmt::format("its data cannot be proven to fit a cell of scratch {}, {} elements", chunk.buffer.index, cell));
  }

  // Every element in every iteration; where not all can be tried that is a finding, as it is for cells.
  void check_named(const Chunk& chunk, const Scratch& scratch) {
    if (chunk.extent.layout != scratch.layout)
      return find(fmt::format("names other blocks than those of scratch {}", chunk.buffer.index));
    const std::int64_t elements = binding_.named_elements(scratch);
    bool good = true;
    const bool all = for_values(trips_, budget, [&](Values values) {
      std::vector<ElementRun> runs;
      binding_.append_chunk(program_, chunk, values, runs);
      good = std::all_of(runs.begin(), runs.end(),
                         [&](const ElementRun& r) { return r.first >= 0 && r.first + r.count <= elements; });
      if (!good) failed_at(values);
      return good;
    });
    if (!good)
      find_here(fmt::format("names blocks that are not among the {} of scratch {}", scratch.units, chunk.buffer.index));
    else if (!all)
      find(fmt::format("cannot be proven to name only blocks of scratch {}", chunk.buffer.index));
  }

  bool surely_fits(const Extent& e, const Scratch& scratch) const {
    if (e.layout != scratch.layout || e.runs.size() != 1) return false;
    const RunList& list = e.runs[0];
    const std::int64_t units = list.count.range(trips_).high * list.inner.runs * list.outer.runs;
    if (e.layout == Layout::vector && list.inner.runs * list.outer.runs != 1) return false;
    return e.layout == Layout::vector ? units * scratch.parts <= scratch.units * e.parts : units <= scratch.units;
  }

  const Subject& schedule_;
  const Program& program_;
  Binding binding_;
  std::size_t most_;
  std::vector<Finding>& out_;
  StepLocation place_;
  std::int32_t round_ = 0;
  std::vector<std::int64_t> trips_;
};

} // namespace

void check_structure(const Subject& schedule, const Program& program, Rank rank, std::size_t most_findings,
                     std::vector<Finding>& findings) {
  Structure(schedule, program, rank, most_findings, findings).run();
}

} // namespace kumihimo::verify
