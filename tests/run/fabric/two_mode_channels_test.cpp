// The protocol of two-mode channels in every interleaving: of deliveries in any order, starts of sends, receives by the
// programs and losses, of two and three processes with all sizes of queues up to 3.
#include "channel_model.hpp"

#include <gtest/gtest.h>

namespace kumihimo::fabric {
namespace {

using namespace testing; // NOLINT(google-build-using-namespace)

TEST(TwoModeChannels, Two_processes_in_every_interleaving_with_queues_up_to_three) {
  std::size_t states = 0;
  std::int64_t eager = 0;
  for (const Scripts& scripts : {both_ways, one_way})
    for (std::int64_t small = 1; small <= 3; ++small)
      for (std::int64_t large = 1; large <= 3; ++large)
        for (const std::int64_t after : {1, 2, 3})
          for (const std::int64_t most : {0, 1}) {
            Explorer explorer(tiny(small, large, after, most), scripts);
            ASSERT_EQ(explorer.explore(), "") << small << " " << large << " " << after << " " << most;
            states += explorer.states();
            eager += explorer.eager();
          }
  EXPECT_GT(states, 100'000u);
  EXPECT_GT(eager, 10'000);
  RecordProperty("states", static_cast<int>(states));
}

TEST(TwoModeChannels, Three_processes_in_every_interleaving_with_one_large_channel) {
  bool was_large = false, has_demoted = false;
  for (const Scripts& scripts : {two_to_one, in_turns})
    for (std::int64_t small = 1; small <= 3; ++small)
      for (const bool demotes : {false, true}) {
        ChannelSizes sizes = tiny(small, 4 - small, 1, 1);
        sizes.demotes = demotes;
        Explorer explorer(sizes, scripts);
        ASSERT_EQ(explorer.explore(), "") << small << " " << demotes;
        was_large = was_large || explorer.most_large() == 1;
        has_demoted = has_demoted || explorer.has_demoted();
        EXPECT_TRUE(demotes || !explorer.has_demoted());
      }
  EXPECT_TRUE(was_large && has_demoted);
}

TEST(TwoModeChannels, A_pool_of_slots_serves_all_peers_in_every_interleaving) {
  bool has_demoted = false;
  for (const Scripts& scripts : {both_ways, two_to_one, in_turns})
    for (std::int64_t pool = 1; pool <= 3; ++pool)
      for (const std::int64_t after : {1, 100}) {
        ChannelSizes sizes = tiny(1, 1, after, 1);
        sizes.pool_slots = pool;
        sizes.slots_of_pool = 1;
        Explorer explorer(sizes, scripts);
        ASSERT_EQ(explorer.explore(), "") << pool << " " << after;
        has_demoted = has_demoted || explorer.has_demoted();
      }
  EXPECT_TRUE(has_demoted);
}

// A process that has lost a peer tells it, when it hears of it. So the peer waits for no answer, and nobody for it.
TEST(TwoModeChannels, A_loss_that_one_side_knows_holds_up_nobody_in_every_interleaving) {
  std::int64_t heard = 0;
  const Scripts between_two = {{{1, 1}, {1, 1}}, {{0, 1}, {0, 1}}},
                to_a_third = {{{2, 1}, {2, 1}}, {{2, 1}, {2, 1}}, {}};
  const std::vector<std::pair<Scripts, ScriptedLoss>> cases = {
      {between_two, {0, 1}}, {to_a_third, {0, 2}}, {to_a_third, {2, 0}}};
  for (const auto& [scripts, loss] : cases)
    for (const std::int64_t pool : {0, 1}) {
      ChannelSizes sizes = tiny(1, 1, 1, 1);
      sizes.pool_slots = pool;
      Explorer explorer(sizes, scripts, loss);
      ASSERT_EQ(explorer.explore(), "") << loss.process << " " << pool;
      heard += explorer.heard_losses();
    }
  EXPECT_GT(heard, 100);
}

// Longer runs of more processes, by chance.
TEST(TwoModeChannels, Random_interleavings_of_five_processes) {
  std::mt19937 random(7);
  std::int64_t eager = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Scripts scripts(5);
    for (std::int32_t p = 0; p < 5; ++p)
      for (int i = 0; i < 25; ++i) {
        const auto to = static_cast<std::int32_t>(random() % 5);
        if (to != p) scripts[static_cast<std::size_t>(p)].push_back({to, 1 + static_cast<std::int64_t>(random() % 3)});
      }
    ChannelSizes sizes = tiny(1 + random() % 3, 1 + random() % 3, 1 + random() % 4, random() % 3);
    sizes.demotes = random() % 2 == 0;
    if (random() % 2 == 0) sizes.pool_slots = 1 + static_cast<std::int64_t>(random() % 5);
    Explorer explorer(sizes, scripts);
    ASSERT_EQ(explorer.walk(seed), "") << seed;
    eager += explorer.eager();
  }
  EXPECT_GT(eager, 2000);
}

// --- sabotage: the exploration finds what is broken

TEST(TwoModeChannelsSabotage, Is_found) {
  using Kind = ChannelMessage::Kind;
  const auto is = [](const OnTheWay& m, Kind kind) {
    return m.kind == OnTheWay::Kind::protocol && m.message.kind == kind;
  };
  const auto changed = [](Link& link, OnTheWay message, auto change) {
    change(message.message);
    link.insert(message);
    return true;
  };
  const std::vector<std::pair<std::string, Fault>> faults = {
      {"lost offers", [&](Link&, const OnTheWay& m) { return is(m, Kind::offer); }},
      {"lost confirmations", [&](Link&, const OnTheWay& m) { return is(m, Kind::confirm); }},
      {"lost credits", [&](Link&, const OnTheWay& m) { return is(m, Kind::credits); }},
      {"lost messages", [&](Link&, const OnTheWay& m) { return m.kind == OnTheWay::Kind::eager; }},
      {"doubled messages",
       [&](Link& link, const OnTheWay& m) {
         if (m.kind == OnTheWay::Kind::eager) link.insert(m);
         return false;
       }},
      {"a slot too many",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::offer) && changed(link, m, [](ChannelMessage& c) { ++c.count; });
       }},
      {"a credit too many",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::credits) && changed(link, m, [](ChannelMessage& c) { ++c.count; });
       }},
      {"a confirmation that does not count the messages before",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::confirm) && m.message.count > 0 && changed(link, m, [](ChannelMessage& c) { c.count = 0; });
       }},
      {"credits of another channel",
       [&](Link& link, const OnTheWay& m) {
         return is(m, Kind::credits) && changed(link, m, [](ChannelMessage& c) { ++c.epoch; });
       }},
  };
  const Scripts script = {{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, {}};
  for (const auto& [name, fault] : faults) {
    Explorer explorer(tiny(2, 2, 3, 1), script, fault);
    EXPECT_NE(explorer.explore(), "") << name;
  }
  Explorer whole(tiny(2, 2, 3, 1), script);
  EXPECT_EQ(whole.explore(), "");
}

} // namespace
} // namespace kumihimo::fabric
