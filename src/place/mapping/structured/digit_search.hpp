// Hill climbing over digit moves: maps from rank numbers, or coordinates of a lattice, to a box.
#pragma once

#include "mapping/search/problem.hpp"
#include "mapping/search/tools.hpp"
#include "mapping/structured/digit_moves.hpp"

namespace kumihimo::mapping {

struct FoundMap {
  std::int64_t hop_bytes = 0; // of the pairs looked at
  CoordinatesOfRanks at;
};

// Sorts by hop-bytes, drops equal maps, keeps `most`; of each hop-bytes at most `most_equal`.
void keep_best(std::vector<FoundMap>& maps, std::size_t most, std::size_t most_equal);

class DigitSearch {
 public:
  // `moves` may be empty; then maps are returned as they are.
  DigitSearch(const MappingProblem& problem, const Box& box, std::span<const DigitMove> moves,
              std::span<const WeighedPair> pairs)
      : host_(problem.host), box_(box), moves_(moves), pairs_(pairs) {}

  FoundMap measured(CoordinatesOfRanks at) const { return {hop_bytes_in(host_, box_, pairs_, at), std::move(at)}; }

  // Climbs from the starts, and from disturbed copies of them and of the best maps. Several chains share `terms`.
  // The best maps, different ones; at most `most`.
  std::vector<FoundMap> search(std::span<const CoordinatesOfRanks> starts, std::int64_t terms, std::uint64_t seed,
                               std::size_t most, const Tools& tools) const;

 private:
  struct Chain;
  // Until no move helps, or the terms are used up.
  void climb(FoundMap& map, Chain& chain, const Tools& tools) const;
  void disturb(FoundMap& map, int moves, Chain& chain) const;
  void run(Chain& chain, std::span<const CoordinatesOfRanks> starts, std::size_t first, const Tools& tools) const;

  const MappingHost& host_;
  const Box& box_;
  std::span<const DigitMove> moves_;
  std::span<const WeighedPair> pairs_;
};

} // namespace kumihimo::mapping
