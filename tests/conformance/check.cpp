#include "check.hpp"

#include <fmt/format.h>

namespace conformance {

using namespace kumihimo;
using execute::LoopbackRun;

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard = untouched;

// A buffer between guards.
class Guarded {
 public:
  explicit Guarded(std::int64_t bytes) : store_(static_cast<std::size_t>(bytes) + 2 * guard_bytes, guard) {}
  std::byte* data() { return store_.data() + guard_bytes; }
  Buffer content() const { return {store_.begin() + guard_bytes, store_.end() - guard_bytes}; }
  void fill(const Buffer& content, std::int64_t at) { std::copy(content.begin(), content.end(), data() + at); }
  bool intact() const {
    const auto is_guard = [](std::byte b) { return b == guard; };
    return std::all_of(store_.begin(), store_.begin() + guard_bytes, is_guard) &&
           std::all_of(store_.end() - guard_bytes, store_.end(), is_guard);
  }

 private:
  Buffer store_;
};

struct RankMemory {
  Guarded input, output;
  bool aliased;
};

RankMemory lay_out(const PostCondition& wanted, const Problem& q, std::int32_t rank, const Buffer& input) {
  const std::int64_t size = q.collective.type_bytes, in = wanted.input_elements(rank),
                     out = wanted.output_elements(rank);
  const bool aliased = q.collective.aliased(Rank{rank});
  RankMemory m{Guarded(aliased ? 0 : in * size), Guarded((aliased ? std::max(in, out) : out) * size), aliased};
  if (!aliased)
    m.input.fill(input, 0);
  else if (!q.collective.kind->has_one_buffer() || rank == q.collective.root.value)
    m.output.fill(input, wanted.input_begin(rank) * size);
  return m;
}

} // namespace

Result<Answer> run_once(const Schedule& schedule, const Problem& q, const LoopbackRun& options) {
  const PostCondition wanted(q.collective);
  Answer answer;
  std::vector<RankMemory> memory;
  std::vector<execute::Buffers> buffers;
  for (std::int32_t r = 0; r < q.collective.ranks; ++r) {
    answer.inputs.push_back(q.arithmetic.draw(wanted.input_elements(r), q.seed * 1000 + static_cast<std::uint64_t>(r)));
    memory.push_back(lay_out(wanted, q, r, answer.inputs.back()));
  }
  for (RankMemory& m : memory) buffers.push_back({m.aliased ? nullptr : m.input.data(), m.output.data()});
  const auto report = execute::run_loopback(schedule, buffers, options, q.arithmetic.reduction());
  if (!report) return report.error();
  for (std::int32_t r = 0; r < q.collective.ranks; ++r) {
    const RankMemory& m = memory[static_cast<std::size_t>(r)];
    answer.outputs.push_back(m.output.content());
    if (!m.input.intact() || !m.output.intact()) return failed(fmt::format("rank {} writes outside its buffers", r));
    if (!m.aliased && m.input.content() != answer.inputs[static_cast<std::size_t>(r)])
      return failed(fmt::format("rank {} writes into its input", r));
    if (const auto wrong = wanted.wrong(q.arithmetic, answer.inputs, r, answer.outputs.back()))
      return failed(fmt::format("rank {} gets a wrong result of {}", r, name_of(q.collective.kind)), *wrong);
    if (q.collective.reduces() && !q.collective.has_root() && q.collective.kind->gives_all_the_same() &&
        answer.outputs.back() != answer.outputs[0])
      return failed("all ranks must get the same bits", fmt::format("others at rank {}", r));
  }
  return answer;
}

// Undisturbed, on threads; in other interleavings, which the seed draws; by puts into so few and so small slots that
// senders wait for credits. By turns, since threads on few processors spend their time in switches.
Result<Answer> check(const Schedule& schedule, const Problem& q) {
  const Result<Answer> plain = run_once(schedule, q, {});
  if (!plain) return plain;
  LoopbackRun disturbed;
  disturbed.by_turns = disturbed.delays = true;
  disturbed.seed = q.seed;
  disturbed.gathers = q.seed % 2;
  LoopbackRun by_puts = disturbed;
  const PostCondition wanted(q.collective);
  const std::int64_t vector_bytes =
      std::max(wanted.input_elements(0), wanted.output_elements(0)) * q.collective.type_bytes;
  by_puts.delays = q.seed % 2;
  by_puts.puts = {.slots = 1 + static_cast<std::int64_t>(q.seed % 3), .slot_bytes = 48 + vector_bytes / 8};
  for (const LoopbackRun& run : {disturbed, by_puts}) {
    const Result<Answer> other = run_once(schedule, q, run);
    if (!other) return other;
    for (std::int32_t r = 0; r < q.collective.ranks; ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (PostCondition(q.collective).output_elements(r) > 0 && plain->outputs[i] != other->outputs[i])
        return failed("every interleaving must give the same bits", fmt::format("others at rank {}", r));
    }
  }
  return plain;
}

} // namespace conformance
