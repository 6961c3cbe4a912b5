#include "placement/text.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace kumihimo {
namespace {

// One line: a rank, and the node and slot as they are written.
struct Line {
  std::int32_t rank = 0, slot = 0;
  std::string_view node;
  bool relative = false; // the node is the number in +nN
};

constexpr std::string_view blanks_and_equals = " \t\r=";

// Line by line, so that what is wrong is said with its line.
class Reader {
 public:
  Reader(std::string_view file, const Slots& slots, std::span<const std::string> names) : file_(file), slots_(slots) {
    for (std::size_t node = 0; node < names.size(); ++node)
      by_name_.emplace(names[node], NodeId{static_cast<std::int32_t>(node)});
  }

  Status read(std::string_view line) {
    ++line_;
    const std::string_view content = line.substr(0, line.find('#'));
    if (words_of(content).empty()) return Nothing{};
    const auto parsed = TRY(line_of(content));
    const auto node = TRY(node_of(parsed));
    return add(parsed, {node, parsed.slot});
  }

  Result<Placement> placement() const {
    if (slot_of_.empty()) return wrong_value(fmt::format("{}: the file must have a line for each rank", file_), "none");
    std::vector<Slot> of_rank;
    for (const auto& [rank, seat] : slot_of_) {
      if (rank != static_cast<std::int32_t>(of_rank.size()))
        return missing(fmt::format("{}: the line of rank {}", file_, of_rank.size()), "add it");
      of_rank.push_back(seat.slot);
    }
    return Placement::make(slots_, of_rank);
  }

 private:
  struct ParsedLine {
    Slot slot;
    std::int32_t line = 0;
  };

  Error wrong(std::string rule, const Got& got, std::string advice = {}) const {
    return wrong_value(fmt::format("{}:{}: {}", file_, line_, rule), got, std::move(advice));
  }

  Result<Line> line_of(std::string_view content) const {
    const auto plain = words_of(content);
    if (plain.front() == "rank") return rankfile_line_of(content);
    const auto rank = count_in(plain.front()), slot = count_in(plain.back());
    if (plain.size() != 3 || !rank || !slot)
      return wrong("a line has rank, node and slot, such as '5 2 0'", fmt::format("'{}'", content));
    return Line{*rank, *slot, plain[1]};
  }

  Result<Line> rankfile_line_of(std::string_view content) const {
    const auto parts = words_of(content, blanks_and_equals);
    const auto rank = parts.size() == 5 && parts[3] == "slot" ? count_in(parts[1]) : std::nullopt;
    if (!rank) return wrong("a line of a rankfile is written like 'rank 5=node2 slot=0'", fmt::format("'{}'", content));
    const auto slot = count_in(parts[4]);
    if (!slot) return wrong("the slot must be a number from 0", parts[4]);
    const bool relative = parts[2].starts_with("+n");
    return Line{*rank, *slot, relative ? parts[2].substr(2) : parts[2], relative};
  }

  Result<NodeId> node_of(const Line& line) const {
    if (const auto named = by_name_.find(line.node); named != by_name_.end() && !line.relative) return named->second;
    const auto node = count_in(line.node);
    if (node && *node < slots_.nodes()) return NodeId{*node};
    const std::string range =
        slots_.nodes() == 1 ? "the node must be 0" : fmt::format("the node must be 0 to {}", slots_.nodes() - 1);
    return wrong(by_name_.empty() || node ? range : fmt::format("{} or its name", range),
                 fmt::format("'{}'", line.node),
                 node               ? ""
                 : by_name_.empty() ? "write numbers, or name the nodes in the machine file"
                                    : "");
  }

  Status add(const Line& line, Slot slot) {
    const std::int32_t held = slots_.on(slot.node);
    if (held == 0) return wrong("the node must have slots of the job", line.node);
    if (slot.number >= held)
      return wrong(fmt::format("node {} has slots 0 to {}", line.node, held - 1), slot.number,
                   "give more ranks per node");
    const auto [seat, fresh] = slot_of_.try_emplace(line.rank, ParsedLine{slot, line_});
    if (!fresh)
      return wrong("the file must name each rank once",
                   fmt::format("rank {} as in line {}", line.rank, seat->second.line));
    const auto [taken, free] = taken_.try_emplace(slots_.index(slot), ParsedLine{slot, line_});
    if (!free)
      return wrong("the file must name each slot once",
                   fmt::format("slot {} of node {} as in line {}", slot.number, line.node, taken->second.line));
    return Nothing{};
  }

  std::string_view file_;
  const Slots& slots_;
  std::map<std::string_view, NodeId> by_name_;
  std::map<std::int32_t, ParsedLine> slot_of_, taken_; // by rank; by the slot's index
  std::int32_t line_ = 0;
};

} // namespace

Result<Placement> parse_placement(std::string_view text, std::string_view file_name, const Slots& slots,
                                  std::span<const std::string> names) {
  Reader reader(file_name, slots, names);
  while (!text.empty()) {
    if (const Status read = reader.read(take_until(text, '\n')); !read) return read.error();
  }
  return reader.placement();
}

std::string to_text(const Placement& placement) {
  std::string text = "# rank node slot\n";
  for (std::int32_t r = 0; r < placement.ranks(); ++r) {
    const Slot slot = placement.slot(Rank{r});
    text += fmt::format("{} {} {}\n", r, slot.node.value, slot.number);
  }
  return text;
}

} // namespace kumihimo
