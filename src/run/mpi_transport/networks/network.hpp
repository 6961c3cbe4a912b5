// What carries messages between ranks that share no memory, below the transport of an MPI communicator. A network is a
// folder here and a row of networks.def.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "transport/message.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::mpi_transport {

class MpiNetwork {
 public:
  virtual ~MpiNetwork() = default;

  // Whether messages with these demands, the largest of all ranks, can be moved. Every rank gets the same answer.
  virtual Status prepare(const transport::Demands& of_all_ranks) const = 0;
  // As of transport::Transport; after the first error they start nothing.
  virtual std::int64_t early_bytes(bool /*over_fabric*/) const { return std::numeric_limits<std::int64_t>::max(); }
  virtual void expect(std::span<const transport::EarlyReceive>) {}
  virtual void send(transport::SendRequest& message) = 0;
  virtual void receive(transport::ReceiveRequest& message) = 0;
  virtual bool progress() = 0; // true: something was completed
  virtual bool busy() const = 0;
  virtual std::vector<std::int32_t> awaited() const = 0; // peers of the messages under way
  // Gives up all messages under way and touches them no more. `reason` becomes error() unless there is one already.
  virtual void abandon(const Error& reason) = 0;
  // Whether the error is that a process has ended or cannot be reached: then nothing collective is done any more.
  virtual bool has_lost_peers() const { return false; }
  // Collective, before the communicator is freed and while MPI still works.
  virtual void close() {}

  const std::optional<Error>& error() const { return error_; } // the first

 protected:
  std::optional<Error> error_;
};

// What a network is made from.
struct NetworkContext {
  const mpi::Library& library;
  mpi::Handle communicator;                                // private to the network, with errors returned
  std::int64_t tag_upper_bound = -1;                       // at most MPI_TAG_UB; -1: MPI_TAG_UB
  std::int64_t most_at_once_bytes = std::int64_t{1} << 30; // of one message of the MPI library, which counts in int
};

struct NetworkKind {
  std::string_view name;
  // Collective. Error: this rank cannot reach its peers by such a network; then every rank takes the first row's.
  Result<std::unique_ptr<MpiNetwork>> (*make)(const NetworkContext& context);
};

// The rows of networks.def.
const std::vector<NetworkKind>& networks();

// The name in the environment variable KUMIHIMO_NETWORK; empty: none.
std::string_view wanted_network();

// Error: a name that no network has.
Status check_network(std::string_view name);

struct OpenedNetwork {
  std::unique_ptr<MpiNetwork> network;
  std::string note; // for the user: why another than the one named; mostly empty
};

// The network named; the first row if there is no name, or if some rank cannot use the one named. Collective over
// context.communicator. Errors: an unknown name, names that differ between ranks, a rank that cannot use the first row.
Result<OpenedNetwork> open_network(const NetworkContext& context, std::string_view name);

// A network beside the first row's, for messages that ask for it. Collective. Error: not applicable, with the reason of
// the lowest rank that cannot use it, or that it is another rank.
Result<std::unique_ptr<MpiNetwork>> add_network(const NetworkContext& context, std::string_view name);

// Whether a step of a set-up worked: success if all ranks of the communicator bring success, otherwise an error on
// each. Collective.
Status agree(const mpi::Library& library, mpi::Handle communicator, const Status& mine);

} // namespace kumihimo::mpi_transport
