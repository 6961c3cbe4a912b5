#include "sabotage/sabotage.hpp"

#include "program/cursor.hpp"
#include "sabotage/spots.hpp"

#include <algorithm>
#include <array>

namespace kumihimo::verify {
namespace {

using Wrong = std::optional<Schedule>;

bool is_data_send(const Step& s) { return s.kind == StepKind::send; }
bool is_data_receive(const Step& s) { return s.kind == StepKind::receive || s.kind == StepKind::receive_reduce; }
bool is_offload(const Step& s) { return s.kind == StepKind::offload; }

template <bool (*kind)(const Step&)>
std::optional<StepSpot> find_kind(const Schedule& schedule) {
  return find_step(schedule, [](const Program&, const Lane&, const Round&, const Step& s) { return kind(s); });
}

// A table over the segments: `usual`, but `other` in the last one.
Expression in_last_segment(const Schedule& s, std::int64_t usual, std::int64_t other) {
  auto table = std::make_shared<Table>(s.segments.count, usual);
  table->back() = other;
  return Expression::look_up(std::move(table), Variable{0});
}

Wrong wrong_peer(const Schedule& s) {
  const auto spot = find_kind<is_data_send>(s);
  if (!spot || s.ranks() < 3) return std::nullopt;
  return with_step(s, *spot,
                   [p = s.ranks()](Program&, const RoundContext&, Step& step) { step.peer = mod(step.peer + 1, p); });
}

Wrong last_segment(const Schedule& s) {
  const auto spot = find_kind<is_data_send>(s);
  if (!spot || s.segments.count < 2) return std::nullopt;
  return with_step(s, *spot,
                   [p = s.ranks(), shift = in_last_segment(s, 0, 1)](Program&, const RoundContext&, Step& step) {
                     step.peer = mod(step.peer + shift, p);
                   });
}

// Other elements, as many: the neighbouring part or block, or the halves of the whole exchanged.
Extent moved(Extent e, std::int64_t blocks) {
  RunList& list = e.runs.front();
  const std::int64_t units = e.layout == Layout::vector ? e.parts : blocks;
  if (list.count.is_constant() && list.count.constant() < units) {
    list.first = mod(list.first + 1, units - list.count.constant() + 1);
    return e;
  }
  e.parts = 2;
  e.runs = {{1, 1, {}, {}}, {0, 1, {}, {}}};
  return e;
}

// Not from scratch, where data are packed and only their length has a meaning.
Wrong wrong_chunk(const Schedule& s) {
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round&, const Step& step) {
    return is_data_send(step) && step.source.buffer.kind != Buffer::Kind::scratch;
  });
  if (!spot) return std::nullopt;
  const Binding binding(s, spot->rank);
  return with_step(s, *spot, [binding](Program&, const RoundContext&, Step& step) {
    const Extent& named = step.source.extent;
    step.source.extent = moved(named, named.layout == Layout::vector ? 0 : binding.blocks_of(named.layout));
  });
}

Wrong wrong_length(const Schedule& s) {
  const auto spot = find_kind<is_data_send>(s);
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [](Program&, const RoundContext&, Step& step) { step.source.extent.parts *= 2; });
}

Wrong swapped_operands(const Schedule& s) {
  if (!s.claims.keeps_rank_order) return std::nullopt;
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round&, const Step& step) {
    return step.kind == StepKind::receive_reduce;
  });
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [](Program&, const RoundContext&, Step& step) { step.arriving_left ^= true; });
}

