#include "goal/text.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

namespace kumihimo::goal {
namespace {

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

class TextReader {
 public:
  TextReader(std::string_view text, std::string_view file) : rest_(text), file_(file) { take(rest_, "\xEF\xBB\xBF"); }

  Result<Graphs> graphs() {
    while (next_line())
      if (Status s = read_line(); !s) return located(place(), s.error());
    if (in_comment_) return located(place(), missing("the end of a comment, '*/',", "add it"));
    if (!graphs_) return located(place(), missing("num_ranks", "write it in the first line: num_ranks 2"));
    if (rank_) return located(place(), missing(fmt::format("the '}}' of rank {}", *rank_), "the file ends too early"));
    return *std::move(graphs_);
  }

 private:
  std::string place() const { // an empty file has no line
    return line_number_ == 0 ? std::string(file_) : fmt::format("{}:{}", file_, line_number_);
  }

  bool next_line() {
    if (rest_.empty()) return false;
    ++line_number_;
    line_ = take_until(rest_, '\n');
    if (in_comment_ || line_.find('/') != std::string_view::npos) line_ = without_comments();
    return true;
  }

  std::string_view without_comments() {
    kept_.clear();
    for (std::string_view text = line_; !text.empty();) {
      if (in_comment_) {
        const std::size_t end = text.find("*/");
        if (end == std::string_view::npos) break;
        in_comment_ = false;
        text.remove_prefix(end + 2);
        kept_ += ' ';
      } else if (take(text, "/*")) {
        in_comment_ = true;
      } else if (text.starts_with("//")) {
        break;
      } else {
        kept_ += text.front();
        text.remove_prefix(1);
      }
    }
    return kept_;
  }

  // The next word of names, or one other character; empty at the end of the line.
  std::string_view word() {
    const std::size_t begin = line_.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return line_ = {};
    line_.remove_prefix(begin);
    std::size_t length = line_.front() == '-' ? 1 : 0;
    while (length < line_.size() && is_name(line_[length])) ++length;
    const std::string_view found = line_.substr(0, std::max<std::size_t>(length, 1));
    line_.remove_prefix(found.size());
    return found;
  }
  static Error unexpected(std::string_view wanted, std::string_view found) {
    return wrong_value(fmt::format("the next word must be {}", wanted),
                       found.empty() ? "the end of the line" : fmt::format("'{}'", on_one_line(found)));
  }
  Status want(std::string_view wanted) {
    const std::string_view found = word();
    if (found != wanted) return unexpected(fmt::format("'{}'", wanted), found);
    return Nothing{};
  }
  Result<std::uint64_t> number(std::string_view what, std::uint64_t most, std::string_view found) {
    const auto value = number_in<std::uint64_t>(found);
    if (!value || *value > most)
      return wrong_value(fmt::format("{} must be a whole number from 0 to {}", what, most),
                         found.empty() ? "the end of the line" : fmt::format("'{}'", on_one_line(found)));
    return *value;
  }
  Result<std::uint64_t> number(std::string_view what, std::uint64_t most) { return number(what, most, word()); }

  Status read_line() {
    for (std::string_view first = word(); !first.empty(); first = word())
      if (Status s = read_from(first); !s) return s;
    return Nothing{};
  }

  // Of an operation or a dependency up to the end of the line.
  Status read_from(std::string_view first) {
    if (first == "num_ranks") {
      if (graphs_) return wrong_value("num_ranks must stand once", "a second one");
      const auto ranks = TRY(number("num_ranks", most_ranks));
      if (ranks == 0) return wrong_value("num_ranks must be 1 or more", 0);
      graphs_.emplace(static_cast<std::int32_t>(ranks));
      has_section_.resize(static_cast<std::size_t>(ranks));
    } else if (first == "rank") {
      if (Status s = begin_rank(); !s) return s;
    } else if (first == "}") {
      if (!rank_) return wrong_value("'}' must end the section of a rank", "no section to end");
      if (Status s = end_rank(); !s) return s;
    } else if (!rank_) {
      return unexpected("'num_ranks N' or 'rank R {'", first);
    } else {
      if (Status s = read_statement(first); !s) return s;
      if (const std::string_view more = word(); !more.empty()) return unexpected("the end of the line", more);
    }
    return Nothing{};
  }

  Status begin_rank() {
    if (!graphs_) return missing("num_ranks", "write it in the first line: num_ranks 2");
    if (rank_) return missing(fmt::format("the '}}' of rank {}", *rank_), "add it before the next rank");
    const auto rank = TRY(number("the rank", static_cast<std::uint64_t>(graphs_->ranks()) - 1));
    if (has_section_[rank]) return wrong_value("each rank must have one section", fmt::format("a second of {}", rank));
    has_section_[rank] = true;
    rank_ = static_cast<std::int32_t>(rank);
    builder_ = {};
    labels_.clear();
    lines_.clear();
    return want("{");
  }

  Status end_rank() {
    Graph graph = builder_.finish();
    if (const auto operation = in_cycle(graph)) {
      line_number_ = lines_[*operation];
      const std::string label = graph.label(*operation);
      return wrong_value(fmt::format("an operation of rank {} must not wait for itself", *rank_),
                         label.empty() ? "a circle" : fmt::format("'{}' in a circle", label),
                         "remove one of its 'requires'");
    }
    graphs_->set(*rank_, std::move(graph));
    rank_.reset();
    return Nothing{};
  }

