#include "checks.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi_transport/mpi_transport.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::mpi {
namespace {

using mpi_transport::MpiTransport;
using mpi_transport::nodes_of;
using mpi_transport::TransportOptions;
using transport::MessageKey;

constexpr std::int64_t window = 4, spread = 3;

// One message between two ranks, known to all ranks.
struct Plan {
  std::int32_t from = 0, to = 0;
  MessageKey key;
  std::int64_t bytes = 0, element_bytes = 1;
  std::uint32_t seed = 0;
};

// Keys all different, within the window and the spread, so that every order of starting is allowed.
std::vector<Plan> random_plans(std::mt19937& random, int ranks, std::uint64_t instance) {
  std::vector<Plan> plans;
  for (std::int32_t from = 0; from < ranks; ++from)
    for (std::int32_t to = 0; to < ranks; ++to)
      for (std::int32_t lane = 0; lane < 3; ++lane)
        for (std::int64_t ordinal = 0; ordinal <= spread; ++ordinal) {
          if (from == to || random() % 2) continue;
          Plan plan{from, to, {}, 0, std::int64_t{1} << random() % 4, static_cast<std::uint32_t>(random())};
          plan.key = {instance, Rank{},           LaneId{lane}, static_cast<std::int64_t>(random() % window),
                      ordinal,  random() % 8 == 0};
          const std::int64_t largest = random() % 4 == 0 ? 300'000 : 200;
          if (!plan.key.signal)
            plan.bytes =
                plan.element_bytes * (1 + static_cast<std::int64_t>(random()) % (largest / plan.element_bytes));
          plans.push_back(plan);
        }
  return plans;
}

std::vector<std::byte> content(const Plan& plan) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(plan.bytes));
  std::minstd_rand random(plan.seed);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

// One end of a message.
struct End {
  Plan plan;
  bool sends = false;
  std::int32_t open = 1;
  std::vector<std::byte> bytes, own;
  std::vector<transport::Piece> pieces;
  transport::SendRequest send;
  transport::ReceiveRequest receive;
  transport::Reduction reduction;
};

void exclusive_or(const void*, const void* left, const void* right, void* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    static_cast<unsigned char*>(target)[i] =
        static_cast<const unsigned char*>(left)[i] ^ static_cast<const unsigned char*>(right)[i];
}

void make_sender(End& end) {
  end.bytes = content(end.plan);
  end.send.key = end.plan.key;
  end.send.key.peer = Rank{end.plan.to};
  end.send.bytes = end.plan.bytes;
  end.send.element_bytes = end.plan.element_bytes;
  end.send.open = &end.open;
  const std::int64_t cut = end.plan.seed % 3 == 0 ? 1 + end.plan.seed % 97 : std::max<std::int64_t>(1, end.plan.bytes);
  for (std::int64_t at = 0; at < end.plan.bytes; at += cut)
    end.pieces.push_back({end.bytes.data() + at, std::min(cut, end.plan.bytes - at)});
  if (!end.pieces.empty()) end.send.only = end.pieces.front();
  end.send.first_piece = end.pieces.data();
  end.send.piece_count = static_cast<std::int32_t>(end.pieces.size());
}

// Every second message of single bytes is combined with bytes of the receiver's own.
void make_receiver(End& end) {
  end.bytes.assign(static_cast<std::size_t>(end.plan.bytes), std::byte{0xee});
  end.receive.key = end.plan.key;
  end.receive.key.peer = Rank{end.plan.from};
  end.receive.bytes = end.plan.bytes;
  end.receive.open = &end.open;
  end.receive.copy_into({end.bytes.data(), nullptr, 0}, end.plan.element_bytes);
  if (end.plan.element_bytes != 1 || end.plan.seed % 2) return;
  end.own.assign(end.bytes.size(), std::byte{0x5a});
  end.reduction.function = exclusive_or;
  end.receive.reduce_into({end.bytes.data(), nullptr, 0}, {end.own.data(), nullptr, 0}, &end.reduction,
                          end.plan.seed % 4 == 0, 1);
}

bool arrived_right(const End& end) {
  std::vector<std::byte> expected = content(end.plan);
  if (!end.own.empty())
    for (std::byte& b : expected) b ^= std::byte{0x5a};
  return end.bytes == expected;
}

