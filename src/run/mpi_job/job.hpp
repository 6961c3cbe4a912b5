// The processes of one launch: the MPI library, this process's rank, the transports, and agreements beside
// measurements.
#pragma once

#include "mpi/library.hpp"
#include "mpi/own_place.hpp"
#include "mpi_job/nodes.hpp"
#include "mpi_job/pinning.hpp"
#include "mpi_job/printed_lines.hpp"
#include "mpi_transport/transport_options.hpp"
#include "transport/transport.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::mpi_job {

class MpiJob {
 public:
  // Opens the library and starts MPI.
  static Result<std::unique_ptr<MpiJob>> start(const std::string& library_path);
  // The ranks of a communicator, which the job then owns, of a program that has started MPI. Collective over it.
  static std::unique_ptr<MpiJob> join(mpi::Library library, mpi::Handle communicator);
  ~MpiJob(); // ends MPI if it started it; collective

  const mpi::Library& library() const { return library_; }
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  bool prints() const { return rank_ == 0; }
  const Nodes& nodes() const { return nodes_; } // the real nodes of the ranks, also if nodes are emulated
  // The nodes of the processes in the order of their start.
  const Nodes& launched_nodes() const { return launched_nodes_; }
  bool has_one_clock() const { return !nodes_.are_several(); }
  mpi::Handle world() const { return world_; } // all ranks in their order
  // Makes rank r the process that was started as process_of_rank[r], on a new communicator. Collective; called before
  // any transport is made.
  Status reorder(const std::vector<std::int32_t>& process_of_rank);

  // Binds the ranks of each machine to its processors. Collective.
  void pin();
  const std::string& pinning() const { return pinning_; }
  std::int32_t processors() const { return processors_; } // that this process may run on, before it is bound
  // This rank among those of its machine that may run on the same processors as it: those that the launcher has bound
  // to processors of their own share them with nobody. Collective.
  LocalRank among_sharers() const;

  // The transport for these options, made at its first use. Collective.
  Result<transport::Transport*> transport(const mpi_transport::TransportOptions& options);
  // The notes of the transports, each once.
  const std::vector<std::string>& notes() const { return notes_; }

  // Prints one line on stdout, by rank 0.
  void print(const nlohmann::json& object) const;
  void print(const Error& error) const;
  // Prints an error of this rank alone and aborts the job, because the others wait for it in a collective. Not for
  // errors on which the ranks have agreed.
  [[noreturn]] void give_up(const Error& error) const;

  // --- agreements: collective. By an allgather if possible: the library may be set to refuse other calls. They throw
  // mpi::RankLost where a rank has died and the job tolerates it; other errors of the library end the job.
  void barrier() const;
  bool all(bool mine) const; // whether it is true on all ranks
  // The error of the lowest rank with an error of its own; success if none has one.
  Status agree(const Status& mine) const;
  template <class T>
  Status agree(const Result<T>& mine) const {
    return agree(mine ? Status(Nothing{}) : Status(mine.error()));
  }
  // Sends each rank its vector from rank 0 into `mine`, which has the right length.
  void scatter_from_rank_0(const std::vector<std::vector<std::byte>>& of_rank_0, std::vector<std::byte>& mine) const;
  std::vector<std::int64_t> gather(std::int64_t mine) const;
  std::vector<double> largest(const std::vector<double>& mine) const; // element by element, over the ranks
  std::vector<double> sum(const std::vector<double>& mine) const;     // likewise

 private:
  explicit MpiJob(mpi::Library library) : library_(std::move(library)) {}
  Nodes find_nodes() const; // collective
  std::vector<double> combined(const std::vector<double>& mine, Operation operation) const;
  void expect(int code, std::string_view what) const;                 // that the code of a collective call is success
  std::string shared_text(std::string text, std::int32_t from) const; // text of rank `from` on all ranks
  mpi::Library library_;
  bool started_mpi_ = false;
  void find_ranks(); // collective
  void find_place(); // collective
  std::int32_t rank_ = 0, ranks_ = 1, processors_ = 1;
  std::string pinning_ = "none";
  std::optional<PlaceInShape> place_; // of this process
  Nodes nodes_, launched_nodes_;
  mpi::Handle world_ = 0; // MPI_COMM_WORLD, unless reorder() made another
  // The key is the emulated node of each rank.
  std::map<std::vector<std::int32_t>, std::unique_ptr<transport::Transport>> transports_;
  std::vector<std::string> notes_;
};

} // namespace kumihimo::mpi_job
