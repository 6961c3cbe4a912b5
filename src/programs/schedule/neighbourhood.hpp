// Who is whose neighbour: of each rank the two ordered lists that MPI calls sources and destinations, as a Cartesian, a
// graph or a distributed-graph communicator has them. Block k of a rank's input goes to its k-th destination, block k
// of its output comes from its k-th source.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo {

class Neighbourhood {
 public:
  // The other end of an edge: a rank, and which of its blocks that is. Beyond the end of a Cartesian axis there is
  // `nobody` (MPI_PROC_NULL): the block is there, and nothing is sent from it or put in it.
  static constexpr std::int32_t nobody = -1;
  struct End {
    std::int32_t rank = nobody;
    std::int32_t block = 0;
    bool operator==(const End&) const = default;
    bool exists() const { return rank != nobody; }
  };

  // The neighbours before and after along every axis, in MPI's order of ranks, the last axis running fastest. Where
  // both are one process (periodic axes of length 1 and 2) what is sent backwards arrives as from the one after, and
  // the other way round (MPI 4.1, section 8.6).
  struct CartesianAxis {
    std::int32_t length = 1;
    bool periodic = true;
    bool operator==(const CartesianAxis&) const = default;
  };
  static Neighbourhood cartesian(std::vector<CartesianAxis> axes, std::string name); // at least one

  // Any lists: neighbours named twice, the rank itself, none at all. The k-th time that a names b as a destination
  // meets the k-th time that b names a as a source. Errors: no rank; more messages sent than awaited, or fewer.
  struct Lists {
    std::vector<std::int32_t> sources, destinations;
  };
  static Result<Neighbourhood> of_lists(std::span<const Lists> ranks, std::string name);

  // A message for each edge (from, to), in the order given at both ends.
  static Result<Neighbourhood> of_edges(std::int32_t ranks,
                                        std::span<const std::pair<std::int32_t, std::int32_t>> edges, std::string name);

  std::int32_t ranks() const { return static_cast<std::int32_t>(sources_.first.size()) - 1; }
  std::span<const End> sources(Rank r) const { return sources_.of(r); }
  std::span<const End> destinations(Rank r) const { return destinations_.of(r); }

  // The blocks of a rank's output in the order in which messages of one source are matched: that of the list, but on
  // Cartesian axes the neighbour after comes first. A rank knows it from its own lists.
  std::vector<std::int32_t> order_of_arrival(Rank r) const;

  // Destinations of all ranks before this one: where its row begins in a table of counts. Of all: of Rank{ranks()}.
  std::int64_t destinations_before(Rank r) const { return destinations_.first[static_cast<std::size_t>(r.value)]; }
  std::int32_t most_blocks() const; // that a rank has in its input or its output

  bool is_cartesian() const { return !axes_.empty(); }
  std::span<const CartesianAxis> axes() const { return axes_; } // none of a graph
  const std::string& name() const { return name_; }             // as people wrote it: "cart:4x3m"
  bool operator==(const Neighbourhood&) const = default;

 private:
  struct Rows { // of all ranks, one after the other
    std::vector<std::int64_t> first;
    std::vector<End> ends;
    std::span<const End> of(Rank r) const {
      const auto row = static_cast<std::size_t>(r.value);
      return std::span(ends).subspan(static_cast<std::size_t>(first[row]),
                                     static_cast<std::size_t>(first[row + 1] - first[row]));
    }
    bool operator==(const Rows&) const = default;
  };
  Rows sources_, destinations_;
  std::vector<CartesianAxis> axes_;
  std::string name_;
};

} // namespace kumihimo
