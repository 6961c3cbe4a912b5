// Writes the profile: each rank makes one line of JSON (docs/profile-format.md), and rank 0 collects them.
#include "base/json_text.hpp"
#include "base/terminal_text.hpp"
#include "base/whole_file.hpp"
#include "record/python_frames.hpp"
#include "record/recorder.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string_view>

namespace kumihimo::record {
namespace {

using nlohmann::json;

constexpr int tag = 31998;
constexpr std::int64_t most_at_once = std::int64_t{1} << 30;

double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string host_name() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

std::string line_of(const json& object) { return text_of_json(object) + "\n"; }

// The place of a return address: object and offset for a debugger, and the nearest name that the loader knows.
json place_of(std::uintptr_t address) {
  Dl_info object{};
  link_map* map = nullptr;
  if (!dladdr1(reinterpret_cast<void*>(address), &object, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) || !map)
    return {{"object", ""}, {"offset", address}};
  std::string path = object.dli_fname ? object.dli_fname : "";
  if (!map->l_name || !*map->l_name) { // the program itself
    std::array<char, 4096> text{};
    if (const ssize_t n = readlink("/proc/self/exe", text.data(), text.size() - 1); n > 0) path = text.data();
  }
  return {{"object", path},
          {"offset", address - map->l_addr},
          {"function", object.dli_sname ? json(object.dli_sname) : json(nullptr)}};
}

json place_of(const PythonFrames::Place& place) {
  return {{"file", place.file}, {"line", place.line}, {"function", place.function}};
}

// The call sites of a rank, numbered as they come up.
class Sites {
 public:
  json number(std::uintptr_t site, bool python) {
    if (!python && site == 0) return nullptr;
    const auto [it, is_new] = numbers_.try_emplace({site, python}, list_.size());
    if (is_new) list_.push_back(python ? place_of(places_.at(site)) : place_of(site));
    return it->second;
  }
  json list() const { return list_; }

 private:
  std::vector<PythonFrames::Place> places_ = PythonFrames::get().places();
  std::map<std::pair<std::uintptr_t, bool>, std::size_t> numbers_;
  json list_ = json::array();
};

json values_of(const Counters::Values& values, const Counters::Values& before) {
  json object = json::object();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] >= 0) object[counter_names[i]] = values[i] - std::max<std::int64_t>(before[i], 0);
  return object;
}

template <class Value>
json name_or_null(std::uint8_t number) {
  return number == ChoiceKey::none ? json(nullptr) : json(name_of(static_cast<Value>(number)));
}

json row_of(const Row& row, Sites& sites) {
  json object{{"call", mpi_hooks::describe(row.key.name).name},
              {"site", sites.number(row.key.site, row.key.python)},
              {"communicator", row.key.communicator ? json(row.key.communicator - 1) : json(nullptr)},
              {"calls", row.calls},
              {"bytes", row.bytes},
              {"seconds", seconds(row.ns)},
              {"min_seconds", seconds(row.shortest_ns)},
              {"max_seconds", seconds(row.longest_ns)}};
  if (const std::int64_t timed = row.timed.calls(); timed > 0 && timed < row.calls) {
    object["timed_calls"] = timed;
    if (const auto error = row.timed.error_ns()) object["seconds_error"] = *error * 1e-9;
  }
  if (row.collective) {
    const ChoiceKey& question = row.key.question;
    object["bytes_from"] = least_of_class(question.size_class);
    object["smallest_bytes"] = row.smallest;
    object["largest_bytes"] = row.largest;
    object["type"] = name_or_null<DataType>(question.type);
    object["operation"] = name_or_null<Operation>(question.operation);
    object["in_place"] = question.in_place != 0;
    object["apart_seconds"] = seconds(row.apart_ns_of_all());
  }
  if (row.non_blocking_collective) {
    object["completion_seconds"] = seconds(row.completion_ns);
    object["overlap_seconds"] = seconds(row.overlap_ns);
    if (row.split_ns > 0)
      object["completion_waiting_seconds"] =
          seconds(row.completion_ns) * static_cast<double>(row.waiting_ns) / static_cast<double>(row.split_ns);
    return object;
  }
  if (row.blocking_collective) object["split_calls"] = row.split_calls;
  if (row.split_calls > 0) {
    object["split_seconds"] = seconds(row.split_ns);
    object["waiting_seconds"] = seconds(row.waiting_ns);
    object["transferring_seconds"] = seconds(row.transferring_ns);
  }
  return object;
}

json kind_of(const CommunicatorKind& kind, Sites& sites) {
  return {{"name", kind.origin.name},
          {"window", kind.origin.window},
          {"parent", kind.origin.parent ? json(kind.origin.parent - 1) : json(nullptr)},
          {"site", sites.number(kind.origin.site, kind.origin.python)},
          {"size", kind.size},
          {"leader", kind.leader},
          {"last", kind.last},
          {"rank", kind.rank < 0 ? json(nullptr) : json(kind.rank)},
          {"inter", kind.inter},
          {"made", kind.made}};
}

