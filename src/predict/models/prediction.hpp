// The answer of a model. describe() names each member once, with its unit and meaning: the JSON form, its schema and
// the table of the documentation are made from it.
#pragma once

#include "fluid/graphs.hpp"
#include "goal/aftermath.hpp"
#include "loggp/delays.hpp"
#include "loggp/observed.hpp"
#include "packet/graphs.hpp"
#include "replay/times.hpp"
#include "simulate/prediction.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::models {

// Of graphs of operations.
struct GraphRun {
  std::int32_t last_rank = 0;
  std::uint64_t operations = 0, messages = 0;
};

// Of LogGOPS.
struct RankTimes {
  std::uint64_t message_bytes = 0;
  loggp::RankSeconds mean;
  double compute_share = 0, waiting_share = 0;
  std::int32_t cpus = 1, nics = 1;
  std::vector<loggp::RankSeconds> by_rank;
};

// Of packets.
struct PacketRun {
  packet::DeliveredTraffic traffic;
  packet::PacketOptions options; // with the buffers that the machine has
  double start_seconds = 0;
  std::vector<packet::BackgroundUse> background;
};

struct NoiseEffect {
  double seconds = 0; // without it
  double slowdown = 1;
};

struct NodeFault {
  std::int32_t node = 0;
  double seconds = 0;
  std::optional<double> share; // as it was asked for
};

struct Faults {
  std::vector<NodeFault> dies;
  goal::Aftermath aftermath;
};

struct Prediction {
  std::string model;
  double seconds = 0;
  std::string limiting; // what the time is spent on; empty: the model does not know
  std::string accuracy; // why the time may be more than a fifth off; empty: no reason is known
  std::int64_t segments = 1;
  std::string algorithm, parameters; // of a collective's schedule
  std::vector<LowerBound> bounds;    // of a collective on a machine
  std::string bound_limiting;

  std::optional<SchedulePrediction> schedule; // bound, cost, flow, exact
  std::optional<GraphRun> run;
  std::optional<RankTimes> ranks;
  std::optional<loggp::LogGopsParameters> loggops;
  std::optional<PacketRun> packets;
  std::vector<fluid::ClassUse> link_classes;
  std::vector<double> link_bytes;     // by LinkId, on demand
  std::optional<NoiseEffect> noise;   // `seconds` are with it
  std::optional<Faults> faults;       // all else is of the run without them
  std::optional<replay::Times> times; // of a recording

  // On demand, and no part of the JSON form.
  std::string timeline;
  std::uint64_t timeline_left_out = 0;
  std::optional<loggp::DelayMap> delays;

  double bound_seconds() const;
  double seconds_without_noise() const { return noise ? noise->seconds : seconds; }
};

// One JSON object, units in the names of keys.
std::string to_json(const Prediction& prediction);
// The JSON Schema of that object.
std::string prediction_schema();

} // namespace kumihimo::models
