// The network over libfabric: messages of fabric::FabricMessages between the ranks of a communicator. The MPI library
// only hands round the addresses of the ranks.
#include "fabric/wire.hpp"
#include "mpi_transport/networks/network.hpp"
#include "mpi_transport/networks/rank_memory.hpp"

#ifdef KUMIHIMO_LIBFABRIC
#include "fabric/messages.hpp"
#include "fabric/remote_memory.hpp"
#include "mpi_transport/networks/fabric/closing.hpp"
#include "shared_memory/node_segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#endif

namespace kumihimo::mpi_transport {

#ifndef KUMIHIMO_LIBFABRIC

namespace {

Error not_built() {
  return not_applicable("the network fabric is not in this build, which found no headers of libfabric", {},
                        "install libfabric-dev and build again, or use the network mpi");
}

} // namespace

Result<std::unique_ptr<MpiNetwork>> make_fabric_network(const NetworkContext&) { return not_built(); }

Result<std::unique_ptr<RankMemory>> RankMemory::open(const mpi::Library&, mpi::Handle) { return not_built(); }

#else

namespace {

// One port for all communicators of the process that need the same interface; the last one closes it. A port that has
// lost a peer, or on which an operation has failed, serves those that have it: its failures are errors of each of its
// communicators that needs the peer. Later ones get another, by which they meet the peer anew.
Result<std::shared_ptr<fabric::FabricPort>> port_of_process(const fabric::PortOptions& options) {
  static std::mutex mutex;
  static std::weak_ptr<fabric::FabricPort> of_one_machine, of_several;
  const std::lock_guard lock(mutex);
  std::weak_ptr<fabric::FabricPort>& known = options.provider.one_machine ? of_one_machine : of_several;
  if (std::shared_ptr<fabric::FabricPort> port = known.lock()) {
    const std::lock_guard port_lock(port->mutex());
    if (!port->has_lost_peers() && port->failures() == 0) return port;
  }
  std::shared_ptr<fabric::FabricPort> port = TRY(fabric::FabricPort::open(options));
  known = port;
  return port;
}

Result<std::int32_t> wanted_engines() {
  const char* const text = std::getenv("KUMIHIMO_FABRIC_ENGINES");
  if (!text) return fabric::PortOptions{}.engines;
  char* end = nullptr;
  const long engines = std::strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && engines >= 1 && engines <= fabric::FabricPort::most_engines)
    return static_cast<std::int32_t>(engines);
  return wrong_value(fmt::format("KUMIHIMO_FABRIC_ENGINES must be 1 to {}", fabric::FabricPort::most_engines), text,
                     "leave it unset for the default");
}

Result<std::vector<std::string>> wanted_rails() {
  const char* const text = std::getenv("KUMIHIMO_FABRIC_RAILS");
  return text ? fabric::rails_in("KUMIHIMO_FABRIC_RAILS", text) : std::vector<std::string>{};
}

Result<fabric::ChannelSizes> wanted_channels() {
  const char* const text = std::getenv("KUMIHIMO_FABRIC_CHANNELS");
  return text ? fabric::channel_sizes_in("KUMIHIMO_FABRIC_CHANNELS", text) : fabric::ChannelSizes{};
}

// Whether places are told for all messages of a call together, or for each message, for comparison.
Result<bool> opens_places() {
  const char* const text = std::getenv("KUMIHIMO_FABRIC_PLACES");
  const std::string_view word = text ? text : "call";
  if (word == "call" || word == "message") return word == "call";
  return wrong_value("KUMIHIMO_FABRIC_PLACES must be call or message", text, "leave it unset for the default");
}

class EndBarrier {
 public:
  EndBarrier(const mpi::Library& library, mpi::Handle communicator)
      : library_(library), communicator_(communicator), request_(library.constants.request_null) {}
  bool enter() { return library_.call.Ibarrier(communicator_, &request_) == 0; }
  bool ended() {
    int done = 0;
    return library_.call.Test(&request_, &done, library_.constants.status_ignore) != 0 || done;
  }

 private:
  const mpi::Library& library_;
  mpi::Handle communicator_, request_;
};

class FabricNetwork final : public MpiNetwork {
 public:
  FabricNetwork(const NetworkContext& context, std::shared_ptr<fabric::FabricPort> port, fabric::FabricRanks ranks)
      : library_(context.library), communicator_(context.communicator), messages_(std::move(port), std::move(ranks)) {}

