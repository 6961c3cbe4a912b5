// A question to a model: what is predicted (subject), where (place), what disturbs it, and what is to be told.
#pragma once

#include "collectives/registry.hpp"
#include "goal/noise.hpp"
#include "goal/programs.hpp"
#include "machine/job.hpp"
#include "packet/background.hpp"
#include "packet/options.hpp"
#include "replay/times.hpp"
#include "simulate/stages.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace kumihimo::models {

// A collective by an algorithm, or by its schedule where that is built already. Without either, by any: of models that
// ask for none.
struct CollectiveCase {
  Collective collective;
  const Variant* variant = nullptr;
  Parameters parameters = {};
  std::shared_ptr<const Schedule> schedule = {};
};

// The order is that of SubjectKind. What is pointed to outlives the question.
using Subject = std::variant<CollectiveCase, const ProgramSet*, const goal::Graphs*, const replay::ReplayProgram*>;
enum class SubjectKind : std::uint8_t { collective, programs, graphs, recording };
inline SubjectKind kind_of(const Subject& subject) { return static_cast<SubjectKind>(subject.index()); }
std::int32_t ranks_of(const Subject& subject);

// Slow and dead parts are those of the job's machine (Machine::with_slow, Machine::without).
struct Place {
  std::optional<Job> job = {};             // none: no machine, in models that need none
  std::optional<Placement> placement = {}; // none: block order
  std::optional<RankSpace> space = {};     // as the ranks of a collective see it; none: as the job's ranks do
  std::int32_t ranks_per_node = 1;         // without a job
  bool scalar_reduction = false;           // reduce at the rate without SIMD

  RankSpace rank_space(std::int32_t ranks) const;
  // The node of each rank. Errors: more ranks than slots, or another number in the placement.
  Result<std::vector<std::int32_t>> node_of_rank(std::int32_t ranks) const;
};

// A node that dies: at a time, or at a share of the time that the subject takes without any death.
struct Death {
  std::int32_t node = 0;
  std::optional<double> seconds = {};
  double share = 0;
};

struct Disturbance {
  std::optional<goal::NoiseModel> noise = {};
  std::vector<Death> deaths = {};
  packet::Background background = {}; // other jobs on the same network
};

// What a model is told beside, and what it is to tell. Each row of models.def names those that it heeds.
struct Options {
  bool link_bytes = false;     // of each link
  FlowStageSet without = {};   // flow: stages that are switched off
  double (*clock)() = nullptr; // flow: seconds; tells what each stage did, and how long it took
  bool by_rank = false;        // loggp: the times of each rank
  bool noise_alone = false;    // not also the time without noise
  bool timeline = false;       // loggp: in Chrome's trace format
  bool over_time = false;      // packet: use of each link over time; loggp: how noise spreads; at most so many
  std::int32_t map_rows = 384, map_bins = 192;
  packet::PacketOptions packets = {};
  std::optional<std::string> loggops = {}; // "L=2500,o=1500": instead of the machine's
  std::optional<std::int32_t> cpus = {}, nics = {};
  // Of a recording: on an ideal network, on a machine with other numbers, and what ranks do when.
  bool ideal_network = false;
  replay::NetworkFactors factors = {};
  replay::TimesOptions times = {};
};

struct Question {
  Subject subject;
  Place place = {};
  Disturbance disturbance = {};
  Options options = {};
};

} // namespace kumihimo::models
