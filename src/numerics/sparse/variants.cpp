#include "sparse/variants.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace kumihimo::sparse {
namespace {

constexpr Parameter colours_parameter{
    "colours",    "Colours m of CM-RCM(m), raised until no neighbours share one; 0: greedy colouring", "m", 0, 1 << 30,
    {10, 80, 400}};
constexpr Parameter chunk_parameter{"chunk", "Rows of a chunk of SELL-C-sigma", "C", 1, largest_chunk, {16, 32}};
constexpr Parameter sigma_parameter{
    "sigma", "Rows that SELL-C-sigma sorts by length within a block", "sigma", 1, 1 << 30, {1, 1024}};
constexpr Parameter streams_parameter{"streams", "Streams of the streamed format", "S", 1, most_streams, {2, 8}};

std::vector<TakenParameter> parameters_of(RowLayout layout, std::int64_t colours) {
  std::vector<TakenParameter> taken{{&colours_parameter, colours}};
  if (layout == RowLayout::sell) {
    taken.push_back({&chunk_parameter, 8});
    taken.push_back({&sigma_parameter, 64});
  }
  if (layout == RowLayout::streams) taken.push_back({&streams_parameter, 4});
  return taken;
}

struct VariantRow {
  std::string_view name, summary;
  RowOrder order;
  RowLayout layout;
  Copies copies;
  FactorType factor_type;
  std::int64_t colours;
};

constexpr VariantRow rows[] = {
#define VARIANT(name, order, layout, copies, type, colours, summary)                                                   \
  {name, summary, RowOrder::order, RowLayout::layout, Copies::copies, FactorType::type, colours},
#include "sparse/variants.def"
#undef VARIANT
};

} // namespace

std::span<const SparseVariant> variants() {
  static std::array<std::vector<TakenParameter>, std::size(rows)> parameters;
  static const std::vector<SparseVariant> all = [] {
    std::vector<SparseVariant> made;
    for (std::size_t i = 0; i < std::size(rows); ++i) {
      const VariantRow& row = rows[i];
      parameters[i] = parameters_of(row.layout, row.colours);
      made.push_back({{row.name, row.summary, parameters[i]}, row.order, row.layout, row.copies, row.factor_type});
    }
    return made;
  }();
  return all;
}

Result<const SparseVariant*> find_variant(std::string_view name) {
  std::string names;
  for (const SparseVariant& variant : variants()) {
    if (variant.description.name == name) return &variant;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", variant.description.name);
  }
  return wrong_value("the variant must be one of those that are listed", name, "use one of: " + names);
}

} // namespace kumihimo::sparse