// `both_networks`: every second message asks for the fabric.
bool exchange(MpiTransport& transport, std::mt19937& common, std::mt19937& own, bool both_networks = false) {
  const int rank = transport.rank();
  std::vector<std::unique_ptr<End>> ends;
  for (const Plan& plan : random_plans(common, transport.ranks(), transport.begin(transport::Stream::blocking)))
    for (bool sends : {true, false}) {
      if ((sends ? plan.from : plan.to) != rank) continue;
      auto end = std::make_unique<End>();
      end->plan = plan;
      end->sends = sends;
      sends ? make_sender(*end) : make_receiver(*end);
      end->send.over_fabric = end->receive.over_fabric = both_networks && plan.seed % 2 == 0;
      ends.push_back(std::move(end));
    }
  std::shuffle(ends.begin(), ends.end(), own);
  for (const auto& end : ends) {
    end->sends ? transport.send(end->send) : transport.receive(end->receive);
    if (own() % 3 == 0) transport.progress();
  }
  const auto all_done = [&] { return std::all_of(ends.begin(), ends.end(), [](auto& e) { return e->open == 0; }); };
  while (!all_done()) {
    const auto progress = transport.progress();
    if (progress == transport::Transport::Progress::failed)
      return std::fprintf(stderr, "rank %d: %s\n", rank, transport.error().sentence().c_str()), false;
    if (progress == transport::Transport::Progress::nothing) transport.idle();
  }
  for (const auto& end : ends)
    if (!end->sends && !arrived_right(*end))
      return std::fprintf(stderr, "rank %d: wrong bytes in %s\n", rank, describe(end->receive.key, false).c_str()),
             false;
  return true;
}

struct Case {
  const char* name;
  TransportOptions options;
  bool expects_note = false;
  bool both_networks = false;
};

bool check_case(const Library& library, const Case& test, int rank, int ranks, int exchanges) {
  Result<std::unique_ptr<MpiTransport>> made =
      MpiTransport::create(library, library.constants.comm_world, test.options);
  if (!made) return std::fprintf(stderr, "%s: %s\n", test.name, made.error().sentence().c_str()), false;
  MpiTransport& transport = **made;
  if (transport.note().empty() == (test.expects_note && ranks > 1))
    return std::fprintf(stderr, "%s: note is \"%s\"\n", test.name, std::string(transport.note()).c_str()), false;
  // Ranks on several nodes that share one kernel share its processors, too.
  if (!test.options.node_of_rank.empty() && ranks > sysconf(_SC_NPROCESSORS_ONLN) && !transport.yields_at_once())
    return std::fprintf(stderr, "%s: %d ranks spin, though they outnumber the processors\n", test.name, ranks), false;
  transport::Demands demands;
  demands.lanes = 3;
  demands.window = window;
  demands.spread = spread;
  demands.largest_bytes = 300'000;
  for (std::int32_t peer = 0; peer < ranks; ++peer)
    if (peer != rank) demands.peers.push_back(Rank{peer});
  if (Status status = transport.prepare(demands); !status)
    return std::fprintf(stderr, "%s: %s\n", test.name, status.error().sentence().c_str()), false;
  demands.fabric = test.both_networks;
  if (Status status = demands.fabric ? transport.prepare(demands) : Status(Nothing{}); !status)
    return std::fprintf(stderr, "%s: %s\n", test.name, status.error().sentence().c_str()), false;
  const bool must_note = test.both_networks && rank == 0 && !transport.open_fabric().ok();
  if (test.both_networks && transport.note().empty() == must_note)
    return std::fprintf(stderr, "%s: note is \"%s\"\n", test.name, std::string(transport.note()).c_str()), false;
  std::mt19937 common(42), own(static_cast<std::uint32_t>(rank));
  for (int i = 0; i < exchanges; ++i)
    if (!exchange(transport, common, own, test.both_networks))
      return std::fprintf(stderr, "in case %s\n", test.name), false;
  return true;
}

// One rank's program asks for more than tags can tell apart: all ranks refuse it where any two need tags, and none does
// where all share memory.
bool check_demands_of_one_rank(const Library& library, int rank, int ranks) {
  Result<std::unique_ptr<MpiTransport>> transport =
      MpiTransport::create(library, library.constants.comm_world,
                           {.node_of_rank = nodes_of(ranks, 2), .tag_upper_bound = 32767, .network = "mpi"});
  if (!transport) return std::fprintf(stderr, "%s\n", transport.error().sentence().c_str()), false;
  transport::Demands demands;
  if (rank == 0) demands.window = 1 << 20;
  const bool refused = !(*transport)->prepare(demands).ok();
  if (refused != (ranks > 2))
    std::fprintf(stderr, "rank %d: a wide window is %srefused\n", rank, refused ? "" : "not ");
  return refused == (ranks > 2);
}

