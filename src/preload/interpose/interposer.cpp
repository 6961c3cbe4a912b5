#include "interpose/interposer.hpp"

#include "base/hash.hpp"
#include "base/json_text.hpp"
#include "base/terminal_text.hpp"
#include "base/whole_file.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/memory_reserve.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi_hooks/fast_path.hpp"
#include "mpi_hooks/preload_check.hpp"
#include "plan/kernels/wisdom.hpp"
#include "problem/wisdom_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace kumihimo::interpose {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr std::string_view version = KUMIHIMO_VERSION;

// The wisdom that the settings name; in a folder, the file of this machine and library, if it exists. Sets `path` to
// the file that was read.
Result<Wisdom> wisdom_of(const RunSettings& settings, const mpi::Library& library, std::string& path) {
  const Registry& registry = Registry::standard();
  if (!settings.algorithm.empty()) return Wisdom::of_algorithm(settings.algorithm, registry);
  if (settings.wisdom.empty()) return Wisdom{};
  const Wisdom::ThisProcess here{problem::this_machine(), library.version};
  problem::WisdomText file = TRY(problem::find_wisdom(settings.wisdom, here.machine, here.mpi, settings.program));
  if (file.path.empty()) return Wisdom{};
  Result<Wisdom> wisdom = Wisdom::parse(file.text, registry, here, file.found);
  if (wisdom) path = std::move(file.path);
  return wisdom;
}

// The program goes on as it would without a summary. The message takes no memory, which may be what is short.
template <class Write>
void guard_summary(int rank, Write&& write) {
  try {
    write();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kumihimo: rank %d: the summary cannot be written: %s\n", rank, error.what());
  }
}

} // namespace

RunSettings settings_of_environment() {
  return {variable("KUMIHIMO_WISDOM"),
          variable("KUMIHIMO_PROGRAM"),
          variable("KUMIHIMO_KERNELS"),
          variable("KUMIHIMO_ALGORITHM"),
          variable(shape_variable),
          variable("KUMIHIMO_REPRODUCIBLE"),
          std::atof(variable("KUMIHIMO_TIMEOUT").c_str()),
          variable("KUMIHIMO_SUMMARY"),
          variable("KUMIHIMO_REORDER")};
}

Interposer::Interposer(mpi::Library library)
    : MpiLifetime(std::move(library)), settings_(settings_of_environment()), types_(library_) {
  if (const Result<Reproducible> asked = parse_reproducible(settings_.reproducible))
    reproducible_ = *asked;
  else
    say_once_for_all(asked.error().sentence() + "; reductions are not reproducible");
  Result<Wisdom> wisdom = wisdom_of(settings_, library_, wisdom_path_);
  if (wisdom)
    wisdom_ = std::move(*wisdom);
  else
    say_once_for_all(wisdom.error().sentence() + "; " +
                     (reproducible_ == Reproducible::off ? "the MPI library runs all calls" : "the wisdom is ignored"));
  if (!settings_.kernels.empty()) {
    if (Result<std::string> path = plan::use_kernel_wisdom(settings_.kernels))
      kernels_path_ = std::move(*path);
    else if (settings_.kernels != settings_.wisdom || wisdom) // else the wisdom's error names the same file
      say_once_for_all(path.error().sentence() + "; reductions and copies run untuned");
  }
  if (Result<std::optional<PlaceInShape>> place = mpi::own_place(library_, this->rank(), this->ranks()))
    place_ = *place;
  else if (rank() == 0 || !variable(hosts_variable).empty()) // which may lack the node of this rank alone
    say(place.error().sentence() + "; the shape is ignored");
  if (std::string& reorder = settings_.reorder;
      !reorder.empty() && reorder != "off" && reorder != "reverse" && reorder != "packages")
    say_once_for_all(
        wrong_value("KUMIHIMO_REORDER must be off, reverse or packages", std::exchange(reorder, {}), "it is ignored")
            .sentence());
  hash_ = mixed(mixed(hash_of(version), hash_of(settings_.shape)), wisdom_.hash());
  hash_ = mixed(hash_, static_cast<std::uint64_t>(reproducible_));
  hash_ = mixed(hash_, static_cast<std::uint64_t>(place_.has_value()));
  hash_ = mixed(hash_, hash_of(settings_.reorder));
  DeviceMemory::look();
  library_.call.Comm_create_keyval(&copied, &deleted, &keyval_, this);
  mpi_hooks::PreloadCheck::enter(object_name); // where MPI_Init was not hooked
  Watchdog::know(library_);
  if (settings_.timeout_seconds > 0) Watchdog::begin(settings_.timeout_seconds);
  if (!settings_.summary.empty() && mpi_hooks::is_spawned(library_)) // it must not overwrite the summary of the job
    settings_.summary += fmt::format(".{}", getpid());
  static Interposer* const ending = this;
  std::atexit([] { ending->write_unfinished(); });
}