  bool attached() const { return messages_.attached(); }
  Status prepare(const transport::Demands& demands) const override { return fabric::FabricMessages::accepts(demands); }
  std::int64_t early_bytes(bool) const override { return messages_.early_bytes(); }
  void expect(std::span<const transport::EarlyReceive> receives) override { messages_.expect(receives), note_error(); }
  void send(transport::SendRequest& message) override { messages_.send(message), note_error(); }
  void receive(transport::ReceiveRequest& message) override { messages_.receive(message), note_error(); }
  bool progress() override {
    const bool moved = messages_.progress();
    note_error();
    return moved;
  }
  bool busy() const override { return messages_.busy() || messages_.error(); }
  std::vector<std::int32_t> awaited() const override { return messages_.awaited(); }
  void abandon(const Error& reason) override { messages_.abandon(reason), note_error(); }

  bool has_lost_peers() const override { return messages_.has_lost_peers() || leaves_barrier_; }

  // A rank that has an error of its own comes to the barrier, too; one that has lost a peer does not.
  void close() override {
    if (messages_.has_lost_peers()) return;
    EndBarrier barrier(library_, communicator_);
    const ClosingEnd end = close_together(
        {[&] { return progress(), !messages_.has_lost_peers(); }, [&] { return error_ || messages_.drained(); },
         [&] { return barrier.enter(); }, [&] { return barrier.ended(); }, [&] { return messages_.misses_a_rank(); }},
        closing_patience());
    leaves_barrier_ = end.entered && !end.ended;
  }

 private:
  void note_error() {
    if (messages_.error() && !error_) error_ = *messages_.error();
  }

  const mpi::Library& library_;
  mpi::Handle communicator_;
  fabric::FabricMessages messages_;
  bool leaves_barrier_ = false; // one that has not ended needs its communicator
};

std::int64_t largest(const NetworkContext& context, std::int64_t mine, int& code) {
  std::int64_t most = mine;
  code = context.library.call.Allreduce(&mine, &most, 1, context.library.datatype(DataType::int64),
                                        context.library.operation(Operation::max), context.communicator);
  return most;
}

// Whether all ranks are on one machine, as emulated nodes are.
Result<bool> is_one_machine(const NetworkContext& context) {
  const std::int64_t mine = shared_memory::machine_number();
  int first = 0, second = 0;
  const std::int64_t most = largest(context, mine, first), least = -largest(context, -mine, second);
  if (Status status = context.library.check(first != 0 ? first : second, "MPI_Allreduce"); !status)
    return status.error();
  return most == least && mine != shared_memory::no_machine_number;
}

// The port of this process and the cards of all ranks, if all ranks have a port of the same provider.
Result<fabric::FabricRanks> exchange_cards(const NetworkContext& context, const fabric::FabricPort& port) {
  const mpi::Library& library = context.library;
  fabric::FabricRanks ranks;
  std::int32_t count = 0;
  library.call.Comm_rank(context.communicator, &ranks.rank);
  library.call.Comm_size(context.communicator, &count);
  const std::vector<std::byte> card = port.card();
  // Providers differ in the length of addresses, or in this sum over the name and the rails.
  std::uint64_t sum = card.size();
  for (const char c : port.provider()) sum = sum * 131 + static_cast<unsigned char>(c);
  sum = sum * 131 + port.rails();
  const fabric::ChannelSizes& sizes = port.options().channels;
  for (const std::int64_t size : {sizes.slots(fabric::ChannelMode::small), sizes.slots(fabric::ChannelMode::large),
                                  sizes.small_slot_bytes, sizes.large_slot_bytes, sizes.large_eager_bytes})
    sum = sum * 131 + static_cast<std::uint64_t>(size); // both ends must know them
  const auto name = static_cast<std::int64_t>(sum >> 1);
  int first = 0, second = 0;
  const bool same = largest(context, name, first) == -largest(context, -name, second);
  if (Status status = library.check(first != 0 ? first : second, "MPI_Allreduce"); !status) return status.error();
  if (!same)
    return not_applicable(
        fmt::format("the ranks have different providers of libfabric, rails or sizes of channels ({} on {} here)",
                    port.provider(), port.interface()),
        {}, "set FI_PROVIDER to one that all nodes have, and as many rails and the same channels on each");
  ranks.card_bytes = card.size();
  ranks.cards.resize(card.size() * static_cast<std::size_t>(count));
  const auto words = static_cast<int>(card.size() / sizeof(std::int64_t));
  const mpi::Handle type = library.datatype(DataType::int64);
  const int code =
      library.call.Allgather(card.data(), words, type, ranks.cards.data(), words, type, context.communicator);
  if (Status status = library.check(code, "MPI_Allgather"); !status) return status.error();
  return ranks;
}

// As the user's environment says.
Result<std::shared_ptr<fabric::FabricPort>> open_port(fabric::PortOptions options) {
  options.engines = TRY(wanted_engines());
  options.rails = TRY(wanted_rails());
  options.channels = TRY(wanted_channels());
  options.opens_places = TRY(opens_places());
  return port_of_process(options);
}

struct PortOfRanks {
  std::shared_ptr<fabric::FabricPort> port;
  fabric::FabricRanks ranks; // without a number of the network
};

// Every rank makes the same collective calls, whatever fails on it.
Result<PortOfRanks> open_port_of_ranks(const NetworkContext& context) {
  fabric::PortOptions options;
  options.provider.one_machine = TRY(is_one_machine(context));
  context.library.call.Comm_size(context.library.constants.comm_world, &options.provider.processes); // ever met
  Result<std::shared_ptr<fabric::FabricPort>> opened = open_port(options);
  const Status mine = opened ? Status(Nothing{}) : Status(opened.error());
  if (Status status = agree(context.library, context.communicator, mine); !status) return status.error();
  fabric::FabricRanks ranks = TRY(exchange_cards(context, **opened));
  return PortOfRanks{std::move(*opened), std::move(ranks)};
}

// The largest number that a rank proposes for the network between them.
Result<std::uint32_t> agreed_number(const NetworkContext& context, fabric::FabricPort& port) {
  const std::int64_t proposed = [&] {
    const std::lock_guard lock(port.mutex());
    return std::int64_t{port.propose_network()};
  }();
  int code = 0;
  const std::int64_t most = largest(context, proposed, code);
  if (Status status = context.library.check(code, "MPI_Allreduce"); !status) return status.error();
  return static_cast<std::uint32_t>(most);
}

class FabricRankMemory final : public RankMemory {
 public:
  FabricRankMemory(const NetworkContext& context, std::shared_ptr<fabric::FabricPort> port, fabric::FabricRanks ranks)
      : library_(context.library), communicator_(context.communicator), memory_(std::move(port), std::move(ranks)) {}

