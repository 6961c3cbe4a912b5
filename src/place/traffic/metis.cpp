#include "traffic/metis.hpp"

#include "base/text_parsing.hpp"
#include "traffic/undirected.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

struct MetisHead {
  std::int32_t vertices = 0;
  std::int64_t edges = 0;
  bool edge_weights = false;
  std::int64_t numbers_before = 0; // of each vertex: its size and its weights
};

constexpr std::int64_t most_weights = 1'000'000; // of a vertex
constexpr std::string_view head_rule =
    "the head must be vertices, edges, format and weights of a vertex, such as '4096 53248 001'";

Result<MetisHead> head_of(std::string_view line) {
  const std::vector<std::string_view> words = words_of(line);
  const auto wrong = [&] {
    return wrong_value(std::string(head_rule), fmt::format("'{}'", on_one_line(trimmed(line))));
  };
  MetisHead head;
  if (words.size() < 2 || words.size() > 4) return wrong();
  const auto vertices = count_in(words[0]);
  if (!vertices || !read_number(words[1], head.edges) || head.edges < 0) return wrong();
  if (*vertices < 1 || *vertices > most_traffic_ranks)
    return wrong_value(fmt::format("the number of vertices must be 1 to {}", most_traffic_ranks), *vertices);
  head.vertices = *vertices;
  const std::string_view format = words.size() > 2 ? words[2] : "0";
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
    return wrong_value("the format must be three digits of 0 and 1, such as 001", fmt::format("'{}'", format));
  const auto has = [&](std::size_t digit) { return format.size() > digit && format[format.size() - 1 - digit] == '1'; };
  std::int64_t weights = has(1) ? 1 : 0;
  if (words.size() == 4) {
    if (!read_number(words[3], weights) || weights < 1 || weights > most_weights || !has(1))
      return wrong_value(
          fmt::format("the number of weights of a vertex must be 1 to {}, with a format such as 011", most_weights),
          fmt::format("'{}' with format {}", words[3], format));
  }
  head.edge_weights = has(0);
  head.numbers_before = weights + (has(2) ? 1 : 0);
  return head;
}

Status read_vertex(std::string_view line, std::int32_t vertex, const MetisHead& head, UndirectedGraph& graph) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view word : words_of(line)) {
    const auto number = number_in<std::int64_t>(word);
    if (!number) return wrong_value("the line of a vertex must have whole numbers", fmt::format("'{}'", word));
    numbers.push_back(*number);
  }
  const auto before = static_cast<std::size_t>(head.numbers_before), each = std::size_t{1} + head.edge_weights;
  if (numbers.size() < before)
    return wrong_value(fmt::format("the line of a vertex must begin with {} weights or sizes", before), numbers.size());
  if ((numbers.size() - before) % each != 0)
    return wrong_value("each neighbour must be followed by the weight of the edge",
                       fmt::format("{} numbers", numbers.size() - before));
  for (std::size_t i = before; i < numbers.size(); i += each)
    graph.arcs.push_back(TRY(arc_of(graph, vertex, numbers[i], head.edge_weights ? numbers[i + 1] : 1)));
  return Nothing{};
}

// Line by line, without comments.
class MetisReader {
 public:
  MetisReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Traffic> traffic() {
    if (!next()) return wrong_value(fmt::format("{}: {}", file_, head_rule), "an empty file");
    const auto head = TRY(here(head_of(content_)));
    const std::string head_place = place();
    UndirectedGraph graph{file_, "METIS", 1, {}, {}};
    graph.line_of_vertex.resize(static_cast<std::size_t>(head.vertices));
    for (std::int32_t v = 0; v < head.vertices; ++v) {
      if (!next())
        return wrong_value(
            fmt::format("{}: the graph must have a line for each of its {} vertices", head_place, head.vertices), v);
      graph.line_of_vertex[static_cast<std::size_t>(v)] = line_;
      if (Status s = read_vertex(content_, v, head, graph); !s) return located(place(), s.error());
    }
    while (next())
      if (!trimmed(content_).empty())
        return located(place(),
                       wrong_value(fmt::format("the graph ends after the lines of its {} vertices", head.vertices),
                                   fmt::format("'{}'", on_one_line(trimmed(content_)))));
    const auto arcs = static_cast<std::int64_t>(graph.arcs.size());
    auto traffic = TRY(traffic_of(std::move(graph)));
    if (arcs / 2 != head.edges)
      return located(head_place,
                     wrong_value(fmt::format("the head must give the number of edges, {}", arcs / 2), head.edges));
    return traffic;
  }

 private:
  bool next() {
    while (!text_.empty()) {
      content_ = take_until(text_, '\n');
      ++line_;
      if (!content_.starts_with('%')) return true;
    }
    return false;
  }
  std::string place() const { return fmt::format("{}:{}", file_, line_); }
  Result<MetisHead> here(Result<MetisHead> head) const { return head ? head : located(place(), head.error()); }

  std::string_view text_, file_, content_;
  std::int64_t line_ = 0;
};

} // namespace

Result<Traffic> parse_metis(std::string_view text, std::string_view file) { return MetisReader(text, file).traffic(); }

} // namespace kumihimo
