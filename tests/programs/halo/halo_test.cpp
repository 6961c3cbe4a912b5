// A halo exchange is proved, sabotaged, run and predicted as a program set that is no collective.
#include "halo/halo.hpp"
#include "loopback/run_loopback.hpp"
#include "program/binding.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace kumihimo {
namespace {

Halo halo(const char* text, std::array<std::int32_t, 3> ranks) {
  Halo h = *Halo::parse(text);
  h.ranks = ranks;
  return h;
}

verify::Report check(const NamedPrograms& programs, const verify::VerifyOptions& options = {}) {
  return verify::check(verify::Subject(programs), nullptr, options);
}

// Every cell of a rank's box has a number of its own; afterwards every ghost has its owner's.
void expect_run(const Halo& h) {
  const NamedPrograms programs = programs_of(h);
  const auto ranks = static_cast<std::size_t>(h.rank_count());
  const auto n = static_cast<std::size_t>(programs.set.data->elements);
  const auto number = [&](std::int64_t rank, std::int64_t at) { return static_cast<double>(rank * 1'000'000 + at); };
  std::vector<std::vector<double>> arrays(ranks, std::vector<double>(n));
  std::vector<execute::Buffers> buffers;
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < n; ++i)
      arrays[r][i] = number(static_cast<std::int64_t>(r), static_cast<std::int64_t>(i));
    buffers.push_back({arrays[r].data(), arrays[r].data()});
  }
  const auto ran = execute::run_loopback(programs.set, buffers, {}, {}, {});
  ASSERT_TRUE(ran.ok()) << ran.error().sentence();
  for (std::size_t r = 0; r < ranks; ++r)
    for (const ElementOrigin& o : origins_of(h, Rank{static_cast<std::int32_t>(r)}))
      for (std::int64_t i = 0; i < o.count; ++i)
        ASSERT_EQ(arrays[r][static_cast<std::size_t>(o.first + i)], number(o.rank, o.position + i))
            << h.text() << " rank " << r << " element " << o.first + i;
}

TEST(Halo, IsProvedAndRunOnGridsOfAllKinds) {
  for (const char* text : {"2x2x2", "3x2x4,points=27", "1x3x2,points=27,fields=3", "4x1x1,mesh", "3x3x3,points=27,mesh",
                           "3x4x3,points=27,layers=3,mesh", "2x3x2,fields=2,layers=2"})
    for (const auto ranks : {std::array{1, 1, 1}, {2, 1, 3}, {3, 2, 2}, {4, 3, 1}}) {
      const Halo h = halo(text, {ranks[0], ranks[1], ranks[2]});
      const verify::Report report = check(programs_of(h));
      EXPECT_TRUE(report.ok()) << h.text() << report.text();
      EXPECT_TRUE(report.coverage.exact);
      expect_run(h);
    }
}

TEST(Halo, IsProvedAndRunOnRandomGrids) {
  std::mt19937 random(7);
  const auto draw = [&](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)) + 1; };
  for (int i = 0; i < 30; ++i) {
    Halo h;
    for (std::size_t a = 0; a < 3; ++a) {
      h.cells[a] = draw(4), h.ranks[a] = draw(3);
      h.periodic[a] = draw(2) == 1;
    }
    h.points = draw(2) == 1 ? 7 : 27;
    h.fields = draw(3);
    h.padding = draw(3) - 1;
    for (std::size_t a = 0; a < 3; ++a) h.layers[a] = draw(static_cast<int>(h.cells[a]));
    const verify::Report report = check(programs_of(h));
    EXPECT_TRUE(report.ok()) << h.text() << report.text();
    expect_run(h);
  }
}

// Changes a step of rank 1's exchange.
template <class F>
NamedPrograms sabotaged(const Halo& h, F&& change) {
  NamedPrograms programs = programs_of(h);
  programs.set.program = [right = programs.set.program, change](Rank rank) {
    Program program = right(rank);
    if (rank.value == 1) change(std::get<Round>(program.lanes[0].body[0]).steps);
    return program;
  };
  return programs;
}

std::size_t find_kind(const std::vector<Step>& steps, StepKind kind) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i].kind == kind) return i;
  return steps.size();
}

