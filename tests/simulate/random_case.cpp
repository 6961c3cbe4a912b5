#include "random_case.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::simulate_test {

std::string RandomCase::text() const {
  std::string s = fmt::format("{} {} --machine {} --shape {} --bytes {} --type {}", name_of(variant->kind),
                              variant->name, job.machine.name, job.machine.shape.text(), bytes, name_of(type));
  if (const std::int32_t each = job.slots.on(NodeId{0}); each > 1) s += fmt::format(" --ranks-per-node {}", each);
  if (root.value > 0) s += fmt::format(" --root {}", root.value);
  for (const ParameterDeclaration& p : declared_parameters)
    if (p.is_given(parameters)) s += " " + p.text(parameters);
  return s;
}

std::int64_t RandomCases::spread(std::int64_t least, std::int64_t most) {
  return std::llround(std::exp(std::uniform_real_distribution<double>(std::log(least), std::log(most))(random_)));
}

// Few ranks mostly: what goes wrong shows there, and the exact solution is quick.
std::string RandomCases::shape() {
  const std::int64_t most = one_in(40) ? 256 : one_in(6) ? 96 : 32, dimensions = between(1, 3);
  for (;;) {
    std::string text;
    std::int64_t places = 1;
    const bool meshes = one_in(4);
    for (std::int64_t d = 0; d < dimensions; ++d) {
      const std::int64_t length = spread(2, std::min<std::int64_t>(most, dimensions == 1 ? 64 : 24));
      places *= length;
      text += fmt::format("{}{}{}", d > 0 ? "x" : "", length, meshes && one_in(2) ? "m" : "");
    }
    if (places <= most) return text;
  }
}

Job RandomCases::job() {
  constexpr const char* names[] = {"k-computer", "k-computer", "fugaku", "hector-2a"};
  const char* const name = names[between(0, 3)];
  const Machine m = described(name, shape());
  const std::int64_t each = name == names[0] ? 1 : std::int64_t{1} << between(0, 2);
  return m.topology->nodes() * each > 512 ? Job(m) : *Job::with_ranks_per_node(m, each);
}

Parameters RandomCases::parameters(const Variant& variant) {
  Parameters p;
  for (const Variant::Parameter& known : variant.parameters) {
    if (known.name == "segment_bytes" && one_in(2)) p.segments = spread(1, 32);
    if (known.name == "window" && one_in(2)) p.window = spread(1, 16);
    if (known.name == "throttle" && one_in(2)) p.throttle = spread(1, 16);
    if (known.name == "radix" && one_in(2)) p.radix = between(2, 6);
    if (known.name == "overlap" && one_in(2)) p.overlap = true;
  }
  return p;
}

RandomCase RandomCases::next() {
  const auto& variants = Registry::standard().variants();
  const auto* const variant =
      &variants[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(variants.size()) - 1))];
  RandomCase c{variant, job()};
  c.type = one_in(3) ? DataType::float32 : DataType::float64;
  const std::int64_t element = size_of(c.type);
  const bool vector = c.variant->kind->is_vector();
  c.bytes = spread(1, (vector ? 4 << 20 : 256 << 10) / element) * element;
  c.root = Rank{static_cast<std::int32_t>(one_in(2) ? 0 : between(0, c.job.rank_space().ranks() - 1))};
  c.parameters = parameters(*c.variant);
  return c;
}

} // namespace kumihimo::simulate_test
