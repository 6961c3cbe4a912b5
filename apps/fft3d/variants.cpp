#include "fft3d/variants.hpp"

namespace kumihimo::fft3d {
namespace {

const Parameter block{.name = "block",
                      .meaning = "KiB of a block of lines that are transformed in the cache",
                      .symbol = "KIB",
                      .min = 1,
                      .max = 1 << 16,
                      .tuning_values = {64, 1024}};
const Parameter at_once{.name = "at_once",
                        .meaning = "bands of one exchange",
                        .symbol = "N",
                        .min = 1,
                        .max = 1 << 16,
                        .tuning_values = {4, 8},
                        .of_ranks = true};
const TakenParameter parameters[] = {{&block, 256}, {&at_once, 1}};

constexpr FftVariant rows[] = {
    {{"golden", "the whole grid on rank 0, by the sum that defines the transform; large ones by factors"}, true},
    {{"packed", "loops that pack, an alltoall of the registry, loops that unpack", parameters}, false, true},
    {{"fused", "blocks of lines are read from and written to the messages: no loops of their own", parameters}},
    {{"overlapped", "fused; the exchange of some bands beside the lines of the next ones", parameters},
     false,
     false,
     false,
     true},
    {{"window", "blocks of lines are read from the memory of the other ranks of the node", parameters},
     false,
     false,
     true},
};

} // namespace

std::span<const FftVariant> variants() { return rows; }

distributed_fft::TransformWay way_of(const FftVariant& variant, const ParameterValues& parameters,
                                     const std::string& exchange) {
  distributed_fft::TransformWay way;
  way.packs = variant.packs;
  way.through_window = variant.through_window;
  way.overlaps = variant.overlaps;
  way.exchange = exchange;
  if (variant.is_golden) return way;
  way.block_bytes = parameters.at("block") << 10;
  way.bands_at_once = parameters.at("at_once");
  return way;
}

} // namespace kumihimo::fft3d
