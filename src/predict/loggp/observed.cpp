#include "loggp/observed.hpp"

#include <algorithm>

namespace kumihimo::loggp {

RankSeconds ObservedRun::of_rank(std::int32_t rank) const {
  const RankWork& of = times[static_cast<std::size_t>(rank)];
  const Time end = outcome.end[static_cast<std::size_t>(rank)];
  const auto seconds = [](Time time) { return static_cast<double>(time) * 1e-12; };
  return {seconds(end),
          seconds(of.computing),
          seconds(of.overhead),
          seconds(of.lost),
          seconds(end - std::min(end, of.busy)),
          of.operations};
}

std::pair<std::int32_t, std::int32_t> ObservedRun::busiest_receiver() const {
  const auto most = std::max_element(times.begin(), times.end(), [](const RankWork& a, const RankWork& b) {
    return a.received_more < b.received_more;
  });
  return {static_cast<std::int32_t>(most - times.begin()), most->received_more};
}

RankSeconds ObservedRun::mean() const {
  long double end = 0, computing = 0, overhead = 0, noise = 0, waiting = 0;
  for (std::size_t rank = 0; rank < times.size(); ++rank) {
    const RankWork& of = times[rank];
    end += outcome.end[rank], computing += of.computing, overhead += of.overhead, noise += of.lost;
    waiting += outcome.end[rank] - std::min(outcome.end[rank], of.busy);
  }
  const auto mean = [&](long double sum) { return static_cast<double>(sum / times.size() * 1e-12L); };
  return {mean(end), mean(computing), mean(overhead), mean(noise), mean(waiting), outcome.operations};
}

Result<ObservedRun> run_observed(const goal::Graphs& graphs, const LogGopsParameters& parameters, EngineOptions options,
                                 bool with_timeline) {
  Statistics statistics(graphs.ranks());
  Timeline timeline(graphs);
  options.observers.push_back(&statistics);
  if (with_timeline) options.observers.push_back(&timeline);
  ObservedRun made;
  made.outcome = TRY(run(graphs, parameters, options));
  made.times = statistics.of_rank();
  if (made.outcome.ends) made.aftermath = goal::aftermath_of(graphs, options.deaths, *made.outcome.ends);
  if (with_timeline) made.timeline = timeline.to_json(), made.left_out = timeline.left_out();
  return made;
}

} // namespace kumihimo::loggp