// A thread remembers its last answer until a communicator is made or freed: programs use the same one many times.
Communicator* Interposer::known(mpi::Handle handle, bool& between) {
  struct LastCommunicator {
    std::uint64_t era = 0;
    mpi::Handle handle = 0;
    Communicator* found = nullptr;
  };
  thread_local LastCommunicator last;
  const std::uint64_t era = mpi_hooks::FastPath::era();
  if (last.era == era && last.handle == handle) [[likely]]
    return between = false, last.found;
  const std::shared_lock lock(mutex_);
  const auto it = by_handle_.find(handle);
  between = it != by_handle_.end() && !it->second;
  if (it == by_handle_.end() || between) return nullptr;
  last = {era, handle, it->second};
  return it->second;
}

Communicator* Interposer::communicator(mpi::Handle handle) {
  bool between = false;
  if (Communicator* const found = known(handle, between); found || between) return found;
  if (mpi_hooks::ProgramSessions::made_communicator(handle)) return nullptr;
  // Without the lock: other threads may be making a communicator for which these ranks wait.
  int two_groups = 0;
  if (handle == library_.constants.comm_null || library_.call.Comm_test_inter(handle, &two_groups) != 0) return nullptr;
  std::unique_ptr<Communicator> made;
  if (!two_groups) {
    DeviceMemory::look();
    const Agreed agreed{wisdom_,
                        cache_,
                        agreed_hash(),
                        place_,
                        settings_.timeout_seconds,
                        reproducible_,
                        nonblocking_.is_possible(),
                        DeviceMemory::has_driver(),
                        everyone_is_here(),
                        rank(),
                        ranks()};
    made = std::make_unique<Communicator>(library_, handle, agreed);
    // Made while all ranks are together: some libraries cannot make communicators in two threads at once.
    if (made->takes_any()) alone();
  }
  watch_over(handle);
  const std::unique_lock lock(mutex_);
  Communicator* const added = made.get();
  if (added) ++shapes_[added->space().name()];
  if (added) all_.push_back(std::move(made));
  by_handle_[handle] = added;
  mpi_hooks::FastPath::forget();
  return added;
}

std::uint64_t Interposer::agreed_hash() const { return MemoryReserve::is_there() ? hash_ : 0; }

// On one node no order of ranks is better than another, unless the user says that it stands for several. The launcher
// says that it is one, and the ranks have agreed on the settings in MPI_Init.
bool Interposer::may_reorder() {
  if (ranks() == 1) return false;
  if (!mpi_hooks::PreloadCheck::has_list(object_name)) return true;
  bool between = false;
  const Communicator* const world = known(library_.constants.comm_world, between);
  return world && world->agrees() && (place_ || settings_.reorder == "reverse");
}

bool Interposer::may_reorder(mpi::Handle handle) {
  if (mpi_hooks::ProgramSessions::made_communicator(handle) || !everyone_is_here()) return false;
  const std::vector<std::int32_t> all = ranks_of(handle);
  return all.size() > 1 && std::none_of(all.begin(), all.end(), [](std::int32_t rank) { return rank < 0; });
}

// The rank that finds processes missing reports it: rank 0 may be one of them.
bool Interposer::everyone_is_here() {
  std::int32_t missed = 0;
  const bool here = mpi_hooks::PreloadCheck::everyone_is_here(object_name, missed);
  if (missed > 0)
    say(fmt::format(
        "processes of this node that did not load the preload library: {}; the MPI library runs all calls (check "
        "that no wrapper clears LD_PRELOAD)",
        missed));
  return here;
}

void Interposer::want(mpi::Handle handle) {
  {
    const std::unique_lock lock(mutex_);
    if (!wanted_.insert(handle).second) return;
    wants_ = true;
    mpi_hooks::FastPath::forget();
  }
  watch_over(handle);
}

// Sets an attribute that reports its end. Once: setting it again would call deleted() for the first one.
void Interposer::watch_over(mpi::Handle handle) {
  {
    const std::unique_lock lock(mutex_);
    if (!watched_.insert(handle).second) return;
  }
  library_.call.Comm_set_attr(handle, keyval_, this);
}

