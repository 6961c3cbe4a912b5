#include "worker/measure_task.hpp"

#include "measure/clock.hpp"
#include "measure/summary.hpp"
#include "worker/bound.hpp"
#include "worker/check.hpp"
#include "worker/contestant.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace kumihimo::worker {
namespace {

using nlohmann::json;

constexpr std::int64_t warm_up_turns = 2;
constexpr std::int64_t hashed_turns = 4; // results of the first turns are compared with one another

bool same_question(const Case& a, const Case& b) {
  return plan::key_of(a.collective) == plan::key_of(b.collective) && a.shape == b.shape &&
         a.ranks_per_node == b.ranks_per_node;
}

double seconds_since(std::int64_t start_ns) { return static_cast<double>(measure::now_ns() - start_ns) * 1e-9; }

json to_json(const measure::Summary& s) {
  return {{"seconds", s.median},
          {"interval_low", s.median_interval.low},
          {"interval_high", s.median_interval.high},
          {"p10", s.p10},
          {"p90", s.p90},
          {"samples", s.samples},
          {"outliers", s.outliers}};
}

// The cases that are measured together.
class Group {
 public:
  Group(Job& job, const Task& task, const Collective& question, Vectors vectors)
      : job_(job), task_(task), question_(question), vectors_(std::move(vectors)) {}

  void add(std::unique_ptr<Contestant> contestant) { contestants_.push_back(std::move(contestant)); }
  const std::vector<std::unique_ptr<Contestant>>& contestants() const { return contestants_; }

  Status measure() {
    for (auto& c : contestants_)
      if (Status s = first_call(*c); !s) return s;
    std::int64_t turn = 0;
    const std::int64_t start = measure::now_ns();
    for (; turn < warm_up_turns; ++turn) take_turn(turn);
    const double each = job_.largest({seconds_since(start) / warm_up_turns})[0];
    for (auto& c : contestants_) c->seconds.clear();
    const double budget = task_.case_seconds * static_cast<double>(contestants_.size());
    const auto turns = std::clamp(static_cast<std::int64_t>(budget / std::max(each, 1e-9)),
                                  std::int64_t{task_.turns_at_least}, std::int64_t{task_.turns_at_most});
    for (const std::int64_t end = turn + turns; turn < end; ++turn) take_turn(turn);
    return Nothing{};
  }

  // Collective: the samples of all ranks become one, the results are compared between them.
  json result_of(const Contestant& c) const {
    json result = to_json(measure::summarise(job_.largest(c.seconds)));
    result["first_seconds"] = c.first_seconds;
    result["bitwise"] = job_.all(c.repeats_itself) && same_everywhere(c);
    return result;
  }

 private:
  // Nobody calls before all are ready; the agreement is not timed.
  Status first_call(Contestant& c) {
    const Vectors::Set set = vectors_.prepare(0);
    c.results.assign(static_cast<std::size_t>(vectors_.contents()), 0);
    job_.barrier();
    const std::int64_t start = measure::now_ns();
    const Status ready = c.make_ready();
    const double preparation = seconds_since(start);
    if (Status s = job_.agree(ready); !s) return s;
    c.first_seconds = job_.largest({preparation + timed_call(c, set)})[0];
    return Nothing{};
  }

  double timed_call(Contestant& c, const Vectors::Set& set) const {
    const std::int64_t start = measure::now_ns();
    const Status status = c.call(set);
    const double seconds = seconds_since(start);
    if (!status) job_.give_up(status.error());
    return seconds;
  }

  // What a call finds in caches and branch predictors is what the one before it left there, so nobody may always follow
  // the same one. Two swap places; more are shuffled, on all ranks alike.
  void take_turn(std::int64_t turn) {
    order_.resize(contestants_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    if (order_.size() == 2 && turn % 2 == 1) std::swap(order_[0], order_[1]);
    if (order_.size() > 2) std::shuffle(order_.begin(), order_.end(), random_);
    for (const std::size_t i : order_) sample(*contestants_[i], turn);
  }

  void sample(Contestant& c, std::int64_t turn) {
    const Vectors::Set set = vectors_.prepare(next_call_++);
    const auto contents = static_cast<std::size_t>((next_call_ - 1) % vectors_.contents());
    job_.barrier();
    c.seconds.push_back(timed_call(c, set));
    if (turn < hashed_turns && has_result()) note_result(c, contents, set.output);
  }

  bool has_result() const { return question_.kind != CollectiveKind::reduce || question_.root.value == job_.rank(); }

  void note_result(Contestant& c, std::size_t contents, const void* output) const {
    const std::uint64_t hash = hash_of(output, question_.bytes().value);
    if (c.results[contents] == 0) c.results[contents] = hash;
    c.repeats_itself &= c.results[contents] == hash;
  }

  bool same_everywhere(const Contestant& c) const {
    bool same = true;
    for (const std::uint64_t hash : c.results) {
      const std::vector<std::int64_t> all = job_.gather(static_cast<std::int64_t>(hash));
      if (question_.kind == CollectiveKind::reduce) continue; // one rank alone has it
      same &= std::all_of(all.begin(), all.end(), [&](std::int64_t h) { return h == all[0]; });
    }
    return same;
  }

  Job& job_;
  const Task& task_;
  Collective question_;
  Vectors vectors_;
  std::vector<std::unique_ptr<Contestant>> contestants_;
  std::vector<std::size_t> order_;
  std::mt19937 random_{1};
  std::int64_t next_call_ = 0;
};

class Measuring {
 public:
  Measuring(Job& job, const Task& task, std::vector<CopyRate> rates)
      : job_(job), task_(task), rates_(std::move(rates)) {}

