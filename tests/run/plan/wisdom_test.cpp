// Wisdom: what a file says is what calls get; what is not for here, or not whole, is refused in one sentence.
#include "plan/wisdom.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <array>

namespace kumihimo::plan {
namespace {

using nlohmann::json;

const Wisdom::ThisProcess here{{"Xeon", 2}, "Open MPI v4.1.4"};
const Registry& registry() { return Registry::standard(); } // not before main: its rows use objects of static storage

json file_of(json choices) {
  return {{"kumihimo_wisdom", 1},
          {"machine", {{"processor", "Xeon"}, {"processors", 2}}},
          {"mpi", "Open MPI v4.1.4"},
          {"made", {{"command", "kumihimo tune"}, {"launches", 9}}},
          {"choices", std::move(choices)}};
}

Result<Wisdom> parsed(const json& file) { return Wisdom::parse(file.dump(), registry(), here); }

std::string complaint(const json& file) {
  const Result<Wisdom> wisdom = parsed(file);
  return wisdom ? "none" : wisdom.error().sentence();
}

const json ring = {{"collective", "allreduce"}, {"algorithm", "ring"}};

json with(json base, const char* key, json value) {
  base[key] = std::move(value);
  return base;
}

// What was measured without a segment size was measured with that of real ranks (task.cpp of the bench driver).
TEST(Wisdom, SegmentsAreAsLongAsWhenTheChoiceWasMeasured) {
  const auto wisdom = parsed(file_of(json::array({{{"collective", "bcast"}, {"algorithm", "chain"}}})));
  ASSERT_TRUE(wisdom.ok()) << wisdom.error().sentence();
  const std::vector<WisdomChoice> found = wisdom->choices(CollectiveKind::bcast, {4, 1, 4}, Determinism::any);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].parameters.default_segment_bytes, real_segment_bytes);
  const auto named = Wisdom::of_algorithm("bcast=chain", registry());
  ASSERT_TRUE(named.ok()) << named.error().sentence();
  for (const WisdomChoice& c : named->choices(CollectiveKind::bcast, {4, 1, 4}))
    EXPECT_EQ(c.parameters.default_segment_bytes, real_segment_bytes);
}

TEST(Wisdom, ReadsAChoice) {
  const Result<Wisdom> wisdom = parsed(file_of(json::array({{{"collective", "allreduce"},
                                                             {"algorithm", "ring"},
                                                             {"parameters", {{"segment_bytes", 4096}, {"window", 2}}},
                                                             {"from_bytes", 1024},
                                                             {"to_bytes", 4095},
                                                             {"ranks", 4},
                                                             {"nodes", 2},
                                                             {"ranks_per_node", 2},
                                                             {"determinism", "fixed_order"},
                                                             {"ratio", 0.5},
                                                             {"what comes later", json::array()}}})));
  ASSERT_TRUE(wisdom.ok()) << wisdom.error().sentence();
  const std::vector<WisdomChoice> found =
      wisdom->choices(CollectiveKind::allreduce, {4, 2, 2}, Determinism::fixed_order);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].variant->name, "ring");
  EXPECT_EQ(registry().variants(CollectiveKind::allreduce)[found[0].place], found[0].variant);
  EXPECT_EQ(found[0].parameters.segment_bytes, 4096);
  EXPECT_EQ(found[0].parameters.window, 2);
  EXPECT_FALSE(found[0].parameters.trees);
  EXPECT_EQ(found[0].bytes, (SizeRange{1024, 4095}));
  EXPECT_EQ(found[0].determinism, Determinism::fixed_order);
}

