#include "bench_driver/fingerprint.hpp"

#include "bench_driver/vectors.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace kumihimo::bench_driver {
namespace {

using nlohmann::json;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { // neither commutative nor associative
  std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + std::rotl(b, 23) + 0x632be59bd9b4e019ULL;
  z = (z ^ z >> 32) * 0xd6e8feb86659fd93ULL;
  return z ^ z >> 29;
}

// Quiet, and another on each rank.
Vector nan_values(std::int64_t count, std::int32_t rank) {
  Vector vector(static_cast<std::size_t>(count * 8));
  const std::uint64_t word = 0x7ff8'0000'0000'0000ULL + static_cast<std::uint64_t>(rank) + 1;
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(vector.data() + 8 * i, &word, 8);
  return vector;
}

// One collective with its vectors, called again and again.
class FingerprintRun {
 public:
  FingerprintRun(MpiJob& job, const LibraryCall& call, Collective collective, Vector contents)
      : job_(job), call_(call), collective_(std::move(collective)), contents_(std::move(contents)),
        input_(contents_.size()), output_(contents_.size()) {}

  // All ranks' results as one number.
  Result<std::uint64_t> ask() {
    const Status mine = once();
    if (!job_.all(mine.ok())) return mine ? failed("a rank cannot make this call") : mine.error();
    const BenchVectors::Set set{input_.data(), output_.data()};
    const BenchCandidate::Bytes left = candidate_->result(set);
    const std::uint64_t hash = left.data ? hash_of(left.data, left.bytes) : 0;
    std::uint64_t all = 0;
    for (const std::int64_t h : job_.gather(static_cast<std::int64_t>(hash)))
      all = mixed(all, static_cast<std::uint64_t>(h));
    return all;
  }

 private:
  Status once() {
    std::copy(contents_.begin(), contents_.end(), input_.begin());
    std::fill(output_.begin(), output_.end(), std::byte{0});
    candidate_ = library_candidate(job_.library(), call_, collective_, Rank{job_.rank()});
    job_.barrier();
    return candidate_->call({input_.data(), output_.data()});
  }

  MpiJob& job_;
  LibraryCall call_;
  Collective collective_;
  Vector contents_, input_, output_;
  std::unique_ptr<BenchCandidate> candidate_;
};

std::string hex(std::uint64_t word) { return fmt::format("{:016x}", word); }

// Twice the same, or no mark. Error: refused.
Status add_mark(json& marks, const char* name, FingerprintRun asked) {
  const std::uint64_t first = TRY(asked.ask());
  const std::uint64_t second = TRY(asked.ask());
  if (first == second) marks[name] = hex(first);
  return Nothing{};
}

} // namespace

Result<json> fingerprint_of(MpiJob& job, const LibraryCall& call, const Collective& collective) {
  const std::int64_t count = collective.counts.each;
  const Need need{3 * collective.bytes().value, "the vectors of a fingerprint"};
  Result<Vector> values =
      with_memory(need, [&] { return values_of(collective.type, collective.operation, count, job.rank(), 11); });
  if (Status s = job.agree(values); !s) return s.error();
  json marks = json::object();
  if (call.reduces()) {
    if (Status s = add_mark(marks, "sum", FingerprintRun(job, call, collective, *values)); !s) return s.error();
    if (Status s = add_mark(marks, "nan", FingerprintRun(job, call, collective, nan_values(count, job.rank()))); !s)
      return s.error();
  } else {
    FingerprintRun asked(job, call, collective, std::move(*values)); // does the library take the call?
    if (const Result<std::uint64_t> once = asked.ask(); !once) return once.error();
  }
  return marks;
}

} // namespace kumihimo::bench_driver