  // Cases [begin, end) have one question.
  Status group(std::size_t begin, std::size_t end) {
    const Collective& question = task_.cases[begin].collective;
    Result<Vectors> vectors = Vectors::make(question, Rank{job_.rank()});
    if (Status s = job_.agree(vectors); !s) return s;
    Group group(job_, task_, question, std::move(*vectors));
    std::vector<json> results; // one a case, printed in the order of the cases: whoever reads pairs them by it
    for (std::size_t i = begin; i < end; ++i)
      if (Status s = enter(group, task_.cases[i], i - begin, results); !s) return s;
    if (!group.contestants().empty())
      if (Status s = measure(group, question, results); !s) return s;
    for (const json& result : results) job_.print(result);
    return Nothing{};
  }

 private:
  Status measure(Group& group, const Collective& question, std::vector<json>& results) const {
    if (task_.compares) group.add(library_contestant(job_.library(), question, Rank{job_.rank()}));
    if (Status s = group.measure(); !s) return s;
    const json theirs = task_.compares ? group.result_of(*group.contestants().back()) : json();
    auto ours = group.contestants().begin();
    for (json& result : results) {
      if (result.contains("not_applicable")) continue;
      result.update(group.result_of(**ours++));
      if (task_.compares) {
        result["library"] = theirs;
        result["ratio"] = result["seconds"].get<double>() / theirs["seconds"].get<double>();
      }
      const std::optional<double> bound = bound_seconds(question, rates_);
      result["bound_seconds"] = bound ? json(*bound) : json();
    }
    return Nothing{};
  }

  // Adds what of its result is known before it is measured; a case that does not fit does not enter the group.
  Status enter(Group& group, const Case& c, std::size_t place, std::vector<json>& results) {
    Result<Schedule> schedule = build(c);
    if (!schedule && schedule.error().kind != Error::Kind::not_applicable) return schedule.error();
    if (!schedule) {
      Schedule none;
      none.algorithm = c.algorithm;
      results.push_back(worker::to_json(c, none));
      results.back()["not_applicable"] = schedule.error().sentence();
      return Nothing{};
    }
    mpi::TransportOptions options = task_.transport;
    options.ranks_per_node = c.ranks_per_node;
    Result<mpi::MpiTransport*> transport = job_.transport(options);
    if (!transport) return transport.error();
    while (caches_.size() <= place) caches_.push_back(std::make_unique<plan::PlanCache>());
    group.add(our_contestant(c, *schedule, Rank{job_.rank()}, **transport, *caches_[place]));
    results.push_back(worker::to_json(c, *schedule));
    return Nothing{};
  }

  Job& job_;
  const Task& task_;
  std::vector<CopyRate> rates_;
  // One for each algorithm measured side by side: the plans of all sizes stay, as they do in a program.
  std::vector<std::unique_ptr<plan::PlanCache>> caches_;
};

std::int64_t longest_bytes(const Task& task) {
  std::int64_t longest = 0;
  for (const Case& c : task.cases) longest = std::max(longest, c.collective.bytes().value);
  return longest;
}

} // namespace

Status run_measure(Job& job, const Task& task) {
  Result<std::vector<CopyRate>> rates =
      task.wants_bound ? measure_copy_rates(job, longest_bytes(task)) : std::vector<CopyRate>();
  if (!rates) return rates.error();
  Measuring measuring(job, task, std::move(*rates));
  for (std::size_t begin = 0; begin < task.cases.size();) {
    std::size_t end = begin + 1;
    while (end < task.cases.size() && same_question(task.cases[begin], task.cases[end])) ++end;
    if (Status s = measuring.group(begin, end); !s) return s;
    begin = end;
  }
  return Nothing{};
}

} // namespace kumihimo::worker
