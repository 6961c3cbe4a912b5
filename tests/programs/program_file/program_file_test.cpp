#include "loopback/run_loopback.hpp"
#include "program_file/program_file.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace kumihimo {
namespace {

class ProgramFiles : public ::testing::Test {
 protected:
  std::string written(const std::string& text) {
    const auto path = std::filesystem::path(::testing::TempDir()) /
                      ("programs_" + std::to_string(::getpid()) + "_" + std::to_string(paths_.size()));
    std::ofstream(path) << text;
    paths_.push_back(path);
    return path.string();
  }
  Result<NamedPrograms> opened(const std::string& text) { return open_program_file(written(text)); }
  ~ProgramFiles() override {
    for (const auto& path : paths_) std::filesystem::remove(path);
  }
  std::vector<std::filesystem::path> paths_;
};

// Rank 0 and 1 swap halves, then rank 1 hands its own on to rank 2.
const std::string relay = R"(# three ranks
ranks 3
buffer 4

rank 1
together
  send 0 0 2
  receive 0 2 2
end
compute seconds 1e-6
send 2 0 2
expect 2 2 from 0 2
rank 0
together
  receive 1 0 2   # overwrites what was here
  send 1 2 2
end
expect 0 2 from 1 0
rank 2
lane 3
receive 1 0 2
expect 0 2 from 1 0
)";

verify::Report check(const NamedPrograms& p) { return verify::check(verify::Subject(p)); }

