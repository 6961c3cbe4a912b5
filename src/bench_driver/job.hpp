// The processes of one launch: the MPI library, this process's place among them, the transports, and the few
// agreements that they need beside what they measure.
#pragma once

#include "bench_driver/golden.hpp"
#include "execute/transport_options.hpp"
#include "mpi/library.hpp"
#include "transport/transport.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::bench_driver {

// On which real nodes the launcher put the ranks.
struct Nodes {
  std::vector<std::string> names;         // in the order of their first ranks
  std::vector<std::int64_t> node_of_rank; // by place among the names

  bool are_several() const { return names.size() > 1; }
};

// From what MPI_Get_processor_name says on each rank, by which the interposer tells nodes apart, too.
Nodes nodes_of(std::span<const std::string> name_of_rank);

// {"one_node": false, "nodes": ["a", "b"], "node_of_rank": [0, 0, 1]}
nlohmann::json to_json(const Nodes& nodes);

// Binds each rank of a node to one processor, where the launcher did not: two ranks on one core while another idles
// would be measured instead of the collective. Both candidates run in the same processes, so it serves both alike.
//
// Binds this process, the local_rank-th of local_ranks on its node, to one of the processors it may run on; ranks that
// outnumber them share them in turn. Answers what was done, for people. Nothing is done where the launcher has bound
// the ranks already, that is where the ranks of the node do not all see the same processors.
struct LocalRank {
  std::int32_t rank = 0, ranks = 1;
  bool bound_already = false;
};
std::string pin(const LocalRank& local);

// A number that is equal for equal sets of allowed processors.
std::uint64_t allowed_processors_hash();

class Job {
 public:
  // Opens the library and starts MPI.
  static Result<std::unique_ptr<Job>> start(const std::string& library_path);
  ~Job(); // ends MPI, collectively

  const mpi::Library& library() const { return library_; }
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  bool prints() const { return rank_ == 0; }
  const Nodes& nodes() const { return nodes_; } // of the ranks, those that there are, whatever is emulated
  // Of the processes as they were started, whatever the order of ranks.
  const Nodes& launched_nodes() const { return launched_nodes_; }
  bool has_one_clock() const { return !nodes_.are_several(); }
  mpi::Handle world() const { return world_; } // all ranks in their order
  // From now on rank r is the process that was started as process_of_rank[r], on a communicator of its own. Collective,
  // before any transport is made.
  Status reorder(const std::vector<std::int32_t>& process_of_rank);

  // Binds the ranks to processors, each node's on its own.
  void pin();
  const std::string& pinning() const { return pinning_; }
  std::int32_t processors() const { return processors_; } // that this process may run on, before it is bound

  // The transport for emulated nodes, made at its first use. Collective.
  Result<transport::Transport*> transport(const execute::TransportOptions& options);
  // What the transports have to say, each sentence once.
  const std::vector<std::string>& notes() const { return notes_; }

  // One line on stdout, by rank 0 alone.
  void print(const nlohmann::json& object) const;
  void print(const Error& error) const;
  // An error of this rank alone, while the others wait for it in a collective that it will not join: prints it, and
  // aborts the job. Never for errors that the ranks have agreed on.
  [[noreturn]] void give_up(const Error& error) const;

  // --- agreements: collective. By an allgather where it can be: the library may have been told to refuse others.
  void barrier() const;
  bool all(bool mine) const; // whether it is so on all ranks
  // The error of the lowest rank that has one of its own; success if none has.
  Status agree(const Status& mine) const;
  template <class T>
  Status agree(const Result<T>& mine) const {
    return agree(mine ? Status(Nothing{}) : Status(mine.error()));
  }
  // Rank 0 gives each its own, whose length the receiver knows; `mine` is where it comes to.
  void scatter_from_rank_0(const std::vector<Vector>& of_rank_0, Vector& mine) const;
  std::vector<std::int64_t> gather(std::int64_t mine) const;
  std::vector<double> largest(const std::vector<double>& mine) const; // element by element, over the ranks
  std::vector<double> sum(const std::vector<double>& mine) const;     // likewise

 private:
  explicit Job(mpi::Library library) : library_(std::move(library)) {}
  Nodes find_nodes() const; // collective
  std::vector<double> combined(const std::vector<double>& mine, Operation operation) const;
  mpi::Library library_;
  std::int32_t rank_ = 0, ranks_ = 1, processors_ = 1;
  std::string pinning_ = "none";
  Nodes nodes_, launched_nodes_;
  mpi::Handle world_ = 0; // MPI_COMM_WORLD, unless reorder() made another
  // By the emulated node of each rank.
  std::map<std::vector<std::int32_t>, std::unique_ptr<transport::Transport>> transports_;
  std::vector<std::string> notes_;
};

// {"error": {"kind", "problem", "advice", "elsewhere"}}
nlohmann::json to_json(const Error& error);

} // namespace kumihimo::bench_driver
