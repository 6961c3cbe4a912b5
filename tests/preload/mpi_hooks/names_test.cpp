#include "mpi_hooks/array_lengths.hpp"
#include "mpi_hooks/hooks.hpp"

#include <gtest/gtest.h>

#include <csetjmp>
#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace kumihimo::mpi_hooks;

extern "C" {
struct Noted {
  const char* name;
  Word words[16];
};
extern Noted noted;
extern int (*inside)();
// As a program calls them: by MPI's own prototypes, with a negative tag and a count that are ints.
int MPI_Send(const void*, int, int, int, int, int);
int MPI_Barrier(int);
int MPI_Finalize();
int MPI_Request_get_status_all(int, const int*, int*, int*);
int MPI_Allreduce(const void*, void*, int, int, int, int);
int MPI_Allreduce_c(const void*, void*, std::int64_t, int, int, int);
int MPI_Bcast_c(void*, std::int64_t, int, int, int);
int MPI_Rget_accumulate(const void*, int, int, void*, int, int, int, std::int64_t, int, int, int, int, int*);
int MPI_Alltoallv_c(const void*, const std::int64_t*, const std::int64_t*, int, void*, const std::int64_t*,
                    const std::int64_t*, int, int);
int MPI_Gather_c(const void*, std::int64_t, int, void*, std::int64_t, int, int, int);
void mpi_barrier_(const int*, int*);
void mpi_barrier_f08_(const int*, int*);
void mpi_init_thread_f08_(const int*, int*, int*);
}

namespace {

struct Seen {
  Name name;
  bool large;
  Language language;
  std::int64_t number = 0;
  Handle communicator = 0;
  int code = -1;
};
std::vector<Seen> seen;
int calls_left = 0;
std::jmp_buf back;
Word put_in_place = 0;

class Names : public testing::Test {
 protected:
  Names() { seen.clear(), noted = {}, inside = nullptr, put_in_place = 0; }
};

} // namespace

void kumihimo::mpi_hooks::before(HookedCall& call) {
  Seen s{call.name, call.large, call.language};
  if (call.has(Role::count)) s.number = call.integer(Role::count);
  if (call.has(Role::send_tag)) s.number = call.integer(Role::send_tag);
  if (call.has(Role::required)) s.number = call.integer(Role::required);
  if (call.has(Role::target_displacement)) s.number = call.integer(Role::target_displacement);
  if (call.has(Role::communicator)) s.communicator = call.handle(Role::communicator);
  if (put_in_place) call.replace(Role::count, put_in_place);
  call.notes[2] = 42 + seen.size();
  seen.push_back(s);
}

void kumihimo::mpi_hooks::after(const HookedCall& call, int code) {
  ASSERT_EQ(call.notes[2], 42 + seen.size() - 1) << "notes go from before to after of one call";
  seen.back().code = code;
}

void kumihimo::mpi_hooks::on_exception(const HookedCall&) { ++calls_left; }

namespace {

TEST_F(Names, HandOnArgumentsAsTheyCame) {
  const double data[2] = {};
  EXPECT_EQ(MPI_Send(data, 2, 0x4c00080b, 3, -9, 0x44000000), 0);
  EXPECT_STREQ(noted.name, "MPI_Send");
  EXPECT_EQ(noted.words[0], reinterpret_cast<Word>(data));
  EXPECT_EQ(static_cast<int>(noted.words[1]), 2);
  EXPECT_EQ(static_cast<int>(noted.words[4]), -9);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].name, Name::Send);
  EXPECT_EQ(seen[0].number, -9) << "an int has a sign, whatever is above it";
  EXPECT_EQ(seen[0].communicator, 0x44000000);
}

TEST_F(Names, HandOnThirteenArguments) {
  int request = 0;
  MPI_Rget_accumulate(nullptr, 1, 2, nullptr, 4, 5, 6, -(std::int64_t{1} << 40), 8, 9, 10, 11, &request);
  EXPECT_EQ(static_cast<int>(noted.words[11]), 11);
  EXPECT_EQ(noted.words[12], reinterpret_cast<Word>(&request));
  EXPECT_EQ(seen.at(0).number, -(std::int64_t{1} << 40)) << "a displacement is wide in every form";
}

