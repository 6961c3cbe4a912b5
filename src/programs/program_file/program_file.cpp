#include "program_file/program_file.hpp"

#include "base/text_parsing.hpp"
#include "program/builder.hpp"
#include "program/computing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

namespace kumihimo {
namespace fs = std::filesystem;
namespace {

struct ProgramFileHead {
  std::int32_t ranks = 0;
  std::int64_t elements = 0; // of each rank's buffer
  bool is_whole() const { return ranks > 0 && elements > 0; }
};

constexpr std::int32_t most_lanes = 64;
using LaneMask = std::uint64_t; // bit L: lane L
constexpr LaneMask all_lanes = ~LaneMask{0};
constexpr LaneMask mask_of(std::int32_t lane) { return LaneMask{1} << lane; }

// One rank's section, or a part of it, as it is read line by line.
struct Section {
  // Keeps the steps of some lanes, and only checks those of others. `lane`: of the first step.
  explicit Section(const ProgramFileHead& head, LaneMask kept = all_lanes, std::int32_t lane = 0)
      : head_(head), kept_(kept), lane_(lane) {}

  // Error in a line, if it has one.
  std::optional<std::string> add(std::string_view word, const std::vector<std::string_view>& rest) {
    if (word == "lane") return lane(rest);
    if (word == "together" || word == "end") return group(word == "together", rest);
    if (word == "expect") return expect(rest);
    if (word == "send" || word == "receive") return message(word == "send", rest);
    if (word == "compute") return work(rest);
    return fmt::format("unknown word '{}': use send, receive, compute, together, end, lane, expect or rank", word);
  }
  std::optional<std::string> finish() {
    if (open_) return "'end' is missing after the steps of 'together'";
    return std::nullopt;
  }
  Program program() {
    ProgramBuilder program;
    for (auto& [id, rounds] : lanes_) {
      LaneBuilder lane(LaneId{id}, "", 1);
      for (std::vector<Step>& steps : rounds) lane.round(std::move(steps));
      program.add(std::move(lane));
    }
    return program.finish();
  }

  std::vector<Round> take_rounds(LaneId lane) {
    std::vector<Round> rounds;
    for (std::vector<Step>& steps : lanes_[lane.value]) rounds.push_back({std::move(steps), 0});
    return rounds;
  }
  bool keeps_lane() const { return (kept_ & mask_of(lane_)) != 0; }
  std::int32_t current_lane() const { return lane_; }
  std::int64_t steps() const { return steps_; } // that were added, kept or not; a round without steps counts as one
  bool is_between_rounds() const { return !open_; }

  std::vector<ElementOrigin> expected;

 private:
  using Words = std::vector<std::string_view>;

  bool read_rank(std::string_view text, std::int32_t& rank) const {
    return read_number(text, rank) && rank >= 0 && rank < head_.ranks;
  }
  bool read_range(std::string_view first_text, std::string_view count_text, std::int64_t& first,
                  std::int64_t& count) const {
    return read_number(first_text, first) && read_number(count_text, count) && first >= 0 && count >= 1 &&
           first <= head_.elements && count <= head_.elements - first;
  }
  std::string no_range(const Words& words) const {
    return fmt::format("'{}' must be FIRST COUNT within the buffer's {} elements", fmt::join(words, " "),
                       head_.elements);
  }

