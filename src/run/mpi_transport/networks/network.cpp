#include "mpi_transport/networks/network.hpp"

#include "transport/message.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace kumihimo::mpi_transport {

#define KUMIHIMO_NETWORK(name) Result<std::unique_ptr<MpiNetwork>> make_##name##_network(const NetworkContext& context);
#include "mpi_transport/networks/networks.def"
#undef KUMIHIMO_NETWORK

namespace {

// The position of a name among the networks, or how many there are for no name.
Result<std::int32_t> position_of(std::string_view name) {
  const std::vector<NetworkKind>& all = networks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const NetworkKind& kind) { return kind.name == name; });
  if (found != all.end() || name.empty()) return static_cast<std::int32_t>(found - all.begin());
  std::vector<std::string_view> names;
  for (const NetworkKind& kind : all) names.push_back(kind.name);
  return wrong_value(fmt::format("KUMIHIMO_NETWORK must be one of {}", fmt::join(names, ", ")),
                     fmt::format("'{}'", name), fmt::format("leave it unset for {}", all.front().name));
}

Result<std::unique_ptr<MpiNetwork>> make(const NetworkKind& kind, const NetworkContext& context) {
  Result<std::unique_ptr<MpiNetwork>> made = kind.make(context);
  const Status all = agree(context.library, context.communicator, made ? Status(Nothing{}) : Status(made.error()));
  if (!all) return all.error();
  return made;
}

std::string reason_of(const Error& error) { return error.elsewhere ? "another rank cannot use it" : error.problem; }

} // namespace

const std::vector<NetworkKind>& networks() {
  static const std::vector<NetworkKind> all = {
#define KUMIHIMO_NETWORK(name) {#name, make_##name##_network},
#include "mpi_transport/networks/networks.def"
#undef KUMIHIMO_NETWORK
  };
  return all;
}

std::string_view wanted_network() {
  const char* name = std::getenv("KUMIHIMO_NETWORK");
  return name ? name : "";
}

Status check_network(std::string_view name) {
  const Result<std::int32_t> position = position_of(name);
  return position ? Status(Nothing{}) : Status(position.error());
}

Result<OpenedNetwork> open_network(const NetworkContext& context, std::string_view name) {
  const Result<std::int32_t> position = position_of(name);
  const auto kinds = static_cast<std::int32_t>(networks().size());
  const std::int32_t mine = position ? *position : kinds + 1, ends[2] = {mine, kinds + 1 - mine};
  std::int32_t most[2] = {};
  const int code = context.library.call.Allreduce(ends, most, 2, context.library.datatype(DataType::int32),
                                                  context.library.operation(Operation::max), context.communicator);
  if (!position) return position.error();
  if (Status status = context.library.check(code, "MPI_Allreduce"); !status) return status.error();
  if (most[0] + most[1] != kinds + 1)
    return wrong_value("KUMIHIMO_NETWORK must be the same on all ranks", {},
                       "export it to all of them, or leave it unset");
  const NetworkKind& usual = networks().front();
  const NetworkKind& wanted = name.empty() ? usual : networks()[static_cast<std::size_t>(*position)];
  Result<std::unique_ptr<MpiNetwork>> made = make(wanted, context);
  if (made) return OpenedNetwork{std::move(*made), {}};
  if (&wanted == &usual) return made.error();
  const std::string why = reason_of(made.error());
  return OpenedNetwork{TRY(make(usual, context)),
                       fmt::format("the network {} is used instead of {}: {}", usual.name, wanted.name, why)};
}

Result<std::unique_ptr<MpiNetwork>> add_network(const NetworkContext& context, std::string_view name) {
  const auto position = static_cast<std::size_t>(TRY(position_of(name)));
  Result<std::unique_ptr<MpiNetwork>> made = make(networks()[position], context);
  if (made) return made;
  return not_applicable(reason_of(made.error()), {}, "use the network mpi");
}

Status agree(const mpi::Library& library, mpi::Handle communicator, const Status& mine) {
  const std::int32_t failures = !mine.ok();
  std::int32_t any = failures;
  const int code = library.call.Allreduce(&failures, &any, 1, library.datatype(DataType::int32),
                                          library.operation(Operation::max), communicator);
  if (!mine) return mine;
  if (Status status = library.check(code, "agreement on the transport"); !status) return status;
  if (any) return transport::failed_elsewhere();
  return Nothing{};
}

} // namespace kumihimo::mpi_transport
