// What the rows say of MPI's arguments is what the schedules' buffers are: who has an input and an output, how long,
// and where both are one memory.
#include "interpose/buffer_semantics.hpp"
#include "program/binding.hpp"
#include "schedule/data.hpp"

#include <gtest/gtest.h>

namespace kumihimo::interpose {
namespace {

const int mark = 0;
const void* const in_place = &mark;

struct Case {
  CollectiveKind kind;
  std::int32_t rank;
  BufferArguments call;
  Collective collective;
};

template <class F>
void for_all(F&& check) {
  constexpr std::int32_t ranks = 5;
  constexpr std::int64_t n = 7;
  static int data;
  for (const CollectiveKind kind : all_collectives)
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      for (std::int32_t root = 0; root < (kind->has_root() ? ranks : 1); ++root) {
        BufferArguments call;
        call.send = call.receive = {&data, n, 1};
        call.root = root;
        SCOPED_TRACE(std::string(name_of(kind)) + " at rank " + std::to_string(rank) + ", root " +
                     std::to_string(root));
        check(Case{kind, rank, call, make_collective(kind, ranks, n, DataType::int32, Operation::sum, Rank{root})});
      }
}

std::int64_t elements(const BufferSide* side, bool of_each, const Collective& c) {
  return side ? side->count * (of_each ? c.most_blocks() : 1) : 0;
}

TEST(BufferSemantics, BuffersAreThoseOfTheSchedule) {
  for_all([](const Case& c) {
    const RankBuffers view = view_of(c.kind, c.call, c.rank == c.call.root, in_place);
    const Binding binding(data_of(c.collective), Segments{1}, Rank{c.rank});
    const CollectiveRow& m = *c.kind;
    EXPECT_FALSE(view.in_place);
    EXPECT_EQ(elements(view.sent, m.sends_to_each(), c.collective), binding.input_elements());
    // A broadcast's buffer is the output of its root, too.
    const bool has_it = c.kind == CollectiveKind::bcast && c.rank == c.call.root;
    EXPECT_EQ(elements(has_it ? view.sent : view.received, m.receives_from_each(), c.collective),
              binding.output_elements());
    EXPECT_EQ(view.length() == nullptr, c.kind == CollectiveKind::barrier);
  });
}

TEST(BufferSemantics, InPlaceIsWhereTheScheduleHasOneMemory) {
  for_all([](Case c) {
    if (!c.kind->may_be_in_place()) return;
    c.collective.in_place = true;
    (c.kind == CollectiveKind::scatter ? c.call.receive : c.call.send).buffer = const_cast<void*>(in_place);
    const RankBuffers view = view_of(c.kind, c.call, c.rank == c.call.root, in_place);
    EXPECT_EQ(view.in_place, c.collective.aliased(Rank{c.rank}));
    if (view.in_place) {
      EXPECT_EQ(view.both, c.kind == CollectiveKind::scatter ? &c.call.send : &c.call.receive);
      EXPECT_EQ(view.length(), view.both);
      EXPECT_TRUE(!view.sent && !view.received);
    }
  });
}

} // namespace
} // namespace kumihimo::interpose
