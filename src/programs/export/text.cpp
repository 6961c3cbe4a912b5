#include "export/text.hpp"

#include "base/wrapped_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace kumihimo {
namespace {

std::string coordinates(const RankSpace& space, std::int64_t rank) {
  if (!space.has_shape() || space.shape().dimensions() < 2 || rank < 0 || rank >= space.ranks()) return "";
  const Coordinates c = space.shape().coordinates(space.place(Rank{static_cast<std::int32_t>(rank)}));
  return fmt::format(" ({})", fmt::join(c, ","));
}

std::string peer(const Expression& e, const RankSpace& space) {
  return e.text() + (e.is_constant() ? coordinates(space, e.constant()) : "");
}

std::string work_text(const Work& work) {
  std::vector<std::string> parts;
  if (work.seconds > 0) parts.push_back(fmt::format("{:g} s", work.seconds));
  if (work.flops > 0) parts.push_back(fmt::format("{:g} flops", work.flops));
  if (work.bytes > 0) parts.push_back(fmt::format("{:g} bytes of memory traffic", work.bytes));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, " and "));
}

std::string counted(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// Action of a step on data, and its peer: the two halves of its line.
struct Sentence {
  std::string with, does;
};

Sentence sentence_of(const Step& step, const DataLayout& data, const RankSpace& space) {
  const Operation operation = data.operation.value_or(Operation::user);
  const auto text_of = [&](const Chunk& chunk) { return kumihimo::text_of(chunk, data); };
  const std::string kind(name_of(step.kind));
  switch (step.kind) {
  case StepKind::send: return {fmt::format("{} to {}", kind, peer(step.peer, space)), text_of(step.source)};
  case StepKind::receive: return {fmt::format("{} from {}", kind, peer(step.peer, space)), text_of(step.target)};
  case StepKind::receive_reduce: {
    const std::string own = text_of(step.source), arriving = "arriving";
    const auto& left = step.arriving_left ? arriving : own;
    const auto& right = step.arriving_left ? own : arriving;
    return {fmt::format("{} from {}", kind, peer(step.peer, space)),
            fmt::format("{} = {}", text_of(step.target), kumihimo::text_of(operation, left, right))};
  }
  case StepKind::copy: return {kind, fmt::format("{} = {}", text_of(step.target), text_of(step.source))};
  case StepKind::reduce:
    return {kind, fmt::format("{} = {}", text_of(step.target),
                              kumihimo::text_of(operation, text_of(step.source), text_of(step.right)))};
  case StepKind::signal: return {fmt::format("{} to {}", kind, peer(step.peer, space)), ""};
  case StepKind::wait_signal: return {fmt::format("{} from {}", kind, peer(step.peer, space)), ""};
  case StepKind::compute: return {kind, work_text(step.work)};
  case StepKind::offload:
    if (!step.has_data()) return {kind, "all ranks have entered"};
    return {kind, fmt::format("{} = all of {}", text_of(step.target), text_of(step.source))};
  }
  return {};
}

class ProgramText {
 public:
  ProgramText(const ProgramSet& set, const RankSpace& space, std::size_t columns)
      : data_(*set.data), space_(space), columns_(columns), page_(columns) {}

  std::string write(const Program& program) {
    for (std::size_t i = 0; i < program.scratch.size(); ++i) page_.line(0, scratch(program.scratch[i], i));
    if (!program.scratch.empty()) page_.blank();
    for (const Lane& lane : program.lanes) write(lane, program);
    if (program.lanes.empty()) page_.line(0, "no lanes: this rank does nothing");
    return page_.take();
  }

 private:
  std::string scratch(const Scratch& s, std::size_t index) const {
    const std::string_view unit = unit_of(s.layout, data_);
    const std::string owner = s.shared ? "all lanes share it" : fmt::format("of lane {}", s.lane.value);
    if (s.named && s.layout == Layout::vector) return fmt::format("scratch{}: the whole vector, {}", index, owner);
    if (s.named) return fmt::format("scratch{}: {} from {} on, {}", index, counted(s.units, unit), s.first, owner);
    return fmt::format("scratch{}: {} of {}{}, {}", index, counted(s.cells, "cell"), counted(s.units, unit),
                       s.parts == 1 ? "" : fmt::format(" of {}", s.parts), owner);
  }

  void write(const Lane& lane, const Program& program) {
    std::string head =
        fmt::format("lane {}{}{} (window {}", lane.id.value, lane.role.empty() ? "" : ": ", lane.role, lane.window);
    for (const After& after : lane.after) {
      std::vector<std::int32_t> ids;
      for (const Lane& other : program.lanes) // a lane that this rank does not have keeps none waiting
        if (std::find(after.lanes.begin(), after.lanes.end(), other.id) != after.lanes.end())
          ids.push_back(other.id.value);
      if (ids.empty()) continue;
      head += fmt::format(", after {} of lane{} {}", after.scope == Scope::segment ? "the same segment" : "all",
                          ids.size() == 1 ? "" : "s", fmt::join(ids, ", "));
    }
    page_.line(0, head + ")", 6);
    write(lane.body, 2, 1);
  }

  void write(const Body& body, std::size_t indent, std::int32_t depth) {
    for (const Node& node : body) {
      if (const Round* round = std::get_if<Round>(&node)) {
        write(*round, indent);
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      if (loop.together) {
        page_.line(indent, "together:");
        write(loop.body, indent + 2, depth + 1);
        continue;
      }
      page_.line(indent, fmt::format("for {} in 0..{}{}:", Expression(Variable{depth}).text(), loop.trip - 1,
                                     loop.in_flight == 1 ? "" : fmt::format(", {} in flight", loop.in_flight)));
      write(loop.body, indent + 2, depth + 1);
    }
  }

  void write(const Round& round, std::size_t indent) {
    if (round.gap != Expression(0)) page_.line(indent, fmt::format("gap of {} bytes between sends", round.gap.text()));
    std::string_view mark = "- ";
    for (const Step& step : round.steps) {
      const Sentence s = sentence_of(step, data_, space_);
      const std::string head = fmt::format("{}{}", mark, s.with);
      if (s.does.empty()) {
        page_.line(indent, head);
      } else if (indent + head.size() + 2 + s.does.size() <= columns_) {
        page_.line(indent, fmt::format("{}: {}", head, s.does));
      } else {
        page_.line(indent, head + ":");
        page_.line(indent + 4, s.does);
      }
      mark = "  ";
    }
  }

  const DataLayout& data_;
  const RankSpace& space_;
  std::size_t columns_;
  Page page_;
};

std::string elements_text(const Counts& counts) {
  if (!counts.irregular()) return counted(counts.each, "element");
  const auto [least, most] = std::minmax_element(counts.table->begin(), counts.table->end());
  return fmt::format("irregular blocks, {} to {} elements", *least, *most);
}

std::string collective_line(const Schedule& schedule, const RankSpace& space) {
  const Collective& c = schedule.collective();
  std::string text(name_of(c.kind));
  if (c.kind->moves_data()) text += fmt::format(" of {} of {}", elements_text(c.counts), name_of(c.type));
  if (c.reduces()) text += fmt::format(" ({})", name_of(c.operation));
  if (c.has_root()) text += fmt::format(", root {}{}", c.root.value, coordinates(space, c.root.value));
  if (c.neighbours) text += fmt::format(", neighbours {}", c.neighbours->name());
  if (c.in_place) text += ", in place";
  return text + fmt::format(", on {}: {}", counted(c.ranks, "rank"), space.name());
}

std::string claims_text(const Schedule& schedule) {
  const Claims& claims = schedule.claims;
  std::vector<std::string> said;
  if (claims.in_place_safe) said.emplace_back("safe in place");
  const Collective& c = schedule.collective();
  if (claims.same_on_all_ranks && c.reduces() && !c.has_root() && c.kind->gives_all_the_same())
    said.emplace_back("same on all ranks");
  if (claims.keeps_rank_order) said.emplace_back("keeps rank order");
  if (claims.neighbours_only) said.emplace_back("neighbours only");
  if (claims.link_disjoint) said.emplace_back("link-disjoint");
  if (claims.offloads) said.emplace_back("needs an offload engine");
  if (claims.height >= 0) said.push_back(fmt::format("height {}", claims.height));
  return said.empty() ? "none" : fmt::format("{}", fmt::join(said, ", "));
}

// Expressions of more than one term need brackets before "/8".
std::string operand(const Expression& e) {
  const bool sum = e.terms().size() + (e.constant() != 0) > 1;
  return sum ? fmt::format("({})", e.text()) : e.text();
}

std::string repeat(const Repeat& r) {
  if (r.runs == 1) return "";
  return fmt::format(", {} times {} apart", r.runs, r.stride);
}

std::string range(const Expression& first, const Expression& count) {
  return fmt::format("{}..{}", first.text(), (first + count - 1).text());
}

std::string run_of_parts(const RunList& run, std::int64_t parts) {
  const std::string repeats = repeat(run.inner) + repeat(run.outer);
  if (run.count == Expression(1)) return fmt::format("part {}/{}{}", operand(run.first), parts, repeats);
  return fmt::format("parts {} of {}{}", range(run.first, run.count), parts, repeats);
}

std::string run_of_blocks(const RunList& run, std::string_view unit) {
  const std::string repeats = repeat(run.inner) + repeat(run.outer);
  if (run.count == Expression(1)) return fmt::format("{} {}{}", unit, run.first.text(), repeats);
  return fmt::format("{}s {}{}", unit, range(run.first, run.count), repeats);
}

bool is_all(const Extent& e) {
  if (e.layout != Layout::vector || e.runs.size() != 1) return false;
  const RunList& run = e.runs[0];
  return run.first == Expression(0) && run.count == Expression(e.parts) && run.inner.runs == 1 && run.outer.runs == 1;
}

std::string_view symbol(Operation operation) { // none where it is written as a function
  constexpr std::array<std::string_view, operation_count> symbols{"+", "*", "", "", "&&", "||", "", "&", "|", "^"};
  return symbols[static_cast<std::size_t>(operation)];
}

} // namespace

std::string header_text(const Schedule& schedule, const RankSpace& space, std::size_t columns) {
  Page page(columns);
  constexpr std::size_t hanging = 12;
  page.line(0, collective_line(schedule, space), hanging);
  page.line(0,
            fmt::format("algorithm   {}{}", schedule.algorithm,
                        schedule.parameters.empty() ? "" : fmt::format(" ({})", schedule.parameters)),
            hanging);
  page.line(0,
            fmt::format("segments    {}{}", schedule.segments.count,
                        schedule.segments.count == 1 ? "" : "; parts below are parts of the current segment s"),
            hanging);
  page.line(0, fmt::format("claims      {}", claims_text(schedule)), hanging);
  return page.take();
}

std::string header_text(const ProgramSet& set, const std::string& name, const RankSpace& space, std::size_t columns) {
  Page page(columns);
  page.line(0, fmt::format("{}, on {}: {}", name, counted(set.ranks(), "rank"), space.name()), 12);
  page.line(0, fmt::format("segments    {}", set.segments.count));
  return page.take();
}

std::string program_text(const ProgramSet& schedule, const RankSpace& space, Rank rank, std::size_t columns) {
  Page page(columns);
  page.line(0, fmt::format("program of rank {}{}", rank.value, coordinates(space, rank.value)));
  page.line(0, "Steps under a dash start together; the next dash follows when all are complete.");
  page.blank();
  return page.take() + ProgramText(schedule, space, columns).write(schedule.program(rank));
}

std::string_view unit_of(Layout layout, const DataLayout& data) {
  if (layout == Layout::vector) return "part";
  if (!data.has(layout)) return "block";
  return data.layout(layout).unit;
}

std::string text_of(const Buffer& buffer) {
  constexpr std::array names{"nothing", "input", "output", "scratch", "accumulator"};
  const std::string name = names[static_cast<std::size_t>(buffer.kind)];
  return buffer.kind == Buffer::Kind::scratch ? fmt::format("{}{}", name, buffer.index) : name;
}

std::string text_of(const Extent& extent, const DataLayout& data) {
  if (is_all(extent)) return "all";
  std::string text;
  for (const RunList& run : extent.runs) {
    if (!text.empty()) text += " and ";
    text += extent.layout == Layout::vector ? run_of_parts(run, extent.parts)
                                            : run_of_blocks(run, unit_of(extent.layout, data));
  }
  if (extent.layout != Layout::vector && extent.parts != 1)
    text += fmt::format(", of each part {}/{}", operand(extent.part), extent.parts);
  return text;
}

std::string text_of(const Chunk& chunk, const DataLayout& data) {
  const bool in_cell = chunk.buffer.kind == Buffer::Kind::scratch && chunk.at != Expression(0);
  return fmt::format("{}[{}{}]", text_of(chunk.buffer), in_cell ? fmt::format("cell {}: ", chunk.at.text()) : "",
                     text_of(chunk.extent, data));
}

std::string text_of(Operation operation, const std::string& left, const std::string& right) {
  if (const auto sign = symbol(operation); !sign.empty()) return fmt::format("{} {} {}", left, sign, right);
  return fmt::format("{}({}, {})", operation == Operation::user ? "op" : name_of(operation), left, right);
}

} // namespace kumihimo