TEST(Wisdom, BlocksThatDifferMoreThanAChoiceGainsAreNotItsOwn) {
  const json judged = {{"collective", "allgather"}, {"algorithm", "ring"}, {"from_bytes", 1000},
                       {"to_bytes", 9000},          {"ratio", 0.7},        {"ratio_high", 0.75}};
  const Result<Wisdom> wisdom = parsed(file_of(json::array({judged})));
  ASSERT_TRUE(wisdom.ok()) << wisdom.error().sentence();
  const WisdomChoice choice = wisdom->choices(CollectiveKind::allgather, {4, 1, 4})[0];
  EXPECT_TRUE(choice.is_sound_for(4000, 4000));
  EXPECT_TRUE(choice.is_sound_for(3000, 4000));
  EXPECT_FALSE(choice.is_sound_for(2999, 4000));
  EXPECT_FALSE(choice.is_sound_for(0, 4000));
  EXPECT_FALSE(choice.is_sound_for(999, 1000)); // the shortest was not judged
  EXPECT_FALSE(choice.is_sound_for(9000, 9001));
}

TEST(Wisdom, TheLongestBlockFindsTheChoice) {
  const auto entry = [](const char* algorithm, int from, int to) {
    return json{{"collective", "allgather"},
                {"algorithm", algorithm},
                {"from_bytes", from},
                {"to_bytes", to},
                {"ratio_high", 0.5}};
  };
  const json file =
      file_of(json::array({entry("bruck", 0, 99), entry("ring", 100, 999), entry("library", 1000, 9999)}));
  const ChoiceMap all = by_size(parsed(file)->choices(CollectiveKind::allgather, {2, 1, 2}));
  const auto found = [&](std::vector<std::int64_t> lengths, bool at_any_price) -> std::string {
    const auto of = with_counts(make_collective(CollectiveKind::allgather, 2, 0, DataType::uint8), std::move(lengths));
    const WisdomChoice* const choice = choice_for(all, *of, at_any_price);
    return choice ? choice->variant->name : "library";
  };
  EXPECT_EQ(found({500, 500}, false), "ring");
  EXPECT_EQ(found({500, 250}, false), "ring");
  EXPECT_EQ(found({500, 249}, false), "library"); // more than it gains
  EXPECT_EQ(found({500, 0}, true), "ring");
  EXPECT_EQ(found({110, 90}, false), "library");  // another one is for the shortest
  EXPECT_EQ(found({1100, 600}, true), "library"); // whose mean is the ring's
  const Collective equal = make_collective(CollectiveKind::allgather, 2, 50, DataType::uint8);
  EXPECT_EQ(choice_for(all, equal, false)->variant->name, "bruck");
}

// Where no rank knows the longest block, nothing may hang on it.
TEST(Wisdom, AChoiceForOwnCountsIsForAllLengths) {
  const auto chosen = [](json choices) {
    const Result<Wisdom> wisdom = parsed(file_of(std::move(choices)));
    EXPECT_TRUE(wisdom.ok());
    const auto found = choice_for_local_counts(wisdom->choices(CollectiveKind::alltoall, {4, 1, 4}));
    return found ? found->variant->name : "library";
  };
  const auto entry = [](const char* algorithm) { return json{{"collective", "alltoall"}, {"algorithm", algorithm}}; };
  EXPECT_EQ(chosen(json::array({entry("pairwise")})), "pairwise");
  EXPECT_EQ(chosen(json::array({entry("bruck"), entry("linear")})), "linear"); // the first is for equal blocks alone
  EXPECT_EQ(chosen(json::array({entry("bruck")})), "library");
  EXPECT_EQ(chosen(json::array({entry("hierarchical"), entry("linear")})), "linear"); // for lengths that all know
  EXPECT_EQ(chosen(json::array({with(entry("pairwise"), "to_bytes", 4096)})), "library");
  EXPECT_EQ(chosen(json::array({with(entry("pairwise"), "from_bytes", 1), entry("linear")})), "library");
  EXPECT_EQ(chosen(json::array({entry("library"), entry("linear")})), "library");
  EXPECT_EQ(chosen(json::array({with(entry("pairwise"), "ratio_high", 0.5)})), "library"); // of equal blocks
  EXPECT_EQ(chosen(json::array()), "library");
}

