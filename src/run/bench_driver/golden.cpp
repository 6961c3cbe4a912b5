#include "bench_driver/golden.hpp"

#include "bench_driver/memory.hpp"
#include "kernels/reduce.hpp"
#include "program/binding.hpp"
#include "transport/message.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace kumihimo::bench_driver {
namespace {

struct PlannedRound;

// Rounds of which one follows the other.
struct Strand {
  std::vector<PlannedRound> rounds;
  std::size_t next = 0; // round
  std::size_t step = 0; // of it, among those that receive; all others are done first or last
  bool sent = false;
};

// A round with the values of its loops' variables, or strands that start together.
struct PlannedRound {
  const Round* round = nullptr; // null: `together`
  LoopValues values{};
  std::vector<Strand> together;
};

// From, to, lane, segment, signal: messages of one of these are received in the order in which they were sent.
using Stream = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int64_t, bool>;
using Mail = std::map<Stream, std::deque<Vector>>;

// One lane of one rank: a thread that does one round after the other, segment by segment. Of what starts together it
// does each strand as far as the mail allows.
struct Thread {
  const Lane* lane = nullptr;
  Strand strand;            // of the current segment
  std::int64_t segment = 0; // those before it are complete
};

class Process {
 public:
  Process(const ProgramSet& set, Rank rank, const Vector& input, const Combine& combine, bool in_place_safe)
      : rank_(rank), program_(set.program(rank)), binding_(set, rank), memory_(memory_of(set, rank)), combine_(combine),
        bytes_(set.data->type_bytes), count_(set.segments.count) {
    const auto size = [&](std::int64_t elements) { return static_cast<std::size_t>(elements * bytes_); };
    input_ = input;
    output_.resize(static_cast<std::size_t>(memory_.aliased ? memory_.shared_bytes : memory_.output_bytes), untouched);
    if (memory_.aliased) std::copy(input.begin(), input.end(), output_.begin() + memory_.input_at);
    one_memory_ = memory_.aliased && in_place_safe;
    for (const Scratch& s : program_.scratch) scratch_.emplace_back(size(binding_.scratch_elements(s, copies(s))));
    for (const Lane& lane : program_.lanes) threads_.push_back({&lane, {}, 0});
  }

  // Goes on with every lane as far as the mail allows. True if anything was done.
  bool advance(Mail& mail) {
    const std::int64_t before = done_;
    for (Thread& t : threads_)
      while (t.segment < count_ && advance(t, mail)) {
      }
    return done_ != before;
  }
  bool strays() const { return strays_; } // outside of a buffer
  bool offloads() const { return offloads_; }
  bool done() const {
    return std::all_of(threads_.begin(), threads_.end(), [&](const Thread& t) { return t.segment == count_; });
  }
  Vector take_output() {
    if (!memory_.aliased) return std::move(output_);
    const auto begin = output_.begin() + memory_.output_at;
    return {begin, begin + memory_.output_bytes};
  }

 private:
  // A scratch buffer shared between lanes has a copy for every segment here, so that none is ever waited for.
  std::int64_t copies(const Scratch& s) const { return s.shared ? count_ : 1; }

  bool may_begin(const Thread& t) const {
    for (const After& rule : t.lane->after)
      for (const LaneId id : rule.lanes)
        for (const Thread& other : threads_)
          if (other.lane->id == id && other.segment < (rule.scope == Scope::all ? count_ : t.segment + 1)) return false;
    return true;
  }

  bool advance(Thread& t, Mail& mail) {
    if (t.strand.rounds.empty()) {
      if (!may_begin(t)) return false;
      LoopValues values{};
      values[0] = t.segment;
      for (const Node& node : t.lane->body) plan(node, values, 1, t.strand);
    }
    if (!finish(t, t.strand, mail)) return false;
    t.strand = Strand();
    ++t.segment;
    ++done_;
    return true;
  }

