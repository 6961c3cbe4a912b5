#include "mpi_transport/mpi_transport.hpp"

#include "mpi/lost_ranks.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi_transport/networks/network.hpp"
#include "mpi_transport/networks/network_pair.hpp"
#include "shared_memory/affinity.hpp"
#include "transport/message.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

namespace kumihimo::mpi_transport {
namespace {

// Of the time limit. This transport can name the ranks that it waits for, so it gives up before others that cannot.
constexpr double share_of_timeout = 0.75;

// From this length on, a message that allows it is copied once, from its sender's memory, between ranks of a node. A
// system call costs more than two copies of fewer bytes.
constexpr std::int64_t single_copy_from_bytes = 16384;

// How often a rank that waits looks whether its peers have ended.
constexpr std::chrono::milliseconds time_between_looks{250};

// Of ranks that all share memory, and of a transport before its set-up: no message comes here but after a failure.
class NoNetwork final : public MpiNetwork {
 public:
  Status prepare(const transport::Demands&) const override { return Nothing{}; }
  void send(transport::SendRequest&) override {}
  void receive(transport::ReceiveRequest&) override {}
  bool progress() override { return false; }
  bool busy() const override { return false; }
  std::vector<std::int32_t> awaited() const override { return {}; }
  void abandon(const Error& reason) override {
    if (!error_) error_ = reason;
  }
};

} // namespace

Result<std::unique_ptr<MpiTransport>> MpiTransport::create(const mpi::Library& library, mpi::Handle communicator,
                                                           TransportOptions options) {
  const mpi::ErrorHandlerGuard returned(library, communicator);
  std::unique_ptr<MpiTransport> transport(new MpiTransport(library, communicator, std::move(options)));
  if (Status status = transport->set_up(); !status) return status.error();
  return transport;
}

MpiTransport::MpiTransport(const mpi::Library& library, mpi::Handle communicator, TransportOptions options)
    : library_(library), options_(std::move(options)), communicator_(communicator),
      library_progress_(mpi::LibraryProgress::of(library)), network_(std::make_unique<NoNetwork>()) {
  library.call.Comm_rank(communicator, &rank_);
  library.call.Comm_size(communicator, &ranks_);
  neighbours_.resize(static_cast<std::size_t>(ranks_));
}

// Communicators that only some ranks have made, or that lost ranks share, are left to the library: MPI frees them
// collectively and would wait for the others for ever.
MpiTransport::~MpiTransport() {
  int finalized = 0;
  const bool is_lost = has_lost_peers_ || mpi::has_noticed_loss();
  if (!complete_ || is_lost || library_.call.Finalized(&finalized) != 0 || finalized) return;
  network_->close();
  if (!network_->has_lost_peers()) free_communicators();
}

void MpiTransport::free_communicators() {
  if (owns_node_) library_.call.Comm_free(&node_);
  if (owns_communicator_) library_.call.Comm_free(&communicator_);
  owns_node_ = owns_communicator_ = false;
}

// Agreements during the set-up use the program's communicator. If all ranks share memory this stays so, and no
// communicator of our own remains: a library has few.
Status MpiTransport::set_up() {
  if (Status status = check_nodes(); !status) return status; // on all ranks alike
  Status ready = check_network(options_.network);            // though all ranks may share memory
  if (ready) ready = library_.check(library_progress_->made(), "MPI_Grequest_start");
  if (Status status = agree(library_, communicator_, ready); !status) return status;
  if (Status status = find_node(); !status) return status;
  if (Status status = agree(library_, communicator_, join_node()); !status) return status;
  is_single_node_ = shares_memory_with_all();
  if (!is_single_node_) {
    const Result<mpi::Handle> own = mpi::make_private_communicator(library_, communicator_);
    const Status copied = own ? Status(Nothing{}) : Status(own.error());
    if (Status status = agree(library_, communicator_, copied); !status) return status;
    communicator_ = *own;
    owns_communicator_ = true;
    const Result<bool> crowded = is_kernel_oversubscribed();
    if (Status status = crowded ? Status(Nothing{}) : Status(crowded.error()); !status) return status;
    if (*crowded) waiting_ = shared_memory::SpinWait(true, 0); // each turn asks the system for messages
    OpenedNetwork opened = TRY(open_network(
        {library_, communicator_, options_.tag_upper_bound, options_.most_at_once_bytes}, options_.network));
    network_ = std::move(opened.network);
    if (rank_ == 0) note_ = std::move(opened.note); // all ranks have one, or none
  }
  complete_ = true;
  if (is_single_node_) free_communicators();
  return Nothing{};
}

// Every rank of the node makes the same collective calls, even after a failure of its own.
Status MpiTransport::join_node() {
  std::int32_t node_ranks = 0, node_rank = 0;
  library_.call.Comm_size(node_, &node_ranks);
  library_.call.Comm_rank(node_, &node_rank);
  node_ranks_ = node_ranks;
  const Result<bool> oversubscribed = is_oversubscribed(node_ranks);
  const Result<std::vector<Member>> members = members_of_node(node_ranks);
  if (node_ranks > 1) {
    const std::int64_t asked = options_.shared_memory_limit_bytes;
    memory_ = TRY(shared_memory::NodeSegment::create(library_, node_, asked >= 0 ? asked : shared_memory_share_bytes_,
                                                     options_.single_copies));
  }
  if (!oversubscribed) return oversubscribed.error();
  if (!members) return members.error();
  waiting_ = shared_memory::SpinWait(*oversubscribed);
  if (memory_ && memory_->exists()) open_channels(*members, node_rank);
  return Nothing{};
}

Result<std::vector<MpiTransport::Member>> MpiTransport::members_of_node(std::int32_t node_ranks) const {
  std::vector<Member> members(static_cast<std::size_t>(node_ranks));
  const Member mine{rank_, shared_memory::own_process()};
  constexpr int words = sizeof(Member) / sizeof(std::int64_t);
  const mpi::Handle type = library_.datatype(DataType::int64);
  const int code = library_.call.Allgather(&mine, words, type, members.data(), words, type, node_);
  if (Status status = library_.check(code, "MPI_Allgather"); !status) return status.error();
  return members;
}

// Whether this node has more ranks than processors for them: of this communicator, or of the job, if all ranks may run
// on the same processors.
Result<bool> MpiTransport::is_oversubscribed(std::int32_t node_ranks) const {
  shared_memory::ProcessorMask mine = shared_memory::mask_of(shared_memory::allowed_processors());
  const auto own_words = static_cast<std::int32_t>(mine.size());
  std::int32_t words = own_words; // the longest mask's
  const int agreed = library_.call.Allreduce(&own_words, &words, 1, library_.datatype(DataType::int32),
                                             library_.operation(Operation::max), node_);
  if (Status status = library_.check(agreed, "MPI_Allreduce"); !status) return status.error();
  mine.resize(static_cast<std::size_t>(words));
  shared_memory::ProcessorMask all(mine.size() * static_cast<std::size_t>(node_ranks));
  const mpi::Handle type = library_.datatype(DataType::int64);
  const int code = library_.call.Allgather(mine.data(), words, type, all.data(), words, type, node_);
  if (Status status = library_.check(code, "MPI_Allgather"); !status) return status.error();
  const std::int32_t processors = shared_memory::processors_in(all, mine.size());
  const auto first = std::span(all).first(mine.size());
  bool unbound = true;
  for (std::size_t at = 0; at < all.size(); at += mine.size())
    unbound = unbound && std::equal(first.begin(), first.end(), all.begin() + static_cast<std::ptrdiff_t>(at));
  return node_ranks > processors || (unbound && shared_memory::job_ranks_on_node() > processors);
}

// Whether all ranks share one kernel, though they are on several nodes, and outnumber its processors: the nodes are
// containers or network namespaces. MPICH's ranks never yield: a wait that spins keeps the awaited rank from running.
Result<bool> MpiTransport::is_kernel_oversubscribed() const {
  const std::int64_t mine = shared_memory::kernel_number(), ends[2] = {mine, -mine};
  std::int64_t most[2] = {};
  const int code = library_.call.Allreduce(ends, most, 2, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), communicator_);
  if (Status status = library_.check(code, "MPI_Allreduce"); !status) return status.error();
  if (mine == shared_memory::no_machine_number || most[0] != -most[1]) return false;
  return ranks_ > sysconf(_SC_NPROCESSORS_ONLN);
}

