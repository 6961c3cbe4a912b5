#include "base/text_parsing.hpp"
#include "placement/hostfile.hpp"
#include "placement/map_files.hpp"
#include "placement/map_nodes.hpp"
#include "placement/rankfile.hpp"
#include "placement/ranks_of_file.hpp"
#include "placement/text.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace kumihimo {
namespace {

constexpr std::string_view gaps_of_lists = " \t\r,";

// Line by line, so that each error names its line.
class MapReader {
 public:
  MapReader(MapFormat format, std::string_view file, const MapFileContext& context, MapNodes nodes)
      : format_(format), context_(context), nodes_(std::move(nodes)), ranks_(file, context.slots),
        ranks_on_(static_cast<std::size_t>(context.slots.nodes())) {}

  Status read(std::string_view line) {
    ranks_.next_line();
    const std::string_view content = trimmed(line.substr(0, line.find('#')));
    if (content.empty()) return Nothing{};
    switch (format_) {
    case MapFormat::mpich5: return read_rank_map(content);
    case MapFormat::slurm: return read_slurm(content);
    case MapFormat::cray: return read_cray(content);
    case MapFormat::vcoord: return read_vcoord(content);
    case MapFormat::permutation: return read_permutation(content);
    default: return Nothing{}; // read as a whole
    }
  }

  Status read_host(const HostLine& host) {
    ranks_.at_line(host.line);
    const NodeId node = TRY(node_of(host.host));
    for (std::int32_t i = 0; i < host.ranks; ++i)
      if (const Status added = add_on(node, host.host); !added) return added;
    return Nothing{};
  }

  Result<Placement> placement() const { return ranks_.placement(); }

 private:
  Error wrong(const std::string& rule, std::string_view got, std::string advice = {}) const {
    return ranks_.wrong(rule, fmt::format("'{}'", got), std::move(advice));
  }

  Status read_rank_map(std::string_view content) {
    const auto words = words_of(content);
    if (words.size() != 4 || words[0] != "-hosts" || words[2] != "-rankmap" || next_ > 0)
      return wrong("the file must be one line, such as '-hosts node1,node2 -rankmap 0,1,1,0'", content);
    const auto hosts = words_of(words[1], ","), places = words_of(words[3], ",");
    std::vector<NodeId> nodes;
    std::set<std::int32_t> named;
    for (const std::string_view host : hosts) {
      const NodeId node = TRY(node_of(host));
      if (!named.insert(node.value).second)
        return wrong("-hosts must name each node once", host, "give the rank map several of its number");
      nodes.push_back(node);
    }
    for (const std::string_view place : places) {
      const auto number = count_in(place);
      if (!number || *number >= static_cast<std::int32_t>(hosts.size()))
        return wrong(fmt::format("the rank map must be numbers of the {} hosts, counted from 0", hosts.size()), place);
      const auto host = static_cast<std::size_t>(*number);
      if (const Status added = add_on(nodes[host], hosts[host]); !added) return added;
    }
    return Nothing{};
  }

  Status read_slurm(std::string_view content) {
    if (words_of(content).size() != 1) return wrong("a line is the node of one rank", content);
    const NodeId node = TRY(node_of(content));
    return add_on(node, content);
  }

  Status read_vcoord(std::string_view content) {
    const Shape& shape = context_.nodes;
    std::string_view rest = content;
    Coordinates coordinates;
    bool written = take(rest, "(");
    for (std::int32_t axis = 0; written && axis < shape.dimensions(); ++axis) {
      const bool is_last = axis + 1 == shape.dimensions();
      const auto number = count_in(trimmed(take_until(rest, is_last ? ')' : ',')));
      written = number.has_value() && content[content.size() - rest.size() - 1] == (is_last ? ')' : ',');
      coordinates.push_back(number.value_or(0));
    }
    if (!written || !rest.empty())
      return wrong(fmt::format("a line is the coordinates of a node of the shape {}, such as '{}'", shape.text(),
                               shape.dimensions() == 1   ? "(0)"
                               : shape.dimensions() == 2 ? "(0,0)"
                                                         : "(0,0,0)"),
                   content);
    for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis)
      if (coordinates[axis] >= shape.length(axis))
        return wrong(fmt::format("coordinate {} must be below {}", axis + 1, shape.length(axis)), content);
    const NodeId node{shape.place(coordinates)};
    if (context_.slots.on(node) == 0) return wrong("the node must have slots of the job", content);
    return add_on(node, content);
  }