  // Appends the rounds of a node, which must outlive the strand.
  static void plan(const Node& node, LoopValues& values, std::size_t depth, Strand& strand) {
    PlannedRound planned;
    if (const Round* const round = std::get_if<Round>(&node)) {
      planned.round = round, planned.values = values;
      strand.rounds.push_back(std::move(planned));
      return;
    }
    const Loop& loop = std::get<Loop>(node);
    if (loop.together) {
      for (const Node& part : loop.body) plan(part, values, depth + 1, planned.together.emplace_back());
      strand.rounds.push_back(std::move(planned));
      return;
    }
    for (values[depth] = 0; values[depth] < loop.trip; ++values[depth])
      for (const Node& inner : loop.body) plan(inner, values, depth + 1, strand);
    values[depth] = 0;
  }

  // Whether all of it is done.
  bool finish(const Thread& t, Strand& strand, Mail& mail) {
    for (; strand.next < strand.rounds.size(); ++strand.next) {
      PlannedRound& planned = strand.rounds[strand.next];
      if (planned.round && !finish_round(t, strand, mail)) return false;
      bool all = true;
      for (Strand& part : planned.together) all &= finish(t, part, mail);
      if (!all) return false;
    }
    return true;
  }

  // All sends of the round, then what arrives, then local work.
  bool finish_round(const Thread& t, Strand& strand, Mail& mail) {
    const PlannedRound& planned = strand.rounds[strand.next];
    const std::vector<Step>& steps = planned.round->steps;
    if (!strand.sent)
      for (const Step& s : steps)
        if (s.sends()) send(t, s, planned.values, mail);
    done_ += !strand.sent;
    strand.sent = true;
    for (; strand.step < steps.size(); ++strand.step, ++done_)
      if (steps[strand.step].receives() && !receive(t, steps[strand.step], planned.values, mail)) return false;
    for (const Step& s : steps)
      if (!s.sends() && !s.receives()) local(s, planned.values);
    strand.sent = false;
    strand.step = 0;
    return true;
  }

  void send(const Thread& t, const Step& s, Values values, Mail& mail) {
    Vector data;
    if (!s.is_signal()) data = load(s.source, values);
    if (!s.is_signal() && data.empty()) return;
    const auto peer = static_cast<std::int32_t>(s.peer.evaluate(values));
    mail[{rank_.value, peer, t.lane->id.value, t.segment, s.is_signal()}].push_back(std::move(data));
  }

  bool receive(const Thread& t, const Step& s, Values values, Mail& mail) {
    if (!s.is_signal() && binding_.length(s.target.extent, values) == 0) return true;
    const auto peer = static_cast<std::int32_t>(s.peer.evaluate(values));
    const auto found = mail.find({peer, rank_.value, t.lane->id.value, t.segment, s.is_signal()});
    if (found == mail.end()) return false;
    const Vector data = std::move(found->second.front());
    found->second.pop_front();
    if (found->second.empty()) mail.erase(found);
    if (s.kind == StepKind::receive) store(s.target, values, data);
    if (s.kind == StepKind::receive_reduce) {
      const Vector own = load(s.source, values);
      store(s.target, values, s.arriving_left ? combined(data, own) : combined(own, data));
    }
    return true;
  }

  void local(const Step& s, Values values) {
    if (s.kind == StepKind::copy) store(s.target, values, load(s.source, values));
    offloads_ |= s.kind == StepKind::offload;
    if (s.kind == StepKind::reduce) store(s.target, values, combined(load(s.source, values), load(s.right, values)));
  }

  Vector combined(const Vector& left, const Vector& right) const {
    Vector result(left.size());
    combine_(left.data(), right.data(), result.data(), static_cast<std::int64_t>(left.size()) / bytes_);
    return result;
  }