// One rank adds up in another order what it then sends to nobody: its bits are other ones than the others'. What else
// would tell it, the claim of rank order, is not made.
Wrong other_order_at_one_rank(const Schedule& s) {
  if (s.collective().kind != CollectiveKind::allreduce || !s.claims.same_on_all_ranks) return std::nullopt;
  const auto spot = find_step(s, [](const Program& program, const Lane& lane, const Round& round, const Step& step) {
    if (program.lanes.size() != 1 || step.kind != StepKind::receive_reduce) return false;
    if (step.target.buffer.kind != Buffer::Kind::output) return false;
    const auto last = std::find_if(lane.body.rbegin(), lane.body.rend(), [](const Node& node) {
      const Round* r = std::get_if<Round>(&node);
      return !r || std::any_of(r->steps.begin(), r->steps.end(), is_data_send);
    });
    if (last == lane.body.rend()) return true;
    const Round* sends = std::get_if<Round>(&*last);
    return sends && (*sends == round || std::find(lane.body.rbegin(), last, Node(round)) != last);
  });
  if (!spot) return std::nullopt;
  Schedule wrong = with_step(s, *spot, [](Program&, const RoundContext&, Step& step) { step.arriving_left ^= true; });
  wrong.claims.keeps_rank_order = false;
  return wrong;
}

// Two rounds that receive one after the other take each other's sender.
bool swap_neighbours(const RoundContext& context) {
  if (context.index + 1 >= context.body.size()) return false;
  Round* next = std::get_if<Round>(&context.body[context.index + 1]);
  Round& here = context.round();
  if (!next || here.steps.size() != 1 || next->steps.size() != 1) return false;
  Step &a = here.steps[0], &b = next->steps[0];
  if (a.kind != StepKind::receive_reduce || b.kind != StepKind::receive_reduce || a.peer == b.peer) return false;
  std::swap(a.peer, b.peer);
  return true;
}

Wrong swapped_children(const Schedule& s) {
  if (!s.claims.keeps_rank_order) return std::nullopt;
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    Program program = s.program(Rank{r});
    const auto swap = [](Program& p) {
      return visit_rounds(p, [](Lane&, std::int32_t, const RoundContext& c) { return swap_neighbours(c); });
    };
    if (swap(program)) return with_program(s, Rank{r}, [swap](Program& p) { swap(p); });
  }
  return std::nullopt;
}

bool between(const Step& step, bool sends, std::int32_t peer) {
  return (sends ? is_data_send(step) : is_data_receive(step)) && step.peer == Expression(peer);
}

// Nothing of the last segment travels between two ranks, and both agree on it. Not to the root of a broadcast: HPL's
// modified long one gives it pieces that it has.
Wrong missing_segment(const Schedule& s) {
  const bool is_broadcast = s.collective().kind == CollectiveKind::bcast;
  const auto spot = find_step(s, [&](const Program&, const Lane&, const Round&, const Step& step) {
    return is_data_send(step) && step.peer.is_constant() && step.source.extent.runs.size() == 1 &&
           step.source.extent.runs[0].count.is_constant() &&
           !(is_broadcast && step.peer.constant() == s.collective().root.value);
  });
  if (!spot) return std::nullopt;
  Program program = s.program(spot->rank);
  std::int32_t peer = -1;
  visit_rounds(program, [&](Lane& lane, std::int32_t number, const RoundContext& c) {
    if (lane.id == spot->lane && number == spot->round)
      peer = static_cast<std::int32_t>(c.round().steps[spot->step].peer.constant());
    return peer >= 0;
  });
  return with_programs(s, [s, spot, peer](Program& p, Rank r) {
    if (r != spot->rank && r.value != peer) return;
    const bool sends = r == spot->rank;
    visit_rounds(p, [&](Lane& lane, std::int32_t, const RoundContext& c) {
      for (Step& step : c.round().steps) {
        if (lane.id != spot->lane || !between(step, sends, sends ? peer : spot->rank.value)) continue;
        for (Chunk* chunk : {&step.source, &step.target})
          for (RunList& list : chunk->extent.runs)
            if (list.count.is_constant()) list.count = in_last_segment(s, list.count.constant(), 0);
      }
      return false;
    });
  });
}

Wrong doubled_contribution(const Schedule& s) {
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round& round, const Step& step) {
    return step.kind == StepKind::receive_reduce && round.steps.size() == 1;
  });
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [](Program&, const RoundContext& c, Step& step) {
    Step again;
    again.kind = StepKind::reduce;
    again.target = again.source = again.right = step.target;
    again.right.buffer = {Buffer::Kind::input, 0};
    again.right.at = 0;
    c.body.insert(c.body.begin() + static_cast<std::ptrdiff_t>(c.index) + 1, Round{{again}, 0});
  });
}

