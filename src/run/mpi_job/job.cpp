#include "mpi_job/job.hpp"

#include "base/hash.hpp"
#include "mpi/lost_ranks.hpp"
#include "mpi_transport/open_transport.hpp"
#include "shared_memory/affinity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string_view>
#include <thread>
#include <vector>

namespace kumihimo::mpi_job {

namespace {

using mpi::Handle;

// MPICH's launcher, when told to end a job, drops what it has not yet read from the processes.
constexpr std::chrono::milliseconds time_to_forward{500};

// Of the kernel that runs now: nodes that are containers or namespaces of one machine share its processors. Where it
// does not tell, of the node.
std::uint64_t machine_hash(const std::string& node) {
  std::string started;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> started;
  return hash_of(started.empty() ? node : started);
}

} // namespace

Result<std::unique_ptr<MpiJob>> MpiJob::start(const std::string& library_path) {
  mpi::Library library = TRY(mpi::open_library(library_path));
  std::unique_ptr<MpiJob> job(new MpiJob(std::move(library)));
  const mpi::Functions& call = job->library_.call;
  int provided = 0;
  if (Status s = job->library_.check(
          call.Init_thread(nullptr, nullptr, job->library_.constants.thread_funneled, &provided), "MPI_Init_thread");
      !s)
    return s.error();
  job->started_mpi_ = true;
  job->world_ = job->library_.constants.comm_world;
  job->find_ranks();
  return job;
}

void MpiJob::expect(int code, std::string_view what) const {
  if (code == 0) return;
  if (mpi::is_loss(code)) throw mpi::RankLost();
  give_up(library_.check(code, what).error());
}

std::string MpiJob::shared_text(std::string text, std::int32_t from) const {
  auto length = static_cast<std::int64_t>(text.size());
  expect(library_.call.Bcast(&length, 1, library_.datatype(DataType::int64), from, world()), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  expect(library_.call.Bcast(text.data(), static_cast<int>(length), library_.constants.byte, from, world()),
         "MPI_Bcast");
  return text;
}

std::unique_ptr<MpiJob> MpiJob::join(mpi::Library library, Handle communicator) {
  std::unique_ptr<MpiJob> job(new MpiJob(std::move(library)));
  job->world_ = communicator;
  job->find_ranks();
  return job;
}

void MpiJob::find_ranks() {
  library_.call.Comm_rank(world(), &rank_);
  library_.call.Comm_size(world(), &ranks_);
  processors_ = std::max(1, static_cast<std::int32_t>(shared_memory::allowed_processors().size()));
  find_place();
  nodes_ = launched_nodes_ = find_nodes();
}

Status MpiJob::reorder(const std::vector<std::int32_t>& process_of_rank) {
  const auto mine = std::find(process_of_rank.begin(), process_of_rank.end(), rank_);
  Handle reordered = 0;
  const int code = library_.call.Comm_split(world(), 0, static_cast<int>(mine - process_of_rank.begin()), &reordered);
  if (Status s = library_.check(code, "MPI_Comm_split"); !s) return s;
  world_ = reordered;
  library_.call.Comm_rank(world(), &rank_);
  nodes_ = find_nodes();
  return Nothing{};
}

// A communicator with a lost rank is left to the library.
MpiJob::~MpiJob() {
  transports_.clear();
  if (world_ != library_.constants.comm_world && !mpi::has_noticed_loss()) library_.call.Comm_free(&world_);
  if (started_mpi_)
    library_.as_programs_call_it().call.Finalize(); // an interposer that is loaded lets go of what it has
}

void MpiJob::pin() { pinning_ = mpi_job::pin(among_sharers()); }

// Nodes may be namespaces of one machine. What launchers bind are the ranks of a node.
LocalRank MpiJob::among_sharers() const {
  const auto own_machine = static_cast<std::int64_t>(machine_hash(mpi::processor_name(library_)));
  const std::vector<std::int64_t> machines = gather(own_machine),
                                  processors = gather(static_cast<std::int64_t>(allowed_processors_hash()));
  const auto at = [](const auto& of_rank, std::int32_t r) { return of_rank[static_cast<std::size_t>(r)]; };
  LocalRank local{.rank = 0, .ranks = 0};
  for (std::int32_t r = 0; r < ranks_; ++r) {
    if (at(machines, r) != own_machine) continue;
    if (at(processors, r) == at(processors, rank_)) {
      local.rank += r < rank_;
      ++local.ranks;
    } else if (at(nodes_.node_of_rank, r) == at(nodes_.node_of_rank, rank_)) {
      local.bound_already = true;
    }
  }
  return local;
}

Result<transport::Transport*> MpiJob::transport(const mpi_transport::TransportOptions& options) {
  auto& kept = transports_[options.node_of_rank];
  if (kept) return kept.get();
  Result<std::unique_ptr<transport::Transport>> made = mpi_transport::open_transport(library_, world(), options);
  if (Status s = agree(made); !s) return s.error();
  kept = std::move(*made);
  const std::string_view note = kept->note();
  if (!note.empty() && std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.emplace_back(note);
  return kept.get();
}

void MpiJob::print(const nlohmann::json& object) const {
  if (prints()) write_line(object);
}

void MpiJob::print(const Error& error) const { print(to_json(error)); }

void MpiJob::give_up(const Error& error) const {
  if (error.elsewhere) std::this_thread::sleep_for(time_to_forward); // the rank that failed speaks first
  write_line(to_json(error));
  std::this_thread::sleep_for(time_to_forward);
  library_.call.Abort(world(), 1);
  std::_Exit(1); // where the library returns
}

// MPICH may be set to algorithms that its own barrier cannot use. Then there is none, and nothing depends on it but
// when the ranks begin.
void MpiJob::barrier() const {
  if (mpi::is_loss(library_.call.Barrier(world()))) throw mpi::RankLost();
}

bool MpiJob::all(bool mine) const {
  const std::vector<std::int64_t> so = gather(mine);
  return std::find(so.begin(), so.end(), 0) == so.end();
}

Status MpiJob::agree(const Status& mine) const {
  // Those that know no more than that another rank failed come last.
  const std::int32_t none = 2 * ranks_;
  const std::vector<std::int64_t> places = gather(mine ? none : mine.error().elsewhere ? ranks_ + rank_ : rank_);
  const auto first = static_cast<std::int32_t>(*std::min_element(places.begin(), places.end()));
  if (first == none) return Nothing{};
  const std::int32_t lowest = first % ranks_;
  Error error = rank_ == lowest ? mine.error() : Error{};
  auto kind = static_cast<std::int32_t>(error.kind);
  expect(library_.call.Bcast(&kind, 1, library_.datatype(DataType::int32), lowest, world()), "MPI_Bcast");
  error.kind = static_cast<Error::Kind>(kind);
  for (std::string* part : {&error.problem, &error.advice}) *part = shared_text(*part, lowest);
  error.elsewhere = false; // nobody says more
  return error;
}

void MpiJob::scatter_from_rank_0(const std::vector<std::vector<std::byte>>& of_rank_0,
                                 std::vector<std::byte>& mine) const {
  constexpr std::size_t most = std::size_t{1} << 30;
  constexpr int tag = 0;
  const auto pieces = [&](std::size_t bytes, auto&& fn) {
    for (std::size_t at = 0; at < bytes; at += most) fn(at, static_cast<int>(std::min(most, bytes - at)));
  };
  if (rank_ != 0)
    return pieces(mine.size(), [&](std::size_t at, int bytes) {
      expect(library_.call.Recv(mine.data() + at, bytes, library_.constants.byte, 0, tag, world(),
                                library_.constants.status_ignore),
             "MPI_Recv");
    });
  mine = of_rank_0[0];
  for (std::int32_t r = 1; r < ranks_; ++r) {
    const std::vector<std::byte>& theirs = of_rank_0[static_cast<std::size_t>(r)];
    pieces(theirs.size(), [&](std::size_t at, int bytes) {
      expect(library_.call.Send(theirs.data() + at, bytes, library_.constants.byte, r, tag, world()), "MPI_Send");
    });
  }
}

std::vector<std::int64_t> MpiJob::gather(std::int64_t mine) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(ranks_));
  const Handle type = library_.datatype(DataType::int64);
  expect(library_.call.Allgather(&mine, 1, type, all.data(), 1, type, world()), "MPI_Allgather");
  return all;
}

// All ranks take the same shape, or none does.
void MpiJob::find_place() {
  auto place = mpi::own_place(library_, rank_, ranks_);
  Status s = agree(place);
  const std::string shape = place && *place ? (*place)->nodes.text() : "";
  if (s && !all(shared_text(shape, 0) == shape))
    s = wrong_value(fmt::format("all ranks must have the same {}", shape_variable), "different ones");
  if (!s) {
    notes_.push_back(s.error().sentence() + "; the shape is ignored");
    return;
  }
  place_ = *place;
}

Nodes MpiJob::find_nodes() const {
  std::array<char, 512> name{}; // MPI_MAX_PROCESSOR_NAME is 128 or 256, and an end of text
  int length = 0;
  library_.call.Get_processor_name(name.data(), &length);
  const auto each = static_cast<int>(name.size());
  std::vector<char> all(name.size() * static_cast<std::size_t>(ranks_));
  const Handle byte = library_.constants.byte;
  expect(library_.call.Allgather(name.data(), each, byte, all.data(), each, byte, world()), "MPI_Allgather");
  std::vector<std::string> names;
  for (auto at = all.begin(); at != all.end(); at += each) names.emplace_back(&*at);
  Nodes nodes = nodes_of(names);
  if (!nodes.are_several()) return nodes;
  if (!place_) return nodes;
  nodes.shape = place_->nodes;
  for (const std::int64_t place : gather(place_->node.value))
    nodes.place_of_rank.push_back(NodeId{static_cast<std::int32_t>(place)});
  return nodes;
}

std::vector<double> MpiJob::largest(const std::vector<double>& mine) const { return combined(mine, Operation::max); }
std::vector<double> MpiJob::sum(const std::vector<double>& mine) const { return combined(mine, Operation::sum); }

std::vector<double> MpiJob::combined(const std::vector<double>& mine, Operation operation) const {
  std::vector<double> all(mine.size());
  const int code =
      library_.call.Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()),
                              library_.datatype(DataType::float64), library_.operation(operation), world());
  expect(code, "MPI_Allreduce");
  return all;
}

} // namespace kumihimo::mpi_job