  // The runs of a chunk in its buffer.
  Vector& find(const Chunk& chunk, Values values, std::vector<ElementRun>& runs) {
    if (chunk.buffer.kind != Buffer::Kind::scratch) {
      binding_.append_chunk(program_, chunk, values, runs);
      const bool reads_input = chunk.buffer.kind == Buffer::Kind::input;
      if (reads_input && !one_memory_) return input_;
      for (ElementRun& run : runs) run.first += (reads_input ? memory_.input_at : memory_.output_at) / bytes_;
      return output_;
    }
    const auto index = static_cast<std::size_t>(chunk.buffer.index);
    const Scratch& declared = program_.scratch[index];
    if (declared.named) return binding_.append_chunk(program_, chunk, values, runs), scratch_[index];
    runs.push_back({binding_.scratch_first(declared, copies(declared), chunk.at.evaluate(values), values[0]),
                    binding_.length(chunk.extent, values)});
    return scratch_[index];
  }

  // A wrong schedule may name what is not there: remembered, and no memory of others' is touched.
  bool lies_in(const Vector& buffer, const ElementRun& run) {
    const bool inside = run.first >= 0 && (run.first + run.count) * bytes_ <= static_cast<std::int64_t>(buffer.size());
    strays_ |= !inside;
    return inside;
  }

  Vector load(const Chunk& chunk, Values values) {
    std::vector<ElementRun> runs;
    const Vector& buffer = find(chunk, values, runs);
    Vector data;
    for (const ElementRun& run : runs) {
      if (!lies_in(buffer, run)) {
        data.resize(data.size() + static_cast<std::size_t>(run.count * bytes_));
        continue;
      }
      const auto first = buffer.begin() + run.first * bytes_;
      data.insert(data.end(), first, first + run.count * bytes_);
    }
    return data;
  }

  void store(const Chunk& chunk, Values values, const Vector& data) {
    std::vector<ElementRun> runs;
    Vector& buffer = find(chunk, values, runs);
    auto from = data.begin();
    for (const ElementRun& run : runs) {
      if (lies_in(buffer, run)) std::copy(from, from + run.count * bytes_, buffer.begin() + run.first * bytes_);
      from += run.count * bytes_;
    }
  }

  Rank rank_;
  Program program_;
  Binding binding_;
  CallMemory memory_;
  const Combine& combine_;
  std::int64_t bytes_, count_;
  std::int64_t done_ = 0; // grows with whatever is done
  bool one_memory_ = false, strays_ = false, offloads_ = false;
  Vector input_, output_;
  std::vector<Vector> scratch_;
  std::vector<Thread> threads_;
};

} // namespace

Combine plain_loop(const Collective& collective) {
  if (!collective.reduces()) return {};
  return kernels::reduce_plain(collective.type, collective.operation);
}

Result<std::vector<Vector>> golden_outputs(const ProgramSet& set, const std::vector<Vector>& inputs,
                                           const Combine& combine, bool in_place_safe) {
  std::vector<Process> processes;
  processes.reserve(inputs.size());
  for (std::int32_t r = 0; r < set.ranks(); ++r)
    processes.emplace_back(set, Rank{r}, inputs[static_cast<std::size_t>(r)], combine, in_place_safe);
  Mail mail;
  const auto done = [](const Process& p) { return p.done(); };
  while (!std::all_of(processes.begin(), processes.end(), done)) {
    bool any = false;
    for (Process& p : processes) any |= p.advance(mail);
    if (std::any_of(processes.begin(), processes.end(), [](const Process& p) { return p.offloads(); }))
      return transport::needs_offload_engine();
    if (std::any_of(processes.begin(), processes.end(), [](const Process& p) { return p.strays(); }))
      return failed("a chunk of the schedule lies outside its buffer");
    if (!any) return failed("the programs deadlock", "its ranks wait for one another");
  }
  std::vector<Vector> outputs;
  for (Process& p : processes) outputs.push_back(p.take_output());
  return outputs;
}

} // namespace kumihimo::bench_driver
