#include "kernels/plans.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kumihimo::kernels {
namespace {

// The variable's, if it names a variant that runs here.
const ReduceVariant* named_variant() {
  static const ReduceVariant* const named = [] {
    const char* const name = std::getenv("KUMIHIMO_KERNEL_LEVEL");
    return name ? find_reduce_variant(name) : nullptr;
  }();
  return named;
}

const ReduceVariant* untuned_variant() {
  if (const ReduceVariant* const named = named_variant()) return named;
  const auto rank = [](const ReduceVariant& v) { return v.runs_here ? v.rank : 0; };
  return &*std::ranges::max_element(reduce_variants(), {}, rank);
}

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value && *value;
}

// Kernels that plans point into, as long as the process lives: executions keep their plans.
struct CompiledPlans {
  Plans plans;
  std::vector<std::unique_ptr<ReducePlan::Class[]>> reduce_classes;
  std::vector<std::unique_ptr<CopyPlan::Class[]>> copy_classes;
};

// The last class has no limit whatever the length of its elements.
std::int64_t in_elements(std::int64_t most_bytes, std::int64_t size) {
  return most_bytes == SizeRange{}.to ? most_bytes : most_bytes / size;
}

ReducePlan compile(const Selection::Reduce& choices, DataType type, Operation op, CompiledPlans& into) {
  std::vector<ReducePlan::Class> classes;
  for (const auto& each : choices.classes())
    classes.push_back({in_elements(each.to, size_of(type)), each.value->kernel(type, op)});
  ReducePlan plan(classes[0].kernel);
  plan.most = classes[0].most;
  auto longer = std::make_unique<ReducePlan::Class[]>(classes.size());
  std::copy(classes.begin() + 1, classes.end(), longer.get());
  plan.longer = longer.get();
  into.reduce_classes.push_back(std::move(longer));
  return plan;
}

CopyPlan compile(Selection::Copy choices, CompiledPlans& into) {
  const CopyVariant& plain = copy_variants().front();
  choices.set({0, smallest_tuned_copy_bytes - 1}, CopyChoice(&plain));
  CopyPlan plan;
  auto longer = std::make_unique<CopyPlan::Class[]>(choices.classes().size());
  std::size_t count = 0;
  for (const auto& each : choices.classes()) longer[count++] = {each.to, each.value.kernel()};
  plan.most_plain = longer[0].most;
  plan.longer = longer.get();
  into.copy_classes.push_back(std::move(longer));
  return plan;
}

const Plans& compiled(const Selection& choices) {
  static std::mutex mutex;
  static auto& all = *new std::vector<std::unique_ptr<CompiledPlans>>; // used after the end of main, too
  auto made = std::make_unique<CompiledPlans>();
  for (const Operation op : builtin_operations)
    for (const DataType type : builtin_datatypes)
      if (is_applicable(type, op)) {
        const auto o = static_cast<std::size_t>(op), t = static_cast<std::size_t>(type);
        made->plans.reduce[o][t] = compile(choices.reduce[o][t], type, op, *made);
      }
  for (const DataType type : pair_datatypes) // not to be tuned: one loop
    for (const Operation op : {Operation::minloc, Operation::maxloc})
      made->plans.reduce[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)] = find_pair_kernel(type, op);
  for (std::size_t i = 0; i < readers.size(); ++i) made->plans.copy[i] = compile(choices.copy[i], *made);
  const std::lock_guard lock(mutex);
  all.push_back(std::move(made));
  return all.back()->plans;
}

} // namespace

std::string_view name_of(CopyReader reader) { return reader == CopyReader::same_core ? "same core" : "other core"; }

bool environment_decides_reductions() { return named_variant() || is_set("KUMIHIMO_STREAMING_BYTES"); }
bool environment_decides_copies(CopyReader reader) {
  return is_set(reader == CopyReader::same_core ? "KUMIHIMO_STREAMING_BYTES" : "KUMIHIMO_SHARED_STORES");
}

Selection untuned() {
  Selection choices;
  const ReduceVariant* const usual = untuned_variant();
  const ReduceVariant* const streaming = find_reduce_variant(std::string(usual->name) + "_streaming");
  const SizeRange is_long{streaming_threshold_bytes()}, is_streamed{smallest_streamed_bytes};
  for (auto& of_operation : choices.reduce)
    for (Selection::Reduce& each : of_operation) {
      each = Selection::Reduce(usual);
      if (streaming) each.set(is_long, streaming);
    }
  for (Selection::Copy& each : choices.copy) each = Selection::Copy(CopyChoice(&copy_variants().front()));
  if (const CopyVariant* const streaming_copy = find_copy_variant("streaming")) {
    choices.of(CopyReader::same_core).set(is_long, CopyChoice(streaming_copy));
    if (streams_to_other_cores()) choices.of(CopyReader::other_core).set(is_streamed, CopyChoice(streaming_copy));
  }
  return choices;
}

std::atomic<const Plans*> plans_in_use = nullptr;

const Plans& untuned_plans() {
  static const Plans& plans = compiled(untuned());
  return plans;
}

void use(const Selection& choices) { plans_in_use.store(&compiled(choices), std::memory_order_release); }
void use_untuned() { plans_in_use.store(nullptr, std::memory_order_release); }

CopyPlan copy_plan_of(const CopyVariant& variant) {
  Selection choices = untuned();
  choices.of(CopyReader::same_core) = Selection::Copy(CopyChoice(&variant));
  return compiled(choices).copy[0];
}

} // namespace kumihimo::kernels
