#include "file_bench/state_phases.hpp"

#include "file_bench/page_cache.hpp"
#include "file_bench/pattern.hpp"
#include "file_bench/phase_clock.hpp"
#include "saved_state/state_store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <new>
#include <vector>

namespace kumihimo::file_bench {
namespace {

using mpi_job::MpiJob;
using nlohmann::json;
using saved_state::StateStore;

constexpr const char* stem = "state";

json times_json(const MpiJob& job, const PhaseClock& clock, double begin, double end, std::int64_t bytes) {
  return {{"seconds", clock.span(begin, end)}, {"bytes", bytes * job.ranks()}};
}

Result<json> save(const MpiJob& job, StateStore& store, const StateCase& c, std::vector<std::byte>& bytes) {
  BytePattern(c.seed + static_cast<std::uint64_t>(c.generation), stem, job.rank()).fill(bytes, 0);
  const PhaseClock clock(job);
  const double begin = clock.now();
  const saved_state::SavedArray array{stem, bytes};
  const Status status = store.save(c.generation, std::span(&array, 1));
  const double end = clock.now();
  if (Status s = job.agree(status); !s) return s.error();
  return times_json(job, clock, begin, end, c.bytes);
}

Result<json> load(const MpiJob& job, const StateStore& store, const std::string& folder, const StateCase& c,
                  std::vector<std::byte>& bytes) {
  Residency cached;
  for (const char* suffix : {".0", ".1"}) {
    const std::string path = fmt::format("{}/{}-{}{}", folder, stem, job.rank(), suffix);
    if (!c.keeps_cache) static_cast<void>(evict(path).ok()); // one of the two may be missing
    const Residency each = residency_of(path);
    cached.pages += each.pages, cached.resident += each.resident;
  }
  const std::vector<double> pages = job.sum({static_cast<double>(cached.pages), static_cast<double>(cached.resident)});
  const PhaseClock clock(job);
  const double begin = clock.now();
  const saved_state::ArrayPlace place{stem, bytes};
  Status status = store.load(c.generation, std::span(&place, 1));
  const double end = clock.now();
  const BytePattern expected(c.seed + static_cast<std::uint64_t>(c.generation), stem, job.rank());
  if (const auto at = status ? expected.first_difference(bytes, 0) : std::nullopt)
    status = failed(fmt::format("the loaded state of rank {} differs at byte {}", job.rank(), *at));
  if (Status s = job.agree(status); !s) return s.error();
  json found = times_json(job, clock, begin, end, c.bytes);
  found["cached_share"] = pages[0] > 0 ? pages[1] / pages[0] : 0.0;
  return found;
}

} // namespace

Result<StateCase> parse_state_case(const json& given) {
  StateCase c;
  c.bytes = given.at("bytes").get<std::int64_t>();
  c.generation = given.value("generation", std::int64_t{1});
  c.keeps_cache = given.value("cache", "evict") == "keep";
  c.seed = given.value("seed", std::uint64_t{1});
  if (c.bytes < 1) return wrong_value("a state must have at least 1 byte", c.bytes);
  return c;
}

Result<json> run_state_phase(const MpiJob& job, const std::string& folder, const StateCase& c,
                             const std::string& what) {
  Result<StateStore> store = StateStore::open(folder, stem, job.rank());
  if (Status s = job.agree(store); !s) return s.error();
  if (what == "discard") {
    if (Status s = job.agree(store->remove()); !s) return s.error();
    return json::object();
  }
  std::vector<std::byte> bytes;
  Status has_memory = Nothing{};
  try {
    bytes.resize(static_cast<std::size_t>(c.bytes));
  } catch (const std::bad_alloc&) {
    has_memory = failed(fmt::format("there is no memory for a state of {} bytes", c.bytes), {}, "give smaller --bytes");
  }
  if (Status s = job.agree(has_memory); !s) return s.error();
  if (what == "save") return save(job, *store, c, bytes);
  if (what == "load") return load(job, *store, folder, c, bytes);
  return wrong_value("a phase of a state must be save, load or discard", "'" + what + "'");
}

} // namespace kumihimo::file_bench