// Rank 0 sends another number of bytes than rank 1 expects: rank 1 alone is told, writes nothing outside its vector,
// and leaves behind a receive that nothing will ever meet.
bool check_unequal_lengths(const Library& library, TransportOptions options, std::int64_t sent, std::int64_t expected) {
  Result<std::unique_ptr<MpiTransport>> made = MpiTransport::create(library, library.constants.comm_world, options);
  if (!made) return std::fprintf(stderr, "%s\n", made.error().sentence().c_str()), false;
  MpiTransport& transport = **made;
  if (transport.rank() > 1) return true;
  // To which MPICH hands a truncated receive of a communicator of ours; the default one ends the program.
  const kumihimo::mpi::ErrorHandlerGuard returned(library, library.constants.comm_world);
  const bool sends = transport.rank() == 0;
  End end, never;
  end.plan = {
      0, 1, {transport.begin(transport::Stream::blocking), Rank{}, LaneId{1}, 0, 0, false}, sends ? sent : expected,
      1, 1};
  never.plan = end.plan;
  never.plan.key.ordinal = 1;
  if (sends) {
    make_sender(end);
    transport.send(end.send);
    while (end.open > 0 && transport.progress() != transport::Transport::Progress::failed) transport.idle();
    return end.open == 0;
  }
  make_receiver(end);
  end.bytes.assign(static_cast<std::size_t>(expected), std::byte{0xee});
  make_receiver(never);
  transport.receive(never.receive);
  transport.receive(end.receive);
  while (transport.progress() != transport::Transport::Progress::failed) transport.idle();
  const std::string sentence = transport.error().sentence();
  const bool named = sentence.find("receive 0 of lane 1") != std::string::npos &&
                     sentence.find("from rank 0 needs " + std::to_string(expected) + " bytes") != std::string::npos &&
                     sentence.find("same count") != std::string::npos;
  const bool stays = transport.progress() == transport::Transport::Progress::failed && !transport.prepare({}).ok();
  const bool truncates = transport.error().truncation;
  if (!named || !stays || !truncates || end.open == 0)
    std::fprintf(stderr, "unequal lengths%s: %s\n", truncates ? "" : ", no truncation", sentence.c_str());
  return named && stays && truncates && end.open == 1;
}

} // namespace

bool check_transport(const Library& library, int rank, int ranks) {
  std::vector<std::int32_t> unequal = nodes_of(ranks, 3); // the smaller first
  std::reverse(unequal.begin(), unequal.end());
  const Case cases[] = {
      {"one node", {}},
      {"one node that the library alone knows as one", {.machine = rank + 1}},
      {"emulated nodes of it",
       {.node_of_rank = nodes_of(ranks, 2), .machine = kumihimo::shared_memory::no_machine_number}},
      {"emulated nodes of 2", {.node_of_rank = nodes_of(ranks, 2)}},
      {"emulated nodes of unequal size", {.node_of_rank = unequal}},
      {"every rank a node", {.node_of_rank = nodes_of(ranks, 1)}},
      {"small rings", {.shared_memory_limit_bytes = 18'000 * ranks * ranks}},
      {"no memory", {.shared_memory_limit_bytes = 100}, true},
      {"few tags", {.node_of_rank = nodes_of(ranks, 1), .tag_upper_bound = 32767}},
      {"in parts", {.node_of_rank = nodes_of(ranks, 1), .most_at_once_bytes = 1000}},
      {"two networks", {.node_of_rank = nodes_of(ranks, 1), .network = ""}, false, ranks > 1},
  };
  bool good = true;
  for (const Case& test : cases) good = check_case(library, test, rank, ranks, 12) && good;
  good = check_demands_of_one_rank(library, rank, ranks) && good;
  if (ranks == 1) return good;
  for (const std::vector<std::int32_t>& nodes : {std::vector<std::int32_t>(), nodes_of(ranks, 1)})
    for (const std::int64_t sent : {100, 1'000})
      good = check_unequal_lengths(library, {.node_of_rank = nodes}, sent, 400) && good;
  return good;
}

bool check_mixed_transport(const Library& library, int rank, int ranks) {
  return check_case(library, {"emulated nodes of 2", {.node_of_rank = nodes_of(ranks, 2)}}, rank, ranks, 1);
}

// Rank 0 sends a message of the program's own without waiting for it and goes into our exchange; rank 1 receives that
// message first. If the waits of rank 0 did not drive the library, both would wait for ever: at 100 kB on MPICH, on
// Open MPI where it does not copy from process to process at once (btl_vader_single_copy_mechanism=none).
bool check_progress_of_the_library(const Library& library, int rank, int ranks) {
  if (ranks < 2) return true;
  const Constants& c = library.constants;
  const Handle type = library.datatype(DataType::int32);
  Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library, c.comm_world);
  if (!transport) return false;
  std::mt19937 common(1), own(static_cast<std::uint32_t>(rank));
  bool good = true;
  for (int count : {25'000, 250'000, 2'500'000}) {
    std::vector<std::int32_t> data(static_cast<std::size_t>(count), 7 + rank);
    Handle request = c.request_null;
    if (rank == 0) library.call.Isend(data.data(), count, type, 1, 5, c.comm_world, &request);
    if (rank == 1) library.call.Recv(data.data(), count, type, 0, 5, c.comm_world, c.status_ignore);
    good = exchange(**transport, common, own) && good;
    library.call.Wait(&request, c.status_ignore);
    good = good && (rank != 1 || data.back() == 7);
  }
  return good;
}

} // namespace kumihimo::mpi
