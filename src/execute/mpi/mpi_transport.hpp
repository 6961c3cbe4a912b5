// Moves a schedule's messages between the ranks of an MPI communicator: over shared memory between ranks of one node,
// by MPI's point-to-point messages between nodes. These on a communicator of its own, so that nothing of the program's
// is ever matched; where all ranks share memory it has none. The first error ends it: prepare() and progress() answer
// with that error ever after.
#pragma once

#include "execute/mpi/point_to_point.hpp"
#include "mpi/library.hpp"
#include "shared_memory/channel.hpp"
#include "shared_memory/node_segment.hpp"
#include "shared_memory/spin_wait.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kumihimo::execute {

struct MpiTransportOptions {
  std::vector<std::int32_t> node_of_rank; // the number of each rank's emulated node; none: the machine's real nodes
  bool shared_memory = true;
  std::int64_t machine = shared_memory::machine_number(); // where all ranks have this alike, they are on one machine
  std::int64_t shared_memory_limit_bytes =
      -1; // of a node; -1: half of what /dev/shm has free, shared by the nodes on it
  // From which a message of a program with the hint single_copy is read straight from its sender's memory, between ranks of a
  // node whom the system lets. A call of the system's costs more than two copies of fewer bytes.
  std::int64_t single_copy_from_bytes = 16384;
  bool single_copies = true;         // whether it is found out where they can be; alike on all ranks
  std::int64_t tag_upper_bound = -1; // of at most the library's MPI_TAG_UB; -1: that
  std::int64_t most_at_once_bytes = PointToPoint::most_at_once_bytes; // of one message of the library's
  double timeout_seconds = 0; // without any movement in a run, after which it fails; 0: never
};

// The emulated node of each rank: `each` consecutive ones on each, the last one has the rest.
std::vector<std::int32_t> nodes_of(std::int32_t ranks, std::int32_t each);

class MpiTransport final : public transport::Transport {
 public:
  // Collective over `communicator`: all ranks get one or none does, whatever its error handler. The library outlives
  // the transport, and the communicator its calls of prepare(), which are collective over it.
  static Result<std::unique_ptr<MpiTransport>> create(const mpi::Library& library, mpi::Handle communicator,
                                                      MpiTransportOptions options = {});
  ~MpiTransport() override; // collective, unless MPI is finalized or it was left
  // For another communicator of the same ranks in the same order, from now on, whether the first still lives or not.
  // Only where is_near() and nothing is under way.
  void move_to(mpi::Handle communicator);
  // What was made in the library stays with it: for an end at which the ranks are not together.
  void leave() { is_left_ = true; }

  // Collective: what is decided is what the most demanding rank asks, so that all answer alike.
  Status prepare(const transport::Demands& demands) override;
  // For a rank whose transport has failed and that others, which do not know, may ask in prepare(): they must not take
  // what it does next on the program's communicator for its answer. Collective with their prepare().
  void refuse() const;
  std::uint64_t begin(transport::Stream stream) override {
    return waiting_.reset(), has_moved_ = true, instances_.next(stream);
  }
  void send(transport::SendRequest& message) override;
  void receive(transport::ReceiveRequest& message) override;
  Progress progress() override;
  void idle() override;
  void tend();          // what idle() does beside waiting, for who waits without it
  void look_at_clock(); // the time limit's part of it
  // Once, for what others may have sent this process beside the collective.
  void drive_library() { point_to_point_->drive_library(); }
  Error error() const override;
  void abandon(const Error& reason) override { fail(reason); }
  bool gathers() const override { return true; }

  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  bool shares_memory_with(Rank peer) const;
  // Whether every rank shares memory with every other: then any program may be run without prepare(), and progress()
  // calls no function of MPI.
  bool is_near() const { return is_near_; }
  bool has_failed() const { return point_to_point_ && point_to_point_->error(); }
  // Whether the ranks of this one's node may read each other's memory; so may one alone.
  bool has_single_copies() const { return node_ranks_ == 1 || (memory_ && memory_->is_readable()); }
  // What the user should be told once, for example that /dev/shm is too small; mostly empty.
  const std::string& note() const;

 private:
  struct Neighbour {
    shared_memory::ChannelSender out;
    shared_memory::ChannelReceiver in;
  };
  MpiTransport(const mpi::Library& library, mpi::Handle communicator, MpiTransportOptions options);
  Status set_up();
  Status check_nodes() const;
  void free_communicators();
  Result<bool> is_one_machine() const;
  Status find_node();
  Status join_node();
  Result<std::int64_t> share_of_shared_memory(mpi::Handle machine) const;
  Result<std::vector<std::int32_t>> members_of_node(std::int32_t node_ranks) const;
  Result<transport::Demands> demands_of_all(const transport::Demands& mine) const;
  bool every_rank_is_near() const;
  Result<bool> is_crowded(std::int32_t node_ranks) const;
  Result<std::int64_t> tag_upper_bound() const;
  void open_channels(const std::vector<std::int32_t>& members, std::int32_t node_rank);
  void activate(Rank peer);
  std::string awaited() const;
  Progress fail(Error reason);

  const mpi::Library& library_;
  MpiTransportOptions options_;
  mpi::Handle communicator_, node_ = 0;
  bool owns_communicator_ = false, owns_node_ = false; // they are not the program's
  bool complete_ = false;                              // all ranks have their part
  bool is_near_ = false; // also when it has failed: what is decided by it, is decided by all ranks
  std::int64_t shared_memory_share_bytes_ = 0;
  std::int32_t rank_ = 0, ranks_ = 0, node_ranks_ = 1;
  transport::InstanceNumbers instances_;
  std::unique_ptr<shared_memory::NodeSegment> memory_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_; // by rank; null: reached by point-to-point
  std::vector<Neighbour*> active_;                     // those with something under way
  std::optional<PointToPoint> point_to_point_;
  shared_memory::SpinWait waiting_;
  bool has_lost_peers_ = false; // by the time limit
  bool is_left_ = false;
  bool has_moved_ = false; // since the clock was last read
  std::chrono::steady_clock::time_point moved_at_{};
};

} // namespace kumihimo::execute
