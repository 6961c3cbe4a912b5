#include "mpi/fake_library.hpp"
#include "mpi_transport/mpi_transport.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace kumihimo::mpi_transport {
namespace {

using mpi::testing::FakeWorld;

// Files of shared segments that this process has mapped.
int mapped_files() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find("kumihimo-rings") != std::string::npos;
  return found;
}

class MpiTransportTest : public ::testing::Test {
 protected:
  MpiTransportTest() { world_.node_ranks = 2; }
  mpi::Library library_ = mpi::testing::fake_library();
  FakeWorld& world_ = FakeWorld::now();
};

TEST_F(MpiTransportTest, Emulated_nodes_divide_what_the_machine_has_free) {
  // The fake claims 2^50 nodes on this machine, so not even the smallest rings fit into the share of one.
  TransportOptions options;
  options.node_of_rank = nodes_of(FakeWorld::now().ranks, 2);
  world_.sum_says = std::int64_t{1} << 50;
  const Result<std::unique_ptr<MpiTransport>> transport =
      MpiTransport::create(library_, mpi::testing::world_handle, options);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_NE((*transport)->note().find("enlarge /dev/shm"), std::string::npos) << (*transport)->note();
}

TEST_F(MpiTransportTest, Every_rank_has_an_emulated_node_or_none_has) {
  EXPECT_EQ(nodes_of(7, 3), (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(nodes_of(2, 3), (std::vector<std::int32_t>{0, 0}));
  for (const std::vector<std::int32_t>& nodes : {std::vector<std::int32_t>{0}, {0, 1, 1}, {0, -1}}) {
    TransportOptions options;
    options.node_of_rank = nodes;
    const Result<std::unique_ptr<MpiTransport>> made =
        MpiTransport::create(library_, mpi::testing::world_handle, options);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().sentence().find("each of the 2 ranks"), std::string::npos);
  }
}

TEST_F(MpiTransportTest, A_transport_that_another_rank_cannot_make_is_none_here_and_frees_nothing) {
  for (int from = 1; from <= 12; ++from) {
    library_ = mpi::testing::fake_library();
    world_.node_ranks = 1;
    world_.others_say = 1;
    world_.others_say_from = from;
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
    if (transport.ok()) {
      EXPECT_GT(from, 3) << "there are agreements on progress, the node, the network";
      return;
    }
    EXPECT_NE(transport.error().sentence().find("another rank"), std::string::npos) << transport.error().sentence();
    EXPECT_EQ(world_.communicators_freed, 0);
  }
  ADD_FAILURE() << "never made";
}

TEST_F(MpiTransportTest, An_unknown_network_is_refused_though_all_ranks_share_memory) {
  TransportOptions options;
  options.network = "pigeons";
  const auto transport = MpiTransport::create(library_, mpi::testing::world_handle, options);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("KUMIHIMO_NETWORK must be one of mpi"), std::string::npos);
}

TEST_F(MpiTransportTest, A_rank_that_fails_alone_still_agrees) {
  world_.split_type_code = 5;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("MPI_Comm_split_type"), std::string::npos);
  EXPECT_EQ(world_.allreduces, 3) << "progress, machine, node";
  EXPECT_EQ(world_.communicators_freed, 0);
}

// The program's error handler may end it; what we make is not what it asked for.
TEST_F(MpiTransportTest, A_communicator_too_many_is_an_error_that_is_returned) {
  world_.split_code = 5;
  world_.node_ranks = 1;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("MPI_Comm_split"), std::string::npos);
  EXPECT_EQ(world_.handler_at_split, mpi::testing::returning_handler);
  EXPECT_EQ(world_.handlers[mpi::testing::world_handle], 11) << "the program's again";
  EXPECT_EQ(world_.handlers_held, 0);
  const int with_failure = world_.allreduces;
  library_ = mpi::testing::fake_library();
  world_.node_ranks = 1;
  EXPECT_TRUE(MpiTransport::create(library_, mpi::testing::world_handle).ok());
  EXPECT_EQ(world_.allreduces, with_failure + 3)
      << "told to the others; the kernel; the network's name, and the network";
}

TEST_F(MpiTransportTest, On_one_machine_no_communicator_is_made) {
  world_.others_say = std::numeric_limits<std::int64_t>::min(); // what this rank says is what all say
  world_.split_code = world_.split_type_code = 5;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_TRUE((*transport)->is_single_node());
  EXPECT_EQ(world_.communicators_freed, 0);
  EXPECT_EQ(world_.handlers[mpi::testing::world_handle], 11) << "the program's again";
}

TEST_F(MpiTransportTest, Where_all_ranks_share_memory_no_communicator_is_kept) {
  {
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
    ASSERT_TRUE(transport.ok()) << transport.error().sentence();
    EXPECT_EQ(world_.communicators_freed, 1);
    EXPECT_EQ(mapped_files(), 1);
    EXPECT_TRUE((*transport)->prepare({}).ok());
    world_.others_say = 1'000'000;
    EXPECT_FALSE((*transport)->prepare({}).ok()) << "it still asks the others";
  }
  EXPECT_EQ(world_.communicators_freed, 1);
  EXPECT_EQ(mapped_files(), 0);
  library_ = mpi::testing::fake_library(); // ranks that share none
  { EXPECT_TRUE(MpiTransport::create(library_, mpi::testing::world_handle).ok()); }
  EXPECT_EQ(world_.communicators_freed, 2) << "at the end";
}

TEST_F(MpiTransportTest, Demands_of_another_rank_are_refused_here_too) {
  world_.node_ranks = 1;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_TRUE((*transport)->prepare({}).ok());
  world_.others_say = 1'000'000; // of everything: lanes, window, spread
  const Status status = (*transport)->prepare({});
  EXPECT_FALSE(status.ok());
}

} // namespace
} // namespace kumihimo::mpi_transport
