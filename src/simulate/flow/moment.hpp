// A point in simulated time that remembers how the path to it was spent.
#pragma once

namespace kumihimo::simulation {

struct Moment {
  double seconds = 0;
  double transfer = 0, reduction = 0, steady = 0; // parts of it; the rest is latency: costs, hops, relays
  double crowding = 0; // not in it: what reductions on the way would take longer beside those of other lanes

  double latency() const { return seconds - transfer - reduction - steady; }
  Moment plus_latency(double t) const { return {seconds + t, transfer, reduction, steady, crowding}; }
  Moment plus_transfer(double t) const { return {seconds + t, transfer + t, reduction, steady, crowding}; }
  Moment plus_reduction(double t) const { return {seconds + t, transfer, reduction + t, steady, crowding}; }
  Moment plus_steady(double t) const { return {seconds + t, transfer, reduction, steady + t, crowding}; }
};

inline const Moment& later(const Moment& a, const Moment& b) { return b.seconds > a.seconds ? b : a; }

} // namespace kumihimo::simulation
