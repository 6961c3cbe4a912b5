#include "stencil/himeno/variants.hpp"

namespace kumihimo::himeno {
namespace {

const Parameter levels{.name = "levels",
                       .meaning = "sweeps of one pass over memory",
                       .symbol = "N",
                       .min = 1,
                       .max = 64,
                       .tuning_values = {2, 8}};
const Parameter rows{
    .name = "rows", .meaning = "rows of j in a tile", .symbol = "N", .min = 1, .max = 8192, .tuning_values = {8, 16}};
const TakenParameter of_wavefront[] = {{&levels, 4}, {&rows, 64}};

HimenoVariant one_sweep(VariantDescription description, void (*sweep)(const HimenoGrid&, const HimenoBox&, double*),
                        void (*finish)(HimenoGrid&), std::vector<std::string_view> files) {
  HimenoVariant made{description};
  made.sweep = sweep;
  made.finish = finish;
  made.files = std::move(files);
  return made;
}

HimenoVariant on_device(VariantDescription description, Result<std::unique_ptr<DeviceGrid>> (*upload)(HimenoGrid&),
                        std::vector<std::string_view> files) {
  HimenoVariant made{description};
  made.upload = upload;
  made.files = std::move(files);
  return made;
}

std::vector<HimenoVariant> all() {
  std::vector<HimenoVariant> made{
      one_sweep({"golden", "the benchmark's loops, one thread; copies the new p back"}, golden::sweep, golden::finish,
                {"golden.cpp"}),
      one_sweep({"directives", "the same with two OpenMP directives"}, directives::sweep, directives::finish,
                {"directives.cpp"}),
      one_sweep({"swapped", "directives; two arrays that change places instead of the copy"}, swapped::sweep,
                swapped::finish, {"swapped.cpp"}),
      one_sweep({"simd", "rows vectorised for the processor, threads, no copy"}, simd::sweep, simd::finish,
                {"simd.cpp", "row.cpp"})};
  made[0].copies_back = made[1].copies_back = true;
  made[3].is_written_by_hand = true;
  HimenoVariant wavefront{
      {"wavefront", "simd, and several sweeps in one pass over memory (temporal blocking)", of_wavefront}};
  wavefront.is_written_by_hand = true;
  wavefront.files = {"wavefront.cpp", "row.cpp", "../../../foundation/threads/pipeline.hpp"};
  made.push_back(std::move(wavefront));
  made.push_back(on_device({"offload", "OpenMP target directives; on the host where no device is"}, offload::upload,
                           {"offload.cpp"}));
  made.push_back(on_device({"cuda", "CUDA by hand: a column along i for each thread, three values of p in registers"},
                           cuda::upload, {"cuda.cu", "../device/memory.cuh"}));
  made.back().is_written_by_hand = true;
  return made;
}

} // namespace

std::span<const HimenoVariant> variants() {
  static const std::vector<HimenoVariant> found = all();
  return found;
}

} // namespace kumihimo::himeno