TEST(Wisdom, WhatWasMeasuredWithUnequalBlocksIsForThemAlone) {
  const json unequal = {
      {"collective", "alltoall"}, {"algorithm", "linear"}, {"blocks", "unequal"}, {"ratio_high", 0.5}};
  const json equal = {{"collective", "alltoall"}, {"algorithm", "pairwise"}, {"ratio_high", 0.5}};
  const Result<Wisdom> wisdom = parsed(file_of({unequal, equal}));
  ASSERT_TRUE(wisdom.ok());
  std::vector<WisdomChoice> rest = wisdom->choices(CollectiveKind::alltoall, {4, 1, 4});
  const std::vector<WisdomChoice> taken = take_choices_of_unequal_blocks(rest);
  ASSERT_EQ(taken.size(), 1U);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].variant->name, "pairwise");
  ASSERT_TRUE(choice_for_local_counts(taken));
  EXPECT_EQ(choice_for_local_counts(taken)->variant->name, "linear");
  EXPECT_FALSE(choice_for_local_counts(rest));
}

TEST(Wisdom, NonBlockingCallsHaveChoicesOfTheirOwn) {
  const json begun = with(with(ring, "start", "non-blocking"), "to_bytes", 100);
  const Result<Wisdom> wisdom = parsed(file_of({begun, with(ring, "algorithm", "swing")}));
  ASSERT_TRUE(wisdom.ok());
  std::vector<WisdomChoice> rest = wisdom->choices(CollectiveKind::allreduce, {2, 1, 2});
  const std::vector<WisdomChoice> taken = take_choices_of_non_blocking(rest);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].variant->name, "ring");
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].variant->name, "swing");
}

TEST(Wisdom, WhatWasMeasuredIsForUserOperationsIfItWasTunedForThem) {
  const json measured = with(ring, "ratio_high", 0.5);
  const Result<Wisdom> wisdom = parsed(file_of({ring, measured, with(measured, "user_operations", true)}));
  ASSERT_TRUE(wisdom.ok());
  std::vector<bool> found;
  for (const WisdomChoice& choice : wisdom->choices(CollectiveKind::allreduce, {2, 1, 2}))
    found.push_back(choice.is_for_user_operations());
  EXPECT_EQ(found, (std::vector{true, false, true}));
}

TEST(Wisdom, TheLibraryIsAChoiceForUnequalBlocks) {
  const json unequal = {{"collective", "allgather"}, {"algorithm", "library"}, {"blocks", "unequal"}};
  const Result<Wisdom> wisdom = parsed(file_of({unequal}));
  ASSERT_TRUE(wisdom.ok());
  const ChoiceMap map = by_size(wisdom->choices(CollectiveKind::allgather, {2, 1, 2}));
  const auto of = with_counts(make_collective(CollectiveKind::allgather, 2, 0, DataType::uint8), {500, 400});
  ASSERT_NE(choice_of_longest(map, *of), nullptr);
  EXPECT_EQ(choice_of_longest(map, *of)->variant, nullptr);
  EXPECT_EQ(choice_of_longest(ChoiceMap{}, *of), nullptr);
}

TEST(Wisdom, ChoicesWithoutFiguresAreForAllBlocksInTheirRange) {
  const Result<Wisdom> named = Wisdom::of_algorithm("ring", registry());
  ASSERT_TRUE(named.ok());
  EXPECT_TRUE(named->choices(CollectiveKind::allgather, {4, 1, 4})[0].is_sound_for(0, 1 << 20));
}

TEST(Wisdom, AWrongGainIsNamed) {
  EXPECT_NE(complaint(file_of(json::array({with(ring, "ratio_high", "much")}))).find("ratio_high"), std::string::npos);
  EXPECT_NE(complaint(file_of(json::array({with(ring, "ratio_high", 0)}))).find("ratio_high"), std::string::npos);
}

