// The parsers on all that fuzzing has found, on the seeds, and on beginnings and damaged copies of both.
#include "fuzz/targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace kumihimo::fuzz {
namespace {

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> inputs(const FuzzTarget& target) {
  std::vector<std::string> found = {""};
  for (const std::string_view seed : target.seeds) {
    found.push_back(content(std::filesystem::path(KUMIHIMO_SEEDS) / seed));
    if (target.name == "map_file") // its first byte chooses the format
      for (char format = 0; format < 9; ++format)
        found.push_back(format + content(std::filesystem::path(KUMIHIMO_SEEDS) / seed));
  }
  const std::filesystem::path corpus = std::filesystem::path(KUMIHIMO_CORPUS) / target.name;
  if (std::filesystem::exists(corpus))
    for (const auto& each : std::filesystem::directory_iterator(corpus)) found.push_back(content(each.path()));
  return found;
}

class EveryParser : public testing::TestWithParam<FuzzTarget> {};

TEST_P(EveryParser, EndsOnWhatFuzzingFoundAndOnSeeds) {
  const std::vector<std::string> files = inputs(GetParam());
  EXPECT_GT(files.size(), 1u) << "neither a seed nor a corpus";
  for (const std::string& bytes : files) GetParam().run(bytes);
}

TEST_P(EveryParser, EndsOnBeginningsAndOnDamagedCopies) {
  std::mt19937 random(1);
  for (const std::string& bytes : inputs(GetParam())) {
    if (bytes.size() > 4096) continue;
    for (std::size_t cut = 0; cut < bytes.size(); cut += 1 + bytes.size() / 32) GetParam().run(bytes.substr(0, cut));
    for (int copy = 0; copy < 64 && !bytes.empty(); ++copy) {
      std::string damaged = bytes;
      for (int change = 0; change < 3; ++change) damaged[random() % damaged.size()] = static_cast<char>(random());
      GetParam().run(damaged);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryParser, testing::ValuesIn(all_targets().begin(), all_targets().end()),
                         [](const auto& each) { return std::string(each.param.name); });

} // namespace
} // namespace kumihimo::fuzz
