#include "file_bench/data_phases.hpp"

#include "file_bench/page_cache.hpp"
#include "file_bench/pattern.hpp"
#include "file_bench/phase_clock.hpp"
#include "file_bench/system_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>

namespace kumihimo::file_bench {
namespace {

using mpi_job::MpiJob;
using nlohmann::json;

constexpr std::size_t alignment = 4096; // of memory and places, which O_DIRECT wants

// Memory of one transfer, as O_DIRECT wants it.
class TransferBuffer {
 public:
  explicit TransferBuffer(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        memory_(
            static_cast<std::byte*>(std::aligned_alloc(alignment, (bytes_ + alignment - 1) / alignment * alignment)),
            &std::free) {
    if (!memory_) throw std::bad_alloc();
    std::fill_n(memory_.get(), bytes_, std::byte{0}); // the pages are there before the time counts
  }
  std::span<std::byte> bytes() const { return {memory_.get(), bytes_}; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

// Where the data of an owner are.
struct DataPlaces {
  const DataCase& c;
  const std::string& folder;
  std::int32_t ranks;

  std::string path(std::int32_t owner) const {
    return c.file.is_shared ? fmt::format("{}/data-{}", folder, c.name)
                            : fmt::format("{}/data-{}.{}", folder, c.name, owner);
  }
  std::int64_t position(std::int32_t owner, std::int64_t transfer) const {
    const std::int64_t in_block = c.block / c.transfer, segment = transfer / in_block;
    const std::int64_t block = c.file.is_shared ? segment * ranks + owner : segment;
    return block * c.block + transfer % in_block * c.transfer;
  }
  std::int64_t file_bytes() const { return c.block * c.segments * (c.file.is_shared ? ranks : 1); }
};

// Of one rank, in seconds on the scale of the phase's clock. Time for making bytes counts as not passed where nothing
// goes on meanwhile: where a write is a copy to the page cache, or one rank writes by itself. Elsewhere the storage
// works on, and the time that passed is the honest one.
struct PhaseTimes {
  double begin = 0, opened = 0, moved = 0, closed = 0;
  double pattern = 0;
  double limit_reached = 0; // when this rank stopped for the limit
  std::int64_t transfers = 0, transfers_at_limit = 0;
};

// One number of each rank's times over all ranks, as IOR counts them.
json times_json(const MpiJob& job, const PhaseClock& clock, const PhaseTimes& t, const DataCase& c) {
  const double total = clock.span(t.begin, t.closed);
  const std::vector<double> sums = job.sum(
      {static_cast<double>(t.transfers), t.moved - t.opened, t.pattern, static_cast<double>(t.transfers_at_limit)});
  const double moving = clock.span(t.opened, t.moved);
  json found = {{"seconds", total},
                {"open_seconds", clock.span(t.begin, t.opened)},
                {"transfer_seconds", moving},
                {"close_seconds", clock.span(t.moved, t.closed)},
                {"pattern_seconds", sums[2] / job.ranks()},
                {"transfers", static_cast<std::int64_t>(sums[0])},
                {"bytes", static_cast<std::int64_t>(sums[0]) * c.transfer},
                {"latency_seconds", sums[0] > 0 ? sums[1] / sums[0] : 0.0}};
  if (c.limit > 0) {
    found["limit_seconds"] = clock.last(t.limit_reached - t.begin);
    found["bytes_at_limit"] = static_cast<std::int64_t>(sums[3]) * c.transfer;
  }
  return found;
}

// The file of a case, not open yet. Error: on all ranks, if any has one.
Result<std::unique_ptr<ByteFile>> byte_file(const MpiJob& job, const DataCase& c, const DataPlaces& places) {
  ByteFileOptions options = c.file;
  options.bytes = places.file_bytes();
  Result<std::unique_ptr<ByteFile>> file = make_byte_file(job, options);
  if (Status s = job.agree(file); !s) return s.error();
  return file;
}

bool is_opened_by_all(const ByteFileOptions& file) { return file.interface != Interface::posix; }

// Opens it, and takes the times. The status is this rank's; where collective calls follow, an error of one is one of
// all.
Result<Status> opened(ByteFile& file, const MpiJob& job, const DataCase& c, const std::string& path, OpenFor what,
                      const PhaseClock& clock, PhaseTimes& t) {
  t.begin = clock.now();
  const Status status = file.open(path, what);
  t.opened = clock.now();
  if (is_opened_by_all(c.file) || c.limit > 0)
    if (Status s = job.agree(status); !s) return s.error();
  return status;
}

class DataWriting {
 public:
  DataWriting(const MpiJob& job, const std::string& folder, DataCase& c)
      : job_(job), c_(c), places_{c, folder, job.ranks()}, pattern_(c.seed, c.name, job.rank()), buffer_(c.transfer) {}

  Result<json> run() {
    const std::unique_ptr<ByteFile> file = TRY(byte_file(job_, c_, places_));
    const PhaseClock clock(job_);
    PhaseTimes t;
    Status status = TRY(opened(*file, job_, c_, places_.path(job_.rank()), OpenFor::writing, clock, t));
    if (status) status = write_all(*file, clock, t);
    const double pattern = waits_for_pattern() ? t.pattern : 0;
    if (c_.syncs && (status || (c_.file.is_shared && is_opened_by_all(c_.file)))) // where it is collective
      if (Status synced = file->sync(); status && !synced) status = synced;
    t.moved = clock.now() - pattern;
    if (Status closed = file->close(); status && !closed) status = closed;
    t.closed = clock.now() - pattern;
    if (Status s = job_.agree(status); !s) return s.error();
    json found = times_json(job_, clock, t, c_);
    found["synced"] = c_.syncs;
    return found;
  }

 private:
  bool waits_for_pattern() const { return c_.file.is_direct ? job_.ranks() == 1 : !c_.syncs; }

  Status write_all(ByteFile& file, const PhaseClock& clock, PhaseTimes& t) {
    const std::int64_t all = c_.transfers();
    Status status = Nothing{};
    std::int64_t done = 0;
    for (; done < all; ++done) {
      if (c_.limit > 0 && clock.now() - t.begin >= c_.limit) break;
      write_one(file, done, clock, t, status);
      if (!status && !is_collective(c_.file.interface)) break; // else the others would wait for this rank
    }
    t.limit_reached = clock.now() - (waits_for_pattern() ? t.pattern : 0), t.transfers_at_limit = done;
    if (c_.limit > 0) { // as much as the fastest rank, so that every rank's part of a file is there
      const auto most = static_cast<std::int64_t>(job_.largest({static_cast<double>(done)})[0]);
      for (; done < most && status; ++done) write_one(file, done, clock, t, status);
      c_.written = most;
    }
    t.transfers = done;
    return status;
  }
  void write_one(ByteFile& file, std::int64_t transfer, const PhaseClock& clock, PhaseTimes& t, Status& status) {
    const std::int64_t position = places_.position(job_.rank(), transfer);
    const double begin = clock.now();
    pattern_.fill(buffer_.bytes(), position);
    t.pattern += clock.now() - begin;
    if (Status s = file.write(position, buffer_.bytes()); status && !s) status = s;
  }

  const MpiJob& job_;
  DataCase& c_;
  DataPlaces places_;
  BytePattern pattern_;
  TransferBuffer buffer_;
};

class DataReading {
 public:
  DataReading(const MpiJob& job, const std::string& folder, const DataCase& c)
      : job_(job), c_(c), folder_(folder), places_{c, folder, job.ranks()},
        owner_((job.rank() + c.shift) % job.ranks()), pattern_(c.seed, c.name, owner_), buffer_(c.transfer) {}

  Result<json> run() {
    if (Status s = job_.agree(leave_cache()); !s) return s.error();
    job_.barrier();
    const Residency mine = residency();
    const std::vector<double> pages = job_.sum({static_cast<double>(mine.pages), static_cast<double>(mine.resident)});
    const std::unique_ptr<ByteFile> file = TRY(byte_file(job_, c_, places_));
    const PhaseClock clock(job_);
    PhaseTimes t;
    Status status = TRY(opened(*file, job_, c_, places_.path(owner_), OpenFor::reading, clock, t));
    if (status) status = read_all(*file, t, false);
    t.moved = clock.now();
    if (Status closed = file->close(); status && !closed) status = closed;
    t.closed = clock.now();
    if (Status s = job_.agree(status); !s) return s.error();
    if (c_.checks) { // again, so that its time is no part of the others'
      PhaseTimes ignored;
      const std::unique_ptr<ByteFile> again = TRY(byte_file(job_, c_, places_));
      status = TRY(opened(*again, job_, c_, places_.path(owner_), OpenFor::reading, clock, ignored));
      if (status) status = read_all(*again, ignored, true);
      if (Status closed = again->close(); status && !closed) status = closed;
      if (Status s = job_.agree(status); !s) return s.error();
    }
    json found = times_json(job_, clock, t, c_);
    found["cached_share"] = pages[0] > 0 ? pages[1] / pages[0] : 0.0;
    found["shift"] = c_.shift;
    found["checked"] = c_.checks;
    found["differences"] = differences();
    return found;
  }

 private:
  // All ranks of a node share its page cache: each lets go of the files that it wrote and of those that it will read.
  Status leave_cache() {
    if (c_.cache == CacheUse::keep || c_.cache == CacheUse::direct) return Nothing{};
    for (const std::int32_t owner : {job_.rank(), owner_})
      if (Status s = evict(places_.path(owner)); !s) return s;
    if (c_.cache == CacheUse::evict || !is_first_of_node()) return Nothing{};
    return drop_all_caches();
  }
  bool is_first_of_node() const {
    const std::vector<std::int64_t>& nodes = job_.nodes().node_of_rank;
    return std::find(nodes.begin(), nodes.end(), nodes[static_cast<std::size_t>(job_.rank())]) - nodes.begin() ==
           job_.rank();
  }
  // A block of this rank, if it has only one; else all of the file.
  Residency residency() const {
    const bool has_one_block = c_.segments == 1 && c_.file.is_shared && c_.file.interface < Interface::hdf5;
    return residency_of(places_.path(owner_), has_one_block ? places_.position(owner_, 0) : 0,
                        has_one_block ? c_.block : -1);
  }

  Status read_all(ByteFile& file, PhaseTimes& t, bool checks) {
    Status status = Nothing{};
    for (; t.transfers < c_.transfers_there(); ++t.transfers) {
      const std::int64_t position = places_.position(owner_, t.transfers);
      if (Status s = file.read(position, buffer_.bytes()); status && !s) status = s;
      if (!status && !is_collective(c_.file.interface)) return status;
      if (checks && status) check(position);
    }
    return status;
  }
  void check(std::int64_t position) {
    const auto place = pattern_.first_difference(buffer_.bytes(), position);
    if (!place) return;
    if (wrong_transfers_ == 0) {
      wrong_place_ = *place;
      wrong_byte_ = buffer_.bytes()[static_cast<std::size_t>(*place - position)];
    }
    ++wrong_transfers_;
  }

  // Of each rank that found one: the first wrong byte. Collective.
  json differences() const {
    const std::vector<std::int64_t> transfers = job_.gather(wrong_transfers_), places = job_.gather(wrong_place_),
                                    bytes = job_.gather(std::to_integer<std::int64_t>(wrong_byte_));
    json found = json::array();
    for (std::size_t rank = 0; rank < transfers.size(); ++rank) {
      if (transfers[rank] == 0) continue;
      const auto owner = static_cast<std::int32_t>((static_cast<std::int64_t>(rank) + c_.shift) % job_.ranks());
      const std::string path = places_.path(owner);
      const BytePattern expected(c_.seed, c_.name, owner);
      found.push_back({{"rank", rank},
                       {"file", path.substr(folder_.size() + 1)},
                       {"offset", places[rank]},
                       {"expected", std::to_integer<int>(expected.at(places[rank]))},
                       {"found", bytes[rank]},
                       {"transfers", transfers[rank]}});
    }
    return found;
  }

  const MpiJob& job_;
  const DataCase& c_;
  const std::string& folder_;
  DataPlaces places_;
  std::int32_t owner_;
  BytePattern pattern_;
  TransferBuffer buffer_;
  std::int64_t wrong_transfers_ = 0, wrong_place_ = 0;
  std::byte wrong_byte_{0};
};

// The result of make().run(), or that the memory for a transfer is missing, on which all ranks agree.
template <class Phase, class Case>
Result<json> run_phase(const MpiJob& job, const std::string& folder, Case& c) {
  std::optional<Phase> phase;
  Status has_memory = Nothing{};
  try {
    phase.emplace(job, folder, c);
  } catch (const std::bad_alloc&) {
    has_memory = failed(fmt::format("there is no memory for a transfer of {} bytes", c.transfer), {},
                        "give a smaller --transfer or fewer --ranks");
  }
  if (Status s = job.agree(has_memory); !s) return s.error();
  return phase->run();
}

Result<CacheUse> cache_use_named(const std::string& name) {
  if (name == "keep") return CacheUse::keep;
  if (name == "evict") return CacheUse::evict;
  if (name == "drop") return CacheUse::drop;
  if (name == "direct") return CacheUse::direct;
  return wrong_value("the use of the page cache must be keep, evict, drop or direct", "'" + name + "'");
}

// Others wait asleep, since a barrier that spins takes a processor.
void wait_asleep(const MpiJob& job) {
  mpi::Handle request = job.library().constants.request_null;
  job.library().call.Ibarrier(job.world(), &request);
  for (int is_done = 0; !is_done;) {
    job.library().call.Test(&request, &is_done, job.library().constants.status_ignore);
    if (!is_done) usleep(1000);
  }
}

// Seconds of writing and of reading all bytes with O_DIRECT, by this rank.
struct RoofTimes {
  double write = 0, read = 0;
};

Result<RoofTimes> roof_of_this_rank(const std::string& folder, const RoofCase& c) {
  const std::string path = folder + "/data-roof";
  const std::unique_ptr<ByteFile> file = make_posix_file(true);
  const TransferBuffer buffer(c.transfer);
  const BytePattern pattern(c.seed, "roof", 0);
  RoofTimes found;
  for (const OpenFor what : {OpenFor::writing, OpenFor::reading}) {
    if (Status s = file->open(path, what); !s) return s.error();
    double& seconds = what == OpenFor::writing ? found.write : found.read;
    for (std::int64_t at = 0; at + c.transfer <= c.bytes; at += c.transfer) {
      if (what == OpenFor::writing) pattern.fill(buffer.bytes(), at);
      const std::int64_t begin = measure::now_ns();
      if (Status s = what == OpenFor::writing ? file->write(at, buffer.bytes()) : file->read(at, buffer.bytes()); !s)
        return s.error();
      seconds += measure::seconds_since(begin);
    }
    const std::int64_t begin = measure::now_ns();
    if (what == OpenFor::writing)
      if (Status s = file->sync(); !s) return s.error();
    seconds += measure::seconds_since(begin);
    if (Status s = file->close(); !s) return s.error();
  }
  unlink(path.c_str());
  return found;
}

} // namespace

Result<DataCase> parse_data_case(const json& given) {
  DataCase c;
  c.name = given.at("name").get<std::string>();
  c.file.interface = TRY(interface_named(given.value("api", "posix")));
  c.file.is_shared = given.value("shared", false);
  c.file.hdf5_library = given.value("hdf5", "");
  for (const json& hint : given.value("hints", json::array()))
    c.file.hints.emplace_back(hint.at(0).get<std::string>(), hint.at(1).get<std::string>());
  c.cache = TRY(cache_use_named(given.value("cache", "evict")));
  c.file.is_direct = c.cache == CacheUse::direct;
  c.transfer = given.at("transfer").get<std::int64_t>();
  c.block = given.at("block").get<std::int64_t>();
  c.segments = given.value("segments", std::int64_t{1});
  c.syncs = given.value("sync", true);
  c.checks = given.value("check", true);
  c.shift = given.value("shift", 0);
  c.limit = given.value("limit", 0.0);
  c.seed = given.value("seed", std::uint64_t{1});
  if (c.transfer < 1 || c.transfer > (std::int64_t{1} << 30) || c.block % c.transfer != 0 || c.segments < 1 ||
      c.shift < 0 || c.limit < 0)
    return wrong_value("a block must be several transfers of at most 1 GiB", c.block);
  if (c.file.is_direct && c.file.interface != Interface::posix)
    return wrong_value("O_DIRECT is for the interface posix", std::string(name_of(c.file.interface)));
  if (c.file.is_direct && c.transfer % static_cast<std::int64_t>(alignment) != 0)
    return wrong_value("a transfer with O_DIRECT must be a multiple of 4096 bytes", c.transfer);
  if (c.limit > 0 && is_collective(c.file.interface))
    return wrong_value("collective calls take no limit of time", std::string(name_of(c.file.interface)));
  return c;
}

Result<json> write_data(const MpiJob& job, const std::string& folder, DataCase& c) {
  return run_phase<DataWriting>(job, folder, c);
}

Result<json> read_data(const MpiJob& job, const std::string& folder, const DataCase& c) {
  return run_phase<DataReading>(job, folder, c);
}

Result<json> remove_data(const MpiJob& job, const std::string& folder, const DataCase& c) {
  const DataPlaces places{c, folder, job.ranks()};
  const PhaseClock clock(job);
  Status status = Nothing{};
  const double begin = clock.now();
  if (!c.file.is_shared || job.rank() == 0)
    if (const std::string path = places.path(job.rank()); unlink(path.c_str()) != 0)
      status = refused_by_system(fmt::format("{} cannot be removed", path), errno);
  const double end = clock.now();
  if (Status s = job.agree(status); !s) return s.error();
  return json{{"seconds", clock.span(begin, end)}};
}

Result<json> measure_roof(const MpiJob& job, const std::string& folder, const RoofCase& c) {
  Result<RoofTimes> found = RoofTimes{};
  if (job.rank() == 0) found = roof_of_this_rank(folder, c);
  wait_asleep(job);
  if (!found && found.error().kind == Error::Kind::not_applicable) unlink((folder + "/data-roof").c_str());
  const bool has_none = !job.all(found.ok() || found.error().kind != Error::Kind::not_applicable);
  if (has_none) return json{{"missing", found ? std::string() : found.error().problem}};
  if (Status s = job.agree(found); !s) return s.error();
  const double bytes = static_cast<double>(c.bytes / c.transfer * c.transfer);
  return json{
      {"bytes", bytes}, {"transfer", c.transfer}, {"write_seconds", found->write}, {"read_seconds", found->read}};
}

} // namespace kumihimo::file_bench