TEST(Wisdom, IsForTheRanksThatItNames) {
  const Result<Wisdom> wisdom = parsed(
      file_of({with(with(ring, "ranks", 4), "nodes", 2), with(ring, "nodes", 1), with(ring, "ranks_per_node", 3)}));
  ASSERT_TRUE(wisdom.ok());
  const auto fitting = [&](RankCounts on) { return wisdom->choices(CollectiveKind::allreduce, on).size(); };
  EXPECT_EQ(fitting({4, 2, 2}), 1u);
  EXPECT_EQ(fitting({4, 1, 4}), 1u);
  EXPECT_EQ(fitting({6, 2, 3}), 1u);
  EXPECT_EQ(fitting({3, 1, 3}), 2u);
  EXPECT_EQ(fitting({6, 3, 2}), 0u);
  EXPECT_EQ(fitting({5, 2, 0}), 0u) << "nodes that differ are none that are named";
  EXPECT_TRUE(wisdom->choices(CollectiveKind::bcast, {4, 2, 2}).empty());
}

TEST(Wisdom, IsForTheShapeThatItNames) {
  const Result<Wisdom> wisdom =
      parsed(file_of({with(with(ring, "ranks", 6), "shape", "2x3"), with(with(ring, "ranks", 6), "shape", "6")}));
  ASSERT_TRUE(wisdom.ok()) << wisdom.error().sentence();
  const auto fitting = [&](const RankSpace& space) {
    return wisdom->choices(CollectiveKind::allreduce, {6, 6, 1, shape_of(space)}).size();
  };
  EXPECT_EQ(fitting(RankSpace::box(*Shape::parse("2x3"))), 1u);
  EXPECT_EQ(fitting(RankSpace::box(*Shape::parse("2x3m"))), 0u) << "a mesh is none that is named";
  EXPECT_EQ(fitting(RankSpace::row(6)), 0u);
  EXPECT_EQ(shape_of(RankSpace::box(*Shape::parse("4x2"), 3)), "4x2") << "of the nodes";
  EXPECT_NE(complaint(file_of({with(ring, "shape", "2by3")})), "");
}

TEST(Wisdom, IsOfMeasuredFiguresUnlessSomebodyNamesTheFile) {
  const json file = file_of({with(with(ring, "emulated", true), "ranks", 4), with(ring, "simulated", true),
                             with(ring, "emulated", false), with(with(ring, "ranks", 2), "simulated", 3)});
  EXPECT_EQ(parsed(file)->size(), 4u);
  const Result<Wisdom> found = Wisdom::parse(file.dump(), registry(), here, Wisdom::Found::by_itself);
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_EQ(found->size(), 1u);
  EXPECT_EQ(found->choices(CollectiveKind::allreduce, {4, 2, 2}).size(), 1u) << "the one that is not emulated";
}

TEST(Wisdom, NodesThatHoldDifferentNumbersAreToldFromEqualOnes) {
  const auto of = [](std::vector<std::int64_t> nodes) {
    const RankCounts c = count_ranks(nodes);
    return std::array{c.ranks, c.nodes, c.ranks_per_node};
  };
  EXPECT_EQ(of({7, 7, 9, 9}), (std::array{4, 2, 2}));
  EXPECT_EQ(of({7, 9, 7, 9}), (std::array{4, 2, 2})) << "whatever their order";
  EXPECT_EQ(of({7, 7, 7, 9}), (std::array{4, 2, 0})) << "3 and 1 are not 2 and 2";
  EXPECT_EQ(of({7, 9, 9}), (std::array{3, 2, 0}));
  EXPECT_EQ(of({7, 7, 7}), (std::array{3, 1, 3}));
}

TEST(Wisdom, TheLibraryIsAChoice) {
  const Result<Wisdom> wisdom =
      parsed(file_of({{{"collective", "bcast"}, {"algorithm", "library"}, {"to_bytes", 8}}, ring}));
  ASSERT_TRUE(wisdom.ok());
  const std::vector<WisdomChoice> found = wisdom->choices(CollectiveKind::bcast, {2, 1, 2});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].variant, nullptr);
}

TEST(Wisdom, ChoicesOfOtherProblemsArePassedOver) {
  const json kernel = {{"kernel", "copy"}, {"variant", "nothing that there is"}};
  EXPECT_EQ(parsed(file_of({kernel, ring}))->size(), 1u);
  EXPECT_EQ(complaint(file_of({ring, {{"colective", "bcast"}}})), "choice 2: collective is missing; tune again");
}

