#include "traffic/scotch.hpp"

#include "base/text_parsing.hpp"
#include "traffic/undirected.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

constexpr std::string_view gaps = " \t\r\n";

// Numbers one after the other, whatever their lines.
class ScotchReader {
 public:
  ScotchReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Result<Traffic> traffic() {
    if (Status s = read_head(); !s) return located(place(), s.error());
    for (std::int32_t v = 0; v < vertices_; ++v)
      if (Status s = read_vertex(v); !s) return located(place(), s.error());
    const auto rest = word();
    if (!rest.empty())
      return located(place(), wrong_value(fmt::format("the graph ends after its {} vertices", vertices_),
                                          fmt::format("'{}'", rest)));
    const auto arcs = static_cast<std::int64_t>(graph_.arcs.size());
    auto traffic = TRY(traffic_of(std::move(graph_)));
    if (arcs != arcs_)
      return located(
          fmt::format("{}:{}", file_, line_of_arcs_),
          wrong_value(fmt::format("the head must give the number of edges at both of their ends, {}", arcs), arcs_));
    return traffic;
  }

 private:
  std::string place() const { return fmt::format("{}:{}", file_, line_); }

  // Empty at the end.
  std::string_view word() {
    while (!text_.empty() && gaps.find(text_.front()) != std::string_view::npos) {
      line_ += text_.front() == '\n';
      text_.remove_prefix(1);
    }
    const std::string_view found = text_.substr(0, text_.find_first_of(gaps));
    text_.remove_prefix(found.size());
    return found;
  }

  Result<std::int64_t> number(std::string_view what) {
    const std::string_view found = word();
    if (found.empty()) return missing(std::string(what), "the file ends too early");
    const auto number = number_in<std::int64_t>(found);
    if (!number)
      return wrong_value(fmt::format("{} must be a whole number below 2^63", what), fmt::format("'{}'", found));
    return *number;
  }
  Result<std::int64_t> number(std::string_view what, std::int64_t least, std::int64_t most) {
    const auto value = TRY(number(what));
    if (value < least || value > most)
      return wrong_value(least == most ? fmt::format("{} must be {}", what, least)
                                       : fmt::format("{} must be {} to {}", what, least, most),
                         value);
    return value;
  }

  Status read_head() {
    if (const auto version = number("the version of a Scotch graph", 0, 0); !version) return version.error();
    vertices_ = static_cast<std::int32_t>(TRY(number("the number of vertices", 1, most_traffic_ranks)));
    arcs_ = TRY(number("the number of edges"));
    line_of_arcs_ = line_;
    graph_.base = static_cast<std::int32_t>(TRY(number("the number of the first vertex", 0, 1)));
    const std::string_view format = word();
    if (format.empty() || format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
      return wrong_value("the format must be three digits of 0 and 1, such as 010", fmt::format("'{}'", format));
    const auto has = [&](std::size_t digit) {
      return format.size() > digit && format[format.size() - 1 - digit] == '1';
    };
    vertex_weights_ = has(0), edge_weights_ = has(1), labels_ = has(2);
    graph_.line_of_vertex.resize(static_cast<std::size_t>(vertices_));
    return Nothing{};
  }

  Status read_vertex(std::int32_t place_in_file) {
    std::int32_t vertex = place_in_file;
    if (labels_) {
      const auto label = TRY(number("a label", graph_.base, graph_.base + vertices_ - 1));
      vertex = static_cast<std::int32_t>(label) - graph_.base;
    }
    if (vertex_weights_)
      if (const auto weight = number("the weight of a vertex"); !weight) return weight.error();
    const auto neighbours = TRY(number("the number of neighbours", 0, vertices_ - 1));
    std::int64_t& line = graph_.line_of_vertex[static_cast<std::size_t>(vertex)];
    if (line > 0)
      return wrong_value("each vertex must have a label of its own",
                         fmt::format("{} as in line {}", vertex + graph_.base, line));
    line = line_;
    for (std::int64_t i = 0; i < neighbours; ++i) {
      const auto weight = edge_weights_ ? number("the weight of an edge") : Result<std::int64_t>(1);
      if (!weight) return weight.error();
      const auto neighbour = TRY(number("a neighbour"));
      graph_.arcs.push_back(TRY(arc_of(graph_, vertex, neighbour, *weight)));
    }
    return Nothing{};
  }

  std::string_view text_, file_;
  std::int64_t line_ = 1, line_of_arcs_ = 1, arcs_ = 0;
  std::int32_t vertices_ = 0;
  bool vertex_weights_ = false, edge_weights_ = false, labels_ = false;
  UndirectedGraph graph_{file_, "Scotch", 0, {}, {}};
};

} // namespace

Result<Traffic> parse_scotch_graph(std::string_view text, std::string_view file) {
  return ScotchReader(text, file).traffic();
}

} // namespace kumihimo