// Every rank first sends and then receives, where it did both at once.
Wrong sequential_exchange(const Schedule& s) {
  if (s.collective().counts.known != Counts::Known::uniform) return std::nullopt; // an empty block breaks the circle
  if (s.collective().kind->of_prefixes()) return std::nullopt;   // the last rank sends to nobody: there is no circle
  if (s.collective().kind->of_neighbours()) return std::nullopt; // which need not form one
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round& round, const Step& step) {
    return is_data_send(step) && round.steps.size() == 2 && is_data_receive(round.steps[1]);
  });
  if (!spot) return std::nullopt;
  return with_programs(s, [](Program& p, Rank) {
    const auto split = [](Lane&, std::int32_t, const RoundContext& c) {
      Round& round = c.round();
      if (round.steps.size() != 2 || !is_data_send(round.steps[0]) || !is_data_receive(round.steps[1])) return false;
      Round second{{round.steps[1]}, 0};
      round.steps.pop_back();
      c.body.insert(c.body.begin() + static_cast<std::ptrdiff_t>(c.index) + 1, std::move(second));
      return true;
    };
    while (visit_rounds(p, split)) {
    }
  });
}

// At one rank the earlier lane waits for the later one, instead of the other way round.
Wrong cyclic_wait(const Schedule& s) {
  const auto turned = [](Program& p) {
    for (Lane& later : p.lanes)
      for (After& after : later.after)
        for (Lane& earlier : p.lanes)
          if (!earlier.body.empty() && !later.body.empty() && !after.lanes.empty() && after.lanes[0] == earlier.id) {
            earlier.after = {After{{later.id}, after.scope}};
            later.after.clear();
            return true;
          }
    return false;
  };
  for (std::int32_t r = s.ranks() - 1; r >= 0; --r) {
    Program program = s.program(Rank{r});
    if (turned(program)) return with_program(s, Rank{r}, [turned](Program& p) { turned(p); });
  }
  return std::nullopt;
}

// Whether a lane has a step for which `has` holds of one of its chunks.
template <class F>
bool any_chunk(const Lane& lane, Segments segments, F has) {
  bool any = false;
  for_each_round_as_written(lane, segments, [&](const Round& round, Values) {
    for (const Step& step : round.steps)
      for (const Chunk* chunk : {&step.source, &step.right, &step.target})
        any |= chunk->exists() && has(*chunk, chunk == &step.target);
  });
  return any;
}

// Whether the later lane uses a buffer that the earlier one writes.
bool uses_what_is_written(const Lane& earlier, const Lane& later, Segments segments) {
  return any_chunk(earlier, segments, [&](const Chunk& written, bool target) {
    return target && any_chunk(later, segments, [&](const Chunk& used, bool) { return used.buffer == written.buffer; });
  });
}

Wrong after_left_out(const Schedule& s) {
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    const Program program = s.program(Rank{r});
    for (const Lane& lane : program.lanes)
      for (const Lane& earlier : program.lanes)
        for (const After& after : lane.after)
          if (std::count(after.lanes.begin(), after.lanes.end(), earlier.id) > 0 &&
              uses_what_is_written(earlier, lane, s.segments))
            return with_program(s, Rank{r}, [later = lane.id](Program& p) {
              for (Lane& l : p.lanes)
                if (l.id == later) l.after.clear();
            });
  }
  return std::nullopt;
}

// What the chunk is one iteration later.
Chunk one_later(Chunk chunk, Variable i) {
  for (RunList& list : chunk.extent.runs) {
    list.first = list.first.substitute(i, i + 1);
    list.count = list.count.substitute(i, i + 1);
  }
  return chunk;
}

