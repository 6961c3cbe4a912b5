#include "saved_state/state_store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kumihimo::saved_state {
namespace {

namespace fs = std::filesystem;

// Two arrays that a generation number makes.
struct StateOfTest {
  explicit StateOfTest(std::int64_t generation, std::size_t bytes = 3'000'000) : field(bytes), counts(5) {
    for (std::size_t i = 0; i < field.size(); ++i)
      field[i] = static_cast<std::byte>(static_cast<std::size_t>(generation) * 31 + i * 7 + i / 1000);
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = generation * 100 + static_cast<std::int64_t>(i);
  }
  std::vector<SavedArray> arrays() const { return {{"field", field}, {"counts", std::as_bytes(std::span(counts))}}; }
  std::vector<ArrayPlace> places() { return {{"counts", std::as_writable_bytes(std::span(counts))}, {"field", field}}; }
  bool operator==(const StateOfTest&) const = default;

  std::vector<std::byte> field;
  std::vector<std::int64_t> counts;
};

class StateStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(testing::TempDir()) / (std::string("state_store_") + test->name());
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  StateStore store(std::int32_t rank = 0) const {
    auto opened = StateStore::open(folder.string(), "state", rank);
    EXPECT_TRUE(opened);
    return std::move(*opened);
  }
  std::vector<std::int64_t> numbers(const StateStore& from) const {
    std::vector<std::int64_t> found;
    for (const Generation& each : from.whole_generations()) found.push_back(each.number);
    return found;
  }
  void save(StateStore& to, std::int64_t generation) const {
    const Status saved = to.save(generation, StateOfTest(generation).arrays());
    ASSERT_TRUE(saved) << saved.error().sentence();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator(folder)) names.push_back(each.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  fs::path folder;
};

TEST_F(StateStoreTest, ReadsWhatWasSaved) {
  StateStore to = store();
  save(to, 1);
  StateOfTest read(0);
  ASSERT_TRUE(store().load(1, read.places()));
  EXPECT_EQ(read, StateOfTest(1));
  const std::vector<Generation> found = store().whole_generations();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].arrays, (std::vector<ArrayShape>{{"field", 3'000'000}, {"counts", 40}}));
}

TEST_F(StateStoreTest, KeepsTheGenerationBefore) {
  StateStore to = store();
  for (std::int64_t generation = 1; generation <= 5; ++generation) {
    save(to, generation);
    EXPECT_EQ(numbers(to).back(), generation);
    EXPECT_EQ(numbers(store()).front(), std::max<std::int64_t>(1, generation - 1));
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"state-0.0", "state-0.1"}));
  StateStore again = store(); // a restarted program goes on in the right file
  save(again, 6);
  EXPECT_EQ(numbers(store()), (std::vector<std::int64_t>{5, 6}));
}

TEST_F(StateStoreTest, RanksHaveFilesOfTheirOwn) {
  StateStore first = store(0), second = store(1);
  save(first, 1);
  EXPECT_TRUE(numbers(second).empty());
  save(second, 4);
  EXPECT_EQ(numbers(first), (std::vector<std::int64_t>{1}));
}

TEST_F(StateStoreTest, FindsEveryChangedByteAndEveryCut) {
  StateStore to = store();
  ASSERT_TRUE(to.save(1, StateOfTest(1, 50).arrays()));
  const fs::path path = folder / "state-0.0";
  std::ifstream file(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(path, std::ios::binary) << changed;
    EXPECT_TRUE(numbers(store()).empty()) << at;
    StateOfTest read(0, 50);
    EXPECT_FALSE(store().load(1, read.places())) << at;
    std::ofstream(path, std::ios::binary) << whole.substr(0, at);
    EXPECT_TRUE(numbers(store()).empty()) << at;
    std::ofstream(path, std::ios::binary) << whole + std::string(at + 1, '\0');
    EXPECT_TRUE(numbers(store()).empty()) << at;
  }
  std::ofstream(path, std::ios::binary) << whole;
  EXPECT_EQ(numbers(store()), (std::vector<std::int64_t>{1}));
}

TEST_F(StateStoreTest, GoesOnFromTheOlderOneIfTheNewerIsDamaged) {
  StateStore to = store();
  save(to, 1), save(to, 2);
  fs::resize_file(folder / "state-0.1", 1000);
  EXPECT_EQ(numbers(store()), (std::vector<std::int64_t>{1}));
  StateStore again = store();
  save(again, 2); // into the place of the damaged one
  EXPECT_EQ(numbers(store()), (std::vector<std::int64_t>{1, 2}));
}

TEST_F(StateStoreTest, RefusesOldGenerationsAndOtherShapes) {
  StateStore to = store();
  save(to, 3);
  const StateOfTest state(3);
  for (const std::int64_t old : {3, 2}) EXPECT_FALSE(to.save(old, state.arrays()));
  std::vector<std::byte> other(7);
  const auto error_of = [&](const ArrayPlace& place) {
    return store().load(3, std::span(&place, 1)).error().sentence();
  };
  EXPECT_NE(error_of({"field", other}).find("must have 7 bytes: it has 3000000"), std::string::npos);
  EXPECT_NE(error_of({"momentum", other}).find("has no array momentum"), std::string::npos);
  EXPECT_NE(store().load(2, {}).error().sentence().find("has no generation 2"), std::string::npos);
  EXPECT_TRUE(store().load(3, {})); // arrays may be left out, and are verified nevertheless
}

TEST_F(StateStoreTest, RemovesItsFilesAlone) {
  StateStore to = store(), other = store(10);
  save(to, 1), save(to, 2), save(other, 1);
  std::ofstream(folder / "state-0.new") << "left by a kill";
  std::ofstream(folder / "state-0.txt") << "of the user";
  ASSERT_TRUE(to.remove());
  EXPECT_EQ(files(), (std::vector<std::string>{"state-0.txt", "state-10.0"}));
  save(to, 1);
}

TEST_F(StateStoreTest, AMissingFolderIsOneSentence) {
  const auto opened = StateStore::open((folder / "none").string(), "state", 0);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().sentence().find("No such file or directory; make the folder first"), std::string::npos);
}

} // namespace
} // namespace kumihimo::saved_state
