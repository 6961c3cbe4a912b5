#include "bench_driver/fingerprint.hpp"

#include "bench_driver/vectors.hpp"
#include "measure/clock.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <thread>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

constexpr std::int32_t most_ranks_shown = 8;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { // neither commutative nor associative
  std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + std::rotl(b, 23) + 0x632be59bd9b4e019ULL;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93ULL;
  return z ^ z >> 29;
}

std::uint64_t lengths_seen = 0; // by this process's calls of trace()

void trace(void* in, void* inout, int* length, mpi::Handle*) {
  lengths_seen = mixed(lengths_seen, static_cast<std::uint64_t>(*length));
  for (int i = 0; i < *length; ++i) {
    std::uint64_t left = 0, right = 0;
    std::memcpy(&left, static_cast<const std::byte*>(in) + 8 * i, 8);
    std::memcpy(&right, static_cast<const std::byte*>(inout) + 8 * i, 8);
    right = mixed(left, right);
    std::memcpy(static_cast<std::byte*>(inout) + 8 * i, &right, 8);
  }
}

// Quiet, and another on each rank.
Vector nan_values(std::int64_t count, std::int32_t rank) {
  Vector vector(static_cast<std::size_t>(count * 8));
  const std::uint64_t word = 0x7ff8'0000'0000'0000ULL + static_cast<std::uint64_t>(rank) + 1;
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(vector.data() + 8 * i, &word, 8);
  return vector;
}

// One kind of question with its vectors, asked again and again.
class Asked {
 public:
  Asked(Job& job, const LibraryCall& call, Collective question, Vector contents)
      : job_(job), call_(call), question_(std::move(question)), contents_(std::move(contents)),
        input_(contents_.size()), output_(contents_.size()) {}

  // With `operation` in place of the question's own. All ranks' results as one number.
  Result<std::uint64_t> ask(std::optional<mpi::Handle> operation = {}) {
    const Status mine = once(operation);
    if (!job_.all(mine.ok())) return mine ? failed("a rank cannot make this call") : mine.error();
    const Vectors::Set set{input_.data(), output_.data()};
    const Candidate::Bytes left = candidate_->result(set);
    const std::uint64_t hash = left.data ? hash_of(left.data, left.bytes) : 0;
    std::uint64_t all = 0;
    for (const std::int64_t h : job_.gather(static_cast<std::int64_t>(mixed(hash, lengths_seen))))
      all = mixed(all, static_cast<std::uint64_t>(h));
    return all;
  }

  struct Times {
    std::int64_t start_ns = 0, end_ns = 0;
  };
  // Of this rank's call, before which it stays away.
  Times times_after(double sleep) {
    prepare();
    job_.barrier();
    if (sleep > 0) stay_away(sleep);
    Times times{measure::now_ns(), 0};
    if (const Status s = candidate_->call({input_.data(), output_.data()}); !s) job_.give_up(s.error());
    times.end_ns = measure::now_ns();
    return times;
  }

