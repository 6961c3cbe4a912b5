#include "mpi/fake_library.hpp"
#include "mpi_transport/mpi_transport.hpp"
#include "mpi_transport/networks/mpi/point_to_point.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::mpi_transport {
namespace {

using mpi::testing::FakeWorld;
using Progress = transport::Transport::Progress;

// A message of 16 bytes to or from rank 1.
template <class Message>
struct Parcel : Message {
  Parcel() {
    this->key.peer = Rank{1};
    this->key.lane = LaneId{2};
    this->bytes = 16;
    this->open = &left;
  }
  std::int32_t left = 1;
  std::byte data[16] = {};
};

struct Sent : Parcel<transport::SendRequest> {
  Sent() {
    only = {data, bytes};
    first_piece = &only;
    piece_count = 1;
  }
};

struct Expected : Parcel<transport::ReceiveRequest> {
  Expected() { copy_into({data, nullptr, 0}, 4); }
};

class PointToPointTest : public ::testing::Test {
 protected:
  void expect_words(const Error& error, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(error.sentence().find(word), std::string::npos) << error.sentence();
  }
  mpi::Library library_ = mpi::testing::fake_library();
  FakeWorld& world_ = FakeWorld::now();
};

TEST_F(PointToPointTest, One_request_drives_the_library_for_all_and_is_given_back) {
  {
    const auto one = mpi::LibraryProgress::of(library_);
    EXPECT_EQ(world_.own_requests, 1);
    {
      const auto other = mpi::LibraryProgress::of(library_);
      EXPECT_EQ(other->progress(), 0);
      EXPECT_EQ(world_.own_requests, 1);
    }
    EXPECT_EQ(world_.own_requests, 1) << "the first has it still";
    EXPECT_EQ(world_.times_driven, 1);
  }
  EXPECT_EQ(world_.own_requests, 0);
}

TEST_F(PointToPointTest, A_shorter_message_is_an_error_that_names_it) {
  PointToPoint side({library_, mpi::testing::own_handle}, 32767);
  Expected expected;
  side.receive(expected);
  world_.requests[0].complete = true;
  world_.requests[0].bytes = 12;
  side.progress();
  ASSERT_TRUE(side.error());
  expect_words(*side.error(), {"16 bytes", "12 bytes arrived", "rank 1", "lane 2", "same count"});
  EXPECT_EQ(expected.left, 1);
}

TEST_F(PointToPointTest, A_longer_message_is_the_librarys_error_and_names_the_receive) {
  PointToPoint side({library_, mpi::testing::own_handle}, 32767);
  Expected expected;
  side.receive(expected);
  world_.test_code = 15;
  side.progress();
  ASSERT_TRUE(side.error());
  expect_words(*side.error(), {"16 bytes", "so it is", "rank 1", "same count"});
}

TEST_F(PointToPointTest, A_message_of_the_right_length_completes) {
  PointToPoint side({library_, mpi::testing::own_handle}, 32767);
  Expected expected;
  side.receive(expected);
  world_.requests[0] = {true, true, false, 16};
  EXPECT_TRUE(side.progress());
  EXPECT_FALSE(side.error());
  EXPECT_EQ(expected.left, 0);
}

TEST_F(PointToPointTest, Abandoning_cancels_receives_forgets_sends_and_takes_nothing_more) {
  PointToPoint side({library_, mpi::testing::own_handle}, 32767);
  {
    Expected expected;
    Sent sent;
    side.receive(expected);
    side.send(sent);
    side.abandon(failed("an error"));
  } // the messages are gone
  EXPECT_TRUE(world_.requests[0].cancelled);
  EXPECT_FALSE(world_.requests[1].cancelled);
  EXPECT_FALSE(side.busy());
  world_.requests[1].complete = true;
  EXPECT_FALSE(side.progress());
  Sent later;
  side.send(later);
  EXPECT_EQ(world_.requests.size(), 2u);
  EXPECT_EQ(side.error()->problem, "an error");
}

TEST_F(PointToPointTest, A_receive_that_is_not_given_back_is_not_waited_for) {
  PointToPoint side({library_, mpi::testing::own_handle}, 32767);
  world_.cancels = false;
  Expected expected;
  side.receive(expected);
  side.abandon(failed("an error"));
  EXPECT_FALSE(side.busy());
}

TEST_F(PointToPointTest, A_run_that_the_engine_ends_leaves_nothing_under_way) {
  Result<std::unique_ptr<MpiTransport>> made = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_TRUE(made.ok()) << made.error().sentence();
  {
    Expected expected;
    (*made)->receive(expected);
    (*made)->abandon(failed("the segment is missing"));
  }
  EXPECT_TRUE(world_.requests[0].cancelled);
  EXPECT_EQ((*made)->progress(), Progress::failed);
  EXPECT_EQ((*made)->error().problem, "the segment is missing");
}

TEST_F(PointToPointTest, Tag_bounds_that_hold_no_key_or_exceed_the_librarys_are_refused) {
  const auto make = [&](std::int64_t bound) {
    return MpiTransport::create(library_, mpi::testing::world_handle, {.tag_upper_bound = bound});
  };
  for (const std::int64_t bound : {std::int64_t{0}, std::int64_t{3}, std::int64_t{6}, std::int64_t{1} << 40}) {
    const Result<std::unique_ptr<MpiTransport>> made = make(bound);
    ASSERT_FALSE(made.ok()) << bound;
    EXPECT_EQ(made.error().kind, Error::Kind::bad_input);
    expect_words(made.error(), {"7", "32767", ("got " + std::to_string(bound)).c_str()});
  }
  for (const std::int64_t bound : {-1, 7, 100, 32767}) EXPECT_TRUE(make(bound).ok()) << bound;
}

TEST_F(PointToPointTest, The_smallest_tag_bound_tells_one_message_apart_and_no_two) {
  const TagLayout tags(TagLayout::smallest_upper_bound);
  transport::Demands demands;
  demands.lanes = 1;
  EXPECT_TRUE(tags.accepts(demands).ok());
  demands.window = 2;
  expect_words(tags.accepts(demands).error(), {"MPI_TAG_UB = 7", "1 lanes, 1 segments and 1 messages"});
  EXPECT_LE(tags.tag({.instance = 99, .peer = Rank{1}, .lane = LaneId{0}, .signal = true}), 7);
}

TEST_F(PointToPointTest, A_failed_transport_stays_failed_and_refuses_programs) {
  Result<std::unique_ptr<MpiTransport>> made = MpiTransport::create(library_, mpi::testing::world_handle);
  ASSERT_TRUE(made.ok()) << made.error().sentence();
  MpiTransport& transport = **made;
  EXPECT_TRUE(transport.prepare({}).ok());
  {
    Expected expected, other;
    transport.receive(expected);
    transport.receive(other);
    world_.requests[0] = {true, true, false, 4};
    EXPECT_EQ(transport.progress(), Progress::failed);
  }
  EXPECT_TRUE(world_.requests[1].cancelled);
  world_.requests[1] = {true, true, false, 16};
  EXPECT_EQ(transport.progress(), Progress::failed);
  const Status status = transport.prepare({});
  ASSERT_FALSE(status.ok());
  expect_words(status.error(), {"16 bytes", "4 bytes arrived"});
  Expected later;
  transport.receive(later);
  EXPECT_EQ(world_.requests.size(), 2u);
  EXPECT_EQ(transport.progress(), Progress::failed);
}

TEST(TagLayout, Stay_within_the_bound_and_differ_for_all_that_may_be_under_way_at_once) {
  for (std::int64_t bound : {32767, 1 << 20, (1 << 28) - 1, INT32_MAX}) {
    const TagLayout tags(bound);
    transport::Demands demands;
    demands.lanes = 6;
    demands.window = 8;
    demands.spread = 3;
    ASSERT_TRUE(tags.accepts(demands).ok()) << bound;
    std::vector<int> seen;
    for (std::int32_t lane = 0; lane < 6; ++lane)
      for (std::int64_t segment = 1000; segment < 1008; ++segment)
        for (std::int64_t ordinal = 77; ordinal < 81; ++ordinal)
          for (bool signal : {false, true}) {
            const int tag = tags.tag({.lane = LaneId{lane}, .segment = segment, .ordinal = ordinal, .signal = signal});
            EXPECT_GE(tag, 0);
            EXPECT_LE(tag, bound);
            seen.push_back(tag);
          }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end()) << bound;
  }
}

