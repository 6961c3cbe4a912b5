// Programs whose operations are made as the model comes to them: the same to the picosecond as with graphs.
#include "recorded.hpp"
#include "replay/extrapolate.hpp"
#include "replay/graphs.hpp"
#include "replay/recording.hpp"
#include "replay/times.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace kumihimo::replay {
namespace {

std::vector<Choice> chosen(const Source& source) {
  std::vector<Choice> choices;
  for (const RecordedCollective& call : source.calls()) {
    const bool of_all = all_collectives[call.collective] == CollectiveKind::allreduce;
    const char* const name = of_all ? "rabenseifner" : "binomial";
    choices.push_back({*Registry::standard().find(all_collectives[call.collective], name), {}});
  }
  return choices;
}

// Steps that all ranks do one after the other: what they exchange in one meets in it. Requests may end much later, in
// any order, or, of sends, never.
class Programs {
 public:
  explicit Programs(unsigned seed) : chance_(seed), ranks_(1 << (chance_() % 4)), events_(ranks_), open_(ranks_) {}

  Recording recording() {
    for (int step = 0; step < 120; ++step) {
      for (std::int32_t rank = 0; rank < ranks(); ++rank) compute_some(rank);
      switch (chance_() % 5) {
      case 0: exchange(); break;
      case 1: message(); break;
      case 2: reduce(); break;
      case 3: start_reduce(); break;
      default:
        for (std::int32_t rank = 0; rank < ranks(); ++rank) wait(rank, chance_() % 3);
      }
    }
    for (std::int32_t rank = 0; rank < ranks(); ++rank) wait(rank, open(rank).size()), compute_some(rank);
    Recording made = recording_of(events_);
    const Status complete = made.complete();
    EXPECT_TRUE(complete) << complete.error().problem;
    return made;
  }

 private:
  struct Open {
    std::vector<std::uint32_t> requests;
    std::vector<Event> ends; // by request
    std::size_t size() const { return requests.size(); }
  };
  std::int32_t ranks() const { return static_cast<std::int32_t>(ranks_); }
  Open& open(std::int32_t rank) { return open_[static_cast<std::size_t>(rank)]; }
  void call(std::int32_t rank, std::initializer_list<Event> inside) {
    Events& of = events_[static_cast<std::size_t>(rank)];
    of.push_back(enter(chance_() % 5));
    of.insert(of.end(), inside);
    of.push_back(leave());
  }
  void compute_some(std::int32_t rank) {
    for (unsigned n = chance_() % 3; n > 0; --n)
      events_[static_cast<std::size_t>(rank)].push_back(compute(chance_() % 3000, chance_() % 3));
  }
  std::uint32_t begin(std::int32_t rank, Event end) {
    Open& of = open(rank);
    end.request = static_cast<std::uint32_t>(of.ends.size() + 1);
    of.ends.push_back(end);
    if (end.kind != EventKind::end_send || chance_() % 8 != 0) of.requests.push_back(end.request);
    return end.request;
  }
  // Of those that are open, in any order, in one call.
  void wait(std::int32_t rank, std::size_t most) {
    Open& of = open(rank);
    Events& events = events_[static_cast<std::size_t>(rank)];
    events.push_back(enter(7));
    for (std::size_t n = std::min(most, of.size()); n > 0; --n) {
      const std::size_t at = chance_() % of.size();
      events.push_back(of.ends[of.requests[at] - 1]);
      of.requests.erase(of.requests.begin() + static_cast<std::ptrdiff_t>(at));
    }
    events.push_back(leave());
  }
  std::int64_t bytes() { return chance_() % 4 == 0 ? 5000 : chance_() % 200; }

  void exchange() {
    const std::int64_t size = bytes();
    for (std::int32_t rank = 0; rank < ranks(); ++rank) {
      const std::int32_t after = (rank + 1) % ranks(), before = (rank + ranks() - 1) % ranks();
      const std::uint32_t got = begin(rank, event(EventKind::end_receive, before, size, 1));
      call(rank, {event(EventKind::start_receive, -1, 0, 0, got)});
      const std::uint32_t sent = begin(rank, event(EventKind::end_send, after, size, 1));
      call(rank, {event(EventKind::start_send, after, size, 1, sent)});
    }
  }
  void message() {
    const auto from = static_cast<std::int32_t>(chance_() % ranks_), to = static_cast<std::int32_t>(chance_() % ranks_);
    const std::int64_t size = from == to ? 8 : bytes(); // to itself nothing waits
    if (chance_() % 2 == 0 && from != to) {
      call(from, {event(EventKind::send, to, size, 2)});
      call(to, {event(EventKind::receive, from, size, 2)});
    } else {
      call(from, {event(EventKind::start_send, to, size, 2)}); // nothing waits for it
      call(to, {event(EventKind::receive, from, size, 2)});
    }
  }
  void reduce() {
    const bool barrier = chance_() % 2 == 0;
    const std::int64_t size = barrier ? 0 : 8 * static_cast<std::int64_t>(1 + chance_() % 3);
    for (std::int32_t rank = 0; rank < ranks(); ++rank)
      call(rank, {collective(barrier ? CollectiveKind::barrier : CollectiveKind::allreduce, size)});
  }
  void start_reduce() {
    for (std::int32_t rank = 0; rank < ranks(); ++rank) {
      const Event end = collective(CollectiveKind::allreduce, 800, -1, EventKind::end_collective);
      const std::uint32_t request = begin(rank, end);
      call(rank, {collective(CollectiveKind::allreduce, 0, -1, EventKind::start_collective, request)});
    }
  }

