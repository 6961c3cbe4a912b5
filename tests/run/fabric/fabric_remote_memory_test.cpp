// The conformance suite of remote memory over the providers of libfabric that this machine has.
#include "port_threads.hpp"

#include <gtest/gtest.h>

namespace kumihimo::fabric {
namespace {

using transport::testing::RemoteMemoryCheck;

struct ProviderRow {
  std::string name, provider;
  PortOptions options;
};

std::vector<ProviderRow> provider_rows() {
  std::vector<ProviderRow> rows = {{"rxm", "tcp;ofi_rxm", {}}, {"shm", "shm", {}}, {"net", "net", {}}};
  ProviderRow one_engine = rows[0], by_messages = rows[0], unordered = rows[0], neither = rows[0], rails = rows[0];
  one_engine.name = "rxm_with_one_engine", one_engine.options.engines = 1;
  by_messages.name = "rxm_with_flags_by_messages", by_messages.options.flags_by_messages = true;
  unordered.name = "rxm_without_order", unordered.options.orders_nothing = true;
  neither.name = "rxm_by_delivery", neither.options.flags_by_messages = neither.options.orders_nothing = true;
  rails.name = "rxm_on_three_rails", rails.options.rails = {"lo", "lo", "lo"};
  for (ProviderRow* row : {&one_engine, &by_messages, &unordered, &neither, &rails}) rows.push_back(*row);
  for (ProviderRow& row : rows) row.options.provider.provider = row.provider;
  return rows;
}

class FabricRemoteMemoryTest : public ::testing::TestWithParam<std::tuple<ProviderRow, RemoteMemoryCheck>> {};

TEST_P(FabricRemoteMemoryTest, Conforms) {
  const auto& [row, check] = GetParam();
  if (const std::string why = testing::obstacle(row.provider); !why.empty()) GTEST_SKIP() << why;
  testing::FabricWorld world(check.ranks, row.options);
  const Status status = check.run(world);
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

INSTANTIATE_TEST_SUITE_P(Providers, FabricRemoteMemoryTest,
                         ::testing::Combine(::testing::ValuesIn(provider_rows()),
                                            ::testing::ValuesIn(transport::testing::remote_memory_checks())),
                         [](const auto& tested) {
                           return std::get<0>(tested.param).name + "_" + std::get<1>(tested.param).name;
                         });

} // namespace
} // namespace kumihimo::fabric
