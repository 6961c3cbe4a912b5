#include "bench_driver/candidate.hpp"
#include "bench_driver/tasks.hpp"
#include "measure/clock.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

constexpr std::int64_t warm_up_calls = 3;
constexpr std::int64_t batches = 5; // the median of their means is told: what disturbs one does not count
constexpr double least_calls = 3, most_calls = 1000; // of a batch
constexpr std::int64_t message_bytes = 4 << 10;      // of a neighbour
constexpr std::int64_t touched_bytes = 2 << 20;      // more than the caches of a core hold

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// A message round the ring of the ranks, and memory of one's own.
class BackgroundLoad {
 public:
  BackgroundLoad(const MpiJob& job, const mpi::Library& library)
      : library_(library), right_((job.rank() + 1) % job.ranks()), left_((job.rank() + job.ranks() - 1) % job.ranks()) {
  }

  void operator()() {
    std::memset(touched_.data(), static_cast<int>(++done_), touched_.size());
    mpi::Handle request = 0;
    const mpi::Handle world = library_.constants.comm_world, byte = library_.constants.byte;
    library_.call.Irecv(arrives_.data(), message_bytes, byte, left_, 0, world, &request);
    library_.call.Send(leaves_.data(), message_bytes, byte, right_, 0, world);
    library_.call.Wait(&request, library_.constants.status_ignore);
  }

 private:
  const mpi::Library& library_;
  std::int32_t right_, left_;
  std::vector<std::byte> arrives_ = std::vector<std::byte>(message_bytes), leaves_ = arrives_;
  std::vector<std::byte> touched_ = std::vector<std::byte>(touched_bytes);
  std::int64_t done_ = 0;
};

// Computation of a program while a call is under way: a fixed amount, so that it takes longer where something else uses
// the processor. It reads and writes memory that no cache of a core holds.
class Computation {
 public:
  // One unit takes about 10 us. Collective: all ranks compute at once, as in a program.
  explicit Computation(const MpiJob& job) {
    constexpr int tried = 200;
    (*this)(tried);
    job.barrier();
    const std::int64_t start = measure::now_ns();
    (*this)(tried);
    const std::vector<std::int64_t> all = job.gather(measure::now_ns() - start);
    unit_ns_ = *std::max_element(all.begin(), all.end()) / tried;
  }

  std::int64_t units(double seconds) const {
    return static_cast<std::int64_t>(seconds * 1e9 / static_cast<double>(std::max<std::int64_t>(1, unit_ns_)));
  }
  void operator()(std::int64_t units) {
    for (std::int64_t i = 0; i < units; ++i, at_ = (at_ + unit_length) % memory_.size())
      for (std::size_t k = at_; k < at_ + unit_length; ++k) memory_[k] = memory_[k] * 0.5 + 1;
  }

 private:
  static constexpr std::size_t unit_length = 4096;
  std::vector<double> memory_ = std::vector<double>(touched_bytes / sizeof(double));
  std::size_t at_ = 0;
  std::int64_t unit_ns_ = 1;
};

class Rehearsal {
 public:
  Rehearsal(MpiJob& job, const mpi::Library& library, double case_seconds)
      : job_(job), other_work_(job, library), computation_(job), case_seconds_(case_seconds) {}

  Result<double> back_to_back(BenchCandidate& candidate, const BenchVectors::Set& set) {
    return median_batch(candidate, set, [](const auto& call, std::int64_t calls, Status& status) {
      const std::int64_t start = measure::now_ns();
      for (std::int64_t i = 0; i < calls && status; ++i) status = call();
      return measure::now_ns() - start;
    });
  }
  // Other work comes before each call, and is not timed. What comes is read, as a program does: a result that must be
  // fetched from memory has cost more than its call.
  Result<double> between_other_work(BenchCandidate& candidate, const BenchVectors::Set& set) {
    return median_batch(candidate, set, [&](const auto& call, std::int64_t calls, Status& status) {
      std::int64_t spent = 0;
      for (std::int64_t i = 0; i < calls && status; ++i) {
        other_work_();
        const std::int64_t start = measure::now_ns();
        status = call();
        read(candidate.result(set));
        spent += measure::now_ns() - start;
      }
      return spent;
    });
  }