  std::mt19937 chance_;
  unsigned ranks_;
  std::vector<Events> events_;
  std::vector<Open> open_; // by rank
};

void expect_equal(const Times& a, const Times& b) {
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.last_rank, b.last_rank);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.computing, b.computing);
  EXPECT_EQ(a.lost_to_noise, b.lost_to_noise);
  EXPECT_EQ(a.operations, b.operations);
  EXPECT_EQ(a.messages, b.messages);
  EXPECT_EQ(a.bytes, b.bytes);
  const auto same_places = [](const std::vector<PlaceTimes>& of, const std::vector<PlaceTimes>& other) {
    ASSERT_EQ(of.size(), other.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      EXPECT_EQ(of[i].count, other[i].count);
      EXPECT_EQ(of[i].time, other[i].time);
      EXPECT_EQ(of[i].longest_of_rank, other[i].longest_of_rank);
      EXPECT_EQ(of[i].longest_rank, other[i].longest_rank);
    }
  };
  same_places(a.sites, b.sites);
  same_places(a.regions, b.regions);
  ASSERT_EQ(a.intervals.size(), b.intervals.size());
  for (std::size_t i = 0; i < a.intervals.size(); ++i) {
    EXPECT_EQ(a.intervals[i].start, b.intervals[i].start);
    EXPECT_EQ(a.intervals[i].end, b.intervals[i].end);
    EXPECT_EQ(a.intervals[i].place, b.intervals[i].place);
  }
}

Times both_ways(const Source& source, const loggp::LogGopsParameters& parameters, ReplayOptions options,
                const TimesOptions& times = {}) {
  const auto whole = program_of(source, chosen(source), options);
  options.windowed_from = 0;
  const auto windowed = program_of(source, chosen(source), options);
  EXPECT_TRUE(whole && windowed && windowed->windowed);
  const auto one = times_of(*whole, parameters, times), other = times_of(*windowed, parameters, times);
  EXPECT_TRUE(one) << one.error().problem;
  EXPECT_TRUE(other) << other.error().problem;
  if (one && other) expect_equal(*one, *other);
  return one ? *one : Times{};
}

TEST(Windowed, ProgramsTakeTheSameTime) {
  std::uint64_t operations = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Recording recording = Programs(seed).recording();
    ReplayOptions options;
    options.speed = seed % 3 == 0 ? 2 : 1, options.balanced = seed % 5 == 0;
    options.rates.reduced = seed % 2 == 0 ? 1e9 : 0;
    TimesOptions times;
    times.most_intervals = 100'000;
    for (const char* const letters : {"L=2000,o=100,g=50,G=0.2,O=0.1,S=100000", "L=1500,o=300,g=0,G=0.1,O=0,S=1000"}) {
      const auto parameters = *loggp::parse_parameters(letters, {});
      operations += both_ways(recording, parameters, options, times).operations;
      if (::testing::Test::HasFailure()) return;
    }
    both_ways(recording, ideal_network(), options, times);
    times.engine.noise = goal::NoiseModel{goal::NoiseModel::Kind::exponential, 9'000'000, 2'000'000};
    both_ways(recording, *loggp::parse_parameters("L=2000,o=100,g=50,G=0.2,O=0.1,S=1000", {}), options, times);
  }
  EXPECT_GT(operations, 100'000u);
}

TEST(Windowed, RanksThatShareProcessorsTakeTurnsAlike) {
  const Recording recording = Programs(9).recording();
  auto parameters = *loggp::parse_parameters("L=2000,o=100,g=50,G=0.2,O=0.1,S=1000", {});
  parameters.processors = 2, parameters.processor_switch = 700;
  both_ways(recording, parameters, {});
}

// A chain of messages in which rank 0 waits for an answer before it sends what rank 1 waits for.
TEST(Windowed, RanksThatWaitForEachOtherAreNamed) {
  const std::int64_t size = 1000;
  const auto half = [&](std::int32_t to) {
    return Events{enter(), event(EventKind::send, to, size),    leave(),
                  enter(), event(EventKind::receive, to, size), leave()};
  };
  Recording recording = recording_of({half(1), half(0)});
  ASSERT_TRUE(recording.complete());
  const auto parameters = *loggp::parse_parameters("L=2000,o=100,S=10", {});
  ReplayOptions windowed;
  windowed.windowed_from = 0;
  const auto program = program_of(recording, {}, windowed), whole = program_of(recording, {});
  ASSERT_TRUE(program && whole);
  const auto times = times_of(*program, parameters), wanted = times_of(*whole, parameters);
  ASSERT_FALSE(times || wanted);
  const auto first_part = [](const std::string& problem) { return problem.substr(0, problem.find(';')); };
  EXPECT_EQ(first_part(times.error().problem), first_part(wanted.error().problem));
  EXPECT_NE(times.error().problem.find("ranks wait for each other"), std::string::npos);
}

TEST(Windowed, OtherModelsSayThatTheProgramIsTooLarge) {
  Recording recording = recording_of({Events(50, compute(7))});
  ASSERT_TRUE(recording.complete());
  ReplayOptions options;
  options.windowed_from = 10;
  const auto program = program_of(recording, {}, options);
  ASSERT_TRUE(program && program->windowed);
  options.windowed_from.reset(), options.most = 10;
  EXPECT_EQ(program_of(recording, {}, options).error().problem,
            "the program must be at most 10 operations (got more at event 10 of rank 0)");
}

} // namespace
} // namespace kumihimo::replay
