#include "node_bench/stream.hpp"

#include "measure/clock.hpp"
#include "node_bench/stream_kernels.hpp"
#include "threads/array.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace kumihimo::node_bench {
namespace {

constexpr double q = 0.41421356237309504880; // q (2 + q) = 1
constexpr std::int64_t line = 8;             // doubles of a cache line

double seconds_of(int kernel, Stores stores, const StreamArrays& arrays, std::int64_t lines) {
  const std::int64_t start = measure::now_ns();
#pragma omp parallel
  {
    const threads::IndexRange mine = threads::part(lines, omp_get_thread_num(), omp_get_num_threads());
    run_stream(kernel, stores, arrays, q, mine.begin * line, mine.end * line);
  }
  return measure::seconds_since(start);
}

void fill(double* x, double value, std::int64_t lines) {
#pragma omp parallel
  {
    const threads::IndexRange mine = threads::part(lines, omp_get_thread_num(), omp_get_num_threads());
    for (std::int64_t i = mine.begin * line; i < mine.end * line; ++i) x[i] = value;
  }
}

Status compare(const char* name, const double* x, double expected, std::int64_t length) {
  for (std::int64_t i = 0; i < length; ++i)
    if (x[i] != expected)
      return failed("STREAM gave a wrong result", "element " + std::to_string(i) + " of " + name + " is " +
                                                      std::to_string(x[i]) + ", not " + std::to_string(expected));
  return Nothing{};
}

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

} // namespace

std::int64_t usual_array_bytes(const std::string& folder) {
  std::map<std::string, std::int64_t> caches; // by the processors that share one
  std::error_code none;
  for (const auto& processor : std::filesystem::directory_iterator(folder, none)) {
    int highest = 0;
    std::pair<std::string, std::int64_t> last;
    for (const auto& cache : std::filesystem::directory_iterator(processor.path() / "cache", none)) {
      const int level = std::atoi(first_line(cache.path() / "level").c_str());
      if (level <= highest || first_line(cache.path() / "type") == "Instruction") continue;
      highest = level;
      last = {first_line(cache.path() / "shared_cpu_list"),
              std::atoll(first_line(cache.path() / "size").c_str()) * 1024}; // "32768K"
    }
    if (highest > 0) caches.insert(last);
  }
  std::int64_t all = caches.empty() ? std::int64_t{32} << 20 : 0; // where the system does not say
  for (const auto& [shared_by, bytes] : caches) all += bytes;
  return std::max(4 * all, std::int64_t{64} << 20);
}

Result<StreamSamples> measure_stream(std::int64_t bytes_per_array, int threads, int rounds) {
  const std::int64_t lines = bytes_per_array / (line * static_cast<std::int64_t>(sizeof(double)));
  if (lines < 1) return wrong_value("an array of STREAM must have at least 64 bytes", bytes_per_array);
  if (rounds < 1) return wrong_value("STREAM must have at least 1 round", rounds);
  (void)TRY(threads::use(threads));
  StreamSamples made{.bound = threads::bind(), .bytes_per_array = lines * line * 8, .cached = {}, .streamed = {}};
  threads::ThreadedArray<double> a = TRY(threads::ThreadedArray<double>::zeros(lines * line));
  threads::ThreadedArray<double> b = TRY(threads::ThreadedArray<double>::zeros(lines * line));
  threads::ThreadedArray<double> c = TRY(threads::ThreadedArray<double>::zeros(lines * line));
  const StreamArrays arrays{a.data(), b.data(), c.data()};
  volatile double one_a = 1, one_b = 2, one_c = 0; // volatile: each operation rounded by itself
  fill(a.data(), one_a, lines);
  fill(b.data(), one_b, lines);
  fill(c.data(), one_c, lines);
  for (int round = -1; round < rounds; ++round) // the first one is not counted
    for (const Stores stores : {Stores::cached, Stores::streamed}) {
      if (stores == Stores::streamed && !has_non_temporal_stores()) continue;
      for (int kernel = 0; kernel < 4; ++kernel) {
        const double seconds = seconds_of(kernel, stores, arrays, lines);
        auto& samples = stores == Stores::cached ? made.cached : made.streamed;
        if (round >= 0) samples[static_cast<std::size_t>(kernel)].push_back(seconds);
      }
      one_c = one_a;
      one_b = q * one_c;
      one_c = one_a + one_b;
      const double product = q * one_c;
      one_a = one_b + product;
    }
  (void)TRY(compare("a", a.data(), one_a, lines * line));
  (void)TRY(compare("b", b.data(), one_b, lines * line));
  (void)TRY(compare("c", c.data(), one_c, lines * line));
  return made;
}

} // namespace kumihimo::node_bench
