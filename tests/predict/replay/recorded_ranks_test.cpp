// The recorder's events as those of a recording: however many are read at once.
#include "recorded.hpp"
#include "replay/recorded_ranks.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo::replay {
namespace {

constexpr std::uint8_t initialise = 1, wait = 2, test = 3, reduce = 4;

// Calls of one rank that sends to itself: requests end at once, later, at the end, and of receives never.
std::vector<Event> program_of(std::mt19937& chance) {
  std::vector<Event> events{Event(100, EventKind::begin_program)};
  std::int64_t now = 100;
  const auto add = [&](EventKind kind, const auto& what, std::uint8_t call, std::uint32_t request = 0) {
    Event event(now, kind, what);
    event.call = call, event.request = request;
    events.push_back(event);
  };
  const auto call = [&](std::uint8_t number, auto&& inside) {
    now += static_cast<std::int64_t>(chance() % 3 * 50);
    const auto drawn = [&](std::uint32_t below) { return static_cast<std::uint32_t>(chance() % below); };
    add(EventKind::enter, trace::Enter{{drawn(3) * 20, drawn(2) * 30}, drawn(4)}, number);
    inside();
    now += 10;
    Event leave(now, EventKind::leave);
    leave.call = number;
    events.push_back(leave);
  };
  if (chance() % 2) call(initialise, [] {});
  struct Begun {
    std::uint32_t request = 0;
    bool send = false;
  };
  std::vector<Begun> begun;
  std::uint32_t last = 0;
  const auto end_one = [&](std::size_t at) {
    const Begun each = begun[at];
    begun.erase(begun.begin() + static_cast<std::ptrdiff_t>(at));
    call(wait, [&] {
      add(each.send ? EventKind::end_send : EventKind::end_receive, trace::MessageEvent{8, 0, 3, 1}, wait,
          each.request);
    });
  };
  for (int step = 0; step < 400; ++step) switch (chance() % 6) {
    case 0: call(test, [] {}); break; // nothing is known of it
    case 1: call(reduce, [&] { add(EventKind::collective, trace::CollectiveEvent{8, -1, 1, 0, 3}, reduce); }); break;
    case 2:
      now += 5;
      add(chance() % 2 ? EventKind::begin_region : EventKind::end_region,
          trace::RegionEvent{static_cast<std::uint32_t>(chance() % 2)}, 0);
      break;
    case 3: { // of a pair the send may end first
      for (const bool send : {false, true}) {
        begun.push_back({++last, send});
        call(wait, [&] {
          add(send ? EventKind::start_send : EventKind::start_receive,
              trace::MessageEvent{send ? 8 : 0, send ? 0 : -1, 3, 1}, wait, last);
        });
      }
      break;
    }
    default:
      for (int n = 0; n < 2 && !begun.empty(); ++n) end_one(chance() % begun.size());
    }
  while (!begun.empty()) end_one(begun.size() - 1);
  if (chance() % 2) call(wait, [&] { add(EventKind::start_receive, trace::MessageEvent{}, wait, last + 1); });
  now += 7;
  events.emplace_back(now, EventKind::end_program, trace::Elapsed{2, 0});
  return events;
}

Result<std::unique_ptr<RecordedRanks>> ranks_of(const std::vector<Event>& events) {
  RecordedNames names;
  names.calls[initialise] = {"MPI_Init", true}, names.calls[wait] = {"MPI_Wait"};
  names.calls[test] = {"MPI_Test"}, names.calls[reduce] = {"MPI_Allreduce"};
  names.sites = {"", "a.c:1", "a.c:2"}, names.regions = {"solve", "step"};
  names.communicators = {std::nullopt};
  names.ranks = {{{1, 2, 1, 0}, {1, 0}, {0}}};
  return RecordedRanks::make(std::move(names), [&events](std::int32_t) -> Result<RecordedRanks::Opened> {
    trace::File file{0, 1};
    file.events = events;
    return RecordedRanks::Opened{file, nullptr};
  });
}

TEST(RecordedRanks, AreTheSameHoweverManyEventsAreReadAtOnce) {
  std::mt19937 chance(5);
  std::size_t parts = 0, longest = 0;
  for (int n = 0; n < 40; ++n) {
    const std::vector<Event> events = program_of(chance);
    auto reader = ranks_of(events);
    ASSERT_TRUE(reader);
    Recording recording(1, *std::move(reader));
    const Status complete = recording.complete();
    ASSERT_TRUE(complete) << complete.error().problem;
    const Events wanted = events_of(recording, 0);
    ASSERT_GT(wanted.size(), 100u);
    for (const AtOnce at_once : {AtOnce{1, 1}, AtOnce{3, 2}, AtOnce{64, 1}, AtOnce{100'000}, AtOnce{}}) {
      Events found;
      const auto append = [&](std::span<const Event> some, std::size_t before) -> Status {
        EXPECT_EQ(before, found.size());
        const EventKind last = some.back().kind; // whole calls
        EXPECT_TRUE(last == EventKind::leave || last == EventKind::compute);
        found.insert(found.end(), some.begin(), some.end());
        ++parts, longest = std::max(longest, some.size());
        return Nothing{};
      };
      const Status read = for_each_part(recording.stream(0, at_once), append);
      ASSERT_TRUE(read) << read.error().problem;
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], wanted[i]) << i << " of " << at_once.events;
    }
  }
  EXPECT_GT(parts, 1000u) << "of few events";
  EXPECT_GT(longest, 64u) << "where a receive has not ended";
}

// By hand: computing without the recorder's time, silent calls, regions, and a receive that its end describes.
TEST(RecordedRanks, AreWhatTheProgramDidBetweenCalls) {
  const auto in = [](std::int64_t at, EventKind kind, const auto& what, std::uint8_t call, std::uint32_t request = 0) {
    Event event(at, kind, what);
    event.call = call, event.request = request;
    return event;
  };
  const auto left = [](std::int64_t at, std::uint8_t call) {
    Event event(at, EventKind::leave);
    event.call = call;
    return event;
  };
  const std::vector<Event> events{
      Event(1000, EventKind::begin_program),
      in(1100, EventKind::enter, trace::Enter{{30, 0}, 0}, wait), // 100 less 30 of the recorder
      in(1100, EventKind::start_receive, trace::MessageEvent{}, wait, 1),
      left(1150, wait),
      Event(1250, EventKind::begin_region, trace::RegionEvent{1}),
      in(1450, EventKind::enter, trace::Enter{{0, 150}, 1}, test), // of 300 it had 150
      left(1500, test),
      in(1520, EventKind::enter, trace::Enter{}, wait),
      in(1600, EventKind::end_receive, trace::MessageEvent{8, 0, 5, 1}, wait, 1),
      in(1600, EventKind::send, trace::MessageEvent{8, 0, 5, 1}, wait),
      left(1600, wait),
      Event(1610, EventKind::end_program, trace::Elapsed{}),
  };
  auto reader = ranks_of(events);
  ASSERT_TRUE(reader);
  const RecordedRanks& ranks = **reader;
  Recording recording(1, *std::move(reader));
  ASSERT_TRUE(recording.complete());
  Event receive = event(EventKind::start_receive, 0, 8, 5, 1), ended = event(EventKind::end_receive, 0, 8, 5, 1);
  EXPECT_EQ(events_of(recording, 0),
            (Events{compute(70), enter(0), receive, leave(), compute(50), compute(100, 1), compute(20, 1), enter(2),
                    ended, event(EventKind::send, 0, 8, 5), leave(), compute(10, 1)}));
  EXPECT_EQ(ranks.sites(), (std::vector<std::string>{"MPI_Wait at a.c:1", "MPI_Test at a.c:2", "MPI_Wait"}));
  EXPECT_EQ(ranks.regions(), (std::vector<std::string>{"outside regions", "solve"}));
  EXPECT_EQ(ranks.ranks()[0].ns, 610);
  EXPECT_EQ(ranks.ranks()[0].computing_ns, 250);
  EXPECT_TRUE(ranks.ranks()[0].shared);
  EXPECT_EQ(ranks.ranks()[0].silent, (std::vector<std::pair<std::uint8_t, std::int64_t>>{{test, 1}}));
}

} // namespace
} // namespace kumihimo::replay
