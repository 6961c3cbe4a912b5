#include "export/chunk_text.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace kumihimo {
namespace {

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
