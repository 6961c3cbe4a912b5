#include "mapping_run/run.hpp"

#include "mapping/objective/hop_bytes.hpp"
#include "mapping/partition/within_node.hpp"
#include "mapping_run/partitioners.hpp"
#include "mapping_run/workers.hpp"

#include <chrono>
#include <new>

namespace kumihimo::mapping_run {
namespace {

Error other_slots(const std::string& name) {
  return wrong_value(name + " must place ranks in the slots of the job", {}, "take a placement of this job");
}

} // namespace

Result<mapping::MappingHost> host_of(const TopologyPtr& network, const Slots& slots, std::span<const Level> cores) {
  if (slots.nodes() == 1) return mapping::MappingHost::of_cores(slots.size(), cores);
  return mapping::MappingHost::make(network, slots);
}

MappingRun::MappingRun(RunRequest request) : request_(std::move(request)) {
  thread_ = std::thread([this] {
    std::optional<Result<RunResult>> result;
    try {
      result = work();
    } catch (const std::bad_alloc&) {
      result = failed("the search needs more memory than there is", {}, "take --effort fast, or fewer ranks");
    } catch (const std::exception& error) {
      result = failed("the search failed", error.what());
    }
    const std::lock_guard lock(mutex_);
    result_ = std::move(result);
    has_ended_.notify_all();
  });
}

MappingRun::~MappingRun() {
  stop();
  thread_.join();
}

bool MappingRun::wait(double seconds) {
  std::unique_lock lock(mutex_);
  return has_ended_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return result_.has_value(); });
}

mapping::SearchProgress MappingRun::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

Result<RunResult> MappingRun::result() {
  std::unique_lock lock(mutex_);
  has_ended_.wait(lock, [&] { return result_.has_value(); });
  Result<RunResult> result = std::move(*result_);
  result_ = failed("the result of this search was taken already");
  return result;
}

Result<RunResult> MappingRun::work() {
  const RunRequest& request = request_;
  Result<mapping::MappingHost> made = host_of(request.network, request.slots, request.cores);
  if (!made) return made.error();
  const mapping::MappingHost& host = *made;

  std::vector<std::unique_ptr<mapping::Partitioner>> libraries;
  if (request.uses_libraries) libraries = open_partitioners();
  std::vector<mapping::Partitioner*> partitioners;
  for (const auto& library : libraries) partitioners.push_back(library.get());

  mapping::Tools tools;
  tools.parallel = parallel_on(request.threads > 0 ? request.threads : allowed_processors());
  tools.stop = [this] { return stop_.load(std::memory_order_relaxed); };
  tools.report = [this](const mapping::SearchProgress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
  };

  // On cores of one node the placement that a search names is of cores; a prediction is of the job's slots.
  const auto of_job = [&](const mapping::Assignment& map) { return map.placement(request.slots); };
  mapping::MappingRequest search{.traffic = *request.traffic,
                                 .host = host,
                                 .objective = request.objective,
                                 .effort = request.effort,
                                 .seed = request.seed,
                                 .nodes = request.slots.nodes() == 1 ? Shape() : request.nodes,
                                 .grid = request.grid,
                                 .caps_links = request.caps_links,
                                 .partitioners = partitioners};
  for (const auto& [name, placement] : request.starts) {
    if (placement.slots() != request.slots) return other_slots(name);
    search.starts.push_back({name, mapping::Assignment::of(placement)});
  }
  if (request.usual) {
    if (request.usual->second.slots() != request.slots) return other_slots(request.usual->first);
    search.usual = {request.usual->first, mapping::Assignment::of(request.usual->second)};
  }
  if (request.seconds)
    search.seconds = [&](const Placement& placement) {
      return request.seconds(of_job(mapping::Assignment::of(placement)));
    };
  Result<mapping::Mapping> mapping = map_ranks(search, tools);
  if (!mapping) return mapping.error();

  mapping::CandidateMap& chosen = mapping->candidates[mapping->chosen];
  std::vector<LevelBytes> levels;
  if (!request.within_node.empty() && request.slots.nodes() > 1) {
    const mapping::TrafficGraph graph = mapping::TrafficGraph::of(*request.traffic);
    const mapping::Assignment usual = mapping->candidates.front().map;
    const std::vector<std::int64_t> before = bytes_across(graph, host, usual, request.within_node);
    chosen.map = place_within_nodes(weigh(graph, host).graph, host, std::move(chosen.map), request.within_node,
                                    request.seed, tools);
    const std::vector<std::int64_t> after = bytes_across(graph, host, chosen.map, request.within_node);
    for (std::size_t at = 0; at < before.size(); ++at)
      levels.push_back({request.within_node[at].name, before[at], after[at]});
  }
  if (request.slots.nodes() == 1) // the nodes of that host are cores
    for (mapping::CandidateMap& candidate : mapping->candidates) candidate.measures.off_node_bytes = 0;
  std::vector<std::string> names;
  for (const auto& library : libraries) names.emplace_back(library->name());
  Placement placement = of_job(chosen.map);
  return RunResult{*std::move(mapping), std::move(placement), std::move(names), std::move(levels)};
}

} // namespace kumihimo::mapping_run
