// The file of wisdom, whatever its problems: what is no such file is refused in a sentence that says what it is.
#include "problem/wisdom_file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace kumihimo::problem {
namespace {

const WisdomPlace here{{"Xeon", 2}, {{"compiler", "compiler", "cc 1"}}};

std::string complaint(std::string_view text) {
  const Result<WisdomFile> file = WisdomFile::parse(text, here);
  return file ? "none" : file.error().sentence();
}

TEST(WisdomFile, ReadsTheFieldsThatAllProblemsShare) {
  const Result<WisdomFile> file = WisdomFile::parse(R"({"kumihimo_wisdom": 1, "compiler": "cc 1", "choices": [
    {"toy": "sort", "variant": "merge", "from_bytes": 8, "to_bytes": 64, "ratio_high": 0.5, "parameters": {"way": 4}},
    {"toy": "sort", "simulated": true}]})",
                                                    here);
  ASSERT_TRUE(file) << file.error().sentence();
  ASSERT_EQ(file->entries().size(), 2u);
  const Entry& entry = file->entries()[0];
  EXPECT_TRUE(entry.has("toy") && !entry.has("collective"));
  EXPECT_EQ(*entry.word("variant"), "merge");
  EXPECT_EQ(*entry.sizes(), (SizeRange{8, 64}));
  EXPECT_EQ(*entry.ratio_high(), 0.5);
  EXPECT_EQ((*entry.parameters())["way"], 4);
  EXPECT_TRUE(entry.is_measured());
  EXPECT_FALSE(file->entries()[1].is_measured());
  EXPECT_EQ(*file->entries()[1].sizes(), SizeRange{});
  EXPECT_EQ(file->entries()[1].word("variant").error().sentence(), "choice 2: variant is missing; tune again");
}

TEST(WisdomFile, FoundByItselfHoldsMeasuredChoicesAlone) {
  const std::string text = R"({"kumihimo_wisdom": 1, "choices": [{"simulated": true}, {}, {"emulated": true}]})";
  EXPECT_EQ(WisdomFile::parse(text, here)->entries().size(), 3u);
  EXPECT_EQ(WisdomFile::parse(text, here, WisdomOrigin::by_itself)->entries().size(), 1u);
}

TEST(WisdomFile, OtherThingsAreNamedAsWhatTheyAre) {
  const std::string expected = "a wisdom file is a JSON object that kumihimo tune writes (got ";
  const std::pair<std::string, std::string> cases[] = {{"", "an empty file"},
                                                       {"[]", "a JSON list"},
                                                       {"3", "a JSON number"},
                                                       {"null", "null"},
                                                       {"\"text\"", "a JSON string"},
                                                       {"{\"kumihimo_wisdom\": 1", "text that is not whole JSON"},
                                                       {"\xff\xfe", "text that is not whole JSON"},
                                                       {"{\"a\": \"\xff\"}", "text that is not whole JSON"}};
  for (const auto& [text, found] : cases) EXPECT_EQ(complaint(text), expected + found + "); tune again") << text;
  const std::string deep = R"({"kumihimo_wisdom": 1, "choices": )" + std::string(100'000, '[') + "}";
  EXPECT_EQ(complaint(deep), expected + "JSON of more than 16 levels); tune again");
  EXPECT_EQ(complaint("{}"), "the wisdom file must have version 1 (got none); tune again with this kumihimo");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1})"), "choices in the wisdom file must be a list (got none); tune again");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "choices": {}})"),
            "choices in the wisdom file must be a list (got a JSON object); tune again");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "choices": [[]]})"), "choice 1 must be an object (got [])");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "machine": 5, "choices": []})"),
            "machine in the wisdom file must be an object (got 5)");
}

TEST(WisdomFile, OfOtherMachinesAndSoftwareIsRefused) {
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "machine": {"processor": "Xeon", "processors": 4}, "choices": []})"),
            "the wisdom is not of this machine, Xeon, 2 processors (got Xeon, 4 processors); run kumihimo tune here");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "compiler": "cc 2", "choices": []})"),
            "the wisdom is not of this compiler, cc 1 (got cc 2); run kumihimo tune with it");
  EXPECT_EQ(complaint(R"({"kumihimo_wisdom": 1, "compiler": null, "mpi": "any", "choices": []})"), "none");
}

class WisdomFileFound : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string complaint_about(const std::filesystem::path& path) {
    const Result<WisdomText> found = find_wisdom(path.string(), here.machine, "kernels");
    return found ? "none" : found.error().sentence();
  }
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) /
      (std::string("wisdom_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(WisdomFileFound, IsTheNamedFileOrThatOfTheMachineInAFolder) {
  const std::filesystem::path path = folder / wisdom_file_name(here.machine, "kernels");
  EXPECT_EQ(find_wisdom(folder.string(), here.machine, "kernels")->path, "") << "the folder has no wisdom";
  std::ofstream(path) << "text\n";
  for (const auto& [named, how] : {std::pair{path, WisdomOrigin::named}, std::pair{folder, WisdomOrigin::by_itself}}) {
    const Result<WisdomText> found = find_wisdom(named.string(), here.machine, "kernels");
    ASSERT_TRUE(found) << found.error().sentence();
    EXPECT_EQ(found->path, path.string());
    EXPECT_EQ(found->text, "text\n");
    EXPECT_EQ(found->found, how);
  }
}

TEST_F(WisdomFileFound, IsPreferablyThatOfTheProgram) {
  const std::string name = wisdom_file_name(here.machine, "kernels");
  std::ofstream(folder / name) << "of all";
  const auto text = [&](std::string_view program) {
    return find_wisdom(folder.string(), here.machine, "kernels", program)->text;
  };
  EXPECT_EQ(text("pw.x-0a1b"), "of all");
  std::filesystem::create_directories(folder / "programs" / "pw.x-0a1b");
  std::ofstream(folder / "programs" / "pw.x-0a1b" / name) << "of one";
  EXPECT_EQ(text("pw.x-0a1b"), "of one");
  EXPECT_EQ(text("other"), "of all");
  EXPECT_EQ(text(""), "of all");
}

// A FIFO would block the process in MPI_Init, and a device be read for ever.
TEST_F(WisdomFileFound, WhatIsNoFileIsRefusedAndNotOpened) {
  const std::string fifo = (folder / "fifo").string(), loop = (folder / "loop").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::filesystem::create_symlink("loop", loop);
  const std::string start = "the wisdom file cannot be read (got ", end = "); run kumihimo tune first";
  EXPECT_EQ(complaint_about(fifo), start + "the FIFO '" + fifo + "'" + end);
  EXPECT_EQ(complaint_about("/dev/zero"), start + "the device '/dev/zero'" + end);
  EXPECT_EQ(complaint_about(folder / "none"), start + "no file '" + (folder / "none").string() + "'" + end);
  EXPECT_EQ(complaint_about(loop), start + "'" + loop + "': Too many levels of symbolic links" + end);
  const std::filesystem::path found = folder / wisdom_file_name(here.machine, "kernels");
  std::filesystem::create_symlink("fifo", found);
  EXPECT_EQ(complaint_about(folder), start + "the FIFO '" + found.string() + "'" + end);
}

TEST_F(WisdomFileFound, AFileThatIsTooLongForWisdomIsNotRead) {
  const std::string path = (folder / "long").string();
  std::ofstream(path).close();
  std::filesystem::resize_file(path, (64 << 20) + 1);
  EXPECT_EQ(complaint_about(path), "the wisdom file cannot be read (got '" + path +
                                       "', which is longer than 64 MiB); run kumihimo tune first");
}

} // namespace
} // namespace kumihimo::problem