// Whether all ranks are on this machine, by its host name and boot id. It saves MPI_Comm_split_type, which makes
// several communicators; MPICH takes 0.9 to 1.8 MiB once there are more than a few.
Result<bool> MpiTransport::is_one_machine() const {
  const std::int64_t mine = options_.machine, ends[3] = {mine, -mine, mine == shared_memory::no_machine_number};
  std::int64_t most[3] = {};
  const int code = library_.call.Allreduce(ends, most, 3, library_.datatype(DataType::int64),
                                           library_.operation(Operation::max), communicator_);
  if (Status status = library_.check(code, "MPI_Allreduce"); !status) return status.error();
  return most[0] == -most[1] && most[2] == 0;
}

Status MpiTransport::check_nodes() const {
  const std::vector<std::int32_t>& nodes = options_.node_of_rank;
  const bool numbers = std::all_of(nodes.begin(), nodes.end(), [](std::int32_t node) { return node >= 0; });
  if (nodes.empty() || (numbers && nodes.size() == static_cast<std::size_t>(ranks_))) return Nothing{};
  return wrong_value(fmt::format("the list of emulated nodes needs one of 0 or more for each of the {} ranks", ranks_),
                     fmt::format("{}", fmt::join(nodes, ", ")));
}

// The ranks that share memory with this one, or those of its emulated node.
Status MpiTransport::find_node() {
  const mpi::Functions& call = library_.call;
  const bool one_machine = TRY(is_one_machine());
  mpi::Handle machine = communicator_;
  if (!one_machine) {
    const int code = call.Comm_split_type(communicator_, library_.constants.comm_type_shared, rank_,
                                          library_.constants.info_null, &machine);
    if (Status status = agree(library_, communicator_, library_.check(code, "MPI_Comm_split_type")); !status)
      return status;
    call.Comm_set_errhandler(machine, library_.constants.errors_return);
  }
  mpi::Handle node = machine;
  if (!options_.node_of_rank.empty()) {
    const int code = call.Comm_split(machine, options_.node_of_rank[static_cast<std::size_t>(rank_)], rank_, &node);
    if (Status status = agree(library_, communicator_, library_.check(code, "MPI_Comm_split")); !status) return status;
    call.Comm_set_errhandler(node, library_.constants.errors_return);
  }
  node_ = node;
  owns_node_ = node != communicator_;
  const Result<std::int64_t> share = share_of_shared_memory(machine);
  if (machine != node && machine != communicator_) call.Comm_free(&machine);
  if (share) shared_memory_share_bytes_ = *share;
  return agree(library_, communicator_, share ? Status(Nothing{}) : Status(share.error()));
}

