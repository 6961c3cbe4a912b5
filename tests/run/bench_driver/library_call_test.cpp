// Names of the library's own calls.
#include "bench_driver/library_call.hpp"

#include <gtest/gtest.h>

namespace kumihimo::bench_driver {
namespace {

TEST(LibraryCall, NamesAreRead) {
  const Result<LibraryCall> both = parse_library_call("reduce+bcast");
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->steps, (std::vector{CollectiveKind::reduce, CollectiveKind::bcast}));
  EXPECT_TRUE(both->reduces());
  EXPECT_EQ(both->parts, 1);
  const Result<LibraryCall> halves = parse_library_call("2 allreduce");
  ASSERT_TRUE(halves.ok());
  EXPECT_EQ(halves->steps, std::vector{CollectiveKind::allreduce});
  EXPECT_EQ(halves->parts, 2);
  EXPECT_FALSE(parse_library_call("bcast")->reduces());
  for (const char* name : {"alltoall", "scan", "exscan", "gather+bcast", "reduce+scatter", "scatter+allgather",
                           "reduce_scatter+allgather", "reduce_scatter+gather"})
    EXPECT_TRUE(parse_library_call(name).ok()) << name;
}

TEST(LibraryCall, OthersAreToldInASentence) {
  for (const char* name :
       {"", "barrier", "0 bcast", "-1 bcast", "two bcast", "2x bcast", "2", "2 ", " bcast", "bcast+reduce", "2 gather",
        "2 reduce+bcast", "reduce+", "+bcast", "allgather+bcast", "reduce+allgather"}) {
    const Result<LibraryCall> call = parse_library_call(name);
    ASSERT_FALSE(call.ok()) << name;
    EXPECT_NE(call.error().sentence().find(name), std::string::npos);
  }
}

} // namespace
} // namespace kumihimo::bench_driver