  ~FabricRankMemory() override {
    EndBarrier barrier(library_, communicator_);
    const auto move = [&] {
      static_cast<void>(memory_.progress()); // after a failure, too: the others are told
      return true;
    };
    close_together({move, [&] { return memory_.has_failed() || memory_.drained(); }, [&] { return barrier.enter(); },
                    [&] { return barrier.ended(); }, [&] { return memory_.misses_a_rank(); }},
                   closing_patience());
  }

  bool attached() const { return memory_.attached(); }
  transport::Transport& transport() override { return memory_; }

 private:
  const mpi::Library& library_;
  mpi::Handle communicator_;
  fabric::FabricRemoteMemory memory_;
};

// Two threads may make networks at once: a number that another communicator of some rank has is proposed again.
template <class Network>
Result<std::unique_ptr<Network>> make_numbered(const NetworkContext& context) {
  PortOfRanks of = TRY(open_port_of_ranks(context));
  for (;;) {
    of.ranks.network = TRY(agreed_number(context, *of.port));
    auto made = std::make_unique<Network>(context, of.port, of.ranks);
    int code = 0;
    const std::int64_t taken = largest(context, !made->attached(), code);
    if (Status status = context.library.check(code, "MPI_Allreduce"); !status) return status.error();
    if (taken == 0) return made;
  }
}

} // namespace

Result<std::unique_ptr<MpiNetwork>> make_fabric_network(const NetworkContext& context) {
  return std::unique_ptr<MpiNetwork>(TRY(make_numbered<FabricNetwork>(context)));
}

// All have it before the first message, as they agree on its number afterwards.
Result<std::unique_ptr<RankMemory>> RankMemory::open(const mpi::Library& library, mpi::Handle communicator) {
  return std::unique_ptr<RankMemory>(TRY(make_numbered<FabricRankMemory>(NetworkContext{library, communicator})));
}

#endif

} // namespace kumihimo::mpi_transport
