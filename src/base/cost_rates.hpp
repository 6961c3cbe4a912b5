// The three numbers of closed forms of time.
#pragma once

namespace kumihimo {

struct CostRates {
  double alpha = 0, beta = 0, gamma = 0; // seconds: of a message without its bytes, of a byte, to reduce one
};

} // namespace kumihimo
