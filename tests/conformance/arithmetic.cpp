#include "arithmetic.hpp"

#include <array>

namespace conformance {

using kumihimo::DataType;
using kumihimo::Operation;

namespace {

constexpr std::uint64_t prime = 2147483647;
using Triple = std::array<std::uint32_t, 3>;
using Matrix = std::array<std::uint32_t, 4>; // by rows

Triple combine(const Triple& a, const Triple& b) {
  Triple c;
  for (std::size_t i = 0; i < 3; ++i) c[i] = static_cast<std::uint32_t>((std::uint64_t{a[i]} + b[i]) % prime);
  return c;
}

Matrix combine(const Matrix& a, const Matrix& b) {
  Matrix c;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      c[2 * i + j] = static_cast<std::uint32_t>(
          (std::uint64_t{a[2 * i]} * b[j] % prime + std::uint64_t{a[2 * i + 1]} * b[2 + j] % prime) % prime);
  return c;
}

template <class T>
void combine_all(const void*, const void* left, const void* right, void* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, static_cast<const T*>(left) + i, sizeof a);
    std::memcpy(&b, static_cast<const T*>(right) + i, sizeof b);
    const T c = combine(a, b);
    std::memcpy(static_cast<T*>(target) + i, &c, sizeof c);
  }
}

} // namespace

std::string Arithmetic::name() const {
  if (operation != Operation::user) return std::string(name_of(operation)) + "_" + std::string(name_of(type));
  return commutative ? "user_sum_of_triples" : "user_product_of_matrices";
}

void Arithmetic::apply_to(kumihimo::Collective& c) const {
  c.type = type;
  c.operation = operation;
  c.type_bytes = type_bytes;
  c.commutative = commutative;
}

kumihimo::transport::Reduction Arithmetic::reduction() const {
  if (operation != Operation::user) return {};
  return {nullptr, commutative ? combine_all<Triple> : combine_all<Matrix>, nullptr};
}

Buffer Arithmetic::draw(std::int64_t count, std::uint64_t seed) const {
  if (operation != Operation::user) return golden::draw_vector(type, operation, count, seed);
  std::mt19937_64 random(seed);
  Buffer b(static_cast<std::size_t>(count * type_bytes));
  for (std::int64_t i = 0; i < count * type_bytes / 4; ++i)
    golden::set<std::uint32_t>(b, i, static_cast<std::uint32_t>(random() % prime));
  return b;
}

std::optional<std::string> Arithmetic::wrong(const std::vector<Buffer>& inputs, const Buffer& result) const {
  if (operation != Operation::user) return golden::wrong_reduction(type, operation, inputs, result);
  Buffer expected = inputs[0];
  for (std::size_t r = 1; r < inputs.size(); ++r)
    reduction()(expected.data(), inputs[r].data(), expected.data(),
                static_cast<std::int64_t>(result.size()) / type_bytes);
  return expected == result ? std::nullopt : std::optional<std::string>("not the result in rank order");
}

const std::vector<Arithmetic>& all_arithmetic() {
  static const std::vector<Arithmetic> all = {
      {DataType::float64, Operation::sum, 8, true},   {DataType::float32, Operation::sum, 4, true},
      {DataType::opaque, Operation::user, 16, false}, {DataType::float64, Operation::prod, 8, true},
      {DataType::int32, Operation::sum, 4, true},     {DataType::uint8, Operation::prod, 1, true},
      {DataType::int64, Operation::min, 8, true},     {DataType::float32, Operation::max, 4, true},
      {DataType::opaque, Operation::user, 12, true},  {DataType::uint16, Operation::bxor, 2, true},
      {DataType::int8, Operation::land, 1, true},     {DataType::uint64, Operation::lxor, 8, true},
      {DataType::int16, Operation::lor, 2, true},     {DataType::uint32, Operation::band, 4, true},
      {DataType::int32, Operation::bor, 4, true}};
  return all;
}

} // namespace conformance