  std::optional<std::string> lane(const Words& rest) {
    std::int32_t id = 0;
    if (open_) return "a lane begins within 'together': write 'end' first";
    if (rest.size() != 1 || !read_number(rest[0], id) || id < 0 || id >= most_lanes)
      return fmt::format("a lane is a number from 0 to {}", most_lanes - 1);
    lane_ = id;
    return std::nullopt;
  }
  std::optional<std::string> group(bool begins, const Words& rest) {
    if (!rest.empty()) return "'together' and 'end' take no arguments";
    if (begins == open_) return begins ? "'together' within 'together': write 'end' first" : "'end' without 'together'";
    open_ = begins;
    if (begins)
      begin_round(), before_group_ = steps_;
    else if (steps_ == before_group_)
      ++steps_;
    return std::nullopt;
  }
  std::optional<std::string> expect(const Words& rest) {
    ElementOrigin e;
    const bool shaped = rest.size() == 5 && rest[2] == "from";
    if (!shaped || !read_rank(rest[3], e.rank) || !read_number(rest[4], e.position))
      return fmt::format("an expectation is FIRST COUNT from RANK POSITION, the rank below {}", head_.ranks);
    if (!read_range(rest[0], rest[1], e.first, e.count)) return no_range({rest[0], rest[1]});
    if (e.position < 0 || e.position > head_.elements - e.count)
      return fmt::format("position {} must leave room for {} elements in the buffer of {}", e.position, e.count,
                         head_.elements);
    expected.push_back(e);
    return std::nullopt;
  }
  std::optional<std::string> message(bool sends, const Words& rest) {
    std::int32_t peer = 0;
    std::int64_t first = 0, count = 0;
    if (rest.size() != 3) return "a message is PEER FIRST COUNT";
    if (!read_rank(rest[0], peer)) return fmt::format("'{}' is not a rank below {}", rest[0], head_.ranks);
    if (!read_range(rest[1], rest[2], first, count)) return no_range({rest[1], rest[2]});
    const Extent elements = parts(first, count, head_.elements);
    add(sends ? send(peer, in[elements]) : receive(peer, out[elements]));
    return std::nullopt;
  }
  std::optional<std::string> work(const Words& rest) {
    Work w;
    if (rest.empty() || rest.size() % 2 != 0) return "a compute step is any of seconds S, flops F, bytes B";
    for (std::size_t i = 0; i < rest.size(); i += 2) {
      const auto [value, most] = rest[i] == "seconds" ? std::pair{&w.seconds, most_compute_seconds}
                                 : rest[i] == "flops" ? std::pair{&w.flops, most_compute_flops}
                                 : rest[i] == "bytes" ? std::pair{&w.bytes, most_compute_bytes}
                                                      : std::pair<double*, double>{};
      if (!value) return fmt::format("'{}' is not part of a compute step: use seconds, flops or bytes", rest[i]);
      if (std::find(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(i), rest[i]) !=
          rest.begin() + static_cast<std::ptrdiff_t>(i))
        return fmt::format("a compute step has '{}' twice: leave one out", rest[i]);
      if (!read_number(rest[i + 1], *value) || !(*value >= 0 && *value <= most))
        return fmt::format("'{} {}' must be a number from 0 to {:g}", rest[i], rest[i + 1], most);
    }
    add(compute(w));
    return std::nullopt;
  }
  void begin_round() {
    if (keeps_lane()) lanes_[lane_].emplace_back();
  }
  void add(Step step) {
    if (!open_) begin_round();
    if (keeps_lane()) lanes_[lane_].back().push_back(std::move(step));
    ++steps_;
  }

  const ProgramFileHead& head_;
  LaneMask kept_;
  std::int32_t lane_;
  std::int64_t steps_ = 0, before_group_ = 0;
  bool open_ = false; // steps start together
  std::map<std::int32_t, std::vector<std::vector<Step>>> lanes_;
};

std::vector<std::string_view> words_before_comment(std::string_view line) {
  return words_of(line.substr(0, line.find('#')));
}

// Identity of a file's content, without reading it.
struct FileIdentity {
  std::uintmax_t bytes = 0;
  fs::file_time_type written;
  bool operator==(const FileIdentity&) const = default;
};
std::optional<FileIdentity> stamp_of(const std::string& path) {
  std::error_code code;
  const FileIdentity stamp{fs::file_size(path, code), fs::last_write_time(path, code)};
  return code ? std::nullopt : std::optional(stamp);
}

struct FileIndex {
  std::string path;
  std::optional<FileIdentity> stamp; // when it was opened
  ProgramFileHead head;
  struct LanePlace {
    std::int32_t lane = 0;
    std::int64_t begin = 0, end = 0; // of its first step, behind its last; lines of other lanes may be between
  };
  struct Place {
    std::int64_t begin = 0; // of the lines of its section
    std::int64_t steps = 0;
    std::vector<LanePlace> lanes = {}; // that have steps, in order