void Interposer::set_up_world() {
  if (ranks() > 1 && mpi_hooks::PreloadCheck::has_list(object_name)) set_up(library_.constants.comm_world);
}

// Equal on all its ranks.
bool Interposer::may_set_up(mpi::Handle handle) {
  bool between = false;
  const Communicator* const world = known(library_.constants.comm_world, between);
  if (!mpi_hooks::PreloadCheck::has_list(object_name) || !world || !world->agrees()) return false;
  if (wisdom_.size() == 0 && reproducible_ == Reproducible::off) return false; // nothing will ever be ours
  const std::vector<std::int32_t> all = ranks_of(handle);
  return std::none_of(all.begin(), all.end(), [](std::int32_t rank) { return rank < 0; }); // of another job
}

// The ranks agree, because each knows only its own calls.
void Interposer::set_up_new(mpi::Handle handle) {
  DeviceMemory::look();
  int two_groups = 0, ranks = 0;
  if (handle == library_.constants.comm_null || mpi_hooks::ProgramSessions::made_communicator(handle)) return;
  if (library_.call.Comm_test_inter(handle, &two_groups) != 0 || two_groups) return;
  if (library_.call.Comm_size(handle, &ranks) != 0 || ranks == 1 || !may_set_up(handle)) return;
  // A rank objects if the set-up may never be used and could take memory from others.
  const bool refuses = set_up_early_ >= most_set_up_early || !nonblocking_.is_possible() ||
                       DeviceMemory::has_driver() || !MemoryBudget::of_process().leaves_room(ranks);
  const std::int32_t mine[2] = {is_nonblocking_.load(std::memory_order_relaxed), refuses};
  std::int32_t any[2] = {};
  const int code = library_.call.Allreduce(mine, any, 2, library_.datatype(DataType::int32),
                                           library_.operation(Operation::max), handle);
  const bool is_asked_for = any[0] != 0, is_refused = any[1] != 0;
  if (code != 0 || (is_refused && !is_asked_for)) return;
  if (!is_asked_for) ++set_up_early_;
  set_up(handle);
}

void Interposer::set_up(mpi::Handle handle) {
  if (Communicator* const found = communicator(handle)) found->connect();
}

void Interposer::connect_wanted(mpi::Handle handle) {
  {
    const std::unique_lock lock(mutex_);
    if (wanted_.erase(handle) == 0) return;
    wants_ = !wanted_.empty();
  }
  if (Communicator* const found = communicator(handle)) found->connect();
}

void Interposer::release(mpi::Handle handle) {
  std::unique_ptr<Communicator> freed; // without the lock, because it may be collective
  {
    const std::unique_lock lock(mutex_);
    const auto it = by_handle_.find(handle);
    if (it == by_handle_.end()) return;
    const auto place = std::find_if(all_.begin(), all_.end(), [&](const auto& c) { return c.get() == it->second; });
    by_handle_.erase(it);
    mpi_hooks::FastPath::forget();
    if (place == all_.end()) return;
    freed = std::move(*place);
    all_.erase(place);
  }
  nonblocking_.drain(freed->queue());
  if (!freed->note().empty()) say(freed->note());
  attempted([&] { return freed->keep_resources_for_reuse(), true; }, [] { return false; });
}

// Its handle may be used again. The transport stays until the end, because its ranks are not together here.
void Interposer::gone(mpi::Handle handle) {
  const std::unique_lock lock(mutex_);
  if (const auto it = by_handle_.find(handle); it != by_handle_.end()) {
    if (it->second) it->second->discard_without_communication();
    by_handle_.erase(it);
  }
  mpi_hooks::FastPath::forget();
  wanted_.erase(handle);
  wants_ = !wanted_.empty();
  watched_.erase(handle);
}

int Interposer::copied(mpi::Handle, int, void*, void*, void*, int* flag) { return *flag = 0; }

int Interposer::deleted(mpi::Handle handle, int, void*, void* interposer) {
  auto& self = *static_cast<Interposer*>(interposer);
  self.gone(self.plain(handle));
  return 0;
}

