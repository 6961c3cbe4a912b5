// A point in simulated time that remembers how the path to it was spent.
#pragma once

namespace kumihimo::simulation {

struct Moment {
  double seconds = 0;
  double transfer = 0, reduction = 0, steady = 0; // parts of it; the rest is latency: costs, hops, relays
  double doubt = 0;    // of it: shared with messages that begin or end at other times, which the model takes to be one
  double crowding = 0; // not in it: what reductions on the way would take longer beside those of other lanes
  double flight = 0;   // of the latency: hops and relays, which messages in flight at once pass together
  double entered = -1; // when the path came into the sampled loop that it is in, whose parts are counted from there

  double latency() const { return seconds - transfer - reduction - steady; }
  Moment plus_latency(double t) const { return plus(t, 0, 0, 0); }
  Moment plus_flight(double t) const {
    Moment m = plus_latency(t);
    m.flight += t;
    return m;
  }
  // The same instant as the beginning of a loop of its own.
  Moment entering() const {
    Moment m;
    m.seconds = m.entered = seconds;
    return m;
  }
  // Not after `t`: all parts as much smaller as the time is.
  Moment shortened(double t) const {
    if (t >= seconds) return *this;
    const double share = t / seconds;
    Moment m = *this;
    for (double* const part : {&m.seconds, &m.transfer, &m.reduction, &m.steady, &m.doubt, &m.crowding, &m.flight})
      *part *= share;
    return m;
  }
  Moment plus_transfer(double t) const { return plus(t, t, 0, 0); }
  Moment plus_reduction(double t) const { return plus(t, 0, t, 0); }
  Moment plus_steady(double t) const { return plus(t, 0, 0, t); }

 private:
  Moment plus(double t, double moved, double reduced, double steadily) const {
    Moment m = *this;
    m.seconds += t, m.transfer += moved, m.reduction += reduced, m.steady += steadily;
    return m;
  }
};

inline const Moment& later(const Moment& a, const Moment& b) { return b.seconds > a.seconds ? b : a; }

} // namespace kumihimo::simulation
