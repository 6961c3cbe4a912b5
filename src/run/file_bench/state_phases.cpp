#include "file_bench/state_phases.hpp"

#include "file_bench/page_cache.hpp"
#include "file_bench/pattern.hpp"
#include "file_bench/phase_clock.hpp"
#include "saved_state/partners.hpp"
#include "saved_state/state_store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
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

// Bytes from one rank to another by the MPI library, in messages whose length is an int; -1: none.
Status transfer(const MpiJob& job, std::int32_t to, const std::vector<std::byte>& sent, std::int32_t from,
                std::vector<std::byte>& received) {
  constexpr std::size_t longest = std::size_t{1} << 30;
  const mpi::Library& library = job.library();
  const mpi::Handle type = library.datatype(DataType::uint8);
  for (std::size_t at = 0; at < sent.size(); at += longest) {
    const int count = static_cast<int>(std::min(longest, sent.size() - at));
    mpi::Handle receive = 0, send = 0;
    if (from >= 0)
      TRY(library.check(library.call.Irecv(received.data() + at, count, type, from, 0, job.world(), &receive),
                        "MPI_Irecv"));
    if (to >= 0)
      TRY(library.check(library.call.Isend(sent.data() + at, count, type, to, 0, job.world(), &send), "MPI_Isend"));
    mpi::StatusWords status{};
    if (from >= 0) TRY(library.check(library.call.Wait(&receive, &status), "MPI_Wait"));
    if (to >= 0) TRY(library.check(library.call.Wait(&send, &status), "MPI_Wait"));
  }
  return Nothing{};
}

// `own`, `held`: memory for the copies, as long as the state and written, so that no page is made in the timed part.
Result<json> copy_and_return(const MpiJob& job, const StateCase& c, std::vector<std::byte>& state,
                             std::vector<std::byte>& own, std::vector<std::byte>& held) {
  if (job.ranks() == 1) return not_applicable("one rank has no partner", {}, "use more --ranks");
  const std::vector<std::int32_t> partners = saved_state::partners_of(job.nodes().node_of_rank);
  const std::int32_t rank = job.rank(), partner = partners[static_cast<std::size_t>(rank)];
  const auto whose = static_cast<std::int32_t>(std::ranges::find(partners, rank) - partners.begin());
  const auto lost = static_cast<std::int32_t>(c.generation % job.ranks());
  const std::int32_t holder = partners[static_cast<std::size_t>(lost)];
  const BytePattern pattern(c.seed + static_cast<std::uint64_t>(c.generation), stem, rank);
  pattern.fill(state, 0);

  const PhaseClock clock(job);
  const double begin = clock.now();
  std::ranges::copy(state, own.begin());
  const Status copied = transfer(job, partner, own, whose, held);
  const double end = clock.now();
  if (Status s = job.agree(copied); !s) return s.error();
  json found = times_json(job, clock, begin, end, c.bytes);

  std::ranges::fill(state, std::byte{0xff});
  if (rank == lost) std::ranges::fill(own, std::byte{0xff}), std::ranges::fill(held, std::byte{0xff});
  const PhaseClock back(job);
  const double back_begin = back.now();
  Status returned = transfer(job, rank == holder ? lost : -1, held, rank == lost ? holder : -1, own);
  std::ranges::copy(own, state.begin());
  const double back_end = back.now();
  if (const auto at = returned ? pattern.first_difference(state, 0) : std::nullopt)
    returned = failed(fmt::format("the state of rank {} that came back from memory differs at byte {}", rank, *at));
  if (Status s = job.agree(returned); !s) return s.error();
  found["restore_seconds"] = back.span(back_begin, back_end);
  const std::vector<std::int64_t>& node = job.nodes().node_of_rank;
  const bool is_elsewhere = node[static_cast<std::size_t>(partner)] != node[static_cast<std::size_t>(rank)];
  found["on_other_nodes"] = job.sum({is_elsewhere ? 1.0 : 0.0})[0];
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
  std::vector<std::byte> bytes, own, held; // the last two of copies in memory
  Status has_memory = Nothing{};
  try {
    bytes.resize(static_cast<std::size_t>(c.bytes));
    if (what == "partner") own.resize(bytes.size()), held.resize(bytes.size());
  } catch (const std::bad_alloc&) {
    has_memory = failed(fmt::format("there is no memory for a state of {} bytes", c.bytes), {}, "give smaller --bytes");
  }
  if (Status s = job.agree(has_memory); !s) return s.error();
  if (what == "save") return save(job, *store, c, bytes);
  if (what == "load") return load(job, *store, folder, c, bytes);
  if (what == "partner") return copy_and_return(job, c, bytes, own, held);
  return wrong_value("a phase of a state must be save, load, partner or discard", "'" + what + "'");
}

} // namespace kumihimo::file_bench