// The share of each node emulated on this machine, computed before any of them allocates.
Result<std::int64_t> MpiTransport::share_of_shared_memory(mpi::Handle machine) const {
  std::int32_t node_rank = 0;
  library_.call.Comm_rank(node_, &node_rank);
  const std::int64_t free = shared_memory::shared_memory_limit_bytes(), leads = node_rank == 0;
  std::int64_t smallest = free, nodes = 1;
  const mpi::Handle type = library_.datatype(DataType::int64);
  const int counted = library_.call.Allreduce(&leads, &nodes, 1, type, library_.operation(Operation::sum), machine);
  const int code = library_.call.Allreduce(&free, &smallest, 1, type, library_.operation(Operation::min), machine);
  if (Status status = library_.check(counted != 0 ? counted : code, "MPI_Allreduce"); !status) return status.error();
  return smallest / std::max<std::int64_t>(nodes, 1);
}

void MpiTransport::open_channels(const std::vector<Member>& members, std::int32_t node_rank) {
  for (std::int32_t other = 0; other < static_cast<std::int32_t>(members.size()); ++other) {
    if (other == node_rank) continue;
    shared_memory::ChannelSender out(memory_->channel(node_rank, other),
                                     memory_->is_readable() ? single_copy_from_bytes
                                                            : shared_memory::ChannelSender::never_offered);
    shared_memory::ChannelReceiver in(memory_->channel(other, node_rank),
                                      memory_->is_readable() ? memory_->process(other) : 0);
    const Member& member = members[static_cast<std::size_t>(other)];
    neighbours_[static_cast<std::size_t>(member.rank)] =
        std::make_unique<Neighbour>(Neighbour{std::move(out), std::move(in), member.process});
  }
}