  // What a non-blocking call adds to the computation between its beginning and its end.
  Result<double> over_computation(BenchCandidate& candidate, const BenchVectors::Set& set, double overlap_seconds) {
    const std::int64_t units = computation_.units(overlap_seconds);
    return median_batch(candidate, set, [&](const auto&, std::int64_t calls, Status& status) {
      std::int64_t spent = 0;
      for (std::int64_t i = 0; i < calls && status; ++i) {
        const std::int64_t alone = measure::now_ns();
        computation_(units);
        const std::int64_t start = measure::now_ns();
        status = candidate.call_over(set, [&] { computation_(units); });
        spent += measure::now_ns() - start - (start - alone);
      }
      return spent;
    });
  }

  // A byte of each cache line.
  static void read(const BenchCandidate::Bytes& result) {
    const auto* bytes = static_cast<const volatile std::byte*>(result.data);
    for (std::int64_t at = 0; at < result.bytes; at += 64) static_cast<void>(bytes[at]);
  }

 private:
  template <class Batch>
  Result<double> median_batch(BenchCandidate& candidate, const BenchVectors::Set& set, const Batch& batch) {
    const auto call = [&] { return candidate.call(set); };
    Status status = Nothing{};
    const auto turn_of = [&](std::int64_t calls) { // with what comes between
      const std::int64_t start = measure::now_ns();
      batch(call, calls, status);
      return mean(measure::now_ns() - start, calls);
    };
    batch(call, 1, status); // makes what it needs
    double turn = turn_of(1);
    if (turn > case_seconds_) turn = std::min(turn, turn_of(1)); // the first may have been disturbed
    const bool is_long = turn > case_seconds_;                   // then it is as warm as it gets
    if (!is_long) {
      batch(call, warm_up_calls, status);
      turn = turn_of(warm_up_calls);
    }
    const double wanted = case_seconds_ / (2 * batches) / std::max(turn, 1e-9); // two ways
    const auto calls = static_cast<std::int64_t>(std::clamp(wanted, is_long ? 1 : least_calls, most_calls));
    std::vector<double> means;
    while (std::ssize(means) < (is_long ? 1 : batches)) {
      job_.barrier();
      means.push_back(mean(batch(call, calls, status), calls));
    }
    if (!status) return status.error();
    const auto middle = means.begin() + std::ssize(means) / 2;
    std::nth_element(means.begin(), middle, means.end());
    return *middle;
  }

  // Over ranks and calls: the same on all ranks.
  double mean(std::int64_t spent_ns, std::int64_t calls) const {
    const std::vector<std::int64_t> all = job_.gather(spent_ns);
    return seconds(std::accumulate(all.begin(), all.end(), std::int64_t{0})) / static_cast<double>(calls) /
           job_.ranks();
  }

  MpiJob& job_;
  BackgroundLoad other_work_;
  Computation computation_;
  double case_seconds_;
};

} // namespace

Status run_rehearsal(MpiJob& job, const BenchTask& task) {
  const mpi::Library library = job.library().as_programs_call_it();
  Rehearsal rehearsal(job, library, task.case_seconds);
  for (const TaskCase& c : task.cases) {
    Result<BenchVectors> vectors = BenchVectors::make(c.collective, Rank{job.rank()});
    if (Status s = job.agree(vectors); !s) return s;
    const std::unique_ptr<BenchCandidate> candidate =
        library_candidate(library, job.world(), c.collective, Rank{job.rank()}, c.is_non_blocking());
    const BenchVectors::Set set = vectors->prepare(0);
    if (c.is_non_blocking()) { // an interposer connects the ranks in the blocking call after the first of these
      if (Status s = candidate->call(set); !s) job.give_up(s.error());
      if (const int code = library.call.Barrier(job.world()); code != 0) return library.check(code, "MPI_Barrier");
    }
    const Result<double> back_to_back = rehearsal.back_to_back(*candidate, set);
    if (!back_to_back) job.give_up(back_to_back.error());
    const Result<double> between = c.is_non_blocking() ? rehearsal.over_computation(*candidate, set, *c.overlap_seconds)
                                                       : rehearsal.between_other_work(*candidate, set);
    if (!between) job.give_up(between.error());
    Schedule any;
    any.algorithm = c.algorithm;
    json result = bench_driver::to_json(c, any);
    result["back_to_back_seconds"] = *back_to_back;
    result[c.is_non_blocking() ? "over_computation_seconds" : "between_seconds"] = *between;
    job.print(result);
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
