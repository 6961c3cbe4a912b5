#include "execute/mpi/fake_library.hpp"
#include "execute/mpi/mpi_transport.hpp"
#include "execute/mpi/node_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace kumihimo::mpi {
namespace {

using testing::FakeWorld;
constexpr std::int64_t plenty = std::int64_t{1} << 30;

class NodeMemoryTest : public ::testing::Test {
 protected:
  NodeMemoryTest() { world_.node_ranks = 2; }
  // No memory, said in the note, and the window is freed so many times.
  void expect_none(const char* word, int freed) {
    const Result<std::unique_ptr<NodeMemory>> memory = NodeMemory::create(library_, testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok()) << memory.error().sentence();
    EXPECT_FALSE((*memory)->exists());
    EXPECT_NE((*memory)->note().find(word), std::string::npos) << (*memory)->note();
    EXPECT_EQ(world_.windows_freed, freed);
  }
  Library library_ = testing::fake_library();
  FakeWorld& world_ = FakeWorld::now();
};

TEST_F(NodeMemoryTest, Exists_where_all_ranks_have_their_part) {
  {
    const Result<std::unique_ptr<NodeMemory>> memory = NodeMemory::create(library_, testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok());
    EXPECT_TRUE((*memory)->exists());
    EXPECT_EQ((*memory)->note(), "");
  }
  EXPECT_EQ(world_.windows_freed, 1);
}

TEST_F(NodeMemoryTest, Open_mpi_5_makes_no_windows_for_threads_that_may_meet) {
  static int level;
  library_.constants.thread_single = 0, library_.constants.thread_multiple = 3;
  library_.call.Query_thread = [](int* provided) { return *provided = level, 0; };
  level = library_.constants.thread_multiple;
  library_.family = Family::open_mpi;
  for (const char* version : {"Open MPI v5.0.11, package", "Open MPI v4.1.4, package"}) {
    library_.version = version;
    const auto memory = NodeMemory::create(library_, testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ((*memory)->exists(), library_.version.find("v5") == std::string::npos) << version;
    EXPECT_EQ((*memory)->note().find("threads") == std::string::npos, (*memory)->exists()) << (*memory)->note();
  }
  library_.version = "Open MPI v5.0.11, package";
  level = library_.constants.thread_single;
  const auto memory = NodeMemory::create(library_, testing::node_handle, plenty);
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE((*memory)->exists());
}

TEST_F(NodeMemoryTest, A_rank_that_cannot_map_the_parts_still_agrees_with_the_others) {
  world_.query_code = 1;
  expect_none("Win_shared_query", 1);
  EXPECT_EQ(world_.allreduces, 3) << "size, allocation, mapping";
}

TEST_F(NodeMemoryTest, A_window_that_another_rank_lacks_is_not_freed) {
  world_.others_say = 1;
  expect_none("another rank", 0);
}

TEST_F(NodeMemoryTest, A_mapping_that_another_rank_lacks_is_freed_by_all) {
  world_.others_say = 1;
  world_.others_say_from = 2;
  expect_none("another rank", 1);
}

// Pages behind the end of a file are like those that a full /dev/shm cannot give: touching one is a SIGBUS.
TEST_F(NodeMemoryTest, Pages_that_the_system_cannot_give_are_found_when_the_memory_is_made) {
#ifndef MADV_POPULATE_WRITE
  GTEST_SKIP() << "headers older than Linux 5.14";
#endif
  char name[] = "/tmp/kumihimo_node_memory_XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  constexpr std::size_t bytes = 64 << 20;
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ASSERT_NE(mapping, MAP_FAILED);
  world_.base = static_cast<std::byte*>(mapping);
  expect_none("enlarge /dev/shm", 1);
  munmap(mapping, bytes);
  close(file);
}

TEST_F(NodeMemoryTest, Rings_of_many_ranks_are_moderate_though_memory_is_plenty) {
  for (const std::int32_t ranks : {2, 4, 8, 16, 32, 64}) {
    const RingShape shape = ring_shape_for(ranks, std::int64_t{1} << 40);
    EXPECT_GT(shape.slots, 0);
    EXPECT_LE(shape.channel_bytes() * (ranks - 1), ample_bytes_per_rank) << ranks;
  }
  for (const std::int32_t ranks : {128, 2000}) EXPECT_GT(ring_shape_for(ranks, std::int64_t{1} << 40).slots, 0);
}

// --- what the transport makes of it

TEST_F(NodeMemoryTest, Emulated_nodes_divide_what_the_machine_has_free) {
  // The fake says that the machine holds so many nodes that not even the smallest rings fit into the share of one.
  TransportOptions options;
  options.ranks_per_node = 2;
  world_.sum_says = std::int64_t{1} << 50;
  const Result<std::unique_ptr<MpiTransport>> transport =
      MpiTransport::create(library_, testing::world_handle, options);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_NE((*transport)->note().find("enlarge /dev/shm"), std::string::npos) << (*transport)->note();
}

TEST_F(NodeMemoryTest, A_transport_that_another_rank_cannot_make_is_none_here_and_frees_nothing) {
  for (int from = 1; from <= 8; ++from) {
    library_ = testing::fake_library();
    world_.node_ranks = 1;
    world_.others_say = 1;
    world_.others_say_from = from;
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
    if (transport.ok()) {
      EXPECT_GT(from, 3) << "there are agreements on the copy, the tags, the node";
      return;
    }
    EXPECT_NE(transport.error().sentence().find("another rank"), std::string::npos) << transport.error().sentence();
    EXPECT_EQ(world_.communicators_freed, 0);
  }
  ADD_FAILURE() << "never made";
}

TEST_F(NodeMemoryTest, A_rank_that_fails_alone_still_agrees) {
  world_.split_type_code = 5;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("MPI_Comm_split_type"), std::string::npos);
  EXPECT_EQ(world_.allreduces, 3) << "copy, tags, node";
  EXPECT_EQ(world_.communicators_freed, 0);
}

// The program's error handler may end it; what we make is not what it asked for.
TEST_F(NodeMemoryTest, A_communicator_too_many_is_an_error_that_is_returned) {
  world_.split_code = 5;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("MPI_Comm_split"), std::string::npos);
  EXPECT_EQ(world_.handler_at_split, testing::returning_handler);
  EXPECT_EQ(world_.handlers[testing::world_handle], 11) << "the program's again";
  EXPECT_EQ(world_.handlers_held, 0);
  EXPECT_EQ(world_.allreduces, 1) << "told to the others";
}

