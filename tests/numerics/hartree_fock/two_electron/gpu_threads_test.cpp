// The work of a GPU's threads, done by this processor one thread after the other. The launches and copies around it run
// on a GPU alone.
#include "hartree_fock/boys.hpp"
#include "hartree_fock/golden.hpp"
#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/cuda/tables.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace kumihimo::hartree_fock::two_electron::cuda {
namespace {

struct Emulated {
  const TwoElectronBuilder& builder;
  Tables tables{builder.pairs(), builder.functions()};
  ScreenedDensity density;
  SumHalves<double> halves{builder.functions()};
  double threshold = 0;
  std::vector<QuartetCounts> counts_of_class;

  Emulated(const TwoElectronBuilder& of, const Matrix& d) : builder(of), density(d, of.pairs().shells()) {}

  template <int Bra, int Ket>
  void run(GpuWay way, std::size_t chunk_size) {
    const KindTables &bra = tables.kinds[Bra], &ket = tables.kinds[Ket];
    std::vector<std::int32_t> bras(bra.pairs.size()); // of all chunks; they are their own places
    std::iota(bras.begin(), bras.end(), 0);
    QuartetCounts counts;
    for (std::size_t begin = 0; begin < bra.pairs.size(); begin += chunk_size) {
      const std::size_t chunk_bras = std::min(bra.pairs.size() - begin, chunk_size);
      const std::size_t quartets = chunk_bras * ket.pairs.size();
      std::vector<double> integrals(quartets * pair_kinds[Bra].functions() * pair_kinds[Ket].functions());
      std::vector<double> weights(quartets), half(3 * half_size<Bra, Ket>);
      QuartetChunk chunk{bra.view(), ket.view(), Bra == Ket, bras.data() + begin, bras.data()};
      chunk.first = static_cast<std::int32_t>(begin);
      chunk.bra_count = static_cast<std::int32_t>(chunk_bras);
      chunk.numbers = tables.numbers.data();
      chunk.bounds = tables.bounds.data();
      chunk.table = &boys_table();
      chunk.threshold = threshold;
      chunk.cutoff = builder.settings().cutoff;
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
      for (std::int64_t q = 0; q < count; ++q) {
        const QuartetWork work =
            way == GpuWay::atomics
                ? add_quartet<Bra, Ket>(chunk, q, half.data(), stride, [](double* to, double value) { *to += value; })
                : store_quartet<Bra, Ket>(chunk, q, half.data() + (stride == 3), stride);
        counts.quartets += work.is_computed;
        counts.screened += work.is_screened;
        counts.primitives += static_cast<unsigned>(work.primitives);
      }
      if (way == GpuWay::atomics) continue;
      for (std::int64_t i = 0; i < chunk.bra_count * pair_kinds[Bra].functions(); ++i)
        gather_bra_coulomb<Bra, Ket>(chunk, i);
      for (std::int64_t i = 0; i < chunk.ket.count * pair_kinds[Ket].functions(); ++i)
        gather_ket_coulomb<Bra, Ket>(chunk, i);
      for (std::int64_t i = 0; i < chunk.n * chunk.n; ++i) gather_exchange<Bra, Ket>(chunk, i);
    }
    counts_of_class.push_back(counts);
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
  const std::unique_ptr<TwoElectronBuilder> builder = *TwoElectronBuilder::make(basis, {.whole = false});
  for (const GpuWay way : {GpuWay::atomics, GpuWay::stored, GpuWay::shared})
    for (const std::size_t chunk_size : {3, 1000}) {
      Emulated gpu(*builder, density);
      gpu.run_all(way, chunk_size);
      EXPECT_LT(largest_difference(g_matrix(symmetrised(gpu.halves)), golden), 1e-12 * largest(golden))
          << static_cast<int>(way) << " chunks of " << chunk_size;
    }
}

// The table of classes has them: the quartets of the processor's kernels, which count primitives by blocks of lanes.
TEST(GpuThreads, CountTheQuartetsOfTheProcessor) {
  Random random(3);
  using enum ShellType;
  const Basis basis = random.basis({sp, s, p, sp, s, sp, sp, s}, 9.0);
  const Matrix density = random.density(basis.functions);
  const std::unique_ptr<TwoElectronBuilder> builder = *TwoElectronBuilder::make(basis, {.whole = false});
  const double threshold = 1e-3;
  ASSERT_TRUE(builder->build(density, threshold));
  std::int64_t screened = 0;
  for (const GpuWay way : {GpuWay::atomics, GpuWay::stored}) {
    Emulated gpu(*builder, density);
    gpu.threshold = threshold;
    gpu.run_all(way, 4);
    for (std::size_t c = 0; c < 6; ++c) {
      const QuartetCounts& counts = gpu.counts_of_class[c];
      const Tally& tally = builder->tallies()[c];
      EXPECT_EQ(static_cast<std::int64_t>(counts.quartets), tally.quartets) << c;
      EXPECT_GT(counts.primitives, counts.quartets) << c;
      EXPECT_LE(static_cast<std::int64_t>(counts.primitives), tally.primitives) << c;
      screened += static_cast<std::int64_t>(counts.screened);
    }
  }
  EXPECT_GT(screened, 0);
}

// Integrals of an exponent that is a little wrong must show.
TEST(GpuThreads, WrongNumbersAreFound) {
  Random random(2);
  const Basis basis = random.basis({ShellType::sp, ShellType::s}, 2.0);
  const Matrix density = random.density(basis.functions), golden = g_matrix_golden(basis, density);
  const std::unique_ptr<TwoElectronBuilder> builder = *TwoElectronBuilder::make(basis, {.whole = false});
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
