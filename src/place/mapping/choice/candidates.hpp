// The candidates of a search: each is measured once, and the best one is picked by one rule.
#pragma once

#include "mapping/choice/request.hpp"
#include "mapping/search/tools.hpp"

namespace kumihimo::mapping {

class Candidates {
 public:
  // The first map to be added is the usual order.
  Candidates(const MappingRequest& request, const Tools& tools) : request_(request), tools_(tools) {}

  // Maps that are here already are left out. The best map of a library lowers the cap, also if it is here already.
  void add(MapOrigin origin, std::vector<NamedMap> maps);

  // The library's cap may leave nothing that is as good as the usual order: then that one's links are the cap. Again
  // after predictions.
  void keep_usual();

  const std::vector<CandidateMap>& all() const { return all_; }
  std::vector<CandidateMap>& all() { return all_; }
  // Cap on the bytes of the busiest link: no more than in the usual order, nor than in the library's map of fewest
  // hop-bytes.
  std::int64_t link_cap() const { return link_cap_; }
  // Best candidate by the objective; of equals the earlier one. Candidates beyond the cap count only if none is within
  // it or the request has no cap.
  std::size_t best() const;
  // The numbers of all, best first by the objective; those beyond the cap come last.
  std::vector<std::size_t> ranking() const;
  // The candidate of fewest hop-bytes from each origin, whatever its links carry; the fewest first, at most so many.
  std::vector<std::size_t> best_of_origins(std::size_t most) const;

 private:
  void lower_cap(const Measures& library);
  void keep_links_to(std::int64_t cap);
  bool is_better(const CandidateMap& a, const CandidateMap& b) const;
  bool is_better_alone(const CandidateMap& a, const CandidateMap& b) const; // whatever links carry
  const MappingRequest& request_;
  const Tools& tools_;
  std::vector<CandidateMap> all_;
  std::int64_t link_cap_ = 0;
  double library_hop_bytes_ = -1; // of its best map; below 0: none yet
};

} // namespace kumihimo::mapping