// Errors of the library in our own calls, mostly from a lack of memory, must not end the program.
void Interposer::ends() {
  const mpi::ErrorHandlerGuard returned(library_, library_.constants.comm_world);
  nonblocking_.stop();
  guard_summary(rank(), [&] { write_summary(); });
  for (const auto& c : all_)
    if (!c->note().empty()) say(c->note());
  // All ranks of a communicator free its transport together, but they first used communicators in different orders.
  // Sorted by number, no ranks wait for each other. Open MPI would free them in the order of its handles.
  std::sort(all_.begin(), all_.end(), [](const auto& a, const auto& b) { return a->number() < b->number(); });
  for (auto& c : all_) c.reset();
  cache_.clear();
  { // the library may hold its own lock when it calls deleted()
    const std::unique_lock lock(mutex_);
    all_.clear();
    by_handle_.clear();
    mpi_hooks::FastPath::forget();
  }
  if (mpi::Handle own = alone_.exchange(0); own != 0) library_.call.Comm_free(&own);
  library_.call.Comm_free_keyval(&keyval_);
}

mpi::Handle Interposer::alone() {
  if (const mpi::Handle known = alone_.load(std::memory_order_acquire); known != 0) [[likely]]
    return known;
  const std::lock_guard lock(alone_mutex_);
  if (!std::exchange(asked_for_alone_, true))
    if (const Result<mpi::Handle> own = make_alone()) alone_ = *own;
  return alone_ != 0 ? alone_.load() : library_.constants.comm_self; // if the library has no more
}

int Interposer::raise(const Error& error, std::optional<mpi::Handle> communicator) {
  // The handler may end the job; first the failed rank must write its message.
  if (error.elsewhere && !has_raised_) std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto write_briefly = [] { return std::fputs("kumihimo: no memory is left; see ulimit -v\n", stderr); };
  if (!has_raised_.exchange(true)) attempted([&] { return write(error.sentence()), 0; }, write_briefly);
  const int code = error.truncation ? library_.constants.error_truncate : library_.constants.error_other;
  if (communicator) {
    const bool ends = Watchdog::is_on() || mpi::has_fatal_errors(library_, *communicator); // it may not return
    if (ends) Watchdog::give_up();
    library_.call.Comm_call_errhandler(*communicator, code);
    if (ends) Watchdog::go_on();
  }
  return code;
}

void Interposer::say(const std::string& sentence) {
  if (!has_spoken_.exchange(true)) write(sentence);
}

void Interposer::write(const std::string& sentence) {
  std::fprintf(stderr, "kumihimo: rank %d: %s\n", rank(), visible(sentence).c_str());
}

void Interposer::say_once_for_all(const std::string& sentence) {
  if (rank() == 0) say(sentence);
}

// For a program that ends without MPI_Finalize. Calls no MPI function, and does nothing in forked processes.
void Interposer::write_unfinished(Counted counted) {
  if (!end() || getpid() != process_ || settings_.summary.empty()) return;
  if (rank() == 0 || counted == Counted::this_rank)
    guard_summary(rank(), [&] { write_summary(Ended::without_finalize, counted); });
}

// Without a list of processes, a set-up of MPI_COMM_WORLD shows that all ranks have the interposer.
bool Interposer::adds_up() {
  if (ranks() == 1) return true;
  bool between = false;
  if (!mpi_hooks::PreloadCheck::has_list(object_name)) return known(library_.constants.comm_world, between);
  return everyone_is_here();
}

void Interposer::write_summary() {
  const bool is_sum = adds_up() && counters_.add_up(library_);
  if (rank() != 0 || settings_.summary.empty()) return;
  write_summary(Ended::by_finalize, is_sum ? Counted::all_ranks : Counted::rank_0);
}

