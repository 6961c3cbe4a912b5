// What carries messages between ranks that share no memory, below the transport of an MPI communicator. A network is a
// folder here and a row of networks.def.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "transport/message.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace kumihimo::mpi_transport {

class MpiNetwork {
 public:
  virtual ~MpiNetwork() = default;

  // Whether messages with these demands, the largest of all ranks, can be moved. Every rank gets the same answer.
  virtual Status prepare(const transport::Demands& of_all_ranks) const = 0;
  // As of transport::Transport; after the first error they start nothing.
  virtual void send(transport::SendRequest& message) = 0;
  virtual void receive(transport::ReceiveRequest& message) = 0;
  virtual bool progress() = 0; // true: something was completed
  virtual bool busy() const = 0;
  virtual std::vector<std::int32_t> awaited() const = 0; // peers of the messages under way
  // Gives up all messages under way and touches them no more. `reason` becomes error() unless there is one already.
  virtual void abandon(const Error& reason) = 0;

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
  // Collective. Error: this rank cannot reach its peers by such a network; then every rank tries the next one.
  Result<std::unique_ptr<MpiNetwork>> (*make)(const NetworkContext& context);
};

// The rows of networks.def, in the order in which they are tried.
const std::vector<NetworkKind>& networks();

// The name in the environment variable KUMIHIMO_NETWORK; empty: none.
std::string_view wanted_network();

// Error: a name that no network has.
Status check_network(std::string_view name);

// The network named, or without a name the first that every rank can use. Collective over context.communicator. Errors:
// an unknown name, names that differ between ranks, no network that every rank can use.
Result<std::unique_ptr<MpiNetwork>> open_network(const NetworkContext& context, std::string_view name);

// Whether a step of a set-up worked: success if all ranks of the communicator bring success, otherwise an error on
// each. Collective.
Status agree(const mpi::Library& library, mpi::Handle communicator, const Status& mine);

} // namespace kumihimo::mpi_transport