bool MpiTransport::shares_memory_with(Rank peer) const {
  return neighbours_[static_cast<std::size_t>(peer.value)] != nullptr;
}

// All ranks must refuse or none. A program states the demands of its rank only, so the largest of each demand counts.
// The agreement costs a few microseconds, once for each plan.
Status MpiTransport::prepare(const transport::Demands& demands) {
  if (network_->error()) return *network_->error(); // the other ranks may not call it
  const transport::Demands all = TRY(demands_of_all(demands));
  if (all.impossible) return transport::failed_elsewhere();
  if (all.offloads) return transport::needs_offload_engine();
  if (all.fabric) note_fabric(open_fabric());
  return network_->prepare(all);
}

Status MpiTransport::open_fabric() {
  if (is_single_node_) return not_applicable("the network fabric is between nodes, and all ranks share memory");
  if (!options_.network.empty())
    return not_applicable(fmt::format("KUMIHIMO_NETWORK says that all messages use the network {}", options_.network),
                          {}, "leave it unset");
  if (network_->error()) return *network_->error();
  if (fabric_opened_) return *fabric_opened_;
  Result<std::unique_ptr<MpiNetwork>> made =
      add_network({library_, communicator_, options_.tag_upper_bound, options_.most_at_once_bytes}, "fabric");
  fabric_opened_ = made ? Status(Nothing{}) : Status(made.error());
  if (made) network_ = std::make_unique<NetworkPair>(std::move(network_), std::move(*made));
  return *fabric_opened_;
}

// For the user, by one rank: messages that were to use it use the usual network.
void MpiTransport::note_fabric(const Status& opened) {
  if (!opened && fabric_opened_ && note_.empty() && rank_ == 0)
    note_ =
        fmt::format("the network mpi is used instead of fabric, which the wisdom names: {}", opened.error().problem);
}

Result<transport::Demands> MpiTransport::demands_of_all(const transport::Demands& mine) const {
  const std::int64_t asked[] = {mine.lanes,    mine.window,     mine.spread, mine.largest_bytes,
                                mine.offloads, mine.impossible, mine.fabric};
  std::int64_t most[std::size(asked)] = {};
  const int code =
      library_.call.Allreduce(asked, most, static_cast<int>(std::size(asked)), library_.datatype(DataType::int64),
                              library_.operation(Operation::max), communicator_);
  if (Status status = library_.check(code, "agreement on a program's demands"); !status) return status.error();
  transport::Demands all = mine;
  all.lanes = static_cast<std::int32_t>(most[0]);
  all.window = most[1];
  all.spread = most[2];
  all.largest_bytes = most[3];
  all.offloads = most[4] != 0;
  all.impossible = most[5] != 0;
  all.fabric = most[6] != 0;
  return all;
}

// The same answer on all ranks, because either all ranks of a node share memory or none.
bool MpiTransport::shares_memory_with_all() const {
  for (std::int32_t r = 0; r < ranks_; ++r)
    if (r != rank_ && !shares_memory_with(Rank{r})) return false;
  return true;
}

void MpiTransport::expect(std::span<const transport::EarlyReceive> receives) {
  from_others_.clear();
  for (const transport::EarlyReceive& each : receives)
    if (!shares_memory_with(each.key.peer)) from_others_.push_back(each);
  if (!from_others_.empty()) network_->expect(from_others_);
}

void MpiTransport::send(transport::SendRequest& message) {
  Neighbour* near = neighbours_[static_cast<std::size_t>(message.key.peer.value)].get();
  if (!near) return network_->send(message);
  near->out.start(message);
  if (near->out.busy()) activate(message.key.peer);
}

void MpiTransport::receive(transport::ReceiveRequest& message) {
  Neighbour* near = neighbours_[static_cast<std::size_t>(message.key.peer.value)].get();
  if (!near) return network_->receive(message);
  near->in.start(message);
  if (near->in.busy()) activate(message.key.peer);
}

void MpiTransport::activate(Rank peer) {
  Neighbour* near = neighbours_[static_cast<std::size_t>(peer.value)].get();
  if (std::find(active_.begin(), active_.end(), near) == active_.end()) active_.push_back(near);
}