// Whether an iteration surely writes what the next one uses: the same extent, or the only cells of a scratch buffer.
bool writes_for_the_next(const Loop& loop, Variable i) {
  std::vector<const Chunk*> written, used;
  for (const Node& node : loop.body)
    if (const Round* round = std::get_if<Round>(&node))
      for (const Step& step : round->steps) {
        if (step.target.exists()) written.push_back(&step.target);
        for (const Chunk* chunk : {&step.source, &step.right, &step.target})
          if (chunk->exists()) used.push_back(chunk);
      }
  for (const Chunk* w : written)
    for (const Chunk* u : used) {
      if (!(w->buffer == u->buffer)) continue;
      if (w->buffer.kind == Buffer::Kind::scratch && loop.in_flight > 1 && loop.trip > 2 * loop.in_flight) return true;
      if (w->buffer.kind != Buffer::Kind::scratch && w->extent == one_later(*u, i).extent && loop.trip > 1) return true;
    }
  return false;
}

// All iterations of the loops at once, whatever the number that their scratch and blocks allow.
Wrong window_ignored(const Schedule& s) {
  const auto widen = [](Program& p) {
    bool some = false;
    for (Lane& lane : p.lanes)
      for (Node& node : lane.body)
        if (Loop* loop = std::get_if<Loop>(&node);
            loop && loop->in_flight < loop->trip && writes_for_the_next(*loop, Variable{1}))
          loop->in_flight = loop->trip, some = true;
    return some;
  };
  for (std::int32_t r = s.ranks() - 1; r >= 0; --r) {
    Program program = s.program(Rank{r});
    if (widen(program)) return with_program(s, Rank{r}, [widen](Program& p) { widen(p); });
  }
  return std::nullopt;
}

// Two rounds start together, of which the second uses what the first receives.
Wrong rounds_together(const Schedule& s) {
  const auto uses = [](const Round& first, const Round& second) {
    return std::ranges::any_of(first.steps, [&](const Step& received) {
      return received.receives() && received.target.exists() &&
             std::ranges::any_of(second.steps, [&](const Step& step) { return step.source == received.target; });
    });
  };
  const auto join = [uses](Program& p) {
    for (Lane& lane : p.lanes)
      for (std::size_t i = 0; i + 1 < lane.body.size(); ++i) {
        const auto *first = std::get_if<Round>(&lane.body[i]), *second = std::get_if<Round>(&lane.body[i + 1]);
        if (!first || !second || !uses(*first, *second)) continue;
        Loop both{1, 1, {*first, *second}, true};
        lane.body.erase(lane.body.begin() + static_cast<std::ptrdiff_t>(i));
        lane.body[i] = std::move(both);
        return true;
      }
    return false;
  };
  for (std::int32_t r = s.ranks() - 1; r >= 0; --r) {
    Program program = s.program(Rank{r});
    if (join(program)) return with_program(s, Rank{r}, [join](Program& p) { join(p); });
  }
  return std::nullopt;
}

// Scratch of a lane belongs to another one, whose window and so whose slots are its own.
Wrong foreign_scratch(const Schedule& s) {
  const auto give_away = [](Program& p) {
    for (Scratch& scratch : p.scratch)
      for (const Lane& other : p.lanes)
        if (!scratch.shared && other.id != scratch.lane) {
          scratch.lane = other.id;
          return true;
        }
    return false;
  };
  for (std::int32_t r = s.ranks() - 1; r >= 0; --r) {
    Program program = s.program(Rank{r});
    if (give_away(program)) return with_program(s, Rank{r}, [give_away](Program& p) { give_away(p); });
  }
  return std::nullopt;
}

// Readers of shared scratch begin after all of its writer, which waits for them to free a slot.
Wrong late_readers(const Schedule& s) {
  const auto delay = [count = s.segments.count](Program& p) {
    std::int64_t window = 1; // shared scratch has as many slots as the widest window
    for (const Lane& lane : p.lanes) window = std::max(window, lane.window);
    if (count <= window) return false;
    bool some = false;
    for (Lane& lane : p.lanes)
      for (After& after : lane.after)
        for (const Scratch& scratch : p.scratch)
          if (scratch.shared && !scratch.named && std::count(after.lanes.begin(), after.lanes.end(), scratch.lane))
            after.scope = Scope::all, some = true;
    return some;
  };
  for (std::int32_t r = s.ranks() - 1; r >= 0; --r) {
    Program program = s.program(Rank{r});
    if (delay(program)) return with_program(s, Rank{r}, [delay](Program& p) { delay(p); });
  }
  return std::nullopt;
}