  Status read_statement(std::string_view first) {
    if (first == "send" || first == "recv" || first == "calc") return read_operation(first, {});
    const std::string_view next = word();
    if (next == ":") {
      const auto [known, fresh] = labels_.try_emplace(std::string(first), static_cast<std::uint32_t>(builder_.size()));
      if (!fresh)
        return wrong_value(fmt::format("a label must name one operation of rank {}", *rank_),
                           fmt::format("'{}' as in line {}", first, lines_[known->second]));
      return read_operation(word(), first);
    }
    if (next != "requires" && next != "irequires")
      return unexpected(fmt::format("'send', 'recv', 'calc' or '{}: ', 'requires' or 'irequires'", first), next);
    const auto operation = TRY(operation_of(first));
    const auto on = TRY(operation_of(word()));
    next == "requires" ? builder_.after_end(operation, on) : builder_.after_start(operation, on);
    return Nothing{};
  }

  Result<std::uint32_t> operation_of(std::string_view label) {
    const auto found = labels_.find(std::string(label));
    if (found == labels_.end())
      return wrong_value(fmt::format("a label must stand in rank {} before it is required", *rank_),
                         fmt::format("'{}'", on_one_line(label)), "check its spelling");
    return found->second;
  }

  Status read_operation(std::string_view kind, std::string_view label) {
    GraphOperation operation;
    std::string_view option;
    if (kind == "calc") {
      operation.kind = Kind::calc;
      const auto time = TRY(number("the time in ns", most_nanoseconds));
      operation.size = picoseconds * time;
      option = word();
    } else if (kind == "send" || kind == "recv") {
      const bool sends = kind == "send";
      operation.kind = sends ? Kind::send : Kind::receive;
      std::string_view bytes = word();
      if (bytes.ends_with('b'))
        bytes.remove_suffix(1);
      else if (Status s = want("b"); !s)
        return s;
      operation.size = TRY(number("the number of bytes", most_message_bytes, bytes));
      if (Status s = want(sends ? "to" : "from"); !s) return s;
      const std::string_view peer = word();
      if (sends || peer != "-1") {
        const auto other = TRY(number("the rank", static_cast<std::uint64_t>(graphs_->ranks()) - 1, peer));
        operation.peer = graphs_->distance(*rank_, static_cast<std::int32_t>(other));
      }
      option = word();
      if (option == "tag") {
        const std::string_view tag = word();
        operation.tag = any_tag;
        if (tag != "-1") {
          const auto value = TRY(number("the tag", std::numeric_limits<std::uint64_t>::max(), tag));
          operation.tag = static_cast<std::uint32_t>(value);
        }
        option = word();
      }
    } else {
      return unexpected("'send', 'recv' or 'calc'", kind);
    }
    for (; option == "cpu" || option == "nic"; option = word()) {
      auto& number_of = option == "cpu" ? operation.cpu : operation.nic;
      const auto value = TRY(number(option, 255));
      number_of = static_cast<std::uint8_t>(value);
    }
    if (!option.empty()) return unexpected("'tag', 'cpu', 'nic' or the end of the line", option);
    builder_.add(operation, label);
    lines_.push_back(line_number_);
    return Nothing{};
  }

  std::string_view rest_, file_, line_;
  std::string kept_; // of a line with comments
  bool in_comment_ = false;
  std::int64_t line_number_ = 0;
  std::optional<Graphs> graphs_;
  std::vector<bool> has_section_;
  std::optional<std::int32_t> rank_; // whose section it is
  GraphBuilder builder_;
  std::unordered_map<std::string, std::uint32_t> labels_;
  std::vector<std::int64_t> lines_; // of operations
};

} // namespace

Result<Graphs> parse_text(std::string_view text, std::string_view file) { return TextReader(text, file).graphs(); }

std::string text_of(const Graphs& graphs) {
  std::string text = fmt::format("num_ranks {}\n", graphs.ranks());
  const auto out = std::back_inserter(text);
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
    fmt::format_to(out, "\nrank {} {{\n", rank);
    const Graph& graph = graphs.of(rank);
    const bool labelled = !graph.labels.empty() &&
                          std::none_of(graph.labels.begin(), graph.labels.end(), std::mem_fn(&std::string::empty));
    const auto label = [&](std::uint32_t i) { return labelled ? graph.labels[i] : fmt::format("l{}", i + 1); };
    for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
      const GraphOperation& each = graph.operations[i];
      fmt::format_to(out, "{}: ", label(i));
      if (each.kind == Kind::calc || each.kind == Kind::join) {
        fmt::format_to(out, "calc {} cpu {}\n", each.size / picoseconds, each.cpu);
        continue;
      }
      const bool sends = each.kind == Kind::send;
      fmt::format_to(out, "{} {}b {} {} tag {} cpu {} nic {}\n", sends ? "send" : "recv", each.size,
                     sends ? "to" : "from", graphs.peer(rank, each.peer),
                     each.tag == any_tag ? "-1" : std::to_string(each.tag), each.cpu, each.nic);
    }
    for (std::uint32_t i = 0; i < graph.operations.size(); ++i) {
      const GraphOperation& each = graph.operations[i];
      for (std::uint32_t d = 0; d < each.after_end + each.after_start; ++d)
        fmt::format_to(out, "{} {} {}\n", label(graph.dependents[each.first + d]),
                       d < each.after_end ? "requires" : "irequires", label(i));
    }
    text += "}\n";
  }
  return text;
}

} // namespace kumihimo::goal
