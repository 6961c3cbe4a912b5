#include "reduce_gather.hpp"

#include "collectives/patterns/blocks.hpp"

namespace conformance {

using namespace kumihimo;

namespace {

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  return one_lane(c, p, "pairwise exchange", [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
    const std::int64_t P = c.ranks, root = c.root.value;
    const Array aside = program.scratch(Scratch{LaneId{0}, true, Layout::input_blocks, 1, 1, 1, true, r});
    const Array sum = accumulate_in(aside);
    lane.loop(P - 1, [&](Variable i) {
      const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
      return exchange(to, in[in_block(to)], from, reduce_into(sum[in_block(r)]));
    });
    LaneBuilder gather(LaneId{1}, "sums to the root", 1);
    gather.after({LaneId{0}}, Scope::all);
    if (r != root) {
      gather.step(send(root, aside[in_block(r)]));
    } else {
      gather.step(copy(out[out_block(r)], aside[in_block(r)]));
      gather.loop(P - 1, [&](Variable i) {
        const Expression other = mod(root + 1 + i, P);
        return Round{{receive(other, out[out_block(other)])}, 0};
      });
    }
    program.add(std::move(gather));
  });
}

} // namespace

const Variant& reduce_gather_pairwise() {
  using namespace cost;
  static const Variant variant{.name = "pairwise",
                               .kind = CollectiveKind(reduce_gather_row),
                               .summary = "operands exchanged pairwise, the sums sent to the root",
                               .cost = {(P - 1) * (2 * alpha + 2 * n * beta + n * cost::gamma), whole_messages},
                               .reference = "none",
                               .parameters = segment_parameters(),
                               .rounding = by_rank_numbers,
                               .recipe = recipe};
  return variant;
}

} // namespace conformance
