#include "mpi/fake_library.hpp"
#include "mpi_transport/networks/network.hpp"

#include <gtest/gtest.h>

namespace kumihimo::mpi_transport {
namespace {

class NetworkTest : public ::testing::Test {
 protected:
  NetworkTest() { mpi::testing::FakeWorld::now() = {}; }
  mpi::Library library_ = mpi::testing::fake_library();
  NetworkContext context_{library_, mpi::testing::own_handle};
};

TEST_F(NetworkTest, TheFirstThatCanBeUsedIsTaken) {
  const auto network = open_network(context_, "");
  ASSERT_TRUE(network.ok()) << network.error().sentence();
  EXPECT_FALSE((*network)->busy());
  EXPECT_TRUE(open_network(context_, networks().back().name).ok());
}

TEST_F(NetworkTest, AnUnknownNameIsRefusedAndTheKnownOnesAreTold) {
  const auto network = open_network(context_, "pigeons");
  ASSERT_FALSE(network.ok());
  for (const char* word : {"KUMIHIMO_NETWORK", "mpi", "'pigeons'"})
    EXPECT_NE(network.error().sentence().find(word), std::string::npos) << network.error().sentence();
}

// A network that this rank cannot use is passed over; so is one that another rank cannot.
TEST_F(NetworkTest, ATagBoundThatTheLibraryHasNotLeavesNone) {
  context_.tag_upper_bound = 3;
  const auto network = open_network(context_, "");
  ASSERT_FALSE(network.ok());
  EXPECT_NE(network.error().sentence().find("upper bound of tags"), std::string::npos) << network.error().sentence();
}

TEST_F(NetworkTest, FailsWhereAnotherRankHasNone) {
  mpi::testing::FakeWorld::now().others_say = 1;
  mpi::testing::FakeWorld::now().others_say_from = 2; // the first is on the name
  EXPECT_FALSE(open_network(context_, "").ok());
}

} // namespace
} // namespace kumihimo::mpi_transport