    LanePlace& of(std::int32_t lane) {
      const auto at = std::lower_bound(lanes.begin(), lanes.end(), lane,
                                       [](const LanePlace& a, std::int32_t b) { return a.lane < b; });
      return at != lanes.end() && at->lane == lane ? *at : *lanes.insert(at, {lane, -1, -1});
    }
  };
  const Place* place_of(Rank rank) const {
    const auto at = places.find(rank.value);
    return at == places.end() ? nullptr : &at->second;
  }
  std::unordered_map<std::int32_t, Place> places; // of each rank that has a section
};

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::string_view first_word(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  return line.substr(0, std::min(line.find_first_of(blanks), line.find('#')));
}

// Lines of a section from `position` to `end`, until at least `steps` steps were added. Answers where the next line
// begins, or nothing at the end. A file that was changed since may give other steps: FileIndex::stamp tells.
std::optional<std::int64_t> read_section(const FileIndex& index, std::int64_t position, std::int64_t end,
                                         Section& section, std::int64_t steps) {
  std::ifstream file(index.path);
  if (!file.seekg(position)) return std::nullopt;
  for (std::string line; position < end && std::getline(file, line);) {
    position += static_cast<std::int64_t>(line.size()) + 1;
    const std::string_view word = first_word(line);
    if (word == "rank") break;
    if (word.empty() || (!section.keeps_lane() && word != "lane")) continue;
    std::vector<std::string_view> rest = words_before_comment(line);
    rest.erase(rest.begin());
    if (section.add(word, rest)) break;
    if (section.steps() >= steps && section.is_between_rounds() && position < end) return position;
  }
  return std::nullopt;
}

Section section_of(const FileIndex& index, Rank rank) {
  Section section(index.head);
  if (const FileIndex::Place* place = index.place_of(rank))
    read_section(index, place->begin, no_limit, section, no_limit);
  return section;
}

Program outline_of(const FileIndex& index, Rank rank) {
  Program program;
  if (const FileIndex::Place* place = index.place_of(rank))
    for (const FileIndex::LanePlace& lane : place->lanes) program.lanes.push_back({.id = LaneId{lane.lane}});
  return program;
}

// Positions are at lines of this lane, or behind one.
RoundPiece piece_of(const FileIndex& index, Rank rank, LaneId id, std::int64_t position, std::int64_t steps) {
  RoundPiece piece;
  const FileIndex::Place* place = index.place_of(rank);
  if (!place) return piece;
  for (const FileIndex::LanePlace& lane : place->lanes) {
    if (lane.lane != id.value) continue;
    Section section(index.head, mask_of(id.value), id.value);
    piece.next = read_section(index, position == 0 ? lane.begin : position, lane.end, section, steps);
    piece.rounds = section.take_rounds(id);
  }
  return piece;
}

class Scanner {
 public:
  explicit Scanner(std::string path) { index_->path = std::move(path); }

