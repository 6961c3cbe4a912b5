// A search on threads of its own, which its caller can watch and stop.
#pragma once

#include "mapping/choice/choice.hpp"
#include "topology/level.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace kumihimo::mapping_run {

struct RunRequest {
  std::shared_ptr<const Traffic> traffic;
  TopologyPtr network;
  Slots slots;
  Shape nodes;                    // their axes, or none
  std::vector<Level> cores;       // of a single node: the levels of its cores; ranks are placed on these
  std::vector<Level> within_node; // of several nodes: levels of their slots
  mapping::Objective objective = mapping::Objective::hop_bytes;
  mapping::SearchEffort effort = mapping::SearchEffort::standard;
  std::uint64_t seed = 1;
  std::optional<Shape> grid;
  bool caps_links = true;
  std::optional<std::pair<std::string, Placement>> usual; // where ranks are without a map; none: in block order
  std::vector<std::pair<std::string, Placement>> starts;
  bool uses_libraries = true;                                     // Scotch and METIS, where they are installed
  int threads = 0;                                                // 0: one for each processor that the process may use
  std::function<std::optional<double>(const Placement&)> seconds; // objective time
};

struct LevelBytes {
  std::string name;
  std::int64_t before = 0, after = 0; // between its groups, in the usual order and in the chosen placement
};

struct RunResult {
  mapping::Mapping mapping;
  Placement placement;                // the chosen one
  std::vector<std::string> libraries; // that took part
  std::vector<LevelBytes> levels;     // outermost first
};

class MappingRun {
 public:
  explicit MappingRun(RunRequest request);
  ~MappingRun(); // stops it
  MappingRun(const MappingRun&) = delete;
  MappingRun& operator=(const MappingRun&) = delete;

  bool wait(double seconds); // at most so long; true: it has ended
  mapping::SearchProgress progress() const;
  void stop() { stop_ = true; } // it ends soon, with the best placement so far
  // Waits for the end. Errors: as map_ranks(); placements of other slots; asked for again.
  Result<RunResult> result();

 private:
  Result<RunResult> work();
  const RunRequest request_;
  std::atomic<bool> stop_ = false;
  mutable std::mutex mutex_;
  std::condition_variable has_ended_;
  mapping::SearchProgress progress_; // under mutex_, as are the following
  std::optional<Result<RunResult>> result_;
  std::thread thread_;
};

// The host that a job's ranks are placed on.
Result<mapping::MappingHost> host_of(const TopologyPtr& network, const Slots& slots, std::span<const Level> cores);

} // namespace kumihimo::mapping_run
