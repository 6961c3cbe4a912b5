// Wrong schedules end with an error that names who and where; nothing hangs and nothing is written out of bounds.
#include "execute/engine.hpp"
#include "execute/run.hpp"
#include "execute/schedules.hpp"

#include <cstring>
#include <memory>
#include <optional>

namespace kumihimo {
namespace {

using namespace kumihimo::testing;

void expect_error(const Schedule& s, std::vector<std::string> words) {
  const Result<Ran> ran = run_vectors(s);
  ASSERT_FALSE(ran.ok());
  for (const std::string& word : words)
    EXPECT_NE(ran.error().sentence().find(word), std::string::npos) << ran.error().sentence();
}

Collective pair() { return make_collective(CollectiveKind::allreduce, 2, 12); }

Schedule each(const Collective& c, std::int64_t segments, std::function<void(LaneBuilder&, std::int64_t)> write) {
  return schedule_of(c, segments, [write](ProgramBuilder& program, Rank rank) {
    LaneBuilder lane(LaneId{0}, "", 1);
    write(lane, rank.value);
    program.add(std::move(lane));
  });
}

TEST(Failure, SendsThatNeedBufferingAreADeadlock) {
  expect_error(each(pair(), 1,
                    [](LaneBuilder& lane, std::int64_t r) {
                      lane.step(send(1 - r, in[whole()]));
                      lane.step(receive(1 - r, out[whole()]));
                    }),
               {"deadlock", "rank 0 waits in send 0 of lane 0, segment 0 to rank 1", "rank 1 waits in send 0"});
}

TEST(Failure, ALastSegmentThatNobodySendsNamesTheSegment) {
  const Collective c = make_collective(CollectiveKind::allreduce, 3, 12);
  const auto last_missing = std::make_shared<const Table>(Table{1, 1, 1, 2});
  expect_error(each(c, 4,
                    [&](LaneBuilder& lane, std::int64_t r) {
                      if (r == 0) lane.step(send(Expression::look_up(last_missing, Variable{0}), in[whole()]));
                      if (r == 1) lane.step(receive(0, out[whole()]));
                    }),
               {"deadlock", "rank 1 waits in receive 0 of lane 0, segment 3 from rank 0", "segment 3 to rank 2"});
}

TEST(Failure, LengthsThatDiffer) {
  expect_error(each(pair(), 1,
                    [](LaneBuilder& lane, std::int64_t r) {
                      if (r == 0) lane.step(send(1, in[part(0, 2)]));
                      if (r == 1) lane.step(receive(0, out[whole()]));
                    }),
               {"rank 1", "48 bytes", "96 bytes"});
}

TEST(Failure, PeersThatAreNoRanks) {
  expect_error(each(pair(), 1, [](LaneBuilder& lane, std::int64_t r) { lane.step(send(r + 1, in[whole()])); }),
               {"0 to 1", "2 ("});
}

TEST(Failure, ChunksOutsideTheirBuffer) {
  expect_error(
      each(pair(), 1, [](LaneBuilder& lane, std::int64_t) { lane.step(copy(out[part(2, 2)], in[part(1, 2)])); }),
      {"lane 0", "output", "elements 12 to 18 of 12"});
  expect_error(each(pair(), 1, [](LaneBuilder& lane, std::int64_t) { lane.step(copy(out[whole()], in[part(1, 2)])); }),
               {"48 bytes, its step 96"});
}

TEST(Failure, LanesThatWaitForEachOther) {
  expect_error(schedule_of(pair(), 1,
                           [](ProgramBuilder& program, Rank) {
                             for (const std::int32_t id : {0, 1}) {
                               LaneBuilder lane(LaneId{id}, "", 1);
                               lane.after({LaneId{1 - id}}, Scope::segment);
                               lane.step(copy(out[part(id, 2)], in[part(id, 2)]));
                               program.add(std::move(lane));
                             }
                           }),
               {"deadlock", "lanes wait for each other"});
}

// Rank 0 gives segment 0 to rank 1 and segment 1 to rank 2; rank 1 takes its own only after rank 2 has got its.
TEST(Failure, AWindowTooSmall) {
  const Collective c = make_collective(CollectiveKind::bcast, 3, 8);
  const auto only_in = [](std::int64_t segment) {
    return parts(0, Expression::look_up(std::make_shared<const Table>(Table{segment == 0, segment == 1}), Variable{0}),
                 1);
  };
  const auto with_window = [&](std::int64_t window) {
    return schedule_of(c, 2, [=](ProgramBuilder& program, Rank rank) {
      LaneBuilder data(LaneId{0}, "", window), leave(LaneId{1}, "", 2);
      if (rank.value == 0) data.round({send(1, out[only_in(0)]), send(2, out[only_in(1)])});
      if (rank.value == 1) {
        data.after({LaneId{1}}, Scope::all).step(receive(0, out[only_in(0)]));
        leave.step(wait_signal(2));
      }
      if (rank.value == 2) {
        data.step(receive(0, out[only_in(1)]));
        leave.after({LaneId{0}}, Scope::all).step(signal(1));
      }
      program.add(std::move(data));
      if (rank.value > 0) program.add(std::move(leave));
    });
  };
  EXPECT_TRUE(run_vectors(with_window(2)).ok());
  expect_error(with_window(1), {"deadlock", "rank 0 waits in send 0 of lane 0, segment 0 to rank 1"});
}

TEST(Failure, ARankThatFailsEndsTheOthers) {
  const Schedule s = ring(pair(), 1, 1);
  transport::Loopback loopback(2, {});
  const Status status = transport::run_ranks(loopback, 2, [&](Rank rank, transport::Transport& transport) -> Status {
    if (rank.value == 1) return failed("this rank failed");
    const auto program = execute::compile(s, rank);
    auto execution = execute::Execution::prepare(*program, transport);
    const std::vector<double> input(12);
    std::vector<double> output(12);
    return (*execution)->run({input.data(), output.data()}, *execute::find_reduction(pair().type, pair().operation));
  });
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().problem, "this rank failed");
}

// Takes everything at once and remembers why the engine gave up.
struct Remembering : transport::Transport {
  Status prepare(const transport::Demands&) override { return Nothing{}; }
  std::uint64_t begin(transport::Stream) override { return 1; }
  void send(transport::SendRequest& message) override { message.complete(); }
  void receive(transport::ReceiveRequest& message) override { message.complete(); }
  Progress progress() override { return Progress::moved; }
  void idle() override {}
  bool has_failed() const override { return false; }
  Error error() const override { return failed("no error of its own"); }
  void abandon(const Error& reason) override { why = reason.sentence(); }
  std::string why;
};

// A chunk of a middle segment, resolved only when its turn comes, lies outside its buffer.
TEST(Failure, ARunThatEndsInItsMiddleIsGivenUpAtTheTransportToo) {
  const std::int64_t segments = 5000;
  Table parts_of(static_cast<std::size_t>(segments), 0);
  parts_of[2500] = 20'000;
  const auto table = std::make_shared<const Table>(parts_of);
  const Schedule s = each(make_collective(CollectiveKind::allreduce, 2, 2 * segments), segments,
                          [&](LaneBuilder& lane, std::int64_t r) {
                            lane.step(send(1 - r, in[part(Expression::look_up(table, Variable{0}), 2)]));
                          });
  Remembering transport;
  const auto program = execute::compile(s, Rank{0});
  ASSERT_TRUE(program.ok()) << program.error().sentence();
  auto execution = execute::Execution::prepare(*program, transport);
  std::vector<double> data(static_cast<std::size_t>(2 * segments));
  const Status status =
      (*execution)->run({data.data(), data.data()}, *execute::find_reduction(pair().type, pair().operation));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(transport.why, status.error().sentence());
  EXPECT_NE(transport.why.find("segment 2500"), std::string::npos) << transport.why;
}

// Remembers where each message is written, and fails before any arrives.
struct Failing final : Remembering {
  void receive(transport::ReceiveRequest& message) override { targets.push_back(message.direct()); }
  Progress progress() override { return Progress::failed; }
  std::vector<std::byte*> targets;
};

// A run that fails while the library may still write into its scratch memory: of `count` doubles, which its lane fills
// at once, and receives into.
struct UnendedRun {
  explicit UnendedRun(std::int64_t count) : data(static_cast<std::size_t>(count), 1.0) {
    const Schedule s =
        schedule_of(make_collective(CollectiveKind::allreduce, 2, count), 1, [](ProgramBuilder& program, Rank rank) {
          const Array held = program.scratch(LaneId{0}, 1, 1);
          LaneBuilder lane(LaneId{0}, "", 1);
          lane.step(copy(held[whole()], in[whole()]));
          lane.step(receive(1 - rank.value, held[whole()]));
          program.add(std::move(lane));
        });
    program = *execute::compile(s, Rank{0});
    execution = *execute::Execution::prepare(*program, transport);
    EXPECT_FALSE(run().ok());
    EXPECT_EQ(transport.targets.size(), 1U);
  }
  Status run() {
    return execution->run({data.data(), data.data()}, *execute::find_reduction(pair().type, pair().operation));
  }
  std::size_t bytes() const { return data.size() * sizeof data[0]; }
  std::byte* target() const { return transport.targets.at(0); }

