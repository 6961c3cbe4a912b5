// Features shown by broadcasts, reductions and scans.
#include "program/builder.hpp"
#include "schedule_features/features.hpp"

namespace kumihimo::features {
namespace {

constexpr std::int32_t P = 5;
constexpr std::int64_t count = 47;

Collective vector_of(CollectiveKind kind) { return make_collective(kind, P, count); }

// Shared scratch: rank 0 reduces into it on lane 0 and hands it out on lane 1, segment by segment.
Feature shared_scratch(std::string name, std::int64_t segments, std::int64_t window) {
  return make(std::move(name), vector_of(CollectiveKind::allreduce), {segments}, [segments, window](Rank rank) {
    ProgramBuilder program({segments});
    LaneBuilder up(LaneId{0}, "reduce", window), down(LaneId{1}, "broadcast", window);
    down.after({LaneId{0}}, Scope::segment);
    if (rank.value > 0) {
      up.step(send(0, in[whole()]));
      down.step(receive(0, out[whole()]));
    } else {
      Scratch shared;
      shared.lane = LaneId{0};
      shared.shared = true;
      const Array sum = program.scratch(shared);
      up.step(receive_reduce(1, in[whole()], sum[whole()]));
      for (std::int32_t child = 2; child < P; ++child) up.step(receive_reduce(child, sum[whole()]));
      for (std::int32_t child = 1; child < P; ++child) down.step(send(child, sum[whole()]));
      down.step(copy(out[whole()], sum[whole()]));
    }
    program.add(std::move(up));
    program.add(std::move(down));
    return program.finish();
  });
}

// A chain that broadcasts 6 parts as 3 times 2.
Feature nested_loops() {
  return make("nested_loops", vector_of(CollectiveKind::bcast), {2}, [](Rank rank) {
    ProgramBuilder program({2});
    LaneBuilder lane(LaneId{0}, "chain", 2);
    const std::int64_t r = rank.value;
    lane.loop(3, [&](BodyBuilder& outer, Variable i) {
      outer.loop(2, [&](BodyBuilder& inner, Variable j) {
        const Extent e = part(2 * Expression(i) + Expression(j), 6);
        if (r > 0) inner.step(receive(r - 1, out[e]));
        if (r + 1 < P) inner.step(send(r + 1, out[e]));
      });
    });
    program.add(std::move(lane));
    return program.finish();
  });
}

// A chain that relays through two cells of scratch, two iterations in flight.
Feature loop_in_flight() {
  return make("loop_in_flight", vector_of(CollectiveKind::bcast), {2}, [](Rank rank) {
    ProgramBuilder program({2});
    LaneBuilder lane(LaneId{0}, "chain", 1);
    const std::int64_t r = rank.value;
    const Array cells = program.scratch(LaneId{0}, 1, 6, 2);
    lane.loop(
        6,
        [&](BodyBuilder& b, Variable i) {
          const Extent e = part(i, 6);
          if (r == 0) return b.step(send(1, in[e]));
          const Chunk cell = cells.at(mod(i, 2), e);
          b.step(receive(r - 1, cell));
          if (r + 1 < P)
            b.round({send(r + 1, cell), copy(out[e], cell)});
          else
            b.step(copy(out[e], cell));
        },
        2);
    program.add(std::move(lane));
    return program.finish();
  });
}

// One that reads input while output is being written.
Feature apart(Feature f) {
  f.schedule.claims.in_place_safe = false;
  return f;
}

// Odd ranks hand their input to the even ones below, which have lane 1 and combine in the network.
Feature offload_among_some() {
  Feature f = apart(make("offload_among_some", vector_of(CollectiveKind::allreduce), {2}, [](Rank rank) {
    ProgramBuilder program({2});
    const std::int64_t r = rank.value;
    LaneBuilder fold(LaneId{0}, "fold", 2), engine(LaneId{1}, "engine", 2), unfold(LaneId{2}, "unfold", 2);
    engine.after({LaneId{0}}, Scope::segment);
    unfold.after({LaneId{1}}, Scope::all);
    if (r % 2 == 1) {
      fold.step(send(r - 1, in[whole()]));
      unfold.step(receive(r - 1, out[whole()]));
    } else if (r + 1 < P) {
      fold.step(receive_reduce(r + 1, in[whole()], out[whole()]));
      engine.step(offload(out[whole()], out[whole()]));
      unfold.step(send(r + 1, out[whole()]));
    } else {
      engine.step(offload(out[whole()], in[whole()]));
    }
    program.add(std::move(fold));
    if (r % 2 == 0) program.add(std::move(engine));
    program.add(std::move(unfold));
    return program.finish();
  }));
  f.schedule.claims.offloads = true;
  return f;
}

// Operands in rank order, the arriving one on the left.
Feature scan_chain(CollectiveKind kind) {
  Feature f =
      make(kind == CollectiveKind::scan ? "scan_chain" : "exscan_chain", vector_of(kind), {3}, [kind](Rank rank) {
        ProgramBuilder program({3});
        LaneBuilder lane(LaneId{0}, "chain", 2);
        const std::int64_t r = rank.value;
        const bool last = r + 1 == P;
        if (kind == CollectiveKind::scan) {
          if (r == 0)
            lane.step(copy(out[whole()], in[whole()]));
          else
            lane.step(receive_reduce(r - 1, in[whole()], out[whole()], Arriving::left));
          if (!last) lane.step(send(r + 1, out[whole()]));
        } else {
          const Array sum = program.scratch(LaneId{0}, 1, 1);
          if (r > 0) lane.step(receive(r - 1, out[whole()]));
          if (r > 0 && !last) lane.step(reduce(sum[whole()], out[whole()], in[whole()]));
          if (!last) lane.step(send(r + 1, r == 0 ? in[whole()] : sum[whole()]));
        }
        program.add(std::move(lane));
        return program.finish();
      });
  f.schedule.claims.keeps_rank_order = true;
  f.schedule.claims.in_place_safe = kind == CollectiveKind::scan; // exscan receives into the output before it adds
  return f;
}

} // namespace

std::vector<Feature> of_vectors() {
  return {shared_scratch("shared_scratch", 3, 3),
          shared_scratch("shared_scratch_reused", 7, 2),
          nested_loops(),
          loop_in_flight(),
          offload_among_some(),
          scan_chain(CollectiveKind::scan),
          scan_chain(CollectiveKind::exscan)};
}

} // namespace kumihimo::features
