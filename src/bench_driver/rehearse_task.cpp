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
  BackgroundLoad(const Job& job, const mpi::Library& library)
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

class Rehearsal {
 public:
  Rehearsal(Job& job, const mpi::Library& library, double case_seconds)
      : job_(job), other_work_(job, library), case_seconds_(case_seconds) {}

  Result<double> back_to_back(Candidate& candidate, const Vectors::Set& set) {
    return median_batch(candidate, set, [](const auto& call, std::int64_t calls, Status& status) {
      const std::int64_t start = measure::now_ns();
      for (std::int64_t i = 0; i < calls && status; ++i) status = call();
      return measure::now_ns() - start;
    });
  }
  // Other work comes before each call, and is not timed. What comes is read, as a program does: a result that must be
  // fetched from memory has cost more than its call.
  Result<double> between_other_work(Candidate& candidate, const Vectors::Set& set) {
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

  // A byte of each cache line.
  static void read(const Candidate::Bytes& result) {
    const auto* bytes = static_cast<const volatile std::byte*>(result.data);
    for (std::int64_t at = 0; at < result.bytes; at += 64) static_cast<void>(bytes[at]);
  }

 private:
  template <class Batch>
  Result<double> median_batch(Candidate& candidate, const Vectors::Set& set, const Batch& batch) {
    const auto call = [&] { return candidate.call(set); };
    Status status = Nothing{};
    batch(call, warm_up_calls, status); // the first makes what it needs
    const std::int64_t start = measure::now_ns();
    batch(call, warm_up_calls, status);
    const double turn = mean(measure::now_ns() - start, warm_up_calls);         // with what comes between
    const double wanted = case_seconds_ / (2 * batches) / std::max(turn, 1e-9); // two ways
    const auto calls = static_cast<std::int64_t>(std::clamp(wanted, least_calls, most_calls));
    std::vector<double> means;
    for (std::int64_t i = 0; i < batches; ++i) {
      job_.barrier();
      means.push_back(mean(batch(call, calls, status), calls));
    }
    if (!status) return status.error();
    std::nth_element(means.begin(), means.begin() + batches / 2, means.end());
    return means[batches / 2];
  }

  // Over ranks and calls: the same on all ranks.
  double mean(std::int64_t spent_ns, std::int64_t calls) const {
    const std::vector<std::int64_t> all = job_.gather(spent_ns);
    return seconds(std::accumulate(all.begin(), all.end(), std::int64_t{0})) / static_cast<double>(calls) /
           job_.ranks();
  }

  Job& job_;
  BackgroundLoad other_work_;
  double case_seconds_;
};

} // namespace

Status run_rehearsal(Job& job, const Task& task) {
  const mpi::Library library = job.library().as_programs_call_it();
  Rehearsal rehearsal(job, library, task.case_seconds);
  for (const Case& c : task.cases) {
    Result<Vectors> vectors = Vectors::make(c.collective, Rank{job.rank()});
    if (Status s = job.agree(vectors); !s) return s;
    const std::unique_ptr<Candidate> candidate =
        library_candidate(library, job.world(), c.collective, Rank{job.rank()});
    const Vectors::Set set = vectors->prepare(0);
    const Result<double> back_to_back = rehearsal.back_to_back(*candidate, set);
    if (!back_to_back) job.give_up(back_to_back.error());
    const Result<double> between = rehearsal.between_other_work(*candidate, set);
    if (!between) job.give_up(between.error());
    Schedule any;
    any.algorithm = c.algorithm;
    json result = bench_driver::to_json(c, any);
    result["back_to_back_seconds"] = *back_to_back;
    result["between_seconds"] = *between;
    job.print(result);
  }
  return Nothing{};
}

} // namespace kumihimo::bench_driver
