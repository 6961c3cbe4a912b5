// Files of events: what is written is read, and what is no such file is one sentence.
#include "trace/file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::trace {
namespace {

class Bytes { // aligned as a map is
 public:
  void add(std::string_view text) {
    const std::size_t before = size_;
    size_ += text.size();
    words_.resize((size_ + 7) / 8);
    std::memcpy(reinterpret_cast<char*>(words_.data()) + before, text.data(), text.size());
  }
  template <class T>
  void put(const T& value) {
    add({reinterpret_cast<const char*>(&value), sizeof value});
  }
  std::span<std::byte> all() { return std::as_writable_bytes(std::span(words_)).first(size_); }
  std::span<const std::byte> first(std::size_t n) { return all().first(n); }
  template <class T>
  void set(std::size_t at, T value) {
    std::memcpy(all().data() + at, &value, sizeof value);
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

const std::vector<Event> events{
    Event(10, EventKind::begin_program),
    Event(20, EventKind::enter, Enter{{1, 2}, 3}),
    Event(25, EventKind::send, MessageEvent{8, 1, 7, 1}),
    Event(28, EventKind::collective, CollectiveEvent{16, 0, 2, 1, 5}),
    Event(30, EventKind::leave),
    Event(40, EventKind::end_program, Elapsed{4, 5}),
};

Bytes file_of(std::vector<std::uint64_t> list_ends = {2, 2, 3}, std::vector<std::int64_t> sizes = {8, 4, 9}) {
  Bytes bytes;
  bytes.add(header_of({1, 3, events.size(), list_ends.size(), sizes.size(), 77}));
  for (const Event& each : events) bytes.put(each);
  for (const std::uint64_t each : list_ends) bytes.put(each);
  for (const std::int64_t each : sizes) bytes.put(each);
  return bytes;
}

std::string problem_of(std::span<const std::byte> bytes) {
  const auto read = file_in(bytes);
  return read ? "" : read.error().problem;
}

TEST(TraceFile, GivesWhatWasWritten) {
  Bytes bytes = file_of();
  const auto read = file_in(bytes.all());
  ASSERT_TRUE(read) << read.error().sentence();
  EXPECT_EQ(read->rank, 1);
  EXPECT_EQ(read->ranks, 3);
  EXPECT_EQ(read->left_out, 77u);
  EXPECT_TRUE(std::equal(read->events.begin(), read->events.end(), events.begin(), events.end()));
  EXPECT_EQ(read->events[1].enter().since_leave.processor_ns, 2);
  EXPECT_EQ(read->events[3].collective().row, 5);
  const auto list = [&](std::uint32_t number) {
    const auto parts = read->parts(number);
    return std::vector<std::int64_t>(parts.begin(), parts.end());
  };
  EXPECT_EQ(list(1), (std::vector<std::int64_t>{8, 4}));
  EXPECT_TRUE(list(2).empty());
  EXPECT_EQ(list(3), std::vector<std::int64_t>{9});
}

TEST(TraceFile, OfOtherLengthsIsRefused) {
  Bytes bytes = file_of();
  const std::size_t whole = bytes.all().size();
  for (std::size_t n = 0; n < whole; ++n) EXPECT_NE(problem_of(bytes.first(n)), "") << n;
  EXPECT_EQ(problem_of(bytes.first(0)),
            "the events of a rank must be a file of kumihimo record --trace (got one of 0 bytes)");
  EXPECT_EQ(problem_of(bytes.first(whole - 1)),
            "a file of 6 events must be whole (got " + std::to_string(whole - 1) + " bytes)");
  bytes.add("x");
  EXPECT_NE(problem_of(bytes.all()), "");
}

TEST(TraceFile, OfAnotherFormatVersionOrRankIsRefused) {
  Bytes text = file_of(), version = file_of(), event = file_of(), rank = file_of(), none = file_of();
  text.set(0, 'K');
  EXPECT_EQ(problem_of(text.all()),
            "the events of a rank must be a file of kumihimo record --trace (got another format)");
  version.set(8, std::uint32_t{2});
  EXPECT_EQ(problem_of(version.all()), "the events of a rank must be of version 1 (got 2)");
  event.set(12, std::uint32_t{48});
  EXPECT_NE(problem_of(event.all()), "");
  rank.set(16, std::uint32_t{3});
  EXPECT_EQ(problem_of(rank.all()), "a rank must be one of its program (got 3 of 3)");
  none.set(20, std::uint32_t{0x80000000U});
  EXPECT_NE(problem_of(none.all()), "");
}

// Counts and ends whose sums and products overflow, too.
TEST(TraceFile, HostileCountsAreRefused) {
  for (const std::size_t at : {24, 32, 40})
    for (const std::uint64_t count : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{1} << 61,
                                      std::uint64_t{1} << 32, (~std::uint64_t{0}) / 40 + 1, std::uint64_t{0}}) {
      Bytes bytes = file_of();
      bytes.set(at, count);
      EXPECT_NE(problem_of(bytes.all()), "") << at << ' ' << count;
    }
  EXPECT_NE(problem_of(file_of({2, 1, 3}).all()), "");
  EXPECT_NE(problem_of(file_of({2, ~std::uint64_t{0}, 3}).all()), "");
  EXPECT_NE(problem_of(file_of({1, 1, 2}).all()), "") << "a size that is in no list";
  EXPECT_NE(problem_of(file_of({}, {5}).all()), "");
}

// Whatever is in it, what is read lies within it.
TEST(TraceFile, OfRandomBytesIsRefusedOrWithinItsBounds) {
  std::mt19937 chance(7);
  int read = 0;
  for (int n = 0; n < 20000; ++n) {
    Bytes bytes = file_of();
    for (unsigned changes = 1 + chance() % 3; changes > 0; --changes)
      bytes.set(chance() % bytes.all().size(), static_cast<std::uint8_t>(chance()));
    const auto found = file_in(bytes.all());
    if (!found) continue;
    ++read;
    std::int64_t sum = 0;
    for (std::uint32_t list = 1; list <= found->list_ends.size(); ++list)
      for (const std::int64_t each : found->parts(list)) sum ^= each;
    for (const Event& each : found->events) sum ^= each.at_ns;
    EXPECT_LE(found->events.size(), events.size()) << sum;
  }
  EXPECT_GT(read, 1000) << "of the events themselves any values are read";
}

TEST(TraceEvent, HasOneMeaningForEachKind) {
  Event event(5, EventKind::start_receive, MessageEvent{.communicator = 2});
  event.request = 9;
  event.become(EventKind::end_receive, MessageEvent{8, 3, 1, 2});
  EXPECT_EQ(event.message().peer, 3);
  EXPECT_EQ(event.request, 9u);
  EXPECT_EQ(event.at_ns, 5);
  event.become(EventKind::enter, Enter{});
  Event other(5, EventKind::enter, Enter{});
  other.request = 9;
  EXPECT_EQ(event, other) << "nothing is left of what it was";
  for (const EventKind kind : {EventKind::start_send, EventKind::start_receive, EventKind::start_collective}) {
    EXPECT_TRUE(starts(kind) && ends(end_of(kind)) && !starts(end_of(kind)));
    EXPECT_EQ(start_of(end_of(kind)), kind);
  }
}

} // namespace
} // namespace kumihimo::trace
