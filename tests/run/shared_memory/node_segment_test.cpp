#include "mpi/fake_library.hpp"
#include "shared_memory/node_segment.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

namespace kumihimo::shared_memory {
namespace {

using mpi::testing::FakeWorld;
constexpr std::int64_t plenty = std::int64_t{1} << 30;

// Of this process: the files of shared rings that it has mapped, and those of this user that have a name.
int mapped_files() {
  std::ifstream maps("/proc/self/maps");
  int found = 0;
  for (std::string line; std::getline(maps, line);) found += line.find("kumihimo-rings") != std::string::npos;
  return found;
}
bool has_name(SharedFile::Name name) { return access(path_of(name).data(), F_OK) == 0; }

class NodeSegmentTest : public ::testing::Test {
 protected:
  NodeSegmentTest() { world_.node_ranks = 2; }
  // No memory, said in the note, and nothing stays mapped.
  void expect_none(const char* word) {
    const Result<std::unique_ptr<NodeSegment>> memory =
        NodeSegment::create(library_, mpi::testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok()) << memory.error().sentence();
    EXPECT_FALSE((*memory)->exists());
    EXPECT_NE((*memory)->note().find(word), std::string::npos) << (*memory)->note();
    EXPECT_EQ(mapped_files(), 0);
  }
  mpi::Library library_ = mpi::testing::fake_library();
  FakeWorld& world_ = FakeWorld::now();
};

TEST(KernelNumber, Is_the_same_in_a_child_and_no_machine_number) {
  const std::int64_t mine = kernel_number();
  ASSERT_NE(mine, no_machine_number);
  EXPECT_NE(mine, machine_number());
  const pid_t child = fork();
  if (child == 0) _exit(kernel_number() == mine ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(NodeSegmentTest, Exists_where_all_ranks_have_their_part) {
  {
    const Result<std::unique_ptr<NodeSegment>> memory =
        NodeSegment::create(library_, mpi::testing::node_handle, plenty);
    ASSERT_TRUE(memory.ok());
    EXPECT_TRUE((*memory)->exists());
    EXPECT_EQ((*memory)->note(), "");
    EXPECT_EQ(mapped_files(), 1);
  }
  EXPECT_EQ(mapped_files(), 0);
}

TEST_F(NodeSegmentTest, A_rank_that_is_told_of_no_file_still_agrees_with_the_others) {
  world_.bcast_code = 1;
  expect_none("MPI_Bcast");
  EXPECT_EQ(world_.allreduces, 2) << "size, mapping";
}

TEST_F(NodeSegmentTest, A_rank_that_can_make_no_file_still_agrees_with_the_others) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit none{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  expect_none("enlarge /dev/shm");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(world_.allreduces, 2) << "size, mapping";
}

TEST_F(NodeSegmentTest, A_file_that_another_rank_could_not_map_is_no_memory) {
  world_.others_say = 1;
  expect_none("another rank");
}

TEST_F(NodeSegmentTest, A_part_that_another_rank_has_no_room_for_is_no_memory) {
  world_.others_say = 1;
  world_.others_say_from = 2;
  expect_none("another rank");
}

// --- the file

TEST(SharedFileTest, Is_opened_by_its_name_and_has_none_as_soon_as_it_is_forgotten) {
  const Result<SharedFile> none = SharedFile::open(0);
  EXPECT_FALSE(none.ok());
  Result<SharedFile> made = SharedFile::create(1 << 16);
  ASSERT_TRUE(made.ok()) << made.error().sentence();
  const SharedFile::Name name = made->name();
  const Result<SharedFile> opened = SharedFile::open(name);
  ASSERT_TRUE(opened.ok()) << opened.error().sentence();
  made->unlink();
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
    Result<SharedFile> made = SharedFile::create(1 << 16);
    ASSERT_TRUE(made.ok());
    name = made->name();
    EXPECT_TRUE(has_name(name));
  }
  EXPECT_FALSE(has_name(name));
}

// Touching memory that a full /dev/shm cannot give is a SIGBUS, so it is asked for before.
TEST(SharedFileTest, Memory_is_set_aside_where_it_is_taken_and_not_before) {
  Result<SharedFile> made = SharedFile::create(1 << 20);
  ASSERT_TRUE(made.ok());
  const auto bytes_of = [&] {
    struct stat facts {};
    EXPECT_EQ(stat(path_of(made->name()).data(), &facts), 0);
    return std::int64_t{facts.st_blocks} * 512;
  };
  EXPECT_EQ(bytes_of(), 0);
  ASSERT_TRUE(made->allocate(1 << 19, 1 << 16).ok());
  EXPECT_EQ(bytes_of(), 1 << 16);
  const Status more = made->allocate(0, std::int64_t{1} << 60); // than any machine has
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.error().sentence().find("enlarge /dev/shm"), std::string::npos) << more.error().sentence();
}

TEST_F(NodeSegmentTest, Rings_of_many_ranks_are_moderate_though_memory_is_plenty) {
  for (const std::int32_t ranks : {2, 4, 8, 16, 32, 64}) {
    const RingShape shape = ring_shape_for(ranks, std::int64_t{1} << 40);
    EXPECT_GT(shape.slots, 0);
    EXPECT_LE(shape.channel_bytes() * (ranks - 1), ample_bytes_per_rank) << ranks;
  }
  for (const std::int32_t ranks : {128, 2000}) EXPECT_GT(ring_shape_for(ranks, std::int64_t{1} << 40).slots, 0);
}

} // namespace
} // namespace kumihimo::shared_memory