json region_of(const Regions::Identity& identity, const RegionCounts& region, Sites& sites) {
  json object{{"name", identity.first},
              {"passages", region.passages},
              {"seconds", seconds(region.ns)},
              {"max_seconds", seconds(region.longest_ns)},
              {"mpi_seconds", seconds(region.mpi_ns)},
              {"waiting_seconds", seconds(region.waiting_ns)},
              {"unended", region.unended},
              {"passage_ns", region.sample.kept()},
              {"passage_stride", region.sample.stride()},
              {"counters", region.passages > 0 ? values_of(region.counters, {}) : json::object()}}; // of whole passages
  if (!identity.second.empty()) object["expectation"] = identity.second;
  if (!region.file.empty())
    object["file"] = region.file, object["line"] = region.line;
  else if (region.address != 0)
    object["site"] = sites.number(region.address, false);
  return object;
}

// The numbers of calls in the events are those of this build.
json names_of_calls() {
  json names = json::object();
  for (std::size_t n = 0; n < mpi_hooks::names; ++n)
    names[std::to_string(n)] = mpi_hooks::describe(static_cast<mpi_hooks::Name>(n)).name;
  return names;
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

// The --mpi of the srun that started these ranks, which is empty for Slurm's default; null if another launcher did. An
// mpirun inside a step inherits the variables of the step, but starts another number of ranks or has variables of its
// own: MPI_LOCALNRANKS of Hydra, another PMIX_NAMESPACE of Open MPI.
json srun_mpi(int ranks) {
  const std::string_view space = environment("PMIX_NAMESPACE");
  const bool is_of_step = environment("SLURM_STEP_NUM_TASKS") == std::to_string(ranks);
  const bool is_of_mpirun = !environment("MPI_LOCALNRANKS").empty() || (!space.empty() && !space.starts_with("slurm."));
  return is_of_step && !is_of_mpirun ? json(environment("SLURM_MPI_TYPE")) : json(nullptr);
}

json trace_of(const TraceBuffer& trace, Sites& sites) {
  const auto [events, left_out] = trace.counts();
  json numbers = json::array();
  for (const auto& [site, python] : trace.sites()) numbers.push_back(sites.number(site, python));
  return {{"events", events}, {"left_out", left_out}, {"sites", numbers}, {"regions", trace.regions()}};
}

// Calls f with the record of each thread that changes nothing in it now, and waits for that some time. Returns the
// number of the others.
template <class F>
int each_at_rest(F f) {
  int others = 0;
  CountingFlag::fence_all_threads();
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  PerThread<ThreadRecord>::each([&](ThreadRecord& thread) {
    if (thread.counting.is_clear_by(patience))
      f(thread);
    else
      ++others;
  });
  return others;
}

} // namespace

std::string Recorder::header() const {
  return line_of({{"kumihimo_profile", 1},
                  {"version", KUMIHIMO_VERSION},
                  {"mpi", library_.version},
                  {"library", library_.path},
                  {"srun_mpi", srun_mpi(ranks())},
                  {"ranks", ranks()},
                  {"program", settings_.program.empty() ? json(nullptr) : json(settings_.program)},
                  {"sync", settings_.sync},
                  {"several_nodes", clock_.several_nodes()},
                  {"trace", trace_ ? json{{"calls", names_of_calls()}} : json(nullptr)},
                  {"counters_reason", counters_.reason().empty() ? json(nullptr) : json(counters_.reason())}});
}

