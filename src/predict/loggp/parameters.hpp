// The parameters of LogGOPS: LogP (D. Culler et al., PPoPP 1993), with G for long messages (A. Alexandrov et al., SPAA
// 1995), S for the protocol (F. Ino et al., PPoPP 2001) and O (T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC
// 2010). The letters are theirs.
#pragma once

#include "base/result.hpp"
#include "goal/graph.hpp"

#include <cstdint>
#include <string_view>

namespace kumihimo::loggp {

using goal::Time;

struct LogGopsParameters {
  Time L = 0;          // from the end of a send's overhead to the arrival of its first byte
  Time o = 0;          // of the processor, for each send and each receive
  Time g = 0;          // between the starts of two messages at a network interface
  std::uint64_t G = 0; // femtoseconds a byte beyond the first, of the interface
  std::uint64_t O = 0; // femtoseconds a byte beyond the first, of the processor
  std::uint64_t S = 0; // bytes of the longest message that is sent without waiting for its receive (eager)
  Time R = 0;          // a longer message arrives so much later, since both ends agree first; not in LogGOPSim
  // Ranks that share so many processors, rank r number r modulo it, one operation at a time; 0: each rank has its own.
  // A processor that turns to another rank takes the switch.
  std::int32_t processors = 0;
  Time processor_switch = 0;
  bool operator==(const LogGopsParameters&) const = default;
};

// "L=2500,o=1500,g=1000,G=6,O=0,S=65535,R=0": nanoseconds with up to three decimals, G and O with six, S in bytes.
// Letters that are left out keep the value of `base`. Errors: another letter, one twice, a number that is negative or
// above a second (S: 2^46).
Result<LogGopsParameters> parse_parameters(std::string_view text, const LogGopsParameters& base);

} // namespace kumihimo::loggp