  std::vector<double> data;
  Failing transport;
  std::optional<execute::CompiledProgram> program;
  std::unique_ptr<execute::Execution> execution;
};
constexpr std::int64_t either_kind[] = {8, 100'000}; // of scratch memory: the execution's own, and pages of the system

TEST(Failure, ALateMessageMayStillWriteAfterTheExecutionIsGone) {
  for (const std::int64_t count : either_kind) {
    UnendedRun unended(count);
    unended.execution.reset();
    std::memset(unended.target(), 1, unended.bytes());
    const execute::ScratchMemory other(static_cast<std::int64_t>(unended.bytes()));
    std::memset(other.data(), 2, unended.bytes());
    EXPECT_EQ(*unended.target(), std::byte{1}) << "nobody else's memory";
  }
}

// Nor is it written by a later run, whatever its blocks: those of another length would not fit into it.
TEST(Failure, AfterARunThatDidNotEndThereIsNoOther) {
  for (const std::int64_t count : either_kind) {
    UnendedRun unended(count);
    std::memset(unended.target(), 7, unended.bytes());
    EXPECT_FALSE(unended.execution->fit().ok());
    EXPECT_FALSE(unended.execution->reserve().ok());
    EXPECT_FALSE(unended.run().ok());
    EXPECT_EQ(unended.transport.targets.size(), 1U) << "no message is started";
    EXPECT_EQ(*unended.target(), std::byte{7}) << "nothing is written";
  }
}

// Half of the whole has been accumulated when all of it is sent: neither the input nor the accumulator is right.
TEST(Failure, AnAccumulatorThatIsLeftUnresolvedIsRefused) {
  const Schedule s = each(pair(), 1, [](LaneBuilder& lane, std::int64_t r) {
    lane.round({send(1 - r, in[part(0, 2)]), receive_reduce(1 - r, acc[part(0, 2)])});
    lane.round({send(1 - r, acc[whole()]), receive(1 - r, out[whole()])});
  });
  const auto program = execute::compile(s, Rank{0});
  ASSERT_FALSE(program.ok());
  EXPECT_NE(program.error().sentence().find("accumulator"), std::string::npos) << program.error().sentence();
}

TEST(Failure, AUserOperationNeedsItsFunction) {
  Collective c = pair();
  c.operation = Operation::user;
  const auto ran = execute::run_loopback(ring(c, 1, 1), std::vector<execute::Buffers>(2));
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().sentence().find("function"), std::string::npos);
}

} // namespace
} // namespace kumihimo