TEST(Wisdom, AFixedOrderHasChoicesOfItsOwn) {
  const json fixed = with(with(ring, "determinism", "fixed_order"), "algorithm", "chain");
  const Result<Wisdom> wisdom = parsed(file_of({with(ring, "determinism", "any"), ring, fixed}));
  ASSERT_TRUE(wisdom.ok());
  EXPECT_EQ(wisdom->choices(CollectiveKind::allreduce, {2, 1, 2}, Determinism::any).size(), 2u);
  const std::vector<WisdomChoice> found =
      wisdom->choices(CollectiveKind::allreduce, {2, 1, 2}, Determinism::fixed_order);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].variant->name, "chain");
}

TEST(Wisdom, WithoutMachineAndLibraryIsOfAny) {
  json file = file_of({ring});
  file.erase("machine");
  file["mpi"] = nullptr;
  EXPECT_EQ(complaint(file), "none");
}

TEST(Wisdom, OfAnotherLibraryIsRefused) {
  EXPECT_NE(complaint(with(file_of({ring}), "mpi", "MPICH Version: 4.0.2")).find("got MPICH Version: 4.0.2"),
            std::string::npos);
}

TEST(Wisdom, EveryTruncatedFileIsRefused) {
  const std::string text = file_of({ring}).dump();
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(Wisdom::parse(text.substr(0, length), registry(), here).ok()) << length;
  EXPECT_TRUE(Wisdom::parse(text, registry(), here).ok());
}

TEST(Wisdom, AWrongEntryIsNamed) {
  const json trinaryx3 = with(ring, "algorithm", "trinaryx3");
  const std::vector<std::pair<json, std::string>> wrong = {
      {with(ring, "algorithm", "rign"), "ring"},
      {with(ring, "algorithm", 3), "choice 2: algorithm must be a string (got 3)"},
      {with(ring, "collective", "alreduce"), "alreduce"},
      {with(ring, "parameters", {{"segment_bytes", 0}}), "segment_bytes must be at least 1 (got 0)"},
      {with(ring, "parameters", {{"segmnet_bytes", 8}}), "unknown parameter (got segmnet_bytes = 8)"},
      {with(ring, "parameters", json::array()), "choice 2: parameters must be an object"},
      {with(ring, "from_bytes", -1), "from_bytes"},
      {with(ring, "to_bytes", 1.5), "to_bytes"},
      {with(ring, "to_bytes", std::uint64_t{1} << 63), "to_bytes"},
      {with(ring, "ranks", std::int64_t{1} << 32), "ranks"},
      {with(ring, "determinism", "exact"), "choice 2: determinism must be any or fixed_order"},
      {with(ring, "user_operations", 1), "choice 2: user_operations must be true or false"},
      {with(ring, "start", "later"), "choice 2: start must be blocking or non-blocking"},
      {with(with(ring, "start", "non-blocking"), "determinism", "fixed_order"),
       "choice 2: choices for non-blocking calls must be for equal blocks, in any order"},
      {with(ring, "blocks", "unequal"), "choice 2: blocks must be equal, or unequal if the collective has such calls"},
      {with(with(ring, "from_bytes", 100), "to_bytes", 5),
       "choice 2: from_bytes must be at most to_bytes (got 100 and 5)"},
      {with(ring, "parameters", {{"trees", 3}}), "choice 2: ring has no parameter trees"},
      {with(ring, "parameters", {{"segments", 3}, {"segment_bytes", 64}}),
       "choice 2: segments and segment_bytes exclude each other"},
      {with(trinaryx3, "parameters", {{"trees", 9999}}), "choice 2: trees must be at most 60 (got 9999)"},
      {"ring", "choice 2 must be an object"}};
  for (const auto& [entry, said] : wrong)
    EXPECT_NE(complaint(file_of({ring, entry})).find(said), std::string::npos) << complaint(file_of({ring, entry}));
}

