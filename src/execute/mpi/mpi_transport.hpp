// The transport of an MPI communicator: shared memory between ranks of one node, a network (execute/networks) between
// nodes. The network has a private communicator, so that its messages never match one of the program's. If all ranks
// share memory there is neither network nor communicator. After the first error, prepare() and progress() return that
// error.
#pragma once

#include "execute/networks/network.hpp"
#include "mpi/library.hpp"
#include "mpi/library_progress.hpp"
#include "shared_memory/channel_receiver.hpp"
#include "shared_memory/channel_sender.hpp"
#include "shared_memory/node_segment.hpp"
#include "shared_memory/peer_process.hpp"
#include "shared_memory/spin_wait.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::execute {

struct MpiTransportOptions {
  std::vector<std::int32_t> node_of_rank; // the emulated node of each rank; empty: the real nodes
  bool shared_memory = true;
  std::int64_t machine = shared_memory::machine_number(); // equal on all ranks: they are on one machine
  std::int64_t shared_memory_limit_bytes =
      -1; // of a node; -1: half of what /dev/shm has free, shared by the nodes on it
  // From this length on, a message that allows it is copied once, from its sender's memory, between ranks of a node. A
  // system call costs more than two copies of fewer bytes.
  std::int64_t single_copy_from_bytes = 16384;
  bool single_copies = true;         // whether to find out if the system allows them; the same on all ranks
  std::int64_t tag_upper_bound = -1; // at most MPI_TAG_UB; -1: MPI_TAG_UB
  // Of one message of the MPI library, which counts in int. Longer ones travel in parts, in order, with one tag.
  std::int64_t most_at_once_bytes = std::int64_t{1} << 30;
  std::string network{wanted_network()}; // a row of networks.def; empty: the first that every rank can use
  double timeout_seconds = 0;            // fails after this time without any movement in a run; 0: never
};

// The emulated node of each rank: `each` consecutive ranks on each node, the rest on the last one.
std::vector<std::int32_t> nodes_of(std::int32_t ranks, std::int32_t each);

class MpiTransport final : public transport::Transport {
 public:
  // Collective over `communicator`, whatever its error handler: either all ranks get a transport or none. The library
  // must outlive the transport. prepare() is collective over the communicator, which must still exist then.
  static Result<std::unique_ptr<MpiTransport>> create(const mpi::Library& library, mpi::Handle communicator,
                                                      MpiTransportOptions options = {});
  ~MpiTransport() override; // collective, unless MPI is finalized
  // Continues for another communicator with the same ranks in the same order; the first need not exist any more. Only
  // if is_single_node() and nothing is under way.
  void move_to(mpi::Handle communicator);

  // Collective: decides for the largest demand of all ranks, so that all get the same answer.
  Status prepare(const transport::Demands& demands) override;
  // Collective with the prepare() of the other ranks, which would take the next call of this rank on the program's
  // communicator for its answer.
  void refuse() override;
  std::uint64_t begin(transport::Stream stream) override {
    return waiting_.reset(), has_moved_ = true, instances_.next(stream);
  }
  void send(transport::SendRequest& message) override;
  void receive(transport::ReceiveRequest& message) override;
  Progress progress() override;
  void idle() override;
  void progress_libraries() override;
  void check_timeout() override;
  Error error() const override;
  void abandon(const Error& reason) override { fail(reason); }
  bool gathers() const override { return true; }

  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  bool shares_memory_with(Rank peer) const;
  bool is_single_node() const override { return is_single_node_; }
  bool has_failed() const override { return network_->error().has_value(); }
  bool has_single_copies() const override { return node_ranks_ == 1 || (memory_ && memory_->is_readable()); }
  // A sentence for the user, for example that /dev/shm is too small; mostly empty.
  const std::string& note() const;

 private:
  struct Neighbour {
    shared_memory::ChannelSender out;
    shared_memory::ChannelReceiver in;
    shared_memory::PeerProcess process;
    bool has_ended = false; // when it was looked for last
  };
  struct Member { // of this node
    std::int64_t rank = 0;
    shared_memory::PeerProcess process;
  };
  MpiTransport(const mpi::Library& library, mpi::Handle communicator, MpiTransportOptions options);
  Status set_up();
  Status check_nodes() const;
  void free_communicators();
  Result<bool> is_one_machine() const;
  Status find_node();
  Status join_node();
  Result<std::int64_t> share_of_shared_memory(mpi::Handle machine) const;
  Result<std::vector<Member>> members_of_node(std::int32_t node_ranks) const;
  Result<transport::Demands> demands_of_all(const transport::Demands& mine) const;
  bool shares_memory_with_all() const;
  Result<bool> is_oversubscribed(std::int32_t node_ranks) const;
  void open_channels(const std::vector<Member>& members, std::int32_t node_rank);
  void activate(Rank peer);
  std::string awaited() const;
  void look_for_lost_peers();
  Progress fail(Error reason);

  const mpi::Library& library_;
  MpiTransportOptions options_;
  mpi::Handle communicator_, node_ = 0;
  bool owns_communicator_ = false, owns_node_ = false; // made by this transport
  bool complete_ = false;                              // set up on all ranks
  bool is_single_node_ = false;                        // stays true after a failure, because all ranks decide by it
  std::int64_t shared_memory_share_bytes_ = 0;
  std::int32_t rank_ = 0, ranks_ = 0, node_ranks_ = 1;
  transport::InstanceNumbers instances_;
  std::unique_ptr<shared_memory::NodeSegment> memory_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_; // by rank; null: on another node
  std::vector<Neighbour*> active_;                     // with messages under way
  std::shared_ptr<mpi::LibraryProgress> library_progress_;
  std::unique_ptr<Network> network_; // never null; its error is the transport's
  shared_memory::SpinWait waiting_;
  bool has_lost_peers_ = false; // by the time limit, or a process that has ended
  bool has_moved_ = false;      // since the clock was last read
  std::chrono::steady_clock::time_point moved_at_{}, looks_at_{};
};

} // namespace kumihimo::execute
