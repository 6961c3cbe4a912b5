// Nodes as the files of launchers write them; shared by writers and readers.
#pragma once

#include "placement/map_format.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kumihimo {

class MapNodes {
 public:
  // Errors: no names; not one for each node; the same name twice.
  static Result<MapNodes> by_name(MapFormat format, const MapFileContext& context);
  // By name, or +nK: the node K among those of the job, which have slots. Read also are numbers of nodes, users before
  // names, and domains behind them.
  static Result<MapNodes> of_rankfile(const MapFileContext& context);
  // Of a format that names no nodes.
  static MapNodes of_numbers(const MapFileContext& context) { return MapNodes(context); }

  std::string text(NodeId node) const;
  std::optional<NodeId> node(std::string_view text) const;
  bool have_names() const { return !names_.empty(); }

 private:
  explicit MapNodes(const MapFileContext& context) : names_(context.names), count_(context.slots.nodes()) {}
  Status check_names();
  std::span<const std::string> names_;
  std::int32_t count_ = 0;
  std::vector<NodeId> with_slots_; // of rankfiles only
  std::map<std::string_view, NodeId> by_name_;
};

// Of each slot of the node, which has at least one.
Result<std::int32_t> cores_per_slot(const MapFileContext& context, NodeId node);

// Whether the nodes have the one to three axes of a file of virtual coordinates.
Status check_axes_of_vcoord(const MapFileContext& context);

} // namespace kumihimo