transport::Transport::Progress MpiTransport::progress() {
  bool moved = false;
  for (std::size_t i = 0; i < active_.size();) {
    Neighbour& near = *active_[i];
    if (near.out.busy()) moved |= near.out.progress();
    if (near.in.busy()) moved |= near.in.progress();
    if (near.in.error()) return fail(*near.in.error());
    if (near.out.has_lost_peer()) return fail(transport::failed_elsewhere());
    if (near.out.busy() || near.in.busy()) {
      ++i;
    } else {
      active_[i] = active_.back();
      active_.pop_back();
    }
  }
  if (!is_single_node_ && network_->busy()) moved |= network_->progress();
  if (network_->error()) {
    has_lost_peers_ |= network_->has_lost_peers();
    return fail(*network_->error());
  }
  if (!moved) return Progress::nothing;
  waiting_.reset();
  has_moved_ = true;
  return Progress::moved;
}

void MpiTransport::idle() {
  if (waiting_.turn()) poll();
}

void MpiTransport::check_timeout() {
  const auto now = std::chrono::steady_clock::now();
  if (now >= looks_at_) {
    look_for_lost_peers();
    looks_at_ = now + time_between_looks;
  }
  if (has_lost_peers_ || options_.timeout_seconds <= 0) return;
  if (std::exchange(has_moved_, false)) moved_at_ = now;
  const double seconds = std::chrono::duration<double>(now - moved_at_).count();
  if (seconds < share_of_timeout * options_.timeout_seconds) return;
  has_lost_peers_ = true;
  fail(failed(fmt::format("no message arrived within the time limit of {:g} s", options_.timeout_seconds),
              "none from " + awaited(), "check that they still run, or give a longer --timeout"));
}

// A launcher may let the others go on where one is killed.
void MpiTransport::look_for_lost_peers() {
  for (std::size_t r = 0; r < neighbours_.size(); ++r) {
    Neighbour* const near = neighbours_[r].get();
    if (!near || !(near->in.busy() || near->out.busy()) || !shared_memory::has_ended(near->process)) continue;
    if (!std::exchange(near->has_ended, true)) continue; // what it has sent before may not have been taken yet
    has_lost_peers_ = true;
    fail(
        failed(fmt::format("the process of rank {} of the communicator has ended", r), {}, "see what it wrote before"));
    return;
  }
}

// The ranks with which messages are under way, by their rank in the communicator.
std::string MpiTransport::awaited() const {
  std::vector<std::int32_t> peers = network_->awaited();
  for (std::int32_t r = 0; r < ranks_; ++r)
    if (const Neighbour* near = neighbours_[static_cast<std::size_t>(r)].get())
      if (near->in.busy() || near->out.busy()) peers.push_back(r);
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  constexpr std::size_t most = 8;
  const std::size_t named = std::min(peers.size(), most);
  std::string text = fmt::format("rank{} {}", peers.size() == 1 ? "" : "s",
                                 fmt::join(peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  if (named < peers.size()) text += fmt::format(" and {} more", peers.size() - named);
  return text;
}

Error MpiTransport::error() const { return *network_->error(); }

// The network, too, though no message of this rank is under way: a peer may wait for an answer of its provider.
void MpiTransport::progress_libraries() {
  if (!is_single_node_ && !network_->busy()) network_->progress();
  const int code = library_progress_->progress();
  if (code != 0) network_->abandon(library_.check(code, "MPI_Request_get_status").error());
  if (!has_lost_peers_ && mpi::look_for_losses() != 0) {
    has_lost_peers_ = true;
    fail(failed("a rank has died"));
  }
}

// The messages under way may soon be destroyed, so no address of them is kept. Later messages go to the network,
// which ignores them after an error; so the usual path has no check. Ranks of this node that wait for this one
// learn of the failure; ranks of other nodes only by a time limit.
transport::Transport::Progress MpiTransport::fail(Error reason) {
  active_.clear();
  for (std::unique_ptr<Neighbour>& near : neighbours_) {
    if (near) near->out.give_up(), near->in.give_up();
    near.reset();
  }
  network_->abandon(reason);
  return Progress::failed;
}

} // namespace kumihimo::mpi_transport
