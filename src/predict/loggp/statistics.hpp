// How each rank spends its time.
#pragma once

#include "loggp/engine.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::loggp {

struct RankWork {                   // picoseconds
  Time computing = 0, overhead = 0; // of calcs; of sends and arrivals; without what noise takes; of all processors
  Time lost = 0;                    // to noise, of all processors
  Time busy = 0;                    // while at least one processor works or noise holds it up
  Time until = 0;                   // the latest end of work
  std::uint32_t operations = 0;     // sends, arrivals and calcs
  std::int32_t received_more = 0;   // arrivals less sends
};

class Statistics : public Observer {
 public:
  explicit Statistics(std::int32_t ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}

  void busy(const ProcessorWork& work) override {
    RankWork& of = of_rank_[static_cast<std::size_t>(work.rank)];
    (work.kind == goal::Kind::calc ? of.computing : of.overhead) += work.end - work.start - work.lost;
    of.lost += work.lost;
    const Time from = std::max(work.start, of.until); // work comes by its start
    if (work.end > from) of.busy += work.end - from, of.until = work.end;
    ++of.operations;
    of.received_more += (work.kind == goal::Kind::receive) - (work.kind == goal::Kind::send);
  }
  const std::vector<RankWork>& of_rank() const { return of_rank_; }

 private:
  std::vector<RankWork> of_rank_;
};

} // namespace kumihimo::loggp
