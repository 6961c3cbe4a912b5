#include "mpi_hooks/preload_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace kumihimo::mpi_hooks {
namespace {

using std::chrono::milliseconds;

// Of a job of this test's own.
PlaceOnNode place(const std::string& job, std::int32_t ranks, std::int32_t rank) {
  return {fmt::format("test {} of {}", job, getpid()), ranks, rank};
}

TEST(PreloadCheck, IsCompleteOnceAllAreMarked) {
  PreloadCheck first(place("all", 2, 0));
  EXPECT_EQ(first.look(), std::nullopt);
  PreloadCheck second(place("all", 2, 1));
  EXPECT_EQ(second.look(), true);
  EXPECT_TRUE(first.decide(milliseconds(0)));
  EXPECT_EQ(first.missed() + second.missed(), 0);
  EXPECT_FALSE(std::filesystem::exists(first.path()));
}

TEST(PreloadCheck, MissesOneForAllAndForGood) {
  PreloadCheck first(place("one", 3, 0)), second(place("one", 3, 2));
  EXPECT_FALSE(second.decide(milliseconds(1)));
  EXPECT_EQ(second.missed(), 1);
  PreloadCheck late(place("one", 3, 1));
  EXPECT_FALSE(first.decide(milliseconds(0)));
  EXPECT_FALSE(late.decide(milliseconds(0)));
  EXPECT_FALSE(second.decide(milliseconds(0)));
  EXPECT_EQ(first.missed(), 0) << "one tells of it";
  EXPECT_FALSE(std::filesystem::exists(first.path()));
  EXPECT_FALSE(std::filesystem::exists(late.path()));
}

TEST(PreloadCheck, WaitsForWhoIsLate) {
  PreloadCheck first(place("late", 2, 0));
  std::unique_ptr<PreloadCheck> second;
  std::thread comes([&] {
    std::this_thread::sleep_for(milliseconds(20));
    second = std::make_unique<PreloadCheck>(place("late", 2, 1));
  });
  EXPECT_TRUE(first.decide(milliseconds(10'000)));
  comes.join();
  EXPECT_EQ(second->look(), true);
}

TEST(PreloadCheck, AMarkThatComesTwiceIsOne) {
  PreloadCheck first(place("twice", 2, 0)), again(place("twice", 2, 0));
  EXPECT_EQ(again.look(), std::nullopt);
  EXPECT_FALSE(first.decide(milliseconds(0)));
}

// Whatever is found, all find the same, while they come and look at the same time.
TEST(PreloadCheck, AllGoTheSameWay) {
  constexpr std::int32_t ranks = 6;
  std::int32_t complete = 0;
  for (int turn = 0; turn < 200; ++turn) {
    std::vector<int> found(ranks, -1), missed(ranks, 0);
    std::vector<std::thread> threads;
    for (std::int32_t r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        PreloadCheck mine(place(fmt::format("turn {}", turn), ranks, r));
        found[static_cast<std::size_t>(r)] = mine.decide(milliseconds(turn % 2 == 0 ? 0 : 1000));
        missed[static_cast<std::size_t>(r)] = mine.missed();
      });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(std::count(found.begin(), found.end(), found[0]), ranks);
    complete += found[0];
  }
  EXPECT_GE(complete, 100);
}

TEST(PreloadCheck, IsIncompleteWhereTheListCannotBeOpened) {
  const PlaceOnNode there = place("folder", 2, 0);
  std::string path;
  {
    PreloadCheck once(there);
    path = once.path();
  }
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  PreloadCheck mine(there);
  EXPECT_EQ(mine.look(), std::nullopt);
  EXPECT_FALSE(mine.decide(milliseconds(0)));
  std::filesystem::remove(path);
}

class Environment : public ::testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const char* const name :
         {"PMIX_NAMESPACE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_FD", "PMI_SPAWNED",
          "MPI_LOCALNRANKS", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
      unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }
};

TEST_F(Environment, SaysNothingOfAProcessThatNoLauncherStarted) { EXPECT_FALSE(place_on_node()); }

TEST_F(Environment, NamesAJobOfOpenMpi) {
  set("PMIX_NAMESPACE", "prterun-host-17@1");
  EXPECT_FALSE(place_on_node());
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "3");
  set("OMPI_COMM_WORLD_SIZE", "8"); // on two nodes
  EXPECT_FALSE(place_on_node());
  set("OMPI_COMM_WORLD_SIZE", "4");
  const auto found = place_on_node();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, 4);
  EXPECT_EQ(found->rank, 3);
  set("PMIX_NAMESPACE", "prterun-host-17@2");
  EXPECT_NE(place_on_node()->job, found->job);
  set("OMPI_COMM_WORLD_LOCAL_RANK", "4");
  EXPECT_FALSE(place_on_node());
}

TEST_F(Environment, NamesAJobOfHydraByTheProcessBehindItsSocket) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  set("MPI_LOCALNRANKS", "2");
  set("MPI_LOCALRANKID", "0");
  EXPECT_FALSE(place_on_node());
  set("PMI_FD", std::to_string(ends[1]));
  EXPECT_FALSE(place_on_node()) << "of how many ranks?";
  set("PMI_SIZE", "2");
  const auto found = place_on_node();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ranks, 2);
  EXPECT_TRUE(found->job.starts_with(fmt::format("hydra {} ", getpid()))) << found->job;
  set("PMIX_NAMESPACE", "prterun-host-17@1"); // of an mpirun that Hydra runs within
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "1");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "1");
  ASSERT_TRUE(place_on_node());
  EXPECT_EQ(place_on_node()->job, found->job);
  set("PMI_SPAWNED", "1"); // perhaps by the same one as those that started it
  EXPECT_FALSE(place_on_node());
  for (const int end : ends) close(end);
}

} // namespace
} // namespace kumihimo::mpi_hooks
