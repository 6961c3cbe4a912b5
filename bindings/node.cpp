// kumihimo._node: STREAM, the peak of arithmetic, DGEMM and HPCG on this node. Each call uses its own number of
// threads, and other Python threads run meanwhile.
#include "border.hpp"
#include "hpcg/benchmark.hpp"
#include "node_bench/gemm.hpp"
#include "node_bench/peak.hpp"
#include "node_bench/stream.hpp"
#include "threads/team.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

// Work on a team of bound threads, without the interpreter's lock. The caller's thread, and programs that it starts
// later, may go on on all processors.
template <class Work>
auto on_team(int threads, Work work) -> decltype(work()) {
  std::optional<decltype(work())> result;
  threads::run_apart(1, [&] {
    if (const Status used = threads::use(threads); !used) {
      result.emplace(used.error());
      return;
    }
    threads::bind();
    result.emplace(work());
  });
  return *std::move(result);
}

template <class Work>
auto on_threads(int threads, Work work) {
  return unwrap(unlocked([&] { return on_team(threads, work); }));
}

void bind_hpcg(nb::module_& m) {
  using hpcg::Benchmark;
  nb::class_<hpcg::CgSeconds>(m, "HpcgSeconds", "Of one solution, by kind of loop.")
      .def_ro("total", &hpcg::CgSeconds::total)
      .def_ro("dot", &hpcg::CgSeconds::dot)
      .def_ro("update", &hpcg::CgSeconds::update)
      .def_ro("product", &hpcg::CgSeconds::product)
      .def_ro("preconditioner", &hpcg::CgSeconds::preconditioner);
  nb::class_<hpcg::CgResult>(m, "CgResult")
      .def_ro("iterations", &hpcg::CgResult::iterations)
      .def_prop_ro("reduction", &hpcg::CgResult::reduction)
      .def_ro("seconds", &hpcg::CgResult::seconds);
  nb::class_<Benchmark::Validation>(m, "Validation")
      .def_prop_ro("passed",
                   [](const Benchmark::Validation& v) { return v.symmetry.passed() && v.convergence.passed(); })
      .def_prop_ro("matrix_departure", [](const Benchmark::Validation& v) { return v.symmetry.matrix; })
      .def_prop_ro("preconditioner_departure", [](const Benchmark::Validation& v) { return v.symmetry.preconditioner; })
      .def_prop_ro("plain_iterations", [](const Benchmark::Validation& v) { return v.convergence.plain; })
      .def_prop_ro("preconditioned_iterations",
                   [](const Benchmark::Validation& v) { return v.convergence.preconditioned; });
  nb::class_<Benchmark>(m, "Hpcg", "A run of HPCG in its phases; see src/numerics/hpcg/benchmark.hpp.")
      .def_static(
          "make",
          [](std::int64_t nx, std::int64_t ny, std::int64_t nz, int threads) {
            return on_threads(threads, [&] { return Benchmark::make({nx, ny, nz}); });
          },
          "nx"_a, "ny"_a, "nz"_a, "threads"_a)
      .def("run_reference", [](Benchmark& b) { return on_threads(1, [&] { return b.run_reference(); }); })
      .def(
          "optimise",
          [](Benchmark& b, const std::string& ordering, int threads) {
            const hpcg::OrderingKind kind = unwrap(hpcg::ordering_named(ordering));
            on_threads(threads, [&] { return b.optimise(kind); });
          },
          "ordering"_a, "threads"_a)
      .def("free_reference", &Benchmark::free_reference)
      .def(
          "validate", [](Benchmark& b, int threads) { return on_threads(threads, [&] { return b.validate(); }); },
          "threads"_a)
      .def(
          "converge", [](Benchmark& b, int threads) { return on_threads(threads, [&] { return b.converge(); }); },
          "threads"_a)
      .def(
          "run_set", [](Benchmark& b, int threads) { return on_threads(threads, [&] { return b.run_set(); }); },
          "threads"_a)
      .def_prop_ro("iterations", &Benchmark::iterations)
      .def_prop_ro("error", &Benchmark::error)
      .def_prop_ro("set_up_seconds", [](const Benchmark& b) { return b.times().set_up; })
      .def_prop_ro("optimisation_seconds", [](const Benchmark& b) { return b.times().optimisation; })
      .def_prop_ro("groups", [](const Benchmark& b) { return unwrap(b.groups()); })
      .def_prop_ro("bytes_per_iteration", [](const Benchmark& b) { return unwrap(b.bytes_per_iteration()); })
      .def_prop_ro("flops_per_set",
                   [](const Benchmark& b) { return hpcg::operations(b.grid(), 1, b.iterations()).total(); })
      .def(
          "rating",
          [](const Benchmark& b, double sets, double seconds) {
            hpcg::HpcgTimes times = b.times();
            times.sets = seconds;
            return hpcg::rating(b.grid(), sets, b.iterations(), times);
          },
          "sets"_a, "seconds"_a, "GFLOPS of so many sets that took so many seconds together.");
  m.def(
      "hpcg_bytes",
      [](std::int64_t nx, std::int64_t ny, std::int64_t nz) {
        const hpcg::HpcgGrid grid{nx, ny, nz};
        unwrap(hpcg::check(grid));
        return hpcg::bytes_of_run(grid);
      },
      "nx"_a, "ny"_a, "nz"_a, "Memory of a run.");
  m.def(
      "hpcg_variance", [](const std::vector<double>& r) { return hpcg::test_repetition(r).variance; }, "reductions"_a);
}

} // namespace
} // namespace kumihimo

