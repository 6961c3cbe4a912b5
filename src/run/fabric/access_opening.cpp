#include "fabric/access_opening.hpp"

#include "shared_memory/machine_number.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

namespace kumihimo::fabric {
namespace {

// What ranks tell each other before they open a provider, and after.
struct Greeting {
  std::int32_t rank = 0, ranks = 0;
  std::int64_t machine = 0;
  std::uint64_t network_space = 0;
  NodeMemory::Invitation node;
};
struct Opening {
  std::int32_t failed = 0, code = 0, card_bytes = 0, engines = 0, rails = 0, atomics = 0;
  char provider[64] = {};
  char problem[256] = {};
};

std::uint64_t own_network_space() {
  struct stat facts {};
  return stat("/proc/self/ns/net", &facts) == 0 ? facts.st_ino : 0;
}

template <class Item>
Result<std::vector<Item>> exchanged(const AccessExchange& exchange, const Item& mine, std::int32_t ranks) {
  std::vector<Item> all(static_cast<std::size_t>(ranks));
  if (const int code = exchange(&mine, all.data(), sizeof mine); code != 0)
    return failed("the program's exchange between the ranks failed", fmt::format("it returned {}", code));
  return all;
}

struct Companions { // of this rank
  std::unique_ptr<NodeMemory> node;
  bool one_machine = false;
};

// Who is on this rank's node, and whether all ranks can use this machine's loopback interface.
Result<Companions> greet(std::int32_t rank, std::int32_t ranks, const AccessExchange& exchange) {
  auto node = std::make_unique<NodeMemory>();
  const Greeting mine{rank, ranks, shared_memory::machine_number(), own_network_space(), node->invitation()};
  const std::vector<Greeting> all = TRY(exchanged(exchange, mine, ranks));
  bool one = mine.machine != shared_memory::no_machine_number;
  for (std::int32_t r = 0; r < ranks; ++r) {
    const Greeting& other = all[static_cast<std::size_t>(r)];
    if (other.rank != r || other.ranks != ranks)
      return wrong_value("the exchange must give what each rank gave, in the order of ranks",
                         fmt::format("rank {} of {} at place {} of {}", other.rank, other.ranks, r, ranks));
    one = one && other.machine == mine.machine && other.network_space == mine.network_space;
    if (r != rank) node->meet(r, other.node);
  }
  return Companions{std::move(node), one};
}

Opening opening_of(const Result<std::unique_ptr<FabricPort>>& port) {
  Opening mine;
  const auto copy = [](auto& to, const std::string& text) { text.copy(to, sizeof to - 1); };
  if (!port) {
    mine.failed = 1, mine.code = static_cast<std::int32_t>(port.error().kind);
    copy(mine.problem, port.error().sentence());
    return mine;
  }
  mine.card_bytes = static_cast<std::int32_t>((*port)->card().size());
  mine.engines = static_cast<std::int32_t>((*port)->engines());
  mine.rails = static_cast<std::int32_t>((*port)->rails());
  mine.atomics = (*port)->rules().has_atomics;
  copy(mine.provider, (*port)->provider());
  return mine;
}

// Every rank gets the same answer, and the one that failed its own words.
Status agree(const Opening& mine, const std::vector<Opening>& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].failed != 0) {
      Error error = failed(fmt::format("rank {} could not open a provider", r), all[r].problem);
      error.kind = static_cast<Error::Kind>(all[r].code);
      return error;
    }
  for (std::size_t r = 0; r < all.size(); ++r)
    if (std::string_view(all[r].provider) != mine.provider || all[r].card_bytes != mine.card_bytes ||
        all[r].engines != mine.engines || all[r].rails != mine.rails || all[r].atomics != mine.atomics)
      return not_applicable(
          fmt::format("all ranks must have the same provider, engines, rails and atomics, and rank {} "
                      "has {} with {} on {}, this one {} with {} on {}",
                      r, all[r].provider, all[r].engines, all[r].rails, mine.provider, mine.engines, mine.rails),
          {}, "give all ranks the same options");
  return Nothing{};
}

} // namespace

Result<OpenedAccess> open_access(std::int32_t rank, std::int32_t ranks, const AccessExchange& exchange,
                                 const Result<AccessOptions>& asked) {
  OpenedAccess opened;
  opened.options = asked ? *asked : AccessOptions{};
  Companions companions = TRY(greet(rank, ranks, exchange));
  opened.node = std::move(companions.node);
  opened.options.port.provider.one_machine = companions.one_machine;
  opened.options.port.provider.processes = ranks;
  Result<std::unique_ptr<FabricPort>> port =
      asked ? FabricPort::open(opened.options.port) : Result<std::unique_ptr<FabricPort>>(asked.error());
  const Opening mine = opening_of(port);
  const std::vector<Opening> openings = TRY(exchanged(exchange, mine, ranks));
  if (Status status = agree(mine, openings); !status) return port ? status.error() : port.error();
  opened.port = std::move(*port);
  const std::vector<std::byte> card = opened.port->card();
  opened.cards.resize(card.size() * static_cast<std::size_t>(ranks));
  if (const int code = exchange(card.data(), opened.cards.data(), card.size()); code != 0)
    return failed("the program's exchange between the ranks failed", fmt::format("it returned {}", code));
  return opened;
}

} // namespace kumihimo::fabric
