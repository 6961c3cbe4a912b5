#include "record/trace.hpp"

#include "record/clock.hpp"
#include "record/completions.hpp"
#include "record/per_thread.hpp"

#include <fstream>

namespace kumihimo::record {
namespace {

using mpi_hooks::Name;
using mpi_hooks::Role;

// Ours, if the program ignores them.
struct Statuses {
  std::vector<mpi::StatusWords> of_requests;
};

constexpr std::size_t status_words(bool open_mpi) { return open_mpi ? 6 : 5; }

} // namespace

void Trace::add(const std::vector<Event>& events) {
  const std::lock_guard lock(mutex_);
  if (left_out_ == 0 && events_.size() + events.size() <= most_)
    events_.insert(events_.end(), events.begin(), events.end());
  else // and the later ones with it: the trace ends here, and has no holes
    left_out_ += static_cast<std::int64_t>(events.size());
}

Trace::Counts Trace::counts() const {
  const std::lock_guard lock(mutex_);
  return {events_.size(), left_out_};
}

void Trace::begin_receive(mpi::Handle request, std::uint32_t kind, InWorld in_world) {
  const std::lock_guard lock(mutex_);
  receives_[request] = {kind, std::move(in_world)};
}

void Trace::forget(mpi::Handle request) {
  const std::lock_guard lock(mutex_);
  receives_.erase(request);
}

void Trace::before_completion(mpi_hooks::Call& call) {
  if (!call.ignores_status()) return;
  std::vector<mpi::StatusWords>& statuses = PerThread<Statuses>::mine().of_requests;
  statuses.assign(noted_requests().size() + 1, {});
  const Role status = call.has(Role::statuses) ? Role::statuses : Role::status;
  call.replace(status, reinterpret_cast<mpi_hooks::Word>(statuses.data()));
}

Trace::Ended Trace::ended(const mpi::StatusWords& status) const {
  Ended e{status.words[static_cast<std::size_t>(library_.constants.status_source)],
          status.words[static_cast<std::size_t>(library_.constants.status_tag)]};
  int bytes = 0;
  if (library_.call.Get_count(&status, library_.constants.byte, &bytes) == 0 && bytes > 0) e.bytes = bytes;
  return e;
}

std::vector<Trace::Ended> Trace::after_completion(const mpi_hooks::Call& call) {
  std::vector<Ended> all;
  const std::size_t words = status_words(library_.family == mpi::Family::open_mpi);
  const Role role = call.has(Role::statuses) ? Role::statuses : Role::status;
  const auto* const given = static_cast<const std::int32_t*>(call.pointer(role));
  const std::lock_guard lock(mutex_);
  const std::vector<int> places = completed(call);
  const std::vector<mpi::Handle>& requests = noted_requests();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int place = places[i];
    if (place < 0 || static_cast<std::size_t>(place) >= requests.size()) continue;
    const auto it = receives_.find(requests[static_cast<std::size_t>(place)]);
    if (it == receives_.end()) continue;
    // MPI_Waitsome's statuses stand one behind the other, MPI_Waitall's beside their requests: here the same.
    mpi::StatusWords status;
    for (std::size_t w = 0; w < words; ++w) status.words[w] = given[i * words + w];
    all.push_back(ended(status));
    all.back().kind = it->second.kind;
    all.back().world_rank_of_source = std::move(it->second.in_world);
    receives_.erase(it);
  }
  return all;
}

bool Trace::write(const std::string& path, const Clock& clock) {
  const std::lock_guard lock(mutex_);
  std::ofstream file(path, std::ios::binary);
  for (Event& event : events_) {
    event.at_ns = clock.on_rank_0(event.at_ns);
    if (event.began_ns) event.began_ns = clock.on_rank_0(event.began_ns);
    file.write(reinterpret_cast<const char*>(&event), sizeof event);
  }
  return file.flush().good();
}

} // namespace kumihimo::record