TEST_F(Names, WithoutArguments) {
  MPI_Finalize();
  EXPECT_STREQ(noted.name, "MPI_Finalize");
  EXPECT_EQ(seen.size(), 1u);
}

TEST_F(Names, AreSeenOnceEachWhenOneCallsAnother) {
  inside = [] { return MPI_Barrier(5) + 30; };
  EXPECT_EQ(MPI_Allreduce(nullptr, nullptr, 4, 0, 0, 6), 30);
  EXPECT_STREQ(noted.name, "MPI_Barrier");
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].name, Name::Allreduce);
  EXPECT_EQ(seen[0].code, 30);
  MPI_Barrier(5);
  EXPECT_EQ(seen.size(), 2u) << "the guard ends with the call";
}

[[gnu::noinline]] int from_deeper(int depth) {
  volatile char room[512];
  room[0] = 0;
  return depth > 0 ? from_deeper(depth - 1) + room[0] : MPI_Barrier(5);
}

void jump_out_of_a_call() {
  inside = []() -> int { std::longjmp(back, 1); };
  if (setjmp(back) == 0) MPI_Allreduce(nullptr, nullptr, 4, 0, 0, 6);
}

TEST_F(Names, AreSeenAfterAJumpOutOfOne) {
  for (const int depth : {0, 1, 2, 3}) {
    seen.clear();
    jump_out_of_a_call();
    ASSERT_EQ(seen.size(), 1u);
    inside = [] { return from_deeper(2); };
    from_deeper(depth);
    ASSERT_EQ(seen.size(), 2u) << "from " << depth << " frames deeper; and not the one within it";
    EXPECT_EQ(seen[1].name, Name::Barrier);
  }
}

TEST_F(Names, AreToldOfWhenAnExceptionLeavesThem) {
  calls_left = 0;
  inside = []() -> int { throw 5; };
  EXPECT_THROW(MPI_Allreduce(nullptr, nullptr, 4, 0, 0, 6), int);
  EXPECT_EQ(calls_left, 1);
  MPI_Barrier(5);
  EXPECT_EQ(seen.size(), 2u) << "the guard ends with the call";
  EXPECT_EQ(calls_left, 1);
}

TEST_F(Names, LargeCountsGoToTheLibraryThatHasThem) {
  MPI_Allreduce_c(nullptr, nullptr, std::int64_t{1} << 33, 0, 0, 6);
  EXPECT_STREQ(noted.name, "MPI_Allreduce_c");
  EXPECT_EQ(seen.at(0).number, std::int64_t{1} << 33);
  EXPECT_TRUE(seen.at(0).large);
}

TEST_F(Names, OfNoFunctionInTheLibraryAnswerAnError) { EXPECT_NE(MPI_Gather_c(nullptr, 1, 0, nullptr, 1, 0, 0, 0), 0); }

TEST_F(Names, OfMpi41) {
  int flag = 0;
  MPI_Request_get_status_all(0, nullptr, &flag, nullptr);
  EXPECT_EQ(noted.words[2], reinterpret_cast<Word>(&flag));
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(describe(seen[0].name).kind, CallKind::test) << "may be all that a program asks about its requests";
}

TEST_F(Names, MayHaveAnArgumentReplaced) {
  put_in_place = 5;
  MPI_Allreduce(nullptr, nullptr, 4, 0, 0, 6);
  EXPECT_EQ(noted.words[2], 5u);
}

// MPICH's names of mpif.h reach C's, which are hooked; those of mpi_f08 without a buffer do not.
TEST_F(Names, OfFortran) {
  const int world = 0x44000000;
  int error = 0;
  mpi_barrier_(&world, &error);
  EXPECT_STREQ(noted.name, "mpi_barrier_");
  EXPECT_EQ(error, 7);
  EXPECT_TRUE(seen.empty());
  mpi_barrier_f08_(&world, &error);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].language, Language::fortran);
  EXPECT_EQ(seen[0].communicator, world);
  EXPECT_EQ(seen[0].code, 8);
  mpi_barrier_f08_(&world, nullptr);
  EXPECT_EQ(seen.at(1).code, 0) << "who asks for no error is told none";
  const int required = 3;
  int provided = 0;
  mpi_init_thread_f08_(&required, &provided, nullptr);
  EXPECT_EQ(seen.at(2).number, 3) << "without argc and argv, which only C has";
}

