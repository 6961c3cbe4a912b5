#include "record/communicators.hpp"

#include "mpi_hooks/mpi_lifetime.hpp"

#include <algorithm>
#include <utility>

namespace kumihimo::record {

void Communicators::begin() {
  library_.call.Comm_group(library_.constants.comm_world, &world_group_);
  library_.call.Comm_create_keyval(&copied, &deleted, &keyval_, this);
  made(library_.constants.comm_world, {"MPI_COMM_WORLD"});
  made(library_.constants.comm_self, {"MPI_COMM_SELF"});
}

RecordedCommunicator* Communicators::find(Handle handle, bool window) {
  static thread_local std::array<Cached, 16> cache;
  Cached& cached =
      cache[(static_cast<std::uintptr_t>(handle) >> 4 ^ static_cast<std::uintptr_t>(handle)) % cache.size()];
  const std::uint64_t epoch = this->epoch();
  if (cached.handle == handle && cached.epoch == epoch && cached.window == window) [[likely]]
    return cached.communicator;
  if (handle == (window ? library_.constants.win_null : library_.constants.comm_null)) return nullptr;
  const std::lock_guard lock(mutex_);
  std::unique_ptr<RecordedCommunicator>& known = live_[window][handle];
  if (!known) known = describe(handle, window);
  cached = {handle, epoch, window, known.get()};
  return known.get();
}

std::unique_ptr<RecordedCommunicator> Communicators::describe(Handle handle, bool window) {
  auto made = std::make_unique<RecordedCommunicator>();
  const auto& call = library_.call;
  made->handle = handle;
  made->serial = ++serial_;
  int inter = 0;
  if (window) {
    call.Win_get_group(handle, &made->group);
    call.Group_size(made->group, &made->size);
    call.Group_rank(made->group, &made->rank);
  } else {
    made->world = handle == library_.constants.comm_world;
    call.Comm_test_inter(handle, &inter);
    call.Comm_rank(handle, &made->rank);
    (inter ? call.Comm_remote_size : call.Comm_size)(handle, &made->size);
    (inter ? call.Comm_remote_group : call.Comm_group)(handle, &made->group);
    call.Comm_set_attr(handle, keyval_, nullptr);
  }
  made->inter = inter != 0;
  made->of_session = !window && mpi_hooks::ProgramSessions::made_communicator(handle);
  CommunicatorKind kind{{"unknown origin"}, made->size, 0, 0, made->inter, 0, made->rank};
  if (const auto it = origins_[window].find(handle); it != origins_[window].end()) kind.origin = it->second;
  kind.origin.window = window;
  kind.leader = world_rank(*made, 0);
  kind.last = world_rank(*made, made->size - 1);
  if (kind.origin.parent > 0) { // a chain of communicators, each made from the one before by the same line, is one kind
    CommunicatorKind of_parent = kinds_[kind.origin.parent - 1];
    const std::uint32_t parents = std::exchange(of_parent.origin.parent, kind.origin.parent);
    if (of_parent.identity() == kind.identity()) kind.origin.parent = parents;
  }
  made->kind = number_of(std::move(kind));
  return made;
}

std::uint32_t Communicators::number_of(CommunicatorKind kind) {
  const auto [it, is_new] = numbers_.try_emplace(kind.identity(), static_cast<std::uint32_t>(kinds_.size() + 1));
  if (is_new)
    kinds_.push_back(std::move(kind));
  else if (kinds_[it->second - 1].rank != kind.rank)
    kinds_[it->second - 1].rank = -1;
  ++kinds_[it->second - 1].made;
  return it->second;
}

void Communicators::made(Handle handle, Origin origin) {
  const std::lock_guard lock(mutex_);
  forget(handle, origin.window);
  origins_[origin.window][handle] = std::move(origin);
}

void Communicators::ended(Handle handle, bool window) {
  const std::lock_guard lock(mutex_);
  forget(handle, window);
}

void Communicators::forget(Handle handle, bool window) {
  origins_[window].erase(handle);
  const auto it = live_[window].find(handle);
  if (it == live_[window].end()) return;
  if (it->second->group) library_.call.Group_free(&it->second->group);
  live_[window].erase(it);
  epoch_.fetch_add(1, std::memory_order_release);
}

int Communicators::copied(Handle, int, void*, void*, void*, int* flag) { return *flag = 0; }

// Also called when the program's functions for attributes free a communicator.
int Communicators::deleted(Handle handle, int, void*, void* communicators) {
  auto& self = *static_cast<Communicators*>(communicators);
  self.ended(mpi_hooks::plain_handle(self.library_, handle), false);
  return 0;
}

int Communicators::world_rank(const RecordedCommunicator& communicator, int rank) {
  if (communicator.world) return rank;
  int in_world = -1;
  if (library_.call.Group_translate_ranks(communicator.group, 1, &rank, world_group_, &in_world) != 0) return -1;
  return in_world == library_.constants.undefined ? -1 : in_world;
}

PeerTraffic* Communicators::traffic(ThreadRecord& thread, const RecordedCommunicator& communicator, int rank) {
  if (rank < 0) return nullptr;
  const std::size_t at = (communicator.serial * 61 + static_cast<std::size_t>(rank)) % thread.recent.size();
  ThreadRecord::Recent& recent = thread.recent[at];
  if (recent.communicator == communicator.serial && recent.rank == rank) [[likely]]
    return recent.traffic;
  const int partner = world_rank(communicator, rank);
  recent = {communicator.serial, rank, partner < 0 ? nullptr : &thread.partners[partner]};
  return recent.traffic;
}

std::vector<RecordedCommunicator*> Communicators::sampled() {
  const std::lock_guard lock(mutex_);
  std::vector<RecordedCommunicator*> all;
  for (const auto& [handle, communicator] : live_[0])
    if (communicator && !communicator->samples.empty()) all.push_back(communicator.get());
  return all;
}

std::vector<CommunicatorKind> Communicators::kinds() {
  const std::lock_guard lock(mutex_);
  return kinds_;
}

} // namespace kumihimo::record