 private:
  // The library goes on taking what arrives, as it may or may not do for a rank that is not in MPI: a short message is
  // gone then for its sender, and nobody waits for who only receives one.
  void stay_away(double seconds) const {
    const auto end = measure::now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    const mpi::Library& mpi = job_.library();
    while (measure::now_ns() < end) {
      int flag = 0;
      mpi.call.Iprobe(mpi.constants.any_source, mpi.constants.any_tag, job_.world(), &flag,
                      mpi.constants.status_ignore);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  void prepare() {
    std::copy(contents_.begin(), contents_.end(), input_.begin());
    std::fill(output_.begin(), output_.end(), std::byte{0});
    if (!candidate_) candidate_ = library_candidate(job_.library(), call_, question_, Rank{job_.rank()});
  }

  Status once(std::optional<mpi::Handle> operation) {
    candidate_ = library_candidate(job_.library(), call_, question_, Rank{job_.rank()}, operation);
    prepare();
    lengths_seen = 0;
    job_.barrier();
    return candidate_->call({input_.data(), output_.data()});
  }

  Job& job_;
  LibraryCall call_;
  Collective question_;
  Vector contents_, input_, output_;
  std::unique_ptr<Candidate> candidate_;
};

std::string hex(std::uint64_t word) { return fmt::format("{:016x}", word); }

// Twice the same, or no mark. Error: refused.
Status add_mark(json& marks, const char* name, Asked asked, std::optional<mpi::Handle> operation = {}) {
  const std::uint64_t first = TRY(asked.ask(operation));
  const std::uint64_t second = TRY(asked.ask(operation));
  if (first == second) marks[name] = hex(first);
  return Nothing{};
}

Status add_trace(json& marks, Job& job, const LibraryCall& call, Collective question) {
  question.type = DataType::uint64;
  Vector contents(static_cast<std::size_t>(question.bytes().value));
  for (std::size_t at = 0; at < contents.size(); at += 8) {
    const std::uint64_t word = mixed(static_cast<std::uint64_t>(job.rank()) + 1, 1);
    std::memcpy(contents.data() + at, &word, 8);
  }
  const mpi::Functions& mpi = job.library().call;
  mpi::Handle operation = 0;
  if (Status s = job.agree(job.library().check(mpi.Op_create(&trace, 1, &operation), "MPI_Op_create")); !s) return s;
  // Refused without an error: some algorithms take predefined operations alone, as the call that is asked about has.
  static_cast<void>(add_mark(marks, "trace", Asked(job, call, std::move(question), std::move(contents)), operation));
  mpi.Op_free(&operation);
  return Nothing{};
}

// Who waits for whom: for each late one, a digit for every rank; for many ranks, as one number. Who has ended before
// the late one came does not wait for it, for certain; whoever has not may have been held up by something else, so that
// what several repetitions have not cleared is believed.
std::string waits(const Job& job, Asked& asked, const FingerprintOptions& options) {
  std::uint64_t all = 0;
  std::string shown;
  for (std::int32_t late = 0; late < job.ranks(); ++late) {
    std::vector<std::int64_t> waiting;
    bool mine = job.rank() != late;
    for (std::int32_t repeat = 0, same = 0; repeat < options.repeats && same < options.unchanged; ++repeat) {
      const Asked::Times times = asked.times_after(job.rank() == late ? options.delay_seconds : 0);
      const std::int64_t came = job.gather(times.start_ns)[static_cast<std::size_t>(late)];
      mine = mine && times.end_ns > came;
      std::vector<std::int64_t> now = job.gather(mine ? 1 : 0);
      same = now == waiting ? same + 1 : 0;
      waiting = std::move(now);
    }
    for (const std::int64_t w : waiting) all = mixed(all, static_cast<std::uint64_t>(w));
    shown += late > 0 ? " " : "";
    for (const std::int64_t w : waiting) shown += w > 0 ? '1' : '0';
  }
  return job.ranks() <= most_ranks_shown ? shown : hex(all);
}

} // namespace

Result<json> fingerprint_of(Job& job, const LibraryCall& call, const Collective& question,
                            const FingerprintOptions& options) {
  const std::int64_t count = question.counts.each;
  const Need need{3 * question.bytes().value, "the vectors of a fingerprint"};
  Result<Vector> values =
      with_memory(need, [&] { return values_of(question.type, question.operation, count, job.rank(), 11); });
  if (Status s = job.agree(values); !s) return s.error();
  json marks = json::object();
  if (call.reduces()) {
    if (Status s = add_mark(marks, "sum", Asked(job, call, question, *values)); !s) return s.error();
    if (Status s = add_mark(marks, "nan", Asked(job, call, question, nan_values(count, job.rank()))); !s)
      return s.error();
    if (Status s = add_trace(marks, job, call, question); !s) return s.error();
  } else if (options.delay_seconds > 0 && job.ranks() > 2 && job.has_one_clock()) {
    Asked asked(job, call, question, std::move(*values));
    if (const Result<std::uint64_t> once = asked.ask(); !once) return once.error();
    marks["waits"] = waits(job, asked, options);
  } else {
    Asked asked(job, call, question, std::move(*values)); // does the library take the call?
    if (const Result<std::uint64_t> once = asked.ask(); !once) return once.error();
  }
  return marks;
}

} // namespace kumihimo::bench_driver