// A part of levels is an algorithm like any other: of an allreduce, within the nodes a reduce and a bcast.
TEST(Wisdom, AnUnknownPartIsAnUnknownAlgorithm) {
  const auto said = [](const char* collective, json parameters) {
    const json levels = {
        {"collective", collective}, {"algorithm", "hierarchical"}, {"parameters", std::move(parameters)}};
    return complaint(file_of({ring, levels}));
  };
  EXPECT_EQ(said("allreduce", json::object()), "none") << "it has defaults";
  EXPECT_EQ(said("allreduce", {{"inner", "binomial"}, {"outer", "ring"}}), "none");
  EXPECT_NE(said("allreduce", {{"inner", "nope"}, {"outer", "ring"}})
                .find("reduce has no such algorithm (got 'nope'); use one of"),
            std::string::npos);
  EXPECT_NE(said("allreduce", {{"inner", "nope"}}).find("choice 2: inner: reduce has no such algorithm (got 'nope')"),
            std::string::npos);
  EXPECT_NE(said("allreduce", {{"outer", "rign"}}).find("(got 'rign'); did you mean ring?"), std::string::npos);
  EXPECT_NE(said("allreduce", {{"inner", "rabenseifner"}, {"outer", "bruck"}}).find("got"), std::string::npos)
      << "an algorithm, but of other collectives";
  int of_levels = 0;
  for (const Variant& v : registry().variants()) {
    if (v.name != "hierarchical") continue;
    for (const Variant::Parameter& q : v.parameters) {
      if (q.parameter != &parameter::inner && q.parameter != &parameter::outer) continue;
      const std::string name(q.parameter->name);
      EXPECT_EQ(said(std::string(name_of(v.kind)).c_str(), {{name, text_of(q.default_value)}}), "none") << name;
      ++of_levels;
    }
  }
  EXPECT_GT(of_levels, 1);
}

TEST(Wisdom, DifferentFilesHaveDifferentHashes) {
  EXPECT_NE(parsed(file_of({ring}))->hash(), parsed(file_of({ring, ring}))->hash());
  EXPECT_EQ(parsed(file_of({ring}))->hash(), parsed(file_of({ring}))->hash());
}

TEST(Wisdom, OfAnAlgorithmIsForAllThatItDoes) {
  const Result<Wisdom> wisdom = Wisdom::of_algorithm("binomial", registry());
  ASSERT_TRUE(wisdom.ok());
  for (const CollectiveKind kind : {CollectiveKind::bcast, CollectiveKind::reduce})
    for (const Determinism each : {Determinism::any, Determinism::fixed_order})
      EXPECT_EQ(wisdom->choices(kind, {7, 1, 7}, each).size(), 1u);
  EXPECT_FALSE(Wisdom::of_algorithm("rign", registry()).ok());
}

TEST(Wisdom, AlgorithmsAreNamedForOneCollectiveOrAll) {
  const auto first = [](const Wisdom& wisdom, CollectiveKind kind) {
    const std::vector<WisdomChoice> choices = wisdom.choices(kind, {4, 1, 4});
    return choices.empty() ? std::string("none") : choices.front().variant->name;
  };
  const Result<Wisdom> one = Wisdom::of_algorithm("alltoall=bruck", registry());
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(first(*one, CollectiveKind::alltoall), "bruck");
  EXPECT_EQ(first(*one, CollectiveKind::allgather), "none"); // which has a bruck of its own
  const Result<Wisdom> several = Wisdom::of_algorithm("allgather=bruck,scan=chain,ring", registry());
  ASSERT_TRUE(several.ok());
  EXPECT_EQ(first(*several, CollectiveKind::allgather), "bruck");
  EXPECT_EQ(first(*several, CollectiveKind::scan), "chain");
  EXPECT_EQ(first(*several, CollectiveKind::allreduce), "ring");
  EXPECT_EQ(first(*several, CollectiveKind::exscan), "none");
  EXPECT_NE(several->hash(), one->hash());
  for (const std::string text : {"alltoall=ring", "all=bruck", "bruck,", ",bruck", "alltoall=", "=bruck"})
    EXPECT_FALSE(Wisdom::of_algorithm(text, registry()).ok()) << text;
}

} // namespace
} // namespace kumihimo::plan