void Interposer::write_summary(Ended ended, Counted counted) {
  nlohmann::json calls = nlohmann::json::array(), forwarded = nlohmann::json::array();
  for (std::size_t k = 0; k < counted_calls; ++k) {
    const CollectiveKind kind = all_collectives[k % collective_kinds];
    const std::string collective = fmt::format("{}{}", k < collective_kinds ? "" : "i", name_of(kind));
    const auto variants = Registry::standard().variants(kind);
    for (std::size_t c = 0; c < size_classes; ++c) {
      const std::int64_t from = c == 0 ? 0 : std::int64_t{1} << (c - 1);
      const auto row = [&](std::string_view algorithm, std::int64_t number) {
        if (number > 0)
          calls.push_back({{"collective", collective},
                           {"bytes_from", from},
                           {"bytes_to", c == 0 ? 0 : 2 * from - 1},
                           {"algorithm", algorithm},
                           {"calls", number}});
      };
      for (std::size_t v = 0; v < variants.size(); ++v) row(variants[v]->name, counters_.ran_in(k, c, v));
      row("exact_sum", counters_.ran_in(k, c, place_of_exact_sums));
      row("library", counters_.forwarded_in(k, c));
    }
    for (std::size_t r = 0; r < reasons; ++r)
      if (const std::int64_t number = counters_.for_reason(k, static_cast<Reason>(r)); number > 0) {
        const auto& [id, sentence] = text_of(static_cast<Reason>(r));
        forwarded.push_back({{"collective", collective}, {"reason_id", id}, {"reason", sentence}, {"calls", number}});
        if (reproducible_ != Reproducible::off)
          forwarded.back()["reproducible"] = stays_reproducible(kind, static_cast<Reason>(r));
      }
  }
  nlohmann::json others = nlohmann::json::object();
  std::int64_t other_reductions = 0;
  for (std::size_t n = 0; n < mpi_hooks::names; ++n) {
    const auto name = static_cast<mpi_hooks::Name>(n);
    const std::int64_t number = counters_.others_in(name);
    if (number == 0) continue;
    others[std::string(mpi_hooks::describe(name).name)] = number;
    if (mpi_hooks::place_of(name, mpi_hooks::Role::operation) >= 0) other_reductions += number;
  }
  nlohmann::json reordered = nlohmann::json::array();
  for (const mpi_hooks::Name call : reordering_calls) {
    const auto number = [&](Reordering what) { return counters_.reordering_in(call, what); };
    if (number(Reordering::asked) == 0) continue;
    reordered.push_back({{"call", mpi_hooks::describe(call).name},
                         {"communicators", number(Reordering::asked)},
                         {"on_one_node", number(Reordering::on_one_node)},
                         {"reordered", number(Reordering::done)},
                         {"measure", place_ ? "hop_bytes" : "off_node_bytes"},
                         {"before", number(Reordering::before)},
                         {"after", number(Reordering::after)},
                         {"packages_before", number(Reordering::packages_before)},
                         {"packages_after", number(Reordering::packages_after)}});
  }
  std::map<std::string, std::int64_t> shapes; // a process that is ending waits for no other thread
  if (const std::shared_lock lock(mutex_, std::try_to_lock); lock) shapes = shapes_;
  const std::string path =
      counted == Counted::this_rank ? fmt::format("{}.rank{}", settings_.summary, rank()) : settings_.summary;
  const nlohmann::json summary{
      {"mpi", library_.version},
      {"wisdom", wisdom_path_.empty() ? nlohmann::json() : nlohmann::json(wisdom_path_)},
      {"kernel_wisdom", kernels_path_.empty() ? nlohmann::json() : nlohmann::json(kernels_path_)},
      {"ranks", ranks()},
      {"rank", counted == Counted::this_rank ? nlohmann::json(rank()) : nlohmann::json()},
      {"finalized", ended == Ended::by_finalize},
      {"of_all_ranks", counted == Counted::all_ranks},
      {"reproducible", name_of(reproducible_)},
      {"calls", calls},
      {"forwarded", forwarded},
      {"others", others},
      {"unhooked_reductions", other_reductions},
      {"packed_from_device", counters_.packed_from_device_in()},
      {"reordered", reordered},
      {"communicators", shapes}};
  WholeFile file(path);
  file.write(text_of_json(summary, 1) + "\n");
  if (const Status written = file.finish(); !written) say(fmt::format("on this node, {}", written.error().sentence()));
}

Status Interposer::run(Communicator& communicator, mpi::Handle handle, plan::Plan& plan,
                       const execute::Buffers& buffers, const transport::Reduction* reduction) {
  // The progress thread calls no function of the program, nor does a thread that holds the lock of non-blocking calls.
  if (reduction) nonblocking_.drain(communicator.queue());
  if (communicator.queue().calls.load(std::memory_order_acquire) == 0) {
    const auto fail = [&]() -> Status { return communicator.transport()->abandon(out_of_memory()), out_of_memory(); };
    Status done = attempted([&] { return plan.run(buffers, reduction); }, fail);
    // A program may test only once, after a barrier, whether others have finished in its window.
    if (is_one_sided()) [[unlikely]]
      communicator.transport()->progress_libraries();
    return done;
  }
  return nonblocking_.run({&plan, communicator.transport(), &communicator.queue(), buffers, handle});
}

} // namespace kumihimo::interpose