Wrong lost_message(const Schedule& s) {
  const auto spot = find_kind<is_data_send>(s);
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [step = spot->step](Program&, const RoundContext& c, Step&) {
    auto& steps = c.round().steps;
    steps.erase(steps.begin() + step);
  });
}

// A rank has the lane, for which the engine waits, and does not call it.
Wrong missed_offload(const Schedule& s) {
  const auto spot = find_kind<is_offload>(s);
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [step = spot->step](Program&, const RoundContext& c, Step&) {
    auto& steps = c.round().steps;
    steps.erase(steps.begin() + step);
  });
}

// A rank gives the engine what nobody wrote.
Wrong empty_handed(const Schedule& s) {
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round&, const Step& step) {
    return is_offload(step) && step.source.buffer.kind == Buffer::Kind::input;
  });
  if (!spot || s.collective().aliased(spot->rank)) return std::nullopt;
  return with_step(s, *spot,
                   [](Program&, const RoundContext&, Step& step) { step.source.buffer = step.target.buffer; });
}

Wrong unclaimed_offload(const Schedule& s) {
  if (!s.claims.offloads) return std::nullopt;
  Schedule wrong = s;
  wrong.claims.offloads = false;
  return wrong;
}

Wrong extra_receive(const Schedule& s) {
  const auto spot = find_kind<is_data_receive>(s);
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [](Program&, const RoundContext& c, Step& step) {
    Round again{{step}, 0};
    c.body.insert(c.body.begin() + static_cast<std::ptrdiff_t>(c.index) + 1, std::move(again));
  });
}

// What should reach the output at one rank goes to scratch.
Wrong unwritten_output(const Schedule& s) {
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round&, const Step& step) {
    return step.kind == StepKind::receive && step.target.buffer.kind == Buffer::Kind::output;
  });
  if (!spot) return std::nullopt;
  return with_step(s, *spot, [](Program& p, const RoundContext&, Step& step) {
    const Extent& e = step.target.extent;
    std::int64_t units = 0;
    for (const RunList& list : e.runs) units += list.count.constant() * list.inner.runs * list.outer.runs;
    Scratch aside;
    aside.shared = true;
    aside.layout = e.layout;
    aside.parts = e.parts;
    aside.units = std::max<std::int64_t>(units, e.parts);
    p.scratch.push_back(aside);
    step.target.buffer = {Buffer::Kind::scratch, static_cast<std::int32_t>(p.scratch.size()) - 1};
    step.target.at = 0;
  });
}

// Two blocks of one message change places where it arrives.
Wrong permuted_block(const Schedule& s) {
  const auto spot = find_step(s, [](const Program&, const Lane&, const Round&, const Step& step) {
    const Extent& e = step.target.extent;
    return step.kind == StepKind::receive && step.target.buffer.kind == Buffer::Kind::output &&
           e.layout != Layout::vector && e.runs.size() == 1 && e.runs[0].count == Expression(2) &&
           e.runs[0].inner.runs * e.runs[0].outer.runs == 1;
  });
  if (!spot || s.collective().counts.known != Counts::Known::uniform) return std::nullopt;
  return with_step(s, *spot, [](Program&, const RoundContext&, Step& step) {
    RunList& list = step.target.extent.runs[0];
    list.first = list.first + 1;
    list.count = 1;
    list.inner = {-1, 2};
  });
}

// What one neighbour sends twice changes places: blocks sent backwards are taken for those sent forwards.
Wrong swapped_neighbours(const Schedule& s) {
  if (s.collective().kind != CollectiveKind::neighbor_alltoall || s.collective().counts.each == 0) return std::nullopt;
  const auto swap = [](Program& p) {
    return visit_rounds(p, [](Lane&, std::int32_t, const RoundContext& c) {
      auto& steps = c.round().steps;
      for (Step& a : steps)
        for (Step& b : steps)
          if (&a < &b && is_data_receive(a) && is_data_receive(b) && a.peer == b.peer) {
            std::swap(a.target, b.target);
            return true;
          }
      return false;
    });
  };
  if (s.collective().counts.irregular()) return std::nullopt; // the two may be empty
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    Program program = s.program(Rank{r});
    if (swap(program)) return with_program(s, Rank{r}, [swap](Program& p) { swap(p); });
  }
  return std::nullopt;
}