TEST(Halo, AnAxisWithoutGhostsIsLeftAlone) {
  Halo h = halo("5x4x1,points=27,mesh,type=float32", {2, 3, 1});
  h.layers = {2, 2, 0};
  EXPECT_EQ(h.cells_with_ghosts(), 9 * 8);
  EXPECT_EQ(messages_of(h, Rank{0}).size(), 8u);
  EXPECT_EQ(programs_of(h).set.data->type_bytes, 4);
  EXPECT_TRUE(check(programs_of(h)).ok());
}

TEST(Halo, SabotageIsFoundWhereverItIs) {
  const Halo h = halo("3x3x3,points=27", {3, 3, 3});
  verify::VerifyOptions sampled;
  sampled.most_exact_steps = 0;
  for (const verify::VerifyOptions& options : {verify::VerifyOptions{}, sampled}) {
    ASSERT_TRUE(check(programs_of(h), options).ok());
    const auto peer = sabotaged(h, [](std::vector<Step>& steps) {
      Step& s = steps[find_kind(steps, StepKind::send)];
      s.peer = (s.peer.constant() + 1) % 27;
    });
    EXPECT_FALSE(check(peer, options).ok());
    const auto missing = sabotaged(h, [](std::vector<Step>& steps) {
      steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(find_kind(steps, StepKind::receive)));
    });
    EXPECT_FALSE(check(missing, options).ok());
    // The face on the other side: as long, and the wrong cells.
    const auto face = sabotaged(h, [](std::vector<Step>& steps) {
      Step& s = steps[find_kind(steps, StepKind::send)];
      s.source.extent.runs[0].first += 1;
    });
    const verify::Report report = check(face, options);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.findings[0].check, verify::Check::dataflow);
  }
}

// The ranks before those that wait for each other are not executed.
TEST(Halo, ADeadlockIsFoundWhereFewRanksAreFollowed) {
  NamedPrograms programs = programs_of(halo("2x2x2,mesh", {1, 1, 5}));
  programs.set.program = [right = programs.set.program](Rank rank) {
    Program program = right(rank);
    if (rank.value < 3) return program;
    Body& body = program.lanes[0].body;
    Round receives = std::get<Round>(body[0]), sends = receives;
    std::erase_if(receives.steps, [](const Step& step) { return step.sends(); });
    std::erase_if(sends.steps, [](const Step& step) { return step.receives(); });
    if (rank.value == 3) receives.steps[0].target.extent.runs[0].first += 1; // the wrong cells, so that it is followed
    body = {std::move(receives), std::move(sends)};
    return program;
  };
  verify::VerifyOptions sampled;
  sampled.most_exact_steps = sampled.most_control_steps = 0;
  const verify::Report report = check(programs, sampled);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.findings[0].check, verify::Check::deadlock) << report.text();
}

// Wherever it is: no rank is left out where not every step is executed.
TEST(Halo, SabotageOfAnyRankIsFound) {
  verify::VerifyOptions sampled;
  sampled.most_exact_steps = 0;
  for (const char* text : {"3x3x3,points=27", "2x3x4,fields=2"}) {
    const Halo h = halo(text, {5, 4, 4});
    const verify::Report right = check(programs_of(h), sampled);
    ASSERT_TRUE(right.ok()) << right.text();
    EXPECT_FALSE(right.coverage.exact);
    EXPECT_EQ(right.coverage.deliveries, 80);
    for (std::int32_t wrong = 0; wrong < 80; ++wrong)
      for (const StepKind kind : {StepKind::send, StepKind::receive}) {
        NamedPrograms programs = programs_of(h);
        programs.set.program = [all = programs.set.program, wrong, kind](Rank rank) {
          Program program = all(rank);
          auto& steps = std::get<Round>(program.lanes[0].body[0]).steps;
          Step& step = steps[find_kind(steps, kind)];
          if (rank.value == wrong) (kind == StepKind::send ? step.source : step.target).extent.runs[0].first += 1;
          return program;
        };
        const verify::Report report = check(programs, sampled);
        ASSERT_FALSE(report.ok()) << text << ", " << name_of(kind) << " of rank " << wrong;
      }
    // A program as the others' but for a peer, and one as the others' of a rank that wants something else.
    for (std::int32_t wrong = 0; wrong < 80; ++wrong) {
      NamedPrograms peer = programs_of(h), want = programs_of(h);
      peer.set.program = [all = peer.set.program, wrong](Rank rank) {
        Program program = all(rank);
        Step& step = std::get<Round>(program.lanes[0].body[0]).steps[0];
        if (rank.value == wrong) step.peer = (step.peer.constant() + 1) % 80;
        return program;
      };
      EXPECT_FALSE(check(peer, sampled).ok()) << text << ", peer of rank " << wrong;
      want.origins = [all = want.origins, wrong](Rank rank) {
        std::vector<ElementOrigin> origins = all(rank);
        if (rank.value == wrong) origins.front().position += 1;
        return origins;
      };
      EXPECT_FALSE(check(want, sampled).ok()) << text << ", want of rank " << wrong;
    }
  }
}