// Two ranks that exchange a message in each of many instances, as MPI matches them: of one tag, the first send with the
// first receive. Each rank has `at_once` instances under way at most, and starts their messages in any order; a send
// may end at once or with its receive, which may be started much later. The number of messages that met another
// instance's.
int wrong_matches(const TagLayout& tags, std::int64_t at_once, std::uint64_t seed) {
  constexpr std::int64_t count = 120;
  std::mt19937_64 random(seed);
  const auto draw = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  struct Side {
    std::vector<bool> ended = std::vector<bool>(count);
    std::vector<std::int64_t> waiting; // instances that have begun, whose message has not been started
    std::int64_t begun = 0, oldest = 0;
  };
  Side sender, receiver;
  std::map<int, std::deque<std::int64_t>> sends, receives; // that have met nothing
  std::vector<bool> ends_at_once(count);
  for (std::size_t i = 0; i < count; ++i) ends_at_once[i] = draw(2) == 0;
  const auto end = [&](Side& side, std::int64_t instance) {
    side.ended[static_cast<std::size_t>(instance)] = true;
    while (side.oldest < count && side.ended[static_cast<std::size_t>(side.oldest)]) ++side.oldest;
  };
  int wrong = 0;
  while (sender.oldest < count || receiver.oldest < count) {
    const bool sends_now = draw(2) == 0;
    Side& side = sends_now ? sender : receiver;
    if (side.begun < count && side.begun - side.oldest < at_once && draw(2) == 0) {
      side.waiting.push_back(side.begun++);
      continue;
    }
    if (side.waiting.empty()) continue;
    const std::size_t which = draw(side.waiting.size());
    const std::int64_t instance = side.waiting[which];
    side.waiting.erase(side.waiting.begin() + static_cast<std::ptrdiff_t>(which));
    const int tag = tags.tag({.instance = static_cast<std::uint64_t>(2 * instance + 1), .lane = LaneId{0}});
    auto &own = sends_now ? sends[tag] : receives[tag], &others = sends_now ? receives[tag] : sends[tag];
    if (sends_now && ends_at_once[static_cast<std::size_t>(instance)]) end(sender, instance);
    if (others.empty()) {
      own.push_back(instance);
      continue;
    }
    const std::int64_t other = others.front();
    others.pop_front();
    wrong += other != instance;
    end(sender, sends_now ? instance : other);
    end(receiver, sends_now ? other : instance);
  }
  return wrong;
}

TEST(TagLayout, Tell_all_instances_apart_that_a_rank_has_under_way_at_once) {
  for (const std::int64_t bound : {7, 32767, (1 << 22) - 1, (1 << 28) - 1, INT32_MAX}) {
    const TagLayout tags(bound);
    const std::int64_t most = tags.instances_at_once();
    EXPECT_GE(most, bound < 32767 ? 2 : 16) << bound;
    int wrong_of_more = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      ASSERT_EQ(wrong_matches(tags, most, seed), 0) << bound << " seed " << seed;
      wrong_of_more += wrong_matches(tags, most + 1, seed);
    }
    EXPECT_GT(wrong_of_more, 0) << "one instance more is confused: the test can fail";
  }
}

TEST(TagLayout, A_bound_that_is_too_small_is_refused_in_one_sentence) {
  transport::Demands demands;
  demands.lanes = 6;
  demands.window = 1024;
  const Status status = TagLayout(32767).accepts(demands);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().sentence().find("MPI_TAG_UB = 32767"), std::string::npos) << status.error().sentence();
  EXPECT_TRUE(TagLayout(INT32_MAX).accepts(transport::Demands{}).ok());
}

} // namespace
} // namespace kumihimo::mpi_transport
