// What a file of a kernel needs, one of kernels.def: the form of a row, arrays for trials, entries of wisdom.
#pragma once

#include "kernels/plans.hpp"
#include "problem/problem.hpp"
#include "problem/wisdom_file.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>

namespace kumihimo::plan {

using problem::Candidate;
using problem::Entry;
using problem::Key;
using problem::Trial;

// A kernel as a problem.
class KernelProblem : public problem::Problem {
 public:
  std::vector<VariantDescription> variants(const Key&) const final { return built(true); }
  // Those that this machine can run, or all that are built.
  virtual std::vector<VariantDescription> built(bool running_here) const = 0;
  // Without the field `kernel`, the most used first.
  virtual std::vector<Key> keys() const = 0;
  // Takes an entry of wisdom over. Error: what is wrong with it.
  virtual Status take(const Entry& entry, SizeRange bytes, kernels::Selection& choices) const = 0;
};

template <class Row>
std::vector<VariantDescription> rows_of(std::span<const Row> rows, bool running_here) {
  std::vector<VariantDescription> found;
  for (const Row& row : rows)
    if (row.runs_here || !running_here) found.push_back(row);
  return found;
}

// The variant that an entry names.
template <class Row>
Result<const Row*> variant_of(const Entry& entry, std::span<const Row> rows) {
  const std::string name = TRY(entry.word("variant"));
  std::string running;
  for (const Row& row : rows) {
    if (!row.runs_here) continue;
    if (row.name == name) return &row;
    running += (running.empty() ? "" : ", ") + std::string(row.name);
  }
  return wrong_value(entry.where() + ": the variant must be one that runs here (" + running + ")", "'" + name + "'",
                     "tune again");
}
Result<ParameterValues> parameters_of(const Entry& entry, std::string_view variant,
                                      std::span<const TakenParameter> taken);

// Aligned to a page, and written, so that no page fault is measured.
class PageArray {
 public:
  static std::optional<PageArray> make(std::int64_t bytes);
  char* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(char* p) const { std::free(p); }
  };
  std::unique_ptr<char, Free> data_;
};

Error no_memory(std::int64_t bytes, int arrays);

extern std::atomic<std::uint64_t> read_words; // so that nothing that was read is left out

} // namespace kumihimo::plan
