// Packet by packet through buffers and arbiters (packet/), beside other jobs if there are any.
#include "models/rows/on_graphs.hpp"
#include "packet/fabric.hpp"
#include "packet/programs.hpp"

namespace kumihimo::models {

namespace {

Prediction of_packets(Prediction prediction, packet::GraphOutcome& outcome, const packet::PacketOptions& options,
                      const Place& place) {
  prediction.seconds = seconds_of(outcome.last);
  prediction.run = graph_run(outcome, outcome.traffic.messages);
  prediction.packets = {std::move(outcome.traffic), options, seconds_of(outcome.start), std::move(outcome.background)};
  prediction.packets->options.buffer_packets = packet::buffer_packets_of(place.job->machine, options);
  return prediction;
}

Result<Ran> run_recording_of_packets(const replay::ReplayProgram& program, const Question& question,
                                     const packet::PacketOptions& packets) {
  const Place& place = question.place;
  const Options& options = question.options;
  if (options.ideal_network) {
    const replay::FluidNetwork network{*place.job, place.placement, packets.noise};
    return Ran{of_times("packet", TRY(replay::ideal_network_times(program, network, options.times)))};
  }
  const replay::PacketNetwork network{scaled_job(question), place.placement, packets};
  auto times = TRY(replay::times_of(program, network, options.times));
  Prediction prediction = of_packets(begin_prediction("packet", {}), *times.packets, packets, place);
  prediction.times = std::move(times);
  return Ran{std::move(prediction)};
}

Result<Ran> run_packet(const Question& question, const Run& run) {
  const Place& place = question.place;
  packet::PacketOptions packets = question.options.packets;
  packets.noise = run.noise;
  packets.deaths = run.deaths;
  packets.links_over_time = question.options.over_time && run.deaths.empty();
  if (packets.links_over_time) packets.bins = question.options.map_bins;
  if (const auto* recording = std::get_if<const replay::ReplayProgram*>(&question.subject);
      recording && run.deaths.empty())
    return run_recording_of_packets(**recording, question, packets);

  const packet::Background& background = question.disturbance.background;
  SubjectPrograms programs;
  Result<packet::GraphOutcome> outcome = [&]() -> Result<packet::GraphOutcome> {
    if (kind_of(question.subject) >= SubjectKind::graphs) {
      const SubjectGraphs graphs = TRY(graphs_of(question, {}, {}));
      return packet::run(*place.job, graphs.graphs(), place.placement, background, packets);
    }
    programs = TRY(programs_of(question));
    return packet::run(*place.job, programs.programs(), place.placement, packets, place.scalar_reduction, background);
  }();
  if (!outcome) return outcome.error();
  Ran ran{of_packets(begin_prediction("packet", programs), *outcome, packets, place), std::move(outcome->aftermath)};
  if (question.options.link_bytes) {
    const std::vector<std::uint64_t>& bytes = ran.prediction.packets->traffic.link_bytes;
    ran.prediction.link_bytes.assign(bytes.begin(), bytes.end());
  }
  return ran;
}

constexpr std::string_view left_out =
    "packets wait for buffers and arbiters; packet leaves out eager_peers, lane_bandwidth, put_setup, "
    "register_latency, put_sum_latency, put_turn_latency, input_copy_rate and what ranks of a node share";

} // namespace

Model packet_model() {
  const std::vector<std::string_view> options{
      "given",   "order",   "placement", "packet_bytes", "buffer_packets", "packet_seed", "background", "spread",
      "repeats", "warm_up", "noise",     "dies",         "links",          "slow",        "page"};
  std::vector<std::string_view> of_programs = options;
  of_programs.push_back("no_simd");
  return {
      .name = "packet",
      .summary = "packet by packet through buffers and arbiters",
      .fidelity =
          "virtual cut-through with credits, arbiters and adaptive routing: packets of other messages hold each "
          "other up",
      .accepts = {{"collective", of_programs},
                  {"programs", options},
                  {"goal", options},
                  {"recording",
                   {"given", "order", "placement", "packet_bytes", "buffer_packets", "packet_seed", "noise", "dies",
                    "page", "by_rank", "timeline", "slow"}}},
      .too_short = left_out,
      .too_long = left_out,
      .run = run_packet,
  };
}

} // namespace kumihimo::models
