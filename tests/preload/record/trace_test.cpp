#include "record/trace.hpp"

#include <gtest/gtest.h>

namespace kumihimo::record {
namespace {

// Of MPI_Alltoallv_init: what goes to each rank is told at the start that it belongs to, not where the request is made.
TEST(Trace, EachStartOfAPersistentRequestHasItsParts) {
  const mpi::Library library{};
  Trace trace(library, true, 100);
  Event start, part;
  start.kind = Event::Kind::start_collective, start.bytes = 12;
  part.kind = Event::Kind::part;
  std::vector<Event> parts;
  for (const std::int64_t bytes : {8, 4}) {
    ++part.partner, part.bytes = bytes;
    parts.push_back(part);
  }
  trace.keep(7, start, {}, parts);
  for (const std::int64_t number : {1, 2}) {
    const auto events = trace.start(7);
    ASSERT_EQ(events.size(), 3u);
    EXPECT_EQ(events[0].kind, Event::Kind::part);
    EXPECT_EQ(events[0].bytes, 8);
    EXPECT_EQ(events[1].partner, 1);
    EXPECT_EQ(events[2].kind, Event::Kind::start_collective);
    EXPECT_EQ(events[2].more, number);
  }
  EXPECT_TRUE(trace.start(8).empty());
}

} // namespace
} // namespace kumihimo::record
