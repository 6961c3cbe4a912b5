#include "placement/map_nodes.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {

Status MapNodes::check_names() {
  if (static_cast<std::int32_t>(names_.size()) != count_)
    return wrong_value(fmt::format("the job has {} nodes and needs as many names", count_),
                       static_cast<std::int64_t>(names_.size()));
  for (std::int32_t node = 0; node < count_; ++node) {
    const auto [known, fresh] = by_name_.try_emplace(names_[node], NodeId{node});
    if (!fresh)
      return wrong_value("each node needs a name of its own",
                         fmt::format("'{}' for nodes {} and {}", names_[node], known->second.value, node));
  }
  return Nothing{};
}

Result<MapNodes> MapNodes::by_name(MapFormat format, const MapFileContext& context) {
  if (context.names.empty())
    return not_applicable(fmt::format("{} needs nodes with names", name_of(format)), {},
                          "name the nodes in the machine file or by --allocation");
  MapNodes nodes(context);
  const Status named = nodes.check_names();
  if (!named) return named.error();
  return nodes;
}

Result<MapNodes> MapNodes::of_rankfile(const MapFileContext& context) {
  MapNodes nodes(context);
  for (std::int32_t node = 0; node < context.slots.nodes(); ++node)
    if (context.slots.on(NodeId{node}) > 0) nodes.with_slots_.push_back(NodeId{node});
  if (context.names.empty()) return nodes;
  const Status named = nodes.check_names();
  if (!named) return named.error();
  return nodes;
}

std::string MapNodes::text(NodeId node) const {
  if (have_names()) return names_[static_cast<std::size_t>(node.value)];
  const auto at = std::find(with_slots_.begin(), with_slots_.end(), node);
  return fmt::format("+n{}", at - with_slots_.begin());
}

std::optional<NodeId> MapNodes::node(std::string_view text) const {
  if (const auto named = by_name_.find(text); named != by_name_.end()) return named->second;
  if (with_slots_.empty()) return std::nullopt;
  if (const std::size_t user = text.rfind('@'); user != std::string_view::npos) return node(text.substr(user + 1));
  if (take(text, "+n") || take(text, "+N")) {
    const auto number = count_in(text);
    if (!number || *number >= static_cast<std::int32_t>(with_slots_.size())) return std::nullopt;
    return with_slots_[static_cast<std::size_t>(*number)];
  }
  if (const auto number = count_in(text)) return *number < count_ ? std::optional(NodeId{*number}) : std::nullopt;
  const std::string_view host = text.substr(0, text.find('.'));
  if (const auto named = by_name_.find(host); named != by_name_.end()) return named->second;
  const auto has_domain = [&](const auto& named) { return named.first.substr(0, named.first.find('.')) == host; };
  if (host.size() < text.size() || std::count_if(by_name_.begin(), by_name_.end(), has_domain) != 1)
    return std::nullopt;
  return std::find_if(by_name_.begin(), by_name_.end(), has_domain)->second;
}

Result<std::int32_t> cores_per_slot(const MapFileContext& context, NodeId node) {
  if (context.cores_per_node == 0) return 1;
  const std::int32_t held = context.slots.on(node), cores = context.cores_per_node / held;
  if (cores < 1)
    return not_applicable(fmt::format("a rankfile needs a core for each of the {} slots of node {}", held, node.value),
                          fmt::format("{} cores", context.cores_per_node), "take fewer ranks per node");
  return cores;
}

Status check_axes_of_vcoord(const MapFileContext& context) {
  const std::int32_t axes = context.nodes.dimensions();
  if (axes < 1 || axes > 3 || context.nodes.places() != context.slots.nodes())
    return not_applicable("vcoord needs nodes with one to three axes", axes == 0 ? "none" : context.nodes.text(),
                          "take another format, or give --shape");
  return Nothing{};
}

} // namespace kumihimo