TEST(ArrayLengths, AreTheOtherGroupsBetweenTwo) {
  Word words[] = {0, 1, 0, 0, 1, 0, 5};
  EXPECT_EQ(array_lengths_of(HookedCall(Name::Allgather, "MPI_Allgather", Language::c, false, nullptr, words)).sends,
            4);
  words[6] = 77;
  EXPECT_EQ(array_lengths_of(HookedCall(Name::Allgather, "MPI_Allgather", Language::c, false, nullptr, words)).receives,
            3);
}

// In collectives.def. (No static_assert: GCC 12 takes no address for a constant under the undefined-behaviour
// sanitizer.)
TEST(Table, EachCollectiveCallHasTheRowOfItsCollective) {
  int collectives = 0;
  for (std::size_t n = 0; n < names; ++n) {
    const CallKind kind = describe(static_cast<Name>(n)).kind;
    if (kind != CallKind::collective && kind != CallKind::nonblocking_collective &&
        kind != CallKind::persistent_collective)
      continue;
    EXPECT_NE(collective_of(static_cast<Name>(n)).row, nullptr) << describe(static_cast<Name>(n)).name;
    ++collectives;
  }
  EXPECT_GT(collectives, 60);
}

TEST(Table, HasEachNameOnceAndRolesThatFitItsKind) {
  std::set<std::string_view> all;
  for (std::size_t n = 0; n < names; ++n) {
    const auto name = static_cast<Name>(n);
    const CallDescription& d = describe(name);
    EXPECT_TRUE(all.insert(d.name).second) << d.name;
    const auto has = [&](Role role) { return place_of(name, role) >= 0; };
    const bool collective = d.kind == CallKind::collective || d.kind == CallKind::nonblocking_collective ||
                            d.kind == CallKind::persistent_collective;
    if (collective) {
      EXPECT_TRUE(has(Role::communicator)) << d.name;
    }
    if (d.kind == CallKind::nonblocking_collective || d.kind == CallKind::persistent_collective) {
      EXPECT_EQ(place_of(name, Role::request), d.arguments - 1) << d.name;
    }
    if (d.kind == CallKind::one_sided) {
      EXPECT_TRUE(has(Role::window) && has(Role::target)) << d.name;
    }
    if (d.kind == CallKind::communicator) {
      EXPECT_TRUE(has(Role::new_communicator)) << d.name;
    }
    if (d.kind == CallKind::window) {
      EXPECT_TRUE(has(Role::new_window)) << d.name;
    }
    if (has(Role::send_count)) {
      EXPECT_TRUE(has(Role::send_type)) << d.name;
    }
    if (has(Role::count)) {
      EXPECT_TRUE(has(Role::type)) << d.name;
    }
    for (std::size_t r = 0; r < d.arguments; ++r) EXPECT_LT(static_cast<std::size_t>(d.roles[r]), roles) << d.name;
  }
  EXPECT_EQ(all.size(), names);
}

// A collective, its non-blocking and its persistent form have the same arguments up to the communicator.
TEST(Table, FormsOfACollectiveAgree) {
  int compared = 0;
  for (std::size_t n = 0; n < names; ++n) {
    const CallDescription& d = describe(static_cast<Name>(n));
    if (d.kind != CallKind::collective) continue;
    std::string plain(d.name.substr(4));
    std::string lower = plain;
    lower[0] = static_cast<char>(std::tolower(lower[0]));
    for (std::size_t m = 0; m < names; ++m) {
      const CallDescription& e = describe(static_cast<Name>(m));
      if (e.name != "MPI_I" + lower && e.name != "MPI_" + plain + "_init") continue;
      ++compared;
      for (std::size_t r = 0; r < d.arguments; ++r) EXPECT_EQ(d.roles[r], e.roles[r]) << e.name;
    }
  }
  EXPECT_EQ(compared, 44);
}

} // namespace
