#include "fft3d/variants.hpp"

#include "fft3d/choose_exchange.hpp"

#include <string>

namespace kumihimo::fft3d {
namespace {

const Parameter block{.name = "block",
                      .meaning = "KiB of a block of lines that are transformed in the cache",
                      .symbol = "KIB",
                      .min = 1,
                      .max = 1 << 16,
                      .tuning_values = {64, 1024}};
const Parameter at_once{.name = "at_once",
                        .meaning = "bands of one exchange",
                        .symbol = "N",
                        .min = 1,
                        .max = 1 << 16,
                        .tuning_values = {2, 4, 8},
                        .of_ranks = true};
const Parameter throttle{.name = "throttle",
                         .meaning = "messages of a rank at once, each way (0: the exchange's own number)",
                         .symbol = "N",
                         .min = 0,
                         .max = 1 << 20,
                         .tuning_values = {4},
                         .of_ranks = true};
const Parameter send_window{.name = "send_window",
                            .meaning = "outstanding sends of a rank (0: as throttle)",
                            .symbol = "N",
                            .min = 0,
                            .max = 1 << 20}; // auto tries that of throttle
const Parameter receive_window{.name = "receive_window",
                               .meaning = "outstanding receives of a rank (0: as throttle)",
                               .symbol = "N",
                               .min = 0,
                               .max = 1 << 20,
                               .tuning_values = {1},
                               .of_ranks = true};
const Parameter group{.name = "group",
                      .meaning = "ranks of a leader (0: all of a node)",
                      .symbol = "RANKS",
                      .min = 0,
                      .max = 1 << 20,
                      .tuning_values = {2, 4},
                      .of_ranks = true};
const Parameter untuned_group{.name = "group",
                              .meaning = "ranks of a leader, of exchange=hierarchical (0: all of a node)",
                              .symbol = "RANKS",
                              .min = 0,
                              .max = 1 << 20};
const TakenParameter by_memory[] = {{&block, 256}, {&at_once, 1}};
const TakenParameter by_messages[] = {{&block, 256},     {&at_once, 1},        {&throttle, 0},
                                      {&send_window, 0}, {&receive_window, 0}, {&untuned_group, 0}};
const Parameter pieces{.name = "pieces",
                       .meaning = "pieces of a box, each exchanged beside the lines of the next one",
                       .symbol = "N",
                       .min = 1,
                       .max = 1 << 10,
                       .tuning_values = {4},
                       .of_ranks = true};
const TakenParameter beside_lines[] = {{&block, 256},     {&at_once, 1},        {&pieces, 1},       {&throttle, 0},
                                       {&send_window, 0}, {&receive_window, 0}, {&untuned_group, 0}};
const TakenParameter by_leaders[] = {{&block, 256},     {&at_once, 1},        {&throttle, 0},
                                     {&send_window, 0}, {&receive_window, 0}, {&group, 0}};

using enum distributed_fft::ExchangeKind;
constexpr FftVariant rows[] = {
    {{"golden", "the whole grid on rank 0, by the sum that defines the transform; large ones by factors"}, true},
    {{"packed", "loops that pack, an alltoall of the registry, loops that unpack", by_messages}, false, true},
    {{"fused", "blocks of lines are read from and written to the messages: no loops of their own", by_messages}},
    {{"overlapped", "fused; the exchange of some bands, or of pieces, beside the lines of the next ones", beside_lines},
     false,
     false,
     true},
    {{"leader", "ranks of a group share the memory of their leader, and leaders exchange messages", by_leaders},
     false,
     false,
     false,
     leaders},
    {{"derived", "the MPI library's MPI_Alltoallw with derived datatypes", by_memory}, false, false, false, library},
    {{"window", "blocks of lines are read from the memory of the other ranks of the node", by_memory},
     false,
     false,
     false,
     window},
};

} // namespace

std::span<const FftVariant> variants() { return rows; }

Status check_exchange(const FftVariant& variant, const ParameterValues& parameters, const FftProblem& problem) {
  const auto is_given = [&](const char* name) {
    const auto found = parameters.find(name);
    return found != parameters.end() && found->second > 0;
  };
  if (is_given("throttle") && is_given("send_window") && is_given("receive_window"))
    return not_applicable("throttle has no effect beside send_window and receive_window", {}, // auto skips it
                          "leave one of them out");
  const bool has_own = variant.is_golden || variant.kind == window || variant.kind == library;
  if (!has_own || problem.exchange == automatic_exchange) return Nothing{};
  return not_applicable(std::string(variant.name) + " has no messages of an alltoall of the registry",
                        "exchange=" + problem.exchange, "leave exchange out");
}

distributed_fft::TransformWay way_of(const FftVariant& variant, const ParameterValues& parameters,
                                     const FftProblem& problem) {
  distributed_fft::TransformWay way;
  way.packs = variant.packs;
  way.kind = variant.kind;
  way.overlaps = variant.overlaps;
  way.exchange = problem.exchange;
  way.single_precision = problem.single_precision;
  way.profiles = problem.profiles;
  if (variant.is_golden) return way;
  way.block_bytes = parameters.at("block") << 10;
  way.bands_at_once = parameters.at("at_once");
  const auto given = [&](const char* name, std::int64_t otherwise) {
    const auto found = parameters.find(name);
    return found == parameters.end() ? otherwise : found->second;
  };
  way.throttle = given("throttle", 0);
  way.send_window = given("send_window", 0);
  way.receive_window = given("receive_window", 0);
  way.group = given("group", 0);
  way.pieces = given("pieces", 1);
  return way;
}

} // namespace kumihimo::fft3d