NB_MODULE(_node, m) {
  using namespace kumihimo;
  using namespace kumihimo::node_bench;
  m.doc() = "Measurements of this node.";
  nb::class_<StreamSamples>(m, "StreamSamples")
      .def_ro("bound", &StreamSamples::bound)
      .def_ro("bytes_per_array", &StreamSamples::bytes_per_array)
      .def_ro("cached", &StreamSamples::cached)
      .def_ro("streamed", &StreamSamples::streamed);
  m.attr("STREAM_KERNELS") = stream_kernels;
  m.attr("STREAM_ARRAYS") = stream_arrays;
  m.def(
      "measure_stream",
      [](std::int64_t bytes, int threads, int rounds) {
        return unwrap(unlocked([&] { return measure_stream(bytes, threads, rounds); }));
      },
      "bytes_per_array"_a, "threads"_a, "rounds"_a);
  m.def(
      "usual_array_bytes", [] { return usual_array_bytes(); },
      "Of one array of STREAM: 4 times all last-level caches of the node, at least 64 MiB.");
  nb::class_<PeakSamples>(m, "PeakSamples")
      .def_ro("instructions", &PeakSamples::instructions)
      .def_ro("gflops", &PeakSamples::gflops);
  m.def(
      "measure_peak",
      [](int threads, int rounds) { return unwrap(unlocked([&] { return measure_peak(threads, rounds); })); },
      "threads"_a, "rounds"_a);
  m.def("flops_per_cycle", &flops_per_cycle, "vendor"_a, "family"_a, "model"_a, "flags"_a,
        "Operations on doubles per cycle and core; 0 where it is not known.");
  nb::class_<Gemm>(m, "Gemm", "DGEMM of a BLAS library.")
      .def_static("open", border(&Gemm::open), "path"_a)
      .def_prop_ro("name", &Gemm::name)
      .def_prop_ro("sets_threads", &Gemm::sets_threads)
      .def(
          "measure",
          [](Gemm& gemm, int n, int threads, int rounds) {
            return unwrap(unlocked([&] { return gemm.measure(n, threads, rounds); }));
          },
          "n"_a, "threads"_a, "rounds"_a);
  bind_hpcg(m);
}