std::string Recorder::part(bool whole) {
  const std::int64_t ended_ns = Clock::now_ns();
  if (sampler_) sampler_->finish();
  Sites sites;
  json calls = json::array(), kinds = json::array(), sizes = json::object(), partners = json::array(),
       regions = json::array();
  std::map<int, PeerTraffic> traffic;
  std::map<std::string, Histogram> histograms;
  std::int64_t mpi_ns = 0;
  const int left_out = each_at_rest([&](const ThreadRecord& thread) {
    mpi_ns += thread.mpi_ns;
    for (const Row& row : thread.rows.all()) calls.push_back(row_of(row, sites));
    for (const auto& [partner, t] : thread.partners) {
      traffic[partner].messages += t.messages, traffic[partner].bytes += t.bytes;
      traffic[partner].one_sided_messages += t.one_sided_messages;
      traffic[partner].one_sided_bytes += t.one_sided_bytes;
    }
    for (std::size_t n = 0; n < mpi_hooks::names; ++n)
      if (thread.sizes[n]) {
        auto& all = histograms[std::string(mpi_hooks::describe(static_cast<mpi_hooks::Name>(n)).name)];
        for (std::size_t i = 0; i < all.size(); ++i) all[i] += (*thread.sizes[n])[i];
      }
  });
  for (const CommunicatorKind& kind : communicators_.kinds()) kinds.push_back(kind_of(kind, sites));
  for (const auto& [partner, t] : traffic)
    partners.push_back({partner, t.messages, t.bytes, t.one_sided_messages, t.one_sided_bytes});
  for (const auto& [name, histogram] : histograms)
    for (std::size_t i = 0; i < histogram.size(); ++i)
      if (histogram[i] > 0) sizes[name].push_back({least_of_class(i), histogram[i]});
  for (const auto& [identity, region] : regions_.all()) regions.push_back(region_of(identity, region, sites));
  const json trace = trace_ ? trace_of(trace_, sites) : json(nullptr);
  return line_of({{"rank", rank()},
                  {"host", host_name()},
                  {"processors", processors_},
                  {"thread_samples", sampler_ ? sampler_->samples() : json(nullptr)},
                  {"process", process_},
                  {"finalized", whole},
                  {"threads", PerThread<ThreadRecord>::threads()},
                  {"threads_left_out", left_out},
                  {"seconds", seconds(ended_ns - begun_ns_)},
                  {"mpi_seconds", seconds(mpi_ns)},
                  {"clock_offset_seconds", seconds(clock_.offset_ns())},
                  {"counters", values_of(counters_.read(), counters_before_)},
                  {"calls", calls},
                  {"communicators", kinds},
                  {"sites", sites.list()},
                  {"sizes", sizes},
                  {"partners", partners},
                  {"regions", regions},
                  {"regions_without_beginning", regions_.unbegun()},
                  {"trace", trace}});
}

void Recorder::ends() {
  const ThreadRecord& mine = thread();
  const std::int64_t ended_ns = Clock::now_ns();
  const Event end(ended_ns, trace::EventKind::end_program, elapsed(mine, ended_ns));
  wait_time_.split(communicators_.sampled());
  wait_time_.split_rest();
  // A private communicator, so that no receive of the program matches; MPI_Comm_dup would call its attribute functions.
  mpi::Handle world = 0;
  if (library_.call.Comm_split(library_.constants.comm_world, 0, rank(), &world) != 0) return;
  clock_.end(world);
  write_events(end);
  gather(world, part(true));
  library_.call.Comm_free(&world);
}

void Recorder::write_events(const Event& end) {
  if (!trace_) return;
  each_at_rest([this](ThreadRecord& thread) { add_polls(thread); });
  const std::string path = fmt::format("{}/rank{}.events", settings_.trace, rank());
  report(trace_.write(path, clock_, {rank(), ranks(), {begun_ns_, trace::EventKind::begin_program}, end}));
}

// To the command that waits for the files, or to the user if the command is on another node.
void Recorder::report(const Status& written) const {
  if (written) return;
  const std::string line = written.error().sentence() + "\n";
  const int file = open(settings_.fault.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0 || write(file, line.data(), line.size()) < 0)
    std::fprintf(stderr, "kumihimo: %s", visible(line).c_str());
  if (file >= 0) close(file);
}

// One rank after the other: rank 0 holds no more than one line at a time.
void Recorder::gather(mpi::Handle world, const std::string& mine) const {
  const auto& call = library_.call;
  const mpi::Handle byte = library_.constants.byte;
  if (rank() != 0) {
    const auto bytes = static_cast<std::int64_t>(mine.size());
    call.Ssend(&bytes, sizeof bytes, byte, 0, tag, world);
    for (std::int64_t at = 0; at < bytes; at += most_at_once)
      call.Ssend(mine.data() + at, static_cast<int>(std::min(most_at_once, bytes - at)), byte, 0, tag, world);
    return;
  }
  std::optional<WholeFile> file;
  if (!settings_.output.empty()) file.emplace(settings_.output);
  const auto put = [&](std::string_view text) {
    if (file) file->write(text);
  };
  put(header()), put(mine);
  std::string line;
  for (int rank = 1; rank < ranks(); ++rank) {
    mpi::StatusWords status;
    std::int64_t bytes = 0;
    call.Recv(&bytes, sizeof bytes, byte, rank, tag, world, &status);
    line.resize(static_cast<std::size_t>(bytes));
    for (std::int64_t at = 0; at < bytes; at += most_at_once)
      call.Recv(line.data() + at, static_cast<int>(std::min(most_at_once, bytes - at)), byte, rank, tag, world,
                &status);
    put(line);
  }
  if (file) report(file->finish());
}

// By the thread of the sampler. Who asks for them cannot wait for the end of the program.
void Recorder::write_thread_samples() const {
  WholeFile file(fmt::format("{}.rank{}", settings_.threads, rank()));
  file.write(line_of({{"rank", rank()}, {"host", host_name()}, {"thread_samples", sampler_->samples()}}));
  report(file.finish());
}

void Recorder::write_alone() {
  if (settings_.output.empty()) return;
  WholeFile file(fmt::format("{}.rank{}", settings_.output, rank()));
  file.write(header()), file.write(part(false));
  report(file.finish());
}

} // namespace kumihimo::record
