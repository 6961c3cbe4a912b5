#include "stencil/fdtd2d/variants.hpp"

namespace kumihimo::fdtd2d {
namespace {

const Parameter levels{.name = "levels",
                       .meaning = "time steps of one pass over memory",
                       .symbol = "N",
                       .min = 1,
                       .max = 64,
                       .tuning_values = {8, 32}};
const Parameter columns{.name = "columns",
                        .meaning = "nodes along x of a tile",
                        .symbol = "N",
                        .min = 16,
                        .max = 1 << 20,
                        .tuning_values = {512, 1024}};
const TakenParameter of_wavefront[] = {{&levels, 16}, {&columns, 4096}};

FdtdVariant made(VariantDescription description, FieldKernels<float> of_float, FieldKernels<double> of_double,
                 std::vector<std::string_view> files, bool is_written_by_hand = false) {
  FdtdVariant variant{description};
  variant.of_float = of_float;
  variant.of_double = of_double;
  variant.files = std::move(files);
  variant.is_written_by_hand = is_written_by_hand;
  return variant;
}

std::vector<FdtdVariant> all() {
  std::vector<FdtdVariant> found{
      made({"golden", "the equations in plain loops, one thread; the absorbing layer everywhere"},
           {golden::update_h, golden::update_e}, {golden::update_h, golden::update_e}, {"golden.cpp"}),
      made({"directives", "the same with two OpenMP directives"}, {directives::update_h, directives::update_e},
           {directives::update_h, directives::update_e}, {"directives.cpp"}),
      made({"simd", "rows vectorised for the processor, threads; the layer only where it is"},
           {simd::update_h, simd::update_e}, {simd::update_h, simd::update_e}, {"simd.cpp", "simd/row_lanes.hpp"},
           true),
      made({"wavefront", "simd, and several time steps in one pass over memory (temporal blocking)", of_wavefront}, {},
           {}, {"wavefront.cpp", "simd/row_lanes.hpp", "../../../foundation/threads/pipeline.hpp"}, true),
      made({"offload", "OpenMP target directives; on the host where no device is"}, {nullptr, nullptr, offload::upload},
           {nullptr, nullptr, offload::upload}, {"offload.cpp"})};
  found.push_back(made({"cuda", "CUDA by hand: two kernels a step"}, {nullptr, nullptr, cuda::upload},
                       {nullptr, nullptr, cuda::upload}, {"cuda.cu", "../device/memory.cuh"}, true));
  return found;
}

} // namespace

std::span<const FdtdVariant> variants() {
  static const std::vector<FdtdVariant> found = all();
  return found;
}

} // namespace kumihimo::fdtd2d