// Every rank keeps the input that it was to exchange before all else.
Wrong missing_shuffle(const Schedule& s) {
  if (s.collective().kind != CollectiveKind::allgather || s.collective().in_place) return std::nullopt;
  const auto shuffle = [](const Program& p) -> const Round* {
    if (p.lanes.empty() || p.lanes[0].body.empty()) return nullptr;
    const Round* round = std::get_if<Round>(&p.lanes[0].body.front());
    const bool exchanges = round && round->steps.size() == 2 && round->steps[0].kind == StepKind::send &&
                           round->steps[0].source.buffer.kind == Buffer::Kind::input &&
                           round->steps[1].kind == StepKind::receive;
    return exchanges ? round : nullptr;
  };
  if (s.ranks() < 2 || !shuffle(s.program(Rank{1}))) return std::nullopt;
  return with_programs(s, [shuffle](Program& p, Rank) {
    if (!shuffle(p)) return;
    Round& round = std::get<Round>(p.lanes[0].body.front());
    Step kept = round.steps[1];
    kept.kind = StepKind::copy;
    kept.peer = -1;
    kept.source = round.steps[0].source;
    round.steps = {kept};
  });
}

Wrong wrong_height(const Schedule& s) {
  if (s.claims.height < 1) return std::nullopt;
  Schedule wrong = s;
  --wrong.claims.height;
  return wrong;
}

constexpr std::array<Sabotage, 26> list = {{
    {"wrong_peer", "a message goes to the next rank", wrong_peer},
    {"wrong_chunk", "as many elements, but others", wrong_chunk},
    {"wrong_length", "half of the data", wrong_length},
    {"swapped_operands", "the arriving operand on the other side", swapped_operands},
    {"other_order_at_one_rank", "one rank adds up in another order than the others", other_order_at_one_rank},
    {"swapped_children", "two children reduced in the other order", swapped_children},
    {"missing_segment", "the last segment does not travel between two ranks", missing_segment},
    {"doubled_contribution", "a rank adds its input once more", doubled_contribution},
    {"sequential_exchange", "ranks send first, and then receive", sequential_exchange},
    {"cyclic_wait", "a lane waits for the one that waits for it through other ranks", cyclic_wait},
    {"last_segment", "a message of the last segment alone goes to another rank", last_segment},
    {"after_left_out", "a lane does not wait for the one whose results it reads", after_left_out},
    {"window_ignored", "iterations overlap that use the same memory", window_ignored},
    {"rounds_together", "a round starts beside the one whose data it uses", rounds_together},
    {"foreign_scratch", "a lane uses the slots of another lane's window", foreign_scratch},
    {"late_readers", "shared slots are read after all were to be written", late_readers},
    {"lost_message", "a message is never sent", lost_message},
    {"extra_receive", "a message is awaited twice", extra_receive},
    {"unwritten_output", "a part of the result never reaches the output", unwritten_output},
    {"permuted_block", "two blocks of a message change places", permuted_block},
    {"swapped_neighbours", "two blocks of one neighbour change places", swapped_neighbours},
    {"missing_shuffle", "ranks keep the input that they were to exchange first", missing_shuffle},
    {"missed_offload", "a rank does not call the network's engine", missed_offload},
    {"empty_handed", "a rank gives the engine memory that nobody wrote", empty_handed},
    {"unclaimed_offload", "an engine is needed, and no claim says so", unclaimed_offload},
    {"wrong_height", "a claim of fewer relays than there are", wrong_height},
}};

} // namespace

std::span<const Sabotage> sabotages() { return list; }

} // namespace kumihimo::verify
