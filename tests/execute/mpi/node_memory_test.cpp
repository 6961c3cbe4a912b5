#include "execute/mpi/fake_library.hpp"
#include "execute/mpi/mpi_transport.hpp"
#include "execute/mpi/node_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace kumihimo::mpi {
namespace {

using testing::FakeWorld;
constexpr std::int64_t plenty = std::int64_t{1} << 30;

// Of this process: the files of shared rings that it has mapped, and those of this user that have a name.
int mapped_files() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find("kumihimo-rings") != std::string::npos;
  return found;
}
bool has_name(SharedFile::Name name) { return access(path_of(name).c_str(), F_OK) == 0; }

class NodeMemoryTest : public ::testing::Test {
 protected:
  NodeMemoryTest() { world_.node_ranks = 2; }
  // No memory, said in the note, and nothing stays mapped.
  void expect_none(const char* word) {
    const Result<std::unique_ptr<NodeMemory>> memory = NodeMemory::create(library_, testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok()) << memory.error().sentence();
    EXPECT_FALSE((*memory)->exists());
    EXPECT_NE((*memory)->note().find(word), std::string::npos) << (*memory)->note();
    EXPECT_EQ(mapped_files(), 0);
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
    EXPECT_EQ(mapped_files(), 1);
  }
  EXPECT_EQ(mapped_files(), 0);
}

TEST_F(NodeMemoryTest, A_rank_that_is_told_of_no_file_still_agrees_with_the_others) {
  world_.bcast_code = 1;
  expect_none("MPI_Bcast");
  EXPECT_EQ(world_.allreduces, 2) << "size, mapping";
}

TEST_F(NodeMemoryTest, A_rank_that_can_make_no_file_still_agrees_with_the_others) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  expect_none("enlarge /dev/shm");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(world_.allreduces, 2) << "size, mapping";
}

TEST_F(NodeMemoryTest, A_file_that_another_rank_could_not_map_is_no_memory) {
  world_.others_say = 1;
  expect_none("another rank");
}

TEST_F(NodeMemoryTest, A_part_that_another_rank_has_no_room_for_is_no_memory) {
  world_.others_say = 1;
  world_.others_say_from = 2;
  expect_none("another rank");
}

// --- the file

TEST(SharedFileTest, Is_opened_by_its_name_and_has_none_as_soon_as_it_is_forgotten) {
  const Result<SharedFile> none = SharedFile::open(0);
  EXPECT_FALSE(none.ok());
  Result<SharedFile> made = SharedFile::make(1 << 16);
  ASSERT_TRUE(made.ok()) << made.error().sentence();
  const SharedFile::Name name = made->name();
  const Result<SharedFile> opened = SharedFile::open(name);
  ASSERT_TRUE(opened.ok()) << opened.error().sentence();
  made->forget_name();
  EXPECT_FALSE(has_name(name));
  EXPECT_FALSE(SharedFile::open(name).ok());
  const Result<std::byte*> one = made->map(1 << 16), other = opened->map(1 << 16);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(*one, *other);
  (*one)[5] = std::byte{7};
  EXPECT_EQ((*other)[5], std::byte{7});
  munmap(*one, 1 << 16);
  munmap(*other, 1 << 16);
}

TEST(SharedFileTest, Who_fails_before_all_have_it_leaves_no_name) {
  SharedFile::Name name = 0;
  {
    Result<SharedFile> made = SharedFile::make(1 << 16);
    ASSERT_TRUE(made.ok());
    name = made->name();
    EXPECT_TRUE(has_name(name));
  }
  EXPECT_FALSE(has_name(name));
}

// Touching memory that a full /dev/shm cannot give is a SIGBUS, so it is asked for before.
TEST(SharedFileTest, Memory_is_set_aside_where_it_is_taken_and_not_before) {
  Result<SharedFile> made = SharedFile::make(1 << 20);
  ASSERT_TRUE(made.ok());
  const auto bytes_of = [&] {
    struct stat facts {};
    EXPECT_EQ(stat(path_of(made->name()).c_str(), &facts), 0);
    return std::int64_t{facts.st_blocks} * 512;
  };
  EXPECT_EQ(bytes_of(), 0);
  ASSERT_TRUE(made->take(1 << 19, 1 << 16).ok());
  EXPECT_EQ(bytes_of(), 1 << 16);
  const Status more = made->take(0, std::int64_t{1} << 60); // than any machine has
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().sentence().find("enlarge /dev/shm"), std::string::npos) << more.error().sentence();
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
  options.node_sizes = nodes_of(testing::FakeWorld::now().ranks, 2);
  world_.sum_says = std::int64_t{1} << 50;
  const Result<std::unique_ptr<MpiTransport>> transport =
      MpiTransport::create(library_, testing::world_handle, options);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_NE((*transport)->note().find("enlarge /dev/shm"), std::string::npos) << (*transport)->note();
}