TEST(Halo, ComputesInsideWhileMessagesAreUnderWay) {
  const Program p = programs_of(halo("4x4x4,compute=0.008", {2, 2, 2})).set.program(Rank{0});
  ASSERT_EQ(p.lanes.size(), 3u);
  const Step& inside = std::get<Round>(p.lanes[1].body[0]).steps[0];
  const Step& rest = std::get<Round>(p.lanes[2].body[0]).steps[0];
  EXPECT_EQ(inside.kind, StepKind::compute);
  EXPECT_NEAR(inside.work.seconds, 0.001, 1e-12); // 2x2x2 of 4x4x4 cells
  EXPECT_NEAR(rest.work.seconds, 0.007, 1e-12);
  EXPECT_TRUE(check(programs_of(halo("4x4x4,compute=0.008", {2, 2, 2}))).ok());
}

TEST(Halo, RefusesWhatIsNone) {
  for (const char* text : {"", "4", "4x4", "4x4x0", "4x4x4x4", "4x4x4,points=9", "4x4x4,fields=0", "4x4x4,fields=9",
                           "4x4x4,compute=-1", "4x4x4,compute=nan", "4x4x4,compute=1e300", "4x4x4,torus", "4x4x4,",
                           "4x4x4,mesh,periodic", "4x4x4,fields=2,fields=2", "4x4x4,layers=0", "4x4x4,type=int8",
                           "9999999x9999999x9999999", "9223372036854775807x1x1"})
    EXPECT_FALSE(Halo::parse(text).ok()) << text;
  EXPECT_FALSE(on_ranks(*Halo::parse("4x4x4,periodic"), {3, 3}, {true, false}).ok());
  EXPECT_TRUE(on_ranks(*Halo::parse("4x4x4,periodic"), {3, 3}, {true, true}).ok());
  EXPECT_FALSE(on_ranks(*Halo::parse("4x4x2,layers=3"), {1, 1, 2}, {false, false, false}).ok());
}

TEST(Halo, TextsAreReadAsTheyWereWritten) {
  for (const char* text :
       {"16x8x4,points=27,fields=3,mesh,compute=0.001", "4x4x4,points=7,fields=1,periodic",
        "4x4x4,points=7,fields=1,layers=3,type=float32,mesh", "1x1x1,points=7,fields=8,compute=0.1234567890123"})
    EXPECT_EQ(Halo::parse(text)->text(), text);
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000; ++i) {
    Halo h;
    for (std::int64_t& n : h.cells) n = static_cast<std::int64_t>(random() % 1000) + 1;
    h.points = random() % 2 ? 7 : 27;
    h.fields = static_cast<std::int64_t>(random() % 8) + 1;
    if (const auto word = random() % 3; word > 0) h.asked_periodic = word == 1;
    h.compute_seconds = std::ldexp(static_cast<double>(random() >> 11), -60 + static_cast<int>(random() % 20));
    const Result<Halo> read = Halo::parse(h.text());
    ASSERT_TRUE(read.ok()) << h.text();
    EXPECT_EQ(read->text(), h.text());
    EXPECT_EQ(read->compute_seconds, h.compute_seconds);
    EXPECT_EQ(read->asked_periodic, h.asked_periodic);
  }
}

} // namespace
} // namespace kumihimo
