// Names of the library's own calls.
#include "worker/library_calls.hpp"

#include <gtest/gtest.h>

namespace kumihimo::worker {
namespace {

TEST(LibraryCall, NamesAreRead) {
  const Result<LibraryCall> both = parse_library_call("reduce+bcast");
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(both->reduces && both->broadcasts && !both->allreduces);
  EXPECT_EQ(both->parts, 1);
  const Result<LibraryCall> halves = parse_library_call("2 allreduce");
  ASSERT_TRUE(halves.ok());
  EXPECT_TRUE(halves->allreduces && !halves->reduces && !halves->broadcasts);
  EXPECT_EQ(halves->parts, 2);
  EXPECT_TRUE(parse_library_call("bcast")->broadcasts);
}

TEST(LibraryCall, OthersAreToldInASentence) {
  for (const char* name :
       {"", "gather", "0 bcast", "-1 bcast", "two bcast", "2x bcast", "2", "2 ", " bcast", "bcast+reduce"}) {
    const Result<LibraryCall> call = parse_library_call(name);
    ASSERT_FALSE(call.ok()) << name;
    EXPECT_NE(call.error().sentence().find(name), std::string::npos);
  }
}

} // namespace
} // namespace kumihimo::worker