TEST_F(ProgramFiles, AreProvedAndRun) {
  const auto file = opened(relay);
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  const auto wrong_lane = check(*file);
  EXPECT_FALSE(wrong_lane.ok()) << "rank 2 receives on lane 3 what rank 1 sends on lane 0";
  std::string right = relay;
  right.erase(right.find("lane 3\n"), 7);
  const auto good = opened(right);
  EXPECT_TRUE(check(*good).ok()) << check(*good).text();
  std::vector<std::vector<double>> data{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  std::vector<execute::Buffers> buffers;
  for (auto& d : data) buffers.push_back({d.data(), d.data()});
  const auto ran = execute::run_loopback(good->set, buffers, {}, {}, {});
  ASSERT_TRUE(ran.ok()) << ran.error().sentence();
  EXPECT_EQ(data[0], (std::vector<double>{5, 6, 3, 4}));
  EXPECT_EQ(data[1], (std::vector<double>{5, 6, 3, 4}));
  EXPECT_EQ(data[2], (std::vector<double>{5, 6, 11, 12}));
}

TEST_F(ProgramFiles, FaultsAreFound) {
  const std::string head = "ranks 2\nbuffer 4\n";
  const auto finding = [&](const std::string& rest) {
    const auto file = opened(head + rest);
    EXPECT_TRUE(file.ok()) << file.error().sentence();
    const verify::Report report = check(*file);
    EXPECT_FALSE(report.ok()) << rest;
    return report.ok() ? verify::Check::claim : report.findings[0].check;
  };
  EXPECT_EQ(finding("rank 0\nsend 1 0 2\nreceive 1 2 2\nrank 1\nsend 0 0 2\nreceive 0 2 2\n"), verify::Check::deadlock);
  EXPECT_EQ(finding("rank 0\nsend 1 0 2\nrank 1\n"), verify::Check::matching);
  EXPECT_EQ(finding("rank 0\nsend 1 0 2\nrank 1\nreceive 0 0 3\n"), verify::Check::matching);
  EXPECT_EQ(finding("rank 0\nsend 1 0 2\nrank 1\nreceive 0 0 2\nexpect 0 2 from 0 1\n"), verify::Check::dataflow);
  EXPECT_EQ(
      finding("rank 0\ntogether\nsend 1 0 2\nsend 1 2 2\nend\nrank 1\ntogether\nreceive 0 0 2\nreceive 0 1 2\nend\n"),
      verify::Check::overlap);
}

TEST_F(ProgramFiles, ErrorsNameTheLine) {
  const auto error = [&](const std::string& text) {
    const auto file = opened(text);
    EXPECT_FALSE(file.ok()) << text;
    return file.ok() ? std::string() : file.error().sentence();
  };
  const std::string head = "ranks 2\nbuffer 4\nrank 0\n";
  for (const auto& [line, what] :
       std::vector<std::pair<std::string, std::string>>{{"sned 1 0 2", "'sned'"},
                                                        {"send 2 0 2", "not a rank below 2"},
                                                        {"send 1 3 2", "4 elements"},
                                                        {"send 1 0", "PEER FIRST COUNT"},
                                                        {"send 1 0 2x", "4 elements"},
                                                        {"end", "'together'"},
                                                        {"compute", "seconds"},
                                                        {"compute seconds -1", "seconds"},
                                                        {"compute seconds 1e300", "from 0 to 1e+06"},
                                                        {"compute seconds nan", "from 0 to 1e+06"},
                                                        {"compute flops 1e19", "from 0 to 1e+18"},
                                                        {"compute seconds 1 seconds 2", "'seconds' twice"},
                                                        {"compute minutes 1", "'minutes'"},
                                                        {"rank 0", "already"},
                                                        {"rank 7", "below 2"},
                                                        {"ranks 3", "once"},
                                                        {"expect 0 2 of 1 0", "from RANK"},
                                                        {"expect 0 2 from 1 3", "position 3"},
                                                        {"lane -1", "lane"}}) {
    const std::string found = error(head + line + "\n");
    EXPECT_NE(found.find("line 4"), std::string::npos) << found;
    EXPECT_NE(found.find(what), std::string::npos) << found;
    EXPECT_NE(found.find("(got '" + line + "')"), std::string::npos) << found;
  }
  EXPECT_NE(error("rank 0\n").find("line 1"), std::string::npos);
  for (const char* number : {"0", "-1", "2x", "3000000000"})
    EXPECT_NE(error("ranks " + std::string(number) + "\n").find("'ranks' takes one number from 1 to 2147483647"),
              std::string::npos)
        << number;
  for (const char* number : {"0", "2000000000000", "1e3"})
    EXPECT_NE(error("ranks 2\nbuffer " + std::string(number) + "\n").find("from 1 to 1099511627776"), std::string::npos)
        << number;
  EXPECT_NE(error("ranks 2\nranks 2\nbuffer 4\n").find("line 2: 'ranks' must come once"), std::string::npos);
  EXPECT_NE(error("").find("ranks N"), std::string::npos);
  EXPECT_NE(error(head + "together\nsend 1 0 1\n").find("'end'"), std::string::npos);
  EXPECT_FALSE(open_program_file("/no/such/file").ok());
}

// Files are read again for each rank: another content, even of the same length, must not pass for the first.
TEST_F(ProgramFiles, AChangeIsFound) {
  const std::string path = written(relay);
  const auto file = open_program_file(path);
  ASSERT_TRUE(file.ok() && file->unchanged().ok());
  std::ofstream(path) << relay << "# more\n";
  EXPECT_FALSE(file->unchanged().ok());
  std::filesystem::remove(path);
  EXPECT_FALSE(file->unchanged().ok());
}

TEST_F(ProgramFiles, AByteOrderMarkIsSkipped) {
  const auto file = opened("\xef\xbb\xbf" + relay);
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  const auto plain = opened(relay);
  for (std::int32_t r = 0; r < 3; ++r) EXPECT_TRUE(file->set.program(Rank{r}) == plain->set.program(Rank{r}));
}

// Nanoseconds of a step fit in 64 bits.
TEST_F(ProgramFiles, StepsOfMoreThanTheBoundAreNotRun) {
  const auto file = opened("ranks 2\nbuffer 1\nrank 0\ncompute flops 1e18\n");
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  EXPECT_TRUE(execute::compile(file->set, Rank{0}, {.rates = {.flops = 1e15}}).ok());
  const auto slow = execute::compile(file->set, Rank{0}, {.rates = {.flops = 1e3}});
  ASSERT_FALSE(slow.ok());
  EXPECT_NE(slow.error().sentence().find("1e+15 s, more than 1e+06"), std::string::npos) << slow.error().sentence();
}

// Memory is one rank's: the section of each is read where it begins, whatever the others have.
TEST_F(ProgramFiles, EachRankIsReadByItself) {
  std::string text = "ranks 50\nbuffer 10\n";
  for (int r = 49; r >= 0; --r) {
    text += "rank " + std::to_string(r) + "\n";
    for (int i = 0; i <= r; ++i) text += "compute seconds " + std::to_string(r) + "\n";
  }
  const auto file = opened(text);
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  for (const std::int32_t r : {0, 7, 49}) {
    const Program p = file->set.program(Rank{r});
    ASSERT_EQ(p.lanes.size(), 1u);
    ASSERT_EQ(p.lanes[0].body.size(), static_cast<std::size_t>(r) + 1);
    EXPECT_EQ(std::get<Round>(p.lanes[0].body[0]).steps[0].work.seconds, r);
  }
}

// A random file: every form of line, with and without an end of the last.
std::string random_file(std::mt19937& random, std::int32_t ranks) {
  const auto below = [&](std::uint32_t n) { return random() % n; };
  std::string text = "ranks " + std::to_string(ranks) + "\nbuffer 50\n";
  for (std::int32_t r = 0; r < ranks; ++r) {
    if (below(8) == 0) continue;
    text += "rank " + std::to_string(r) + "\n";
    bool open = false;
    for (std::uint32_t line = below(60); line > 0; --line) {
      const std::string peer = std::to_string((r + 1) % ranks);
      switch (below(8)) {
      case 0: text += open ? "end\n" : "together\n", open = !open; break;
      case 1: text += open ? "" : "lane " + std::to_string(below(5) * 15) + "\n"; break;
      case 2: text += below(2) == 0 ? "# a comment\n" : "\n"; break;
      case 3: text += "compute seconds " + std::to_string(below(100)) + "   # why\n"; break;
      case 4: text += open ? "" : "expect 0 1 from 0 0\n"; break;
      case 5: text += "receive " + peer + " 0 " + std::to_string(1 + below(50)) + "\n"; break;
      default: text += "  send " + peer + " " + std::to_string(below(25)) + " 3\n"; break;
      }
    }
    if (open) text += "end\n";
  }
  if (below(2) == 0) text.pop_back();
  return text;
}

// The program, made of pieces of about so many steps.
Program from_pieces(const RoundReader& reader, Rank rank, std::int64_t steps) {
  Program program = reader.outline(rank);
  for (Lane& lane : program.lanes) {
    EXPECT_TRUE(lane.body.empty());
    std::optional<std::int64_t> position = 0;
    while (position) {
      RoundPiece piece = reader.piece(rank, lane.id, *position, steps);
      std::int64_t read = 0;
      for (Round& round : piece.rounds) {
        EXPECT_LT(read, steps) << "more rounds than were asked for";
        read += std::max<std::int64_t>(1, static_cast<std::int64_t>(round.steps.size()));
        lane.body.emplace_back(std::move(round));
      }
      EXPECT_TRUE(read >= steps || !piece.next) << "fewer steps than were asked for";
      position = piece.next;
    }
  }
  return program;
}

TEST_F(ProgramFiles, PiecesMakeTheProgram) {
  std::mt19937 random(3);
  constexpr std::int32_t ranks = 4;
  for (int i = 0; i < 50; ++i) {
    const std::string text = random_file(random, ranks);
    const auto file = opened(text);
    ASSERT_TRUE(file.ok()) << file.error().sentence() << "\n" << text;
    for (std::int32_t r = 0; r < ranks; ++r) {
      const Program whole = file->set.program(Rank{r});
      std::int64_t steps_of_all = 0;
      for (const Lane& lane : whole.lanes)
        for (const auto& item : lane.body)
          steps_of_all += std::max<std::int64_t>(1, static_cast<std::int64_t>(std::get<Round>(item).steps.size()));
      EXPECT_EQ(file->set.reader->steps(Rank{r}), steps_of_all) << "rank " << r << " of\n" << text;
      for (const std::int64_t steps : {1, 2, 7, 1000})
        EXPECT_TRUE(from_pieces(*file->set.reader, Rank{r}, steps) == whole)
            << "rank " << r << ", " << steps << " steps at a time of\n"
            << text;
    }
  }
}

// The number of ranks costs no memory, only sections do.
TEST_F(ProgramFiles, RanksWithoutASectionTakeNoMemory) {
  const auto file = opened("ranks 2147483647\nbuffer 1\nrank 2147483646\ncompute seconds 1\n");
  ASSERT_TRUE(file.ok()) << file.error().sentence();
  EXPECT_LT(file->set.shared_bytes, 1000);
  EXPECT_TRUE(file->set.program(Rank{0}).lanes.empty());
  EXPECT_EQ(file->set.program(Rank{2147483646}).lanes.size(), 1u);
}

} // namespace
} // namespace kumihimo
