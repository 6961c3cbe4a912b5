// The numbers of closed forms of time.
#pragma once

namespace kumihimo {

struct CostRates {
  double alpha = 0, beta = 0, gamma = 0; // seconds: of a message without its bytes, of a byte, to reduce one
  // Of the network's own engine: seconds of a call without its stages and of one of log2(P) stages, bytes of a call.
  double engine_base = 0, engine_stage = 0, engine_bytes = 0;
};

} // namespace kumihimo
