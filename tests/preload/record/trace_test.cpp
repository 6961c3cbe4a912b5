#include "record/clock.hpp"
#include "record/trace.hpp"
#include "trace/file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace kumihimo::record {
namespace {

using trace::EventKind;

// Of MPI_Alltoallv_init: each start has the list of what goes to each rank, and a number of its own.
TEST(TraceBuffer, EachStartOfAPersistentRequestHasItsParts) {
  const mpi::Library library{};
  TraceBuffer trace(library, true, 100);
  EXPECT_EQ(trace.parts({}), 0u);
  const std::uint32_t parts = trace.parts({8, 4});
  EXPECT_EQ(parts, 1u);
  EXPECT_EQ(trace.parts({8, 4}), 1u) << "the same list again";
  EXPECT_EQ(trace.parts({4, 8}), 2u);
  trace.keep(7, Event(5, EventKind::start_collective, trace::CollectiveEvent{12, -1, 0, parts}));
  for (const std::uint32_t number : {1u, 2u}) {
    const auto event = trace.start(7);
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, EventKind::start_collective);
    EXPECT_EQ(event->collective().parts, parts);
    EXPECT_EQ(event->request, number);
  }
  EXPECT_FALSE(trace.start(8));
}

TEST(TraceBuffer, ListsOfPartsCountAsEvents) {
  const mpi::Library library{};
  TraceBuffer trace(library, true, 4);
  trace.add({Event(1, EventKind::leave)});
  trace.parts({8, 4, 2});
  trace.add({Event(2, EventKind::leave)});
  EXPECT_EQ(trace.counts().events, 1u);
  EXPECT_EQ(trace.counts().left_out, 1);
}

TEST(TraceBuffer, IsWrittenBetweenTheEventsOfTheProgram) {
  const mpi::Library library{};
  TraceBuffer trace(library, true, 2);
  const Event call(20, EventKind::enter, trace::Enter{{3, 4}, 5});
  trace.parts({8, 4});
  trace.parts({1});
  trace.add({call});
  const std::string path = testing::TempDir() + "kumihimo_trace_of_a_rank";
  const Event begin(10, EventKind::begin_program), end(30, EventKind::end_program, trace::Elapsed{1, 2});
  ASSERT_TRUE(trace.write(path, Clock(library, 0), {2, 3, begin, end}));
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  std::vector<std::uint64_t> aligned(bytes.size() / 8);
  std::memcpy(aligned.data(), bytes.data(), bytes.size());
  const auto read = trace::file_in(std::as_bytes(std::span(aligned)));
  ASSERT_TRUE(read) << read.error().sentence();
  EXPECT_EQ(read->rank, 2);
  EXPECT_EQ(read->ranks, 3);
  EXPECT_EQ(read->left_out, 1u) << "two lists with three numbers are more than the buffer takes";
  ASSERT_EQ(read->events.size(), 2u);
  EXPECT_EQ(read->events[0], begin);
  EXPECT_EQ(read->events[1], end);
  EXPECT_EQ(read->parts(1).size(), 2u);
  EXPECT_EQ(read->parts(2)[0], 1);
}

} // namespace
} // namespace kumihimo::record
