// What a simulation tells: the time of a collective on a machine, where it goes, what limits it, and how far the model
// that said so may be trusted.
#pragma once

#include "base/units.hpp"
#include "simulate/stages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

// bound: no schedule is faster. cost: the closed form of the algorithm, which knows no topology. flow: max-min fair
// shares per round, segments by their steady period; seconds of work at 80,000 nodes. exact: the fluid solution of the
// same machine, event by event; to 512 nodes, the golden copy of flow.
enum class ScheduleModel : std::uint8_t { bound, cost, flow, exact };
std::string_view name_of(ScheduleModel model);

// A time below which no schedule of this collective can be, and why.
struct LowerBound {
  std::string name; // "latency", "bandwidth", "injection", "bisection", "reduction"
  Seconds seconds;
};

// Lanes that run at the same time; phases follow one another (`after` all).
struct Phase {
  std::string name; // from the lanes' roles: "reduce"
  Seconds seconds;  // from the end of the phase before to its own
  Seconds compute;  // reductions of the busiest rank; they may overlap with communication
  Seconds period;   // between segments once the pipeline is full; 0 with one segment
  std::string limiting;
  double compute_share() const { return seconds.value > 0 ? compute.value / seconds.value : 0; }
  Seconds communication() const { return {seconds.value - compute.value}; } // not hidden behind computing
};

// Loops that were too long to be walked are sampled. `low` and `high`: the 95 % interval of the mean of samples of this
// size, not below the bound. That mean is not the time of all rounds: `leaves_out` says what is between them.
struct Sampled {
  std::int64_t samples = 0, rounds = 0, of = 0; // `rounds`: of one sample
  std::uint64_t seed = 0;
  Seconds low, high;
  double beyond = 0; // as a part of the time of all rounds, which may be so far outside the interval
  std::string leaves_out;
};

struct SchedulePrediction {
  ScheduleModel model = ScheduleModel::flow;
  Seconds seconds;
  std::vector<Phase> phases;

  Seconds compute; // reductions of the busiest rank in all phases
  double compute_share() const { return seconds.value > 0 ? compute.value / seconds.value : 0; }
  Seconds communication() const { return {seconds.value - compute.value}; }

  // The critical path: its first segment in three parts, and the rest of the segments at their period. (flow)
  Seconds latency, transfer, reduction, steady;

  double link_bytes_sum = 0, link_bytes_max = 0;
  std::vector<double> link_bytes; // by LinkId, on demand
  std::int64_t links = 0;
  // Links where messages of different flows were ready at the same time; not told (JSON: null) of a sample.
  double links_waiting_share = 0;

  std::vector<LowerBound> bounds;
  Seconds bound() const; // the highest of them
  std::string limiting;  // what the time is spent on, by name: "link +x at (3,0,1)", "reductions at rank 7"
  std::string accuracy;  // empty, or why the figure may be more than a fifth off the exact one
  double too_long = 0.2, too_short = 0.2; // how much it may be off, as fractions of the exact one (flow)
  bool is_solved = false;                 // the time is that of the exact solution (flow)

  std::optional<Sampled> sampled;
  // Ranks that each one walked stands for, since a shift of the torus' coordinates is a symmetry of the network and of
  // the schedule: exact, every program and link was compared. 1: each rank was walked. (flow)
  std::int64_t ranks_alike = 1;

  // What sharing adds to the critical path with messages that begin or end at other times, as a part of it (flow).
  double doubtful_sharing = 0;

  std::vector<FlowStageReport> stages; // on demand (flow)
};

// One JSON object, units in the names of keys.
std::string to_json(const SchedulePrediction& prediction);

} // namespace kumihimo
