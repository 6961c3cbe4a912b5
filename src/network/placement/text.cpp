#include "placement/text.hpp"

#include "base/text_parsing.hpp"
#include "placement/rankfile.hpp"
#include "placement/ranks_of_file.hpp"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace kumihimo {
namespace {

// One line: a rank, and the node and slot as they are written.
struct RankfileLine {
  std::int32_t rank = 0, slot = 0;
  std::string_view node;
};

class PlacementReader {
 public:
  PlacementReader(std::string_view file, const Slots& slots, std::span<const std::string> names)
      : slots_(slots), ranks_(file, slots) {
    for (std::size_t node = 0; node < names.size(); ++node)
      by_name_.emplace(names[node], NodeId{static_cast<std::int32_t>(node)});
  }

  Status read(std::string_view line) {
    ranks_.next_line();
    const std::string_view content = line.substr(0, line.find('#'));
    if (words_of(content).empty()) return Nothing{};
    const auto parsed = TRY(line_of(content));
    const auto node = TRY(node_of(parsed));
    return add(parsed, {node, parsed.slot});
  }

  Result<Placement> placement() const { return ranks_.placement(); }

 private:
  Result<RankfileLine> line_of(std::string_view content) const {
    auto plain = words_of(content);
    // A line of a rankfile, "rank 5=2 slot=0", may stand between the others.
    if (const auto bound = words_of(content, " \t\r="); bound.size() == 5 && bound[0] == "rank" && bound[3] == "slot")
      plain = {bound[1], bound[2].starts_with("+n") ? bound[2].substr(2) : bound[2], bound[4]};
    const auto rank = count_in(plain.front()), slot = count_in(plain.back());
    if (plain.size() != 3 || !rank || !slot)
      return ranks_.wrong("a line has rank, node and slot, such as '5 2 0'", fmt::format("'{}'", content));
    return RankfileLine{*rank, *slot, plain[1]};
  }

  Result<NodeId> node_of(const RankfileLine& line) const {
    const auto named = by_name_.find(line.node);
    if (named != by_name_.end() && named->second.value < slots_.nodes()) return named->second;
    const auto node = count_in(line.node);
    if (node && *node < slots_.nodes()) return NodeId{*node};
    const std::string range =
        slots_.nodes() == 1 ? "the node must be 0" : fmt::format("the node must be 0 to {}", slots_.nodes() - 1);
    return ranks_.wrong(by_name_.empty() || node ? range : fmt::format("{} or its name", range),
                        fmt::format("'{}'", line.node),
                        node               ? ""
                        : by_name_.empty() ? "write numbers, or name the nodes in the machine file"
                                           : "");
  }

  Status add(const RankfileLine& line, Slot slot) {
    const std::int32_t held = slots_.on(slot.node);
    if (held == 0) return ranks_.wrong("the node must have slots of the job", line.node);
    if (slot.number >= held)
      return ranks_.wrong(fmt::format("node {} has slots 0 to {}", line.node, held - 1), std::to_string(slot.number),
                          "give more ranks per node");
    return ranks_.add(line.rank, slot);
  }

  const Slots& slots_;
  std::map<std::string_view, NodeId> by_name_;
  RanksOfFile ranks_;
};

} // namespace

Result<Placement> parse_placement(std::string_view text, std::string_view file_name, const Slots& slots,
                                  std::span<const std::string> names) {
  if (is_rankfile(text)) return read_rankfile(text, file_name, {slots, names, {}, 0, true});
  PlacementReader reader(file_name, slots, names);
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
