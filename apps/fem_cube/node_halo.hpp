// Halo exchange of three values a node with the 26 ranks around. Where the boxes of all ranks have the same size it is
// the halo exchange of src/programs/halo with 27 points and 3 fields, which `simulate` predicts; else the exchange of
// lists of ghosts. Values are copied to a staging buffer, as messages of the halo exchange are boxes of fields.
#pragma once

#include "application/runtime.hpp"
#include "fem/grid.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::fem_cube {

// The nodes that a rank exchanges with each neighbour, node by node: those beside it in the order of their numbers, and
// the ghosts that it owns. `rows` are the nodes sent, counted as often as they are.
struct NodeLists {
  struct Neighbour {
    std::int32_t rank = 0;
    std::vector<std::int32_t> sent, received; // local numbers
  };
  std::vector<Neighbour> neighbours; // ascending by rank
};
NodeLists node_lists(const fem::NodeGrid& grid, const application::RankGrid& ranks, std::int32_t rank);

class NodeHalo {
 public:
  // Collective. `grid`: the part of this rank, as `ranks` divides the nodes. Errors: memory, transport; all ranks get
  // the same.
  static Result<std::unique_ptr<NodeHalo>> make(const fem::NodeGrid& grid, const application::RankGrid& ranks,
                                                application::Runtime& runtime);
  // Brings the ghosts of `vector`, 3 values of each node, up to date.
  Status run(double* vector);
  bool of_equal_boxes() const { return boxes_ != nullptr; }

 private:
  Status make_boxes(const fem::NodeGrid& grid, const application::RankGrid& ranks, application::Runtime& runtime);
  Status make_lists(const fem::NodeGrid& grid, const application::RankGrid& ranks, application::Runtime& runtime);

  // A node, and the place of its first value in the staging buffer; the others follow at `stride_`.
  struct Place {
    std::int32_t node;
    std::int64_t at;
  };
  std::vector<Place> sent_, received_;
  std::int64_t stride_ = 1;
  threads::ThreadedArray<double> staging_;
  std::unique_ptr<application::BoxHalo> boxes_;
  std::unique_ptr<application::GhostExchange> lists_;
};

} // namespace kumihimo::fem_cube
