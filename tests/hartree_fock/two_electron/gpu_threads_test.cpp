// The work of a GPU's threads, done by this processor one thread after the other. The launches and copies around it run
// on a GPU alone.
#include "hartree_fock/boys.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/cuda/tables.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock::two_electron::cuda {
namespace {

struct Emulated {
  const Builder& builder;
  Tables tables{builder.pairs(), builder.functions()};
  ScreenedDensity density;
  Halves<double> halves{builder.functions()};

  Emulated(const Builder& of, const Matrix& d) : builder(of), density(d, of.pairs().shells()) {}

  template <int Bra, int Ket>
  void run(GpuWay way, std::size_t chunk_size) {
    const KindTables &bra = tables.kinds[Bra], &ket = tables.kinds[Ket];
    for (std::size_t begin = 0; begin < bra.pairs.size(); begin += chunk_size) {
      std::vector<std::int32_t> bras, place_of(bra.pairs.size(), -1);
      for (std::size_t i = begin; i < std::min(bra.pairs.size(), begin + chunk_size); ++i) {
        place_of[i] = static_cast<std::int32_t>(bras.size());
        bras.push_back(static_cast<std::int32_t>(i));
      }
      const std::size_t quartets = bras.size() * ket.pairs.size();
      std::vector<double> integrals(quartets * pair_kinds[Bra].functions() * pair_kinds[Ket].functions());
      std::vector<double> weights(quartets), half(3 * half_size<Bra, Ket>);
      Chunk chunk{bra.view(), ket.view(), Bra == Ket, bras.data(), place_of.data()};
      chunk.bra_count = static_cast<std::int32_t>(bras.size());
      chunk.numbers = tables.numbers.data();
      chunk.bounds = tables.bounds.data();
      chunk.table = &boys_table();
      chunk.threshold = 0;
      chunk.cutoff = 1e-18;
      chunk.density = density.matrix.values.data();
      chunk.sums = density.sums.data();
      chunk.n = builder.functions();
      chunk.shells = density.shells;
      chunk.shell_of = tables.shell_of.data();
      chunk.first_of = tables.first_of.data();
      chunk.integrals = integrals.data();
      chunk.weights = weights.data();
      chunk.j = halves.j();
      chunk.k = halves.k();
      const auto count = static_cast<std::int64_t>(quartets);
      const int stride = way == GpuWay::shared ? 3 : 1;
      for (std::int64_t q = 0; q < count; ++q)
        if (way == GpuWay::atomics)
          add_quartet<Bra, Ket>(chunk, q, half.data(), stride, [](double* to, double value) { *to += value; });
        else
          store_quartet<Bra, Ket>(chunk, q, half.data() + (stride == 3), stride);
      if (way == GpuWay::atomics) continue;
      for (std::int64_t i = 0; i < chunk.bra_count * pair_kinds[Bra].functions(); ++i)
        gather_bra_coulomb<Bra, Ket>(chunk, i);
      for (std::int64_t i = 0; i < chunk.ket.count * pair_kinds[Ket].functions(); ++i)
        gather_ket_coulomb<Bra, Ket>(chunk, i);
      for (std::int64_t i = 0; i < chunk.n * chunk.n; ++i) gather_exchange<Bra, Ket>(chunk, i);
    }
  }
  void run_all(GpuWay way, std::size_t chunk_size) {
    run<kind_ss, kind_ss>(way, chunk_size);
    run<kind_ps, kind_ss>(way, chunk_size);
    run<kind_ps, kind_ps>(way, chunk_size);
    run<kind_pp, kind_ss>(way, chunk_size);
    run<kind_pp, kind_ps>(way, chunk_size);
    run<kind_pp, kind_pp>(way, chunk_size);
  }
};

TEST(GpuThreads, GiveTheGoldenMatrixInEveryWay) {
  Random random(1);
  using enum ShellType;
  const Basis basis = random.basis({sp, s, p, sp, s}, 4.0);
  const Matrix density = random.density(basis.functions), golden = g_matrix_golden(basis, density);
  const std::unique_ptr<Builder> builder = *Builder::make(basis, {.whole = false});
  for (const GpuWay way : {GpuWay::atomics, GpuWay::stored, GpuWay::shared})
    for (const std::size_t chunk_size : {3, 1000}) {
      Emulated gpu(*builder, density);
      gpu.run_all(way, chunk_size);
      EXPECT_LT(largest_difference(g_matrix(symmetrised(gpu.halves)), golden), 1e-12 * largest(golden))
          << static_cast<int>(way) << " chunks of " << chunk_size;
    }
}

// Integrals of an exponent that is a little wrong must show.
TEST(GpuThreads, WrongNumbersAreFound) {
  Random random(2);
  const Basis basis = random.basis({ShellType::sp, ShellType::s}, 2.0);
  const Matrix density = random.density(basis.functions), golden = g_matrix_golden(basis, density);
  const std::unique_ptr<Builder> builder = *Builder::make(basis, {.whole = false});
  Emulated gpu(*builder, density);
  gpu.tables.numbers[0] *= 1 + 1e-9;
  gpu.run_all(GpuWay::stored, 1000);
  EXPECT_GT(largest_difference(g_matrix(symmetrised(gpu.halves)), golden), 1e-12 * largest(golden));
}

// Far apart and close together: both branches of the Boys function.
TEST(GpuThreads, BoysFunction) {
  for (double x = 0; x < 60; x += 0.37) {
    double found[5], expected[5];
    boys_thread<4>(x, boys_table(), found);
    boys(x, 4, expected);
    for (int m = 0; m < 5; ++m) EXPECT_NEAR(found[m], expected[m], 2e-13) << x << " " << m;
  }
}

} // namespace
} // namespace kumihimo::hartree_fock::two_electron::cuda
