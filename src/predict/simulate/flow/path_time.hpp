// A point in simulated time that remembers how the path to it was spent.
#pragma once

namespace kumihimo::simulation {

struct PathTime {
  double seconds = 0;
  double transfer = 0, reduction = 0, steady = 0; // parts of it; the rest is latency: costs, hops, relays
  double sharing_error = 0;      // part of it: added by messages that begin or end at other times than the model says
  double late_overlap = 0;       // possible delay by messages of earlier levels; not part of `seconds`
  double reducer_contention = 0; // delay of reductions by those of other lanes in a full pipeline; not part either
  double flight = 0;             // part of the latency: hops and relays, which messages in flight at once pass together
  double entered = -1;           // start of the sampled loop that the path is in: its parts are counted from there

  bool operator==(const PathTime&) const = default;
  double latency() const { return seconds - transfer - reduction - steady; }
  PathTime plus_latency(double t) const { return plus(t, 0, 0, 0); }
  PathTime plus_latency_in_flight(double t) const {
    PathTime m = plus_latency(t);
    m.flight += t;
    return m;
  }
  // The same instant as the beginning of a loop of its own.
  PathTime entering() const {
    PathTime m;
    m.seconds = m.entered = seconds;
    return m;
  }
  // Not after `t`: all parts are smaller by the same factor as the time.
  PathTime shortened(double t) const {
    if (t >= seconds) return *this;
    const double share = t / seconds;
    PathTime m = *this;
    for (double* const part : {&m.seconds, &m.transfer, &m.reduction, &m.steady, &m.sharing_error, &m.late_overlap,
                               &m.reducer_contention, &m.flight})
      *part *= share;
    return m;
  }
  PathTime plus_transfer(double t) const { return plus(t, t, 0, 0); }
  PathTime plus_reduction(double t) const { return plus(t, 0, t, 0); }
  PathTime plus_steady(double t) const { return plus(t, 0, 0, t); }

 private:
  PathTime plus(double t, double moved, double reduced, double steadily) const {
    PathTime m = *this;
    m.seconds += t, m.transfer += moved, m.reduction += reduced, m.steady += steadily;
    return m;
  }
};

inline const PathTime& later(const PathTime& a, const PathTime& b) { return b.seconds > a.seconds ? b : a; }

} // namespace kumihimo::simulation
