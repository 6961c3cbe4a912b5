// The stages of the model flow, in their order. Each is a function from value to value (simulate/flow/parts.hpp). All
// but `compile` can be switched off (SimulateOptions::without).
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo {

enum class FlowStage : std::uint8_t { compile, symmetry, sampling, levels, periods, doubts };

struct FlowStageRow {
  std::string_view name;
  std::string_view does;    // what it does
  std::string_view without; // what is done without it; empty: it is not switched off
};
inline constexpr std::array<FlowStageRow, 6> flow_stages{{
    {"compile", "one iteration stands for all of a loop with constant peers", ""},
    {"symmetry", "one rank stands for its images by shifts of the torus", "each rank is simulated"},
    {"sampling", "some rounds of long loops stand for all", "each round is simulated"},
    {"levels", "messages that start at about the same time share the network to the end",
     "the exact solution, up to 512 ranks"},
    {"periods", "the other segments follow the first at a steady period", "each segment is simulated"},
    {"doubts", "states by how much the time may be off", "states nothing"},
}};

inline std::string_view name_of(FlowStage stage) { return flow_stages[static_cast<std::size_t>(stage)].name; }
Result<FlowStage> parse_stage(std::string_view name); // one that can be switched off

class FlowStageSet {
 public:
  bool has(FlowStage stage) const { return (bits_ & bit(stage)) != 0; }
  FlowStageSet& add(FlowStage stage) { return bits_ = static_cast<std::uint8_t>(bits_ | bit(stage)), *this; }

 private:
  static std::uint8_t bit(FlowStage stage) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(stage)); }
  std::uint8_t bits_ = 0;
};

struct FlowStageReport {
  FlowStage stage = FlowStage::compile;
  bool is_off = false;
  double seconds = 0; // of real time
  std::string what;   // it did
};

} // namespace kumihimo
