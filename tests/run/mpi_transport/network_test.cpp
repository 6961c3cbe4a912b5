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

TEST_F(NetworkTest, TheFirstIsTakenWithoutAName) {
  const auto opened = open_network(context_, "");
  ASSERT_TRUE(opened.ok()) << opened.error().sentence();
  EXPECT_FALSE(opened->network->busy());
  EXPECT_EQ(opened->note, "");
  EXPECT_TRUE(open_network(context_, networks().front().name).ok());
}

TEST_F(NetworkTest, ANetworkThatAnotherRankCannotUseIsReplacedByTheFirstAndTheReasonIsGiven) {
  mpi::testing::FakeWorld::now().others_say = 1;
  mpi::testing::FakeWorld::now().others_say_from = 4; // behind the name and the machine: whether there is a port
  mpi::testing::FakeWorld::now().others_say_until = 5;
  const auto opened = open_network(context_, "fabric");
  ASSERT_TRUE(opened.ok()) << opened.error().sentence();
  EXPECT_NE(opened->note.find("the network mpi is used instead of fabric: "), std::string::npos) << opened->note;
}

TEST_F(NetworkTest, ASecondNetworkThatAnotherRankCannotUseIsNoneAndTheReasonIsGiven) {
  mpi::testing::FakeWorld::now().others_say = 1;
  mpi::testing::FakeWorld::now().others_say_from = 3; // behind the machine: whether there is a port
  const auto added = add_network(context_, "fabric");
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().kind, Error::Kind::not_applicable);
  EXPECT_FALSE(added.error().problem.empty());
  EXPECT_FALSE(add_network(context_, "pigeons").ok());
}

TEST_F(NetworkTest, AnUnknownNameIsRefusedAndTheKnownOnesAreTold) {
  const auto network = open_network(context_, "pigeons");
  ASSERT_FALSE(network.ok());
  for (const char* word : {"KUMIHIMO_NETWORK", "mpi", "'pigeons'"})
    EXPECT_NE(network.error().sentence().find(word), std::string::npos) << network.error().sentence();
}

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
