// pairwise, linear: alltoall by direct messages.
//
// Idea: rank r sends its block for r + i to it and receives that of r - i: one i after the other (pairwise), or up to
//   `throttle` at once (linear), by default all of them; or sends up to `send_window` and receives up to
//   `receive_window` at once, each whatever the other does.
// Wins: long blocks, where no byte should cross the network twice; linear where the network orders messages well,
//   pairwise or a small throttle where many at once disturb each other. A small receive window alone keeps a slow
//   rank's sends going, and no more messages end at a rank at once.
// Special cases: any number of ranks, any counts. In place the input is put aside first.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4 (pairwise); Kumar, Sabharwal, Garg,
//   Heidelberger, Optimization of all-to-all communication on the Blue Gene/L supercomputer, ICPP 2008 (throttled).
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/exchange_windows.hpp"

namespace kumihimo {
namespace {

void write_direct_exchange(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r,
                           const ExchangeWindows& windows) {
  const std::int64_t P = c.ranks;
  Array input = in;
  if (c.in_place) {
    input = program.named_blocks(LaneId{0}, Layout::input_blocks, 0, P);
    lane.step(copy(input[blocks(Layout::input_blocks, 0, P)], in[blocks(Layout::input_blocks, 0, P)]));
  } else {
    lane.step(copy(out[out_block(r)], in[in_block(r)]));
  }
  windows.write(lane, P - 1, [&](Variable i) {
    const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
    return exchange(to, input[in_block(to)], from, into(out[out_block(from)]));
  });
}

Variant direct_exchange(std::string summary, bool throttled) {
  using namespace cost;
  Variant v{.summary = std::move(summary),
            .cost = {(P - 1) * (alpha + n * beta)},
            .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005"};
  if (throttled) v.parameters = window_parameters();
  v.recipe = [throttled](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    const ExchangeWindows windows = throttled ? ExchangeWindows::of(p, c.ranks - 1) : ExchangeWindows();
    Result<Schedule> s =
        one_lane(c, p, "direct", [c, windows](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
          write_direct_exchange(program, lane, c, r, windows);
        });
    if (s && throttled) s->parameters = windows.text();
    if (s) s->claims.in_place_safe = c.in_place;
    return s;
  };
  return v;
}

} // namespace

Variant alltoall_pairwise::row() {
  return direct_exchange("blocks exchanged directly, one distance after the other", false);
}
Variant alltoall_linear::row() { return direct_exchange("blocks exchanged directly, up to `throttle` at once", true); }

} // namespace kumihimo