  Result<NamedPrograms> run() {
    if (Status s = check_regular(); !s) return s.error();
    index_->stamp = stamp_of(index_->path);
    std::ifstream file(index_->path);
    if (!file) return wrong_value("the program file cannot be opened", index_->path, "check the path");
    std::string line;
    for (std::int64_t at = 0; std::getline(file, line); at = file.tellg()) {
      ++number_;
      const std::int64_t end = file.eof() ? at + static_cast<std::int64_t>(line.size()) : std::int64_t{file.tellg()};
      if (line.size() > longest_line) return wrong("the line is too long");
      if (!is_utf8(line)) return wrong("the file must be UTF-8 text", {}, "save it as UTF-8");
      constexpr std::string_view byte_order_mark = "\xef\xbb\xbf"; // editors of Windows write one
      if (at == 0 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
      if (auto what = take(line, at, end)) return wrong(*what, line);
    }
    if (file.bad()) return wrong_value("the program file cannot be read to its end", index_->path, "check the path");
    ++number_;
    if (auto what = leave()) return wrong(*what);
    if (!index_->head.is_whole()) return wrong("the file must begin with 'ranks N' and 'buffer N'");
    return opened();
  }

 private:
  static constexpr std::size_t longest_line = 4096;
  static constexpr std::int64_t most_elements = std::int64_t{1} << 40;

  // The file is read again as its steps are needed, which a pipe or a device does not bear.
  Status check_regular() const {
    const std::string& path = index_->path;
    if (path.empty()) return missing("the path after file:", "write for example file:exchange.txt");
    std::error_code code;
    const fs::file_type type = fs::status(path, code).type();
    if (type == fs::file_type::regular) return Nothing{};
    if (type == fs::file_type::not_found || type == fs::file_type::none)
      return wrong_value("the program file cannot be opened", fmt::format("{}: {}", path, code.message()),
                         "check the path");
    return wrong_value("a program file must be a regular file, because it is read more than once",
                       fmt::format("{}, {}", path, type == fs::file_type::directory ? "a folder" : "a pipe or device"),
                       "write the programs to a file");
  }

  Error wrong(const std::string& what, std::string_view line = {}, std::string advice = {}) const {
    std::string found;
    if (!line.empty()) found = fmt::format("'{}'", fmt::join(words_before_comment(line), " "));
    return wrong_value(fmt::format("{}, line {}: {}", index_->path, number_, what), std::move(found),
                       std::move(advice));
  }

  // `at`, `next`: where this line begins, and the next one.
  std::optional<std::string> take(std::string_view line, std::int64_t at, std::int64_t next) {
    std::vector<std::string_view> words = words_before_comment(line);
    if (words.empty()) return std::nullopt;
    const std::string_view word = words[0];
    words.erase(words.begin());
    if (word == "ranks" || word == "buffer") return head(word, words);
    if (!index_->head.is_whole()) return "'ranks N' and 'buffer N' must come first";
    if (word == "rank") return enter(words, next);
    if (!section_) return "steps must follow a line 'rank R'";
    if (auto what = section_->add(word, words)) return what;
    if (word != "lane" && word != "expect") {
      FileIndex::LanePlace& lane = place_->of(section_->current_lane());
      if (lane.begin < 0) lane.begin = at;
      lane.end = next;
    }
    return std::nullopt;
  }

  std::optional<std::string> head(std::string_view word, const std::vector<std::string_view>& rest) {
    ProgramFileHead& h = index_->head;
    const bool ranks = word == "ranks";
    if (ranks ? h.ranks > 0 : h.elements > 0) return fmt::format("'{}' must come once, before the first rank", word);
    std::int64_t number = 0;
    const std::int64_t most = ranks ? std::numeric_limits<std::int32_t>::max() : most_elements;
    if (rest.size() != 1 || !read_number(rest[0], number) || number < 1 || number > most)
      return fmt::format("'{}' takes one number from 1 to {}", word, most);
    ranks ? void(h.ranks = static_cast<std::int32_t>(number)) : void(h.elements = number);
    return std::nullopt;
  }

  std::optional<std::string> enter(const std::vector<std::string_view>& rest, std::int64_t next) {
    if (auto what = leave()) return what;
    std::int32_t rank = 0;
    if (rest.size() != 1 || !read_number(rest[0], rank) || rank < 0 || rank >= index_->head.ranks)
      return fmt::format("a rank is a number below {}", index_->head.ranks);
    const auto [place, fresh] = index_->places.emplace(rank, FileIndex::Place{next});
    if (!fresh) return fmt::format("rank {} has a section already", rank);
    place_ = &place->second;
    section_.emplace(index_->head, LaneMask{0});
    return std::nullopt;
  }
  std::optional<std::string> leave() {
    if (!section_) return std::nullopt;
    place_->steps = section_->steps();
    return section_->finish();
  }

  NamedPrograms opened() const {
    NamedPrograms file;
    file.name = index_->path;
    file.set.data = one_buffer(index_->head.ranks, index_->head.elements);
    file.set.program = [index = index_](Rank rank) { return section_of(*index, rank).program(); };
    file.set.reader = RoundReader{
        .outline = [index = index_](Rank rank) { return outline_of(*index, rank); },
        .piece = [index = index_](Rank rank, LaneId lane, std::int64_t position,
                                  std::int64_t steps) { return piece_of(*index, rank, lane, position, steps); },
        .steps =
            [index = index_](Rank rank) {
              const FileIndex::Place* place = index->place_of(rank);
              return place ? place->steps : 0;
            },
    };
    std::size_t bytes = 0;
    for (const auto& [rank, place] : index_->places)
      bytes += sizeof rank + sizeof place + place.lanes.size() * sizeof place.lanes[0];
    file.set.shared_bytes = static_cast<std::int64_t>(bytes);
    file.origins = [index = index_](Rank rank) { return section_of(*index, rank).expected; };
    file.unchanged = [index = index_]() -> Status {
      if (index->stamp && stamp_of(index->path) == index->stamp) return Nothing{};
      return failed("the program file changed while it was read", index->path, "run the command again");
    };
    return file;
  }

  std::shared_ptr<FileIndex> index_ = std::make_shared<FileIndex>();
  std::optional<Section> section_;    // the one that is read
  FileIndex::Place* place_ = nullptr; // of it
  std::int64_t number_ = 0;
};

} // namespace

Result<NamedPrograms> open_program_file(const std::string& path) { return Scanner(path).run(); }

} // namespace kumihimo
