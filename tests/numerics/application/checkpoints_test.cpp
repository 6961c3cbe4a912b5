// Checkpoints of a small application on ranks that are threads: the same bits after a restart and after a loss, on the
// same ranks and on others, and one sentence for each state that does not fit.
#include "application/checkpoints.hpp"
#include "application/run_task.hpp"
#include "application/runtime.hpp"
#include "loopback/loopback_processes.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>

namespace kumihimo::application::checkpoint_tests {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::int64_t cells = 40;

// Each cell adds its neighbour's value of the step before: through sums, as ghosts would. `history` grows.
Result<json> heat(const ApplicationRequest& request, Runtime& runtime) {
  const RankGrid grid{{runtime.ranks(), 1, 1}};
  const auto mine = grid.part({cells, 1, 1}, runtime.rank())[0];
  std::vector<double> values(static_cast<std::size_t>(mine.size()));
  for (std::int64_t i = mine.begin; i < mine.end; ++i)
    values[static_cast<std::size_t>(i - mine.begin)] = static_cast<double>(i * i % 7);
  std::vector<double> history;
  std::int64_t done = 0, computed = 0;
  const auto state = [&](StateList& list) {
    list.number("done", done).vector("history", history);
    list.grid("values", {sizeof(double),
                         {cells, 1, 1},
                         grid.ranks,
                         {mine.begin, 0, 0},
                         {mine.size(), 1, 1},
                         reinterpret_cast<std::byte*>(values.data()),
                         mine.size(),
                         mine.size()});
  };
  const std::int64_t steps = std::min<std::int64_t>(request.most_iterations, 30);
  while (done < steps) {
    TRY(runtime.checkpoints().at_iteration(done, state));
    if (done >= steps) return nothing_left(done, steps);
    const std::int64_t end = done + std::min(steps - done, runtime.checkpoints().steps_to_next(done));
    for (; done < end; ++done, ++computed) {
      std::vector<double> whole(cells);
      std::ranges::copy(values, whole.begin() + mine.begin);
      if (Status s = runtime.sums().sum(whole); !s) return s.error(); // with zeros: exact
      for (std::int64_t i = mine.begin; i < mine.end; ++i)
        values[static_cast<std::size_t>(i - mine.begin)] +=
            0.25 * whole[static_cast<std::size_t>((i + 1) % cells)] / (1.0 + static_cast<double>(done));
      history.push_back(whole[0]);
    }
  }
  std::vector<double> whole(cells);
  std::ranges::copy(values, whole.begin() + mine.begin);
  if (Status s = runtime.sums().sum(whole); !s) return s.error();
  return json{{"values", whole}, {"history", history}, {"computed", computed}};
}

constexpr VariantDescription variants[] = {{"golden", "plain"}, {"fast", "fast"}};
constexpr std::string_view choices[] = {"any_variant", "any_ranks", "same_ranks"};
constexpr ApplicationOption options[] = {{"bits", "depend on", "WORD", "any_variant", choices}};

std::vector<Application> every() {
  const auto restart_on = [](const ApplicationRequest& request) {
    const std::string& word = request.option("bits");
    return word == "same_ranks"  ? RestartOn::same_ranks
           : word == "any_ranks" ? RestartOn::any_ranks
                                 : RestartOn::any_variant;
  };
  return {{.name = "heat",
           .default_size = "1",
           .variants = variants,
           .options = options,
           .restart_on = restart_on,
           .run = &heat},
          {.name = "other",
           .default_size = "1",
           .variants = variants,
           .options = options,
           .restart_on = restart_on,
           .run = &heat},
          {.name = "stateless", .default_size = "1", .variants = variants, .options = options, .run = &heat}};
}

struct Asked {
  json checkpoints;
  std::int32_t ranks = 2;
  std::string bits = "any_variant", application = "heat", variant = "golden", size = "1";
  std::int64_t most = 1000;
  std::vector<std::int64_t> nodes = {};
};

Result<json> run(const Asked& asked) {
  const std::vector<Application> all = every();
  json task_text = {{"application", asked.application},
                    {"size", asked.size},
                    {"most_iterations", asked.most},
                    {"options", {{"bits", asked.bits}}},
                    {"candidates", {{{"variant", asked.variant}}}}};
  if (!asked.checkpoints.is_null()) task_text["checkpoints"] = asked.checkpoints;
  const ApplicationTask task = TRY(parse_task(task_text.dump(), all));
  auto [status, printed] = run_processes(
      asked.ranks, false, 1, [&](Processes& processes) { return run_task(task, processes, "threads"); }, asked.nodes);
  if (!status) return status.error();
  return printed.back().at("result");
}

class CheckpointsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             (std::string("checkpoints_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder);
    fs::create_directory(folder);
    const Result<json> plain = run({});
    ASSERT_TRUE(plain.ok()) << plain.error().sentence();
    expected = *plain;
  }
  void TearDown() override { fs::remove_all(folder); }

  json every_10() const { return {{"every", 10}, {"folder", folder.string()}}; }
  json restart() const { return {{"restart", folder.string()}}; }
  // As if the run had been killed in iteration `most`.
  void save_until(Asked asked, std::int64_t most = 25) const {
    asked.checkpoints = every_10(), asked.most = most;
    const Result<json> found = run(asked);
    ASSERT_TRUE(found.ok()) << found.error().sentence();
  }
  std::string sentence(const Asked& asked) const {
    const Result<json> found = run(asked);
    if (found) return "";
    std::string text = found.error().sentence();
    for (std::size_t at; (at = text.find(folder.string())) != std::string::npos;)
      text.replace(at, folder.string().size(), "DIR");
    return text;
  }

  fs::path folder;
  json expected;
};

TEST_F(CheckpointsTest, ARestartOnTheSameRanksEndsWithTheSameBits) {
  for (const std::int32_t ranks : {1, 2, 3, 5}) {
    SetUp();
    save_until({.ranks = ranks, .bits = "same_ranks"});
    const Result<json> found = run({.checkpoints = restart(), .ranks = ranks, .bits = "same_ranks"});
    ASSERT_TRUE(found.ok()) << found.error().sentence();
    EXPECT_EQ((*found)["values"], expected["values"]) << ranks;
    EXPECT_EQ((*found)["history"], expected["history"]) << ranks;
    EXPECT_EQ((*found)["computed"], 10);
    EXPECT_EQ((*found)["checkpoints"]["restarted_from"], 20);
    EXPECT_EQ((*found)["checkpoints"]["saved"], 0);
  }
}

TEST_F(CheckpointsTest, ARestartOnOtherRanksEndsWithTheSameBits) {
  for (const std::int32_t before : {1, 2, 3, 7})
    for (const std::int32_t after : {1, 2, 4, 5}) {
      SetUp();
      save_until({.ranks = before});
      json asked = every_10();
      asked["restart"] = folder.string();
      const Result<json> found = run({.checkpoints = asked, .ranks = after, .variant = "fast"});
      ASSERT_TRUE(found.ok()) << before << " to " << after << ": " << found.error().sentence();
      EXPECT_EQ((*found)["values"], expected["values"]) << before << " to " << after;
      EXPECT_EQ((*found)["history"], expected["history"]) << before << " to " << after;
      EXPECT_EQ((*found)["computed"], 10);
    }
}

// The ranks that a kill left without the newest state go back with all others to the one before; what the others had
// saved behind it is written over.
TEST_F(CheckpointsTest, AStateThatOneRankLacksIsNone) {
  save_until({.ranks = 3}, 25); // 10 and 20
  for (const char* slot : {"heat-1.0", "heat-1.1"}) {
    std::ifstream file(folder / slot, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (static_cast<unsigned char>(text.at(16)) == 20) fs::resize_file(folder / slot, text.size() - 1);
  }
  json asked = every_10();
  asked["restart"] = folder.string(), asked["every"] = 5;
  const Result<json> found = run({.checkpoints = asked, .ranks = 3, .most = 18});
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_EQ((*found)["checkpoints"]["restarted_from"], 10);
  EXPECT_EQ((*found)["checkpoints"]["saved"], 1);
  const Result<json> again = run({.checkpoints = restart(), .ranks = 3});
  ASSERT_TRUE(again.ok()) << again.error().sentence();
  EXPECT_EQ((*again)["checkpoints"]["restarted_from"], 15);
  EXPECT_EQ((*again)["values"], expected["values"]);
}

// Files of an iteration, but of two launches, are no state of one run.
TEST_F(CheckpointsTest, FilesOfTwoLaunchesAreNoState) {
  save_until({.ranks = 2}, 15);
  fs::copy(folder / "heat-1.0", folder / "kept");
  fs::remove(folder / "heat-0.0"), fs::remove(folder / "heat-1.0");
  save_until({.ranks = 2}, 15);
  fs::rename(folder / "kept", folder / "heat-1.0");
  EXPECT_EQ(sentence({.checkpoints = restart()}),
            "no state in DIR is whole on all of its 2 ranks; leave --restart out to begin anew");
}

TEST_F(CheckpointsTest, EachStateThatDoesNotFitIsOneSentence) {
  EXPECT_EQ(sentence({.checkpoints = restart()}),
            "DIR must hold a whole state of heat (got no state); leave --restart out to begin anew");
  save_until({.ranks = 2, .bits = "same_ranks"});
  const auto with = [&](Asked asked) {
    asked.checkpoints = restart();
    return sentence(asked);
  };
  EXPECT_EQ(with({.application = "other"}),
            "DIR must hold a whole state of other (got one of heat); name another folder");
  EXPECT_EQ(with({.bits = "same_ranks", .size = "2"}),
            "the state in DIR is of --size 1 (got 2); restart with the options that it was saved with");
  EXPECT_EQ(with({}),
            "the state in DIR is of --set bits same_ranks (got any_variant); restart with the options that it "
            "was saved with");
  EXPECT_EQ(with({.bits = "same_ranks", .variant = "fast"}),
            "the state in DIR is of --variant golden (got fast); restart with the options that it was saved with");
  EXPECT_EQ(with({.ranks = 3, .bits = "same_ranks"}),
            "the state in DIR is of --ranks 2 (got 3); the bits of heat depend on it");
  EXPECT_EQ(with({.bits = "same_ranks", .most = 20}),
            "the run must end after iteration 20, of which the state is (got 20); use a larger --max-iterations");
  EXPECT_EQ(sentence({.checkpoints = every_10(), .bits = "same_ranks"}),
            "DIR must hold no state of heat (got one of iteration 20); add --restart DIR to go on from it, or remove "
            "it");
  EXPECT_EQ(with({.application = "stateless"}),
            "this run of stateless saves no state; leave out --checkpoint and --restart");
  for (const auto& entry : fs::directory_iterator(folder)) fs::resize_file(entry.path(), 30);
  EXPECT_EQ(with({.bits = "same_ranks"}), "DIR must hold a whole state of heat (got none that is whole); leave "
                                          "--restart out to begin anew");
  fs::remove_all(folder);
  EXPECT_EQ(with({.bits = "same_ranks"}),
            "the folder DIR cannot be opened: No such file or directory; make the folder first");
}

// A state of another version of the package, whose loops may round otherwise.
TEST_F(CheckpointsTest, AStateOfAnotherVersionIsRefused) {
  const std::string asked = KUMIHIMO_VERSION;
  RunIdentity older;
  older.application = "heat", older.restart_on = RestartOn::any_variant;
  older.of_problem = json{{"version", "0.0.1"}};
  double value = 1;
  StateList list;
  list.number("value", value);
  OneProcess one;
  const std::unique_ptr<StateWriter> writer = *StateWriter::open(folder.string(), older, false, one);
  ASSERT_TRUE(writer->save(3, list).ok());
  EXPECT_EQ(sentence({.checkpoints = restart()}).substr(0, 60 + asked.size()).find("the state in DIR"), 0U);
  older.of_problem = json{{"version", asked}};
  const Result<std::unique_ptr<SavedRun>> found = SavedRun::find(folder.string(), older, one);
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().sentence().find(fmt::format("is of version 0.0.1 (got {})", asked)), std::string::npos);
}

// The memory of one rank is overwritten; all ranks repeat what follows the last copy.
TEST_F(CheckpointsTest, ALostStateComesBackFromItsPartner) {
  for (const std::int32_t ranks : {2, 3, 5})
    for (std::int32_t lost = 0; lost < ranks; ++lost)
      for (const std::int64_t at : {7, 10, 27}) {
        const json asked = {{"partner", 7}, {"lost_rank", lost}, {"lost_at", at}};
        const Result<json> found = run({.checkpoints = asked, .ranks = ranks});
        if (at == 7) { // the copy of this iteration comes after the loss
          EXPECT_EQ(found.ok(), false);
          continue;
        }
        ASSERT_TRUE(found.ok()) << found.error().sentence();
        EXPECT_EQ((*found)["values"], expected["values"]) << ranks << " " << lost << " " << at;
        EXPECT_EQ((*found)["history"], expected["history"]);
        EXPECT_EQ((*found)["computed"], 30 + at % 7);
        const json& partner = (*found)["checkpoints"]["partner"];
        EXPECT_EQ(partner["restored"], 1);
        EXPECT_EQ(partner["repeated_iterations"], at % 7);
        EXPECT_EQ(partner["on_other_nodes"], 0);
      }
}

TEST_F(CheckpointsTest, CopiesAndFilesGoTogether) {
  json asked = every_10();
  asked.update({{"partner", 3}, {"lost_rank", 1}, {"lost_at", 23}});
  const Result<json> found = run({.checkpoints = asked, .ranks = 4, .nodes = {0, 0, 1, 1}});
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_EQ((*found)["values"], expected["values"]);
  EXPECT_EQ((*found)["checkpoints"]["saved"], 2);
  EXPECT_EQ((*found)["checkpoints"]["partner"]["on_other_nodes"], 4);
  EXPECT_GT((*found)["checkpoints"]["bytes"], 2 * 8 * cells);
}

TEST_F(CheckpointsTest, OneRankHasNoPartner) {
  EXPECT_EQ(sentence({.checkpoints = {{"partner", 3}}, .ranks = 1}),
            "copies in the memory of a partner need at least 2 ranks (got 1); use --ranks 2, or leave it out");
  EXPECT_EQ(sentence({.checkpoints = {{"partner", 3}, {"lost_rank", 2}}}),
            "the rank that is lost must be below 2 (got 2)");
}

// By time: all ranks save in the same iterations, and the run ends with the same bits.
TEST_F(CheckpointsTest, ByTimeAllRanksSaveTogether) {
  const json asked = {{"every_seconds", 1e-9}, {"folder", folder.string()}};
  const Result<json> found = run({.checkpoints = asked, .ranks = 3});
  ASSERT_TRUE(found.ok()) << found.error().sentence();
  EXPECT_EQ((*found)["values"], expected["values"]);
  EXPECT_EQ((*found)["checkpoints"]["saved"], 29) << "in each iteration but the first";
  const Result<json> rarely = run(
      {.checkpoints = {{"every_seconds", 1e6}, {"folder", folder.string()}, {"restart", folder.string()}}, .ranks = 3});
  ASSERT_TRUE(rarely.ok()) << rarely.error().sentence();
  EXPECT_EQ((*rarely)["checkpoints"]["saved"], 0);
}

// Rank 0 holds the copy of rank 1, of two iterations; then `sabotage` of what it holds. The error of rank 1's loss.
std::string error_after(const std::function<void(PartnerCopies& copies, std::vector<double> of_first)>& sabotage) {
  std::string found;
  const auto [status, printed] = run_processes(3, false, 1, [&](Processes& processes) -> Status {
    UnderWay under_way(*TRY(processes.transport()));
    const std::unique_ptr<PartnerCopies> copies = TRY(PartnerCopies::make(processes, &under_way));
    std::vector<double> values(5000, 1.0 + processes.rank());
    StateList list;
    list.array("values", std::span(values));
    TRY(copies->copy(4, list));
    const std::vector<double> of_first = copies->held();
    std::ranges::fill(values, 10.0 + processes.rank());
    TRY(copies->copy(8, list));
    std::ranges::fill(values, 0.0);
    EXPECT_TRUE(copies->restore(list, 1).ok());
    EXPECT_EQ(values, std::vector<double>(5000, 10.0 + processes.rank()));
    if (processes.rank() == 2) sabotage(*copies, of_first); // the partner of rank 1
    const Status restored = copies->restore(list, 1);
    if (processes.rank() == 0) found = restored ? "" : restored.error().sentence();
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
  return found;
}

TEST(CopiesInMemory, AnySingleBitThatFlipsIsFound) {
  EXPECT_EQ(error_after([](PartnerCopies&, const std::vector<double>&) {}), "") << "nothing was done to it";
  const std::string damaged = "the copy in memory of the state of rank 1 is damaged: its checksum differs; "
                              "restart from files, or begin anew";
  constexpr std::size_t bits = 8 * (1 << 16); // of the copy: a piece
  for (const std::size_t bit : {std::size_t{0}, std::size_t{63}, std::size_t{12345}, std::size_t{320040}, bits - 1,
                                bits - 64, bits - 65, bits - 129, bits - 192, bits - 193})
    EXPECT_EQ(error_after([&](PartnerCopies& copies, const std::vector<double>&) {
                const auto bytes = std::as_writable_bytes(std::span(copies.held()));
                ASSERT_EQ(8 * bytes.size(), bits);
                bytes[bit / 8] ^= std::byte{1} << (bit % 8);
              }),
              damaged)
        << "bit " << bit;
}

// Its checksum is right.
TEST(CopiesInMemory, ACopyOfAnOlderIterationIsRefused) {
  EXPECT_EQ(error_after([](PartnerCopies& copies, const std::vector<double>& of_first) { copies.held() = of_first; }),
            "the copy in memory of the state of rank 1 must be of iteration 8: it is of iteration 4; "
            "restart from files, or begin anew");
}

TEST(CopiesInMemory, ACopyOfAnotherRankIsRefused) {
  EXPECT_EQ(error_after([](PartnerCopies& copies, const std::vector<double>&) { copies.held() = copies.own(); }),
            "the copy in memory of the state of rank 1 is another one's: that of rank 2; "
            "restart from files, or begin anew");
}

TEST(CopiesInMemory, CopiesThatDoNotFitTheNodeAreOneSentence) {
  const auto [status, none] = run_processes(2, false, 1, [&](Processes& processes) -> Status {
    UnderWay under_way(*TRY(processes.transport()));
    KeptCopies kept;
    kept.generations.resize(1'000'000); // of 2 MiB each
    const auto copies = TRY(PartnerCopies::make(processes, &under_way, &kept));
    std::vector<double> values(100'000);
    StateList list;
    list.vector("values", values);
    const Result<std::int64_t> copied = copies->copy(4, list);
    return copied ? Status(Nothing{}) : Status(copied.error());
  });
  ASSERT_FALSE(status.ok());
  const std::string sentence = status.error().sentence();
  EXPECT_TRUE(sentence.starts_with("copies of the state need at least ")) << sentence;
  EXPECT_TRUE(sentence.ends_with(" GiB are free; leave partner= out, or use more nodes")) << sentence;
}

// Copies of iterations 4 and 8 on four ranks, each of which keeps them beyond its communicators. Then `deaths` happen
// to what they keep, and the ranks meet again, on other nodes. The iteration that they went back to, how many of them
// have other values than those of it, and the sentence of rank 0.
struct Recovered {
  std::optional<std::int64_t> iteration;
  double wrong = 0;
  std::string sentence;
};

Recovered after(const std::function<void(std::vector<KeptCopies>&)>& deaths) {
  std::vector<KeptCopies> kept(4);
  for (KeptCopies& each : kept) each.generations.resize(2);
  const auto value = [](std::int64_t iteration, std::int32_t rank) {
    return 100.0 * static_cast<double>(iteration) + rank;
  };
  const auto [copied, none] = run_processes(4, false, 1, [&](Processes& processes) -> Status {
    const std::int32_t rank = processes.rank();
    UnderWay under_way(*TRY(processes.transport()));
    const auto copies = TRY(PartnerCopies::make(processes, &under_way, &kept[static_cast<std::size_t>(rank)]));
    std::vector<double> values(3000);
    StateList list;
    list.vector("values", values);
    for (const std::int64_t iteration : {4, 8}) {
      std::ranges::fill(values, value(iteration, rank));
      TRY(copies->copy(iteration, list));
    }
    return Nothing{};
  });
  EXPECT_TRUE(copied.ok()) << copied.error().sentence();
  deaths(kept);
  Recovered found;
  std::mutex mutex;
  const auto [met, lines] =
      run_processes(4, false, 1,
                    [&](Processes& processes) -> Status {
                      const std::int32_t rank = processes.rank();
                      UnderWay under_way(*TRY(processes.transport()));
                      const auto copies =
                          TRY(PartnerCopies::make(processes, &under_way, &kept[static_cast<std::size_t>(rank)]));
                      std::vector<double> values;
                      StateList list;
                      list.vector("values", values);
                      const Result<std::optional<std::int64_t>> back = copies->recover(list);
                      if (back && *back) TRY(copies->copy(**back, list)); // as long on all ranks
                      const std::lock_guard lock(mutex);
                      if (rank == 0) found.sentence = back ? "" : back.error().sentence();
                      if (!back) return Nothing{};
                      found.iteration = *back;
                      if (*back && values != std::vector<double>(3000, value(**back, rank))) ++found.wrong;
                      return Nothing{};
                    },
                    {0, 1, 1, 0});
  EXPECT_TRUE(met.ok()) << met.error().sentence();
  return found;
}

KeptCopies replacement() {
  KeptCopies made;
  made.generations.resize(2);
  made.is_replacement = true;
  return made;
}

TEST(CopiesInMemory, AReplacementGetsTheStateOfTheRankThatDied) {
  for (const std::size_t died : {0U, 1U, 2U, 3U}) {
    const Recovered found = after([&](std::vector<KeptCopies>& kept) { kept[died] = replacement(); });
    EXPECT_EQ(found.iteration, 8) << found.sentence;
    EXPECT_EQ(found.wrong, 0);
  }
  const Recovered two = after([&](std::vector<KeptCopies>& kept) { kept[0] = kept[2] = replacement(); });
  EXPECT_EQ(two.iteration, 8) << two.sentence;
  EXPECT_EQ(two.wrong, 0);
}

// Some ranks have the newer generation whole, others were writing it.
TEST(CopiesInMemory, ADeathDuringACopyGoesBackToTheGenerationBefore) {
  for (const std::size_t late : {0U, 2U, 3U}) {
    const Recovered found = after([&](std::vector<KeptCopies>& kept) {
      kept[1] = replacement();
      CopyGeneration& newer = kept[late].newest();
      newer.iteration = -1;
      std::ranges::fill(newer.own, 0.0), std::ranges::fill(newer.held, 0.0);
    });
    EXPECT_EQ(found.iteration, 4) << found.sentence;
    EXPECT_EQ(found.wrong, 0);
  }
}

TEST(CopiesInMemory, WithoutAWholeGenerationTheRunBeginsAnew) {
  const Recovered found = after([&](std::vector<KeptCopies>& kept) {
    kept[1] = replacement();
    for (CopyGeneration& each : kept[2].generations) each.iteration = -1;
  });
  EXPECT_EQ(found.iteration, std::nullopt);
  EXPECT_EQ(found.sentence, "");
}

TEST(CopiesInMemory, PartnersThatDieTogetherAreOneSentence) {
  EXPECT_EQ(after([&](std::vector<KeptCopies>& kept) { kept[1] = kept[2] = replacement(); }).sentence,
            "rank 1 and its partner, rank 2, have both died, so no copy of rank 1's state is left; "
            "restart from files, or begin anew");
}

TEST(CopiesInMemory, ACopyThatIsDamagedBringsNobodyBack) {
  const Recovered found = after([&](std::vector<KeptCopies>& kept) {
    kept[1] = replacement();
    kept[2].newest().held[7] += 1;
  });
  EXPECT_EQ(found.sentence, "the copy in memory of the state of rank 1 is damaged: its checksum differs; "
                            "restart from files, or begin anew");
}

} // namespace
} // namespace kumihimo::application::checkpoint_tests
