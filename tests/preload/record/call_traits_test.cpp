// The table says of each call what its description says.
#include "record/call_traits.hpp"

#include <gtest/gtest.h>

using namespace kumihimo::record;
using kumihimo::mpi_hooks::CallKind;
using kumihimo::mpi_hooks::describe;
using kumihimo::mpi_hooks::Name;
using kumihimo::mpi_hooks::place_of;
using kumihimo::mpi_hooks::Role;

namespace {

TEST(CallTraits, AreThoseOfTheDescription) {
  for (std::size_t n = 0; n < kumihimo::mpi_hooks::names; ++n) {
    const auto name = static_cast<Name>(n);
    SCOPED_TRACE(describe(name).name);
    const CallTraits& traits = traits_of(name);
    const auto has = [&](Role role) { return place_of(name, role) >= 0; };
    EXPECT_EQ(traits.kind, describe(name).kind);
    EXPECT_EQ(traits.is_window, has(Role::window));
    EXPECT_EQ(traits.handle_at, place_of(name, has(Role::window) ? Role::window : Role::communicator));
    if (traits.at_a_site) {
      EXPECT_FALSE(has(Role::ended_communicator) || has(Role::ended_window) || has(Role::new_communicator));
      EXPECT_EQ(describe(name).only_in_c, 0);
    }
    if (traits.may_be_untimed) {
      EXPECT_TRUE(traits.at_a_site);
      EXPECT_FALSE(traits.is_collective || traits.kind == CallKind::wait || traits.kind == CallKind::test);
    }
    if (has(Role::destination) || has(Role::receive_count) || traits.is_collective) {
      EXPECT_TRUE(traits.moves_data);
    }
  }
}

TEST(CallTraits, SayWhatIsMovedWhere) {
  const auto is = [](Name name, int partner, int count, int type) {
    const CallTraits& traits = traits_of(name);
    EXPECT_EQ(traits.partner_at, partner) << describe(name).name;
    if (partner < 0) return;
    EXPECT_EQ(traits.count_at, count) << describe(name).name;
    EXPECT_EQ(traits.type_at, type) << describe(name).name;
  };
  is(Name::Send, 3, 1, 2);
  is(Name::Isend, 3, 1, 2);
  is(Name::Sendrecv, 3, 1, 2);
  is(Name::Sendrecv_replace, 3, 1, 2);
  is(Name::Send_init, 3, 1, 2);
  is(Name::Psend_init, -1, -1, -1);
  is(Name::Recv, -1, -1, -1);
  is(Name::Irecv, -1, -1, -1);
  is(Name::Put, 3, 1, 2);
  is(Name::Raccumulate, 3, 1, 2);
  is(Name::Get_accumulate, 6, 8, 9);
  is(Name::Rget_accumulate, 6, 8, 9);
  is(Name::Fetch_and_op, 3, -1, 2);
  is(Name::Compare_and_swap, 4, -1, 3);
  is(Name::Win_flush, -1, -1, -1);
  is(Name::Win_lock, -1, -1, -1);
}

} // namespace
