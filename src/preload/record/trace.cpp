#include "record/trace.hpp"

#include "base/whole_file.hpp"
#include "record/clock.hpp"
#include "record/completions.hpp"
#include "record/per_thread.hpp"
#include "trace/file.hpp"

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

void TraceBuffer::add(const std::vector<Event>& events) {
  const std::lock_guard lock(mutex_);
  if (left_out_ == 0 && events_.size() + sizes_in_parts_ + events.size() <= most_)
    events_.insert(events_.end(), events.begin(), events.end());
  else // and the later ones with it: the trace ends here, and has no holes
    left_out_ += static_cast<std::int64_t>(events.size());
}

TraceBuffer::Counts TraceBuffer::counts() const {
  const std::lock_guard lock(mutex_);
  return {events_.size(), left_out_};
}

void TraceBuffer::begin(mpi::Handle request, Event& event, InWorld in_world) {
  const std::lock_guard lock(mutex_);
  event.request = ++requests_begun_;
  requests_[request] = {event, std::move(in_world)};
}

void TraceBuffer::keep(mpi::Handle request, const Event& event, InWorld in_world) {
  const std::lock_guard lock(mutex_);
  requests_[request] = {event, std::move(in_world), true};
}

std::optional<Event> TraceBuffer::start(mpi::Handle request) {
  const std::lock_guard lock(mutex_);
  const auto it = requests_.find(request);
  if (it == requests_.end()) return std::nullopt;
  it->second.start.request = ++requests_begun_;
  return it->second.start;
}

std::uint32_t TraceBuffer::parts(const std::vector<std::int64_t>& bytes) {
  if (bytes.empty()) return 0;
  const std::lock_guard lock(mutex_);
  const auto [it, is_new] = parts_.try_emplace(bytes, static_cast<std::int32_t>(parts_.size()));
  if (is_new) sizes_in_parts_ += bytes.size();
  return 1 + static_cast<std::uint32_t>(it->second);
}

void TraceBuffer::forget(mpi::Handle request) {
  const std::lock_guard lock(mutex_);
  requests_.erase(request);
}

void TraceBuffer::before_completion(mpi_hooks::HookedCall& call) {
  if (!call.ignores_status()) return;
  std::vector<mpi::StatusWords>& statuses = PerThread<Statuses>::mine().of_requests;
  statuses.assign(noted_requests().size() + 1, {});
  const Role status = call.has(Role::statuses) ? Role::statuses : Role::status;
  call.replace(status, reinterpret_cast<mpi_hooks::Word>(statuses.data()));
}

TraceBuffer::Ended TraceBuffer::ended(const mpi::StatusWords& status) const {
  Ended e{status.words[static_cast<std::size_t>(library_.constants.status_source)],
          status.words[static_cast<std::size_t>(library_.constants.status_tag)]};
  int bytes = 0;
  if (library_.call.Get_count(&status, library_.constants.byte, &bytes) == 0 && bytes > 0) e.bytes = bytes;
  return e;
}

std::vector<Event> TraceBuffer::after_completion(const mpi_hooks::HookedCall& call) {
  std::vector<Event> all;
  const std::size_t words = status_words(library_.family == mpi::LibraryFamily::open_mpi);
  const Role role = call.has(Role::statuses) ? Role::statuses : Role::status;
  const auto* const given = static_cast<const std::int32_t*>(call.pointer(role));
  const std::lock_guard lock(mutex_);
  const std::vector<int> places = completed(call);
  const std::vector<mpi::Handle>& requests = noted_requests();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int place = places[i];
    if (place < 0 || static_cast<std::size_t>(place) >= requests.size()) continue;
    const auto it = requests_.find(requests[static_cast<std::size_t>(place)]);
    if (it == requests_.end() || it->second.start.request == 0) continue;
    Event event = it->second.start;
    event.kind = end_of(event.kind);
    bool known = true;
    if (event.kind == trace::EventKind::end_receive) {
      // MPI_Waitsome's statuses stand one behind the other, MPI_Waitall's beside their requests: here the same.
      mpi::StatusWords status;
      for (std::size_t w = 0; w < words; ++w) status.words[w] = given[i * words + w];
      const Ended found = ended(status);
      const std::int32_t peer = it->second.in_world(found.source);
      known = peer >= 0;
      event.become(event.kind, trace::MessageEvent{found.bytes, peer, found.tag, event.message().communicator});
    }
    if (known) all.push_back(event);
    if (it->second.persistent)
      it->second.start.request = 0;
    else
      requests_.erase(it);
  }
  return all;
}

Status TraceBuffer::write(const std::string& path, const Clock& clock, const Whole& whole) {
  const std::vector<std::vector<std::int64_t>> lists = in_order(parts_);
  const std::lock_guard lock(mutex_);
  WholeFile file(path);
  const auto put = [&](const auto& value) { file.write({reinterpret_cast<const char*>(&value), sizeof value}); };
  const auto put_event = [&](Event event) {
    event.at_ns = clock.on_rank_0(event.at_ns);
    put(event);
  };
  file.write(trace::header_of({whole.rank, whole.ranks, events_.size() + 2, lists.size(), sizes_in_parts_,
                               static_cast<std::uint64_t>(left_out_)}));
  put_event(whole.begin);
  for (const Event& event : events_) put_event(event);
  put_event(whole.end);
  std::uint64_t end = 0;
  for (const auto& list : lists) put(end += list.size());
  for (const auto& list : lists)
    for (const std::int64_t bytes : list) put(bytes);
  return file.finish();
}

} // namespace kumihimo::record