TEST_F(NodeMemoryTest, Where_all_ranks_share_memory_no_communicator_is_kept) {
  {
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
    ASSERT_TRUE(transport.ok()) << transport.error().sentence();
    EXPECT_EQ(world_.communicators_freed, 2);
    EXPECT_EQ(world_.windows_freed, 0);
    EXPECT_TRUE((*transport)->prepare({}).ok());
    world_.others_say = 1'000'000;
    EXPECT_FALSE((*transport)->prepare({}).ok()) << "it still asks the others";
  }
  EXPECT_EQ(world_.communicators_freed, 2);
  EXPECT_EQ(world_.windows_freed, 1);
  library_ = testing::fake_library(); // ranks that share none
  { EXPECT_TRUE(MpiTransport::create(library_, testing::world_handle).ok()); }
  EXPECT_EQ(world_.communicators_freed, 2) << "at the end";
}

TEST_F(NodeMemoryTest, Demands_of_another_rank_are_refused_here_too) {
  world_.node_ranks = 1;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_TRUE((*transport)->prepare({}).ok());
  world_.others_say = 1'000'000; // of everything: lanes, window, spread
  const Status status = (*transport)->prepare({});
  EXPECT_FALSE(status.ok());
}

} // namespace
} // namespace kumihimo::mpi
