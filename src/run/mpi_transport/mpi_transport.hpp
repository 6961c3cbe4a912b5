// The transport of an MPI communicator: shared memory between ranks of one node, a network (mpi_transport/networks)
// between nodes. The network has a private communicator, so that its messages never match one of the program's. If all
// ranks share memory there is neither network nor communicator. After the first error, prepare() and progress() return
// that error.
#pragma once

#include "mpi/library.hpp"
#include "mpi/library_progress.hpp"
#include "mpi_transport/networks/network.hpp"
#include "mpi_transport/transport_options.hpp"
#include "shared_memory/channel_receiver.hpp"
#include "shared_memory/channel_sender.hpp"
#include "shared_memory/node_segment.hpp"
#include "shared_memory/peer_process.hpp"
#include "shared_memory/spin_wait.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::mpi_transport {

class MpiTransport final : public transport::Transport {
 public:
  // See open_transport().
  static Result<std::unique_ptr<MpiTransport>> create(const mpi::Library& library, mpi::Handle communicator,
                                                      TransportOptions options = {});
  ~MpiTransport() override; // collective, unless MPI is finalized

  // Not where all ranks share memory, or the user has named a network for all messages.
  Status open_fabric() override;
  // Collective: decides for the largest demand of all ranks, so that all get the same answer.
  Status prepare(const transport::Demands& demands) override;
  std::uint64_t begin(transport::Stream stream) override {
    return waiting_.reset(), has_moved_ = true, instances_.next(stream);
  }
  std::int64_t early_bytes(bool over_fabric) const override { return network_->early_bytes(over_fabric); }
  void expect(std::span<const transport::EarlyReceive> receives) override;
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
  bool yields_at_once() const { return waiting_.yields_at_once(); } // ranks outnumber the processors that they share
  bool has_failed() const override { return network_->error().has_value(); }
  bool has_single_copies() const override { return node_ranks_ == 1 || (memory_ && memory_->is_readable()); }
  std::string_view note() const override {
    return note_.empty() && memory_ ? std::string_view(memory_->note()) : std::string_view(note_);
  }

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
  MpiTransport(const mpi::Library& library, mpi::Handle communicator, TransportOptions options);
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
  Result<bool> is_kernel_oversubscribed() const;
  void open_channels(const std::vector<Member>& members, std::int32_t node_rank);
  void note_fabric(const Status& opened);
  void activate(Rank peer);
  std::string awaited() const;
  void look_for_lost_peers();
  Progress fail(Error reason);

  const mpi::Library& library_;
  TransportOptions options_;
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
  std::vector<transport::EarlyReceive> from_others_;   // of an instance that begins: from other nodes
  std::shared_ptr<mpi::LibraryProgress> library_progress_;
  std::string note_;                    // of the network
  std::optional<Status> fabric_opened_; // once it was tried
  std::unique_ptr<MpiNetwork> network_; // never null; its error is the transport's
  shared_memory::SpinWait waiting_;
  bool has_lost_peers_ = false; // by the time limit, or a process that has ended
  bool has_moved_ = false;      // since the clock was last read
  std::chrono::steady_clock::time_point moved_at_{}, looks_at_{};
};

} // namespace kumihimo::mpi_transport