  Status read_permutation(std::string_view content) {
    const auto index = count_in(content);
    if (!index || *index >= context_.slots.size())
      return wrong(fmt::format("a line is the slot of one rank, from 0 to {}", context_.slots.size() - 1), content);
    return ranks_.add(next_++, context_.slots.at(*index));
  }

  Status read_cray(std::string_view content) {
    for (const std::string_view word : words_of(content, gaps_of_lists)) {
      std::string_view rest = word;
      const auto first = take_count(rest);
      const auto last = take(rest, "-") ? take_count(rest) : first;
      if (!first || !last || !rest.empty() || *last < *first)
        return wrong("a line is a list of ranks, such as '0,4,6-9'", word);
      if (*last >= context_.slots.size())
        return wrong(fmt::format("the ranks of the job are 0 to {}", context_.slots.size() - 1), word,
                     "give more ranks per node");
      for (std::int32_t rank = *first; rank <= *last; ++rank) {
        // Each rank stands once, so the ranks end before the slots do.
        if (const Status is_new = ranks_.check_is_new(rank); !is_new) return is_new;
        if (const Status added = ranks_.add(rank, context_.slots.at(next_++)); !added) return added;
      }
    }
    return Nothing{};
  }

  Result<NodeId> node_of(std::string_view text) const {
    const std::optional<NodeId> node = nodes_.node(text);
    if (!node) return wrong("the node must be one of the job, by its name", text);
    if (context_.slots.on(*node) == 0) return wrong("the node must have slots of the job", text);
    return *node;
  }

  // The next rank in the next slot of the node.
  Status add_on(NodeId node, std::string_view text) {
    const std::int32_t number = ranks_on_[static_cast<std::size_t>(node.value)]++;
    if (number >= context_.slots.on(node))
      return wrong(fmt::format("a node with {} slots takes no more ranks", number), text, "give more ranks per node");
    return ranks_.add(next_++, {node, number});
  }

  MapFormat format_;
  const MapFileContext& context_;
  MapNodes nodes_;
  RanksOfFile ranks_;
  std::vector<std::int32_t> ranks_on_; // by node, of formats that do not state slots
  std::int32_t next_ = 0;              // rank, or slot of cray
};

Result<MapNodes> nodes_as_in(MapFormat format, const MapFileContext& context) {
  if (format == MapFormat::hydra || format == MapFormat::mpich5 || format == MapFormat::slurm)
    return MapNodes::by_name(format, context);
  return MapNodes::of_numbers(context);
}

} // namespace

Result<Placement> read_map(MapFormat format, std::string_view text, std::string_view file,
                           const MapFileContext& context) {
  if (format == MapFormat::placement) return parse_placement(text, file, context.slots, context.names);
  if (format == MapFormat::openmpi4 || format == MapFormat::openmpi5) return read_rankfile(text, file, context);
  if (format == MapFormat::vcoord) {
    const Status axes = check_axes_of_vcoord(context);
    if (!axes) return axes.error();
  }
  const MapNodes nodes = TRY(nodes_as_in(format, context));
  MapReader reader(format, file, context, nodes);
  if (format == MapFormat::hydra) {
    const auto hosts = TRY(read_hostfile(text, file));
    for (const HostLine& host : hosts)
      if (const Status read = reader.read_host(host); !read) return read.error();
    return reader.placement();
  }
  while (!text.empty()) {
    if (const Status read = reader.read(take_until(text, '\n')); !read) return read.error();
  }
  return reader.placement();
}

} // namespace kumihimo