TEST_F(NodeMemoryTest, Emulated_nodes_hold_all_ranks_and_none_is_empty) {
  EXPECT_EQ(nodes_of(7, 3), (std::vector<std::int32_t>{3, 3, 1}));
  EXPECT_EQ(nodes_of(6, 3), (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(nodes_of(2, 3), (std::vector<std::int32_t>{2}));
  for (const std::vector<std::int32_t>& sizes : {std::vector<std::int32_t>{1}, {2, 1}, {2, 0}, {3, -1}}) {
    TransportOptions options;
    options.node_sizes = sizes;
    const Result<std::unique_ptr<MpiTransport>> made = MpiTransport::create(library_, testing::world_handle, options);
    ASSERT_FALSE(made.ok());
    EXPECT_NE(made.error().sentence().find("at least 1 rank, 2 together"), std::string::npos);
  }
}

TEST_F(NodeMemoryTest, A_transport_that_another_rank_cannot_make_is_none_here_and_frees_nothing) {
  for (int from = 1; from <= 12; ++from) {
    library_ = testing::fake_library();
    world_.node_ranks = 1;
    world_.others_say = 1;
    world_.others_say_from = from;
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
    if (transport.ok()) {
      EXPECT_GT(from, 3) << "there are agreements on the tags, the node, the copy";
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
  EXPECT_EQ(world_.allreduces, 3) << "tags, machine, node";
  EXPECT_EQ(world_.communicators_freed, 0);
}

// The program's error handler may end it; what we make is not what it asked for.
TEST_F(NodeMemoryTest, A_communicator_too_many_is_an_error_that_is_returned) {
  world_.split_code = 5;
  world_.node_ranks = 1;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
  ASSERT_FALSE(transport.ok());
  EXPECT_NE(transport.error().sentence().find("MPI_Comm_split"), std::string::npos);
  EXPECT_EQ(world_.handler_at_split, testing::returning_handler);
  EXPECT_EQ(world_.handlers[testing::world_handle], 11) << "the program's again";
  EXPECT_EQ(world_.handlers_held, 0);
  const int with_failure = world_.allreduces;
  library_ = testing::fake_library();
  world_.node_ranks = 1;
  EXPECT_TRUE(MpiTransport::create(library_, testing::world_handle).ok());
  EXPECT_EQ(world_.allreduces, with_failure) << "told to the others";
}

TEST_F(NodeMemoryTest, On_one_machine_no_communicator_is_made) {
  world_.others_say = std::numeric_limits<std::int64_t>::min(); // what this rank says is what all say
  world_.split_code = world_.split_type_code = 5;
  const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
  ASSERT_TRUE(transport.ok()) << transport.error().sentence();
  EXPECT_TRUE((*transport)->is_near());
  EXPECT_EQ(world_.communicators_freed, 0);
  EXPECT_EQ(world_.handlers[testing::world_handle], 11) << "the program's again";
}

TEST_F(NodeMemoryTest, Where_all_ranks_share_memory_no_communicator_is_kept) {
  {
    const Result<std::unique_ptr<MpiTransport>> transport = MpiTransport::create(library_, testing::world_handle);
    ASSERT_TRUE(transport.ok()) << transport.error().sentence();
    EXPECT_EQ(world_.communicators_freed, 1);
    EXPECT_EQ(mapped_files(), 1);
    EXPECT_TRUE((*transport)->prepare({}).ok());
    world_.others_say = 1'000'000;
    EXPECT_FALSE((*transport)->prepare({}).ok()) << "it still asks the others";
  }
  EXPECT_EQ(world_.communicators_freed, 1);
  EXPECT_EQ(mapped_files(), 0);
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
