#include "fabric/registrations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::fabric {
namespace {

void end(RegisteredRange& range) {
  for (fid_mr* each : range.of_engine) fi_close(&each->fid);
  range.of_engine.clear();
}

} // namespace

Registrations::~Registrations() {
  for (RegisteredRange& range : storage_) end(range);
}

// Ranges may overlap. Those that could cover `data` begin at or before it; buffers of one program are few, so the walk
// back is short in practice and bounded here.
Result<RegisteredRange*> Registrations::use(const std::byte* data, std::int64_t bytes) {
  constexpr int most_looked_at = 8;
  auto it = ranges_.upper_bound(data);
  for (int looked = 0; it != ranges_.begin() && looked < most_looked_at; ++looked) {
    --it;
    RegisteredRange& range = *it->second;
    if (data + bytes > range.first + range.bytes) continue;
    if (range.uses++ == 0) --unused_;
    range.age = ++clock_;
    return &range;
  }
  RegisteredRange& range = storage_.emplace_back();
  range.first = const_cast<std::byte*>(data);
  range.bytes = bytes;
  if (Status status = add(range); !status) {
    end(range);
    storage_.pop_back();
    return status.error();
  }
  range.uses = 1;
  range.age = ++clock_;
  ranges_.emplace(range.first, std::prev(storage_.end()));
  return &range;
}

Status Registrations::add(RegisteredRange& range) {
  constexpr std::uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
  const bool binds = rules().binds_to_endpoints;
  const std::size_t registrations = binds ? engines_.size() : domains_.size();
  for (std::size_t engine = 0; engine < registrations; ++engine) {
    const FabricDomain& domain = *domains_[engine % domains_.size()];
    fid_mr* made = nullptr;
    const std::uint64_t key = rules().chooses_keys ? 0 : next_key_++;
    int code = fi_mr_reg(domain.domain(), range.first, static_cast<std::size_t>(range.bytes), access, 0, key, 0, &made,
                         nullptr);
    if (code == 0) range.of_engine.push_back(made);
    if (code == 0 && binds) {
      code = fi_mr_bind(made, &engines_[engine]->fid, 0);
      if (code == 0) code = fi_mr_enable(made);
    }
    if (code != 0)
      return failed(fmt::format("the provider {} cannot register {} bytes", domain.provider(), range.bytes),
                    domain.library().text(code), "use the network mpi");
  }
  return Nothing{};
}

void Registrations::release(RegisteredRange* range, bool keep) {
  if (--range->uses > 0) return;
  if (!keep || rules().pins) return remove(range);
  if (++unused_ > most_kept) drop_oldest();
}

void Registrations::remove(RegisteredRange* range) {
  const auto [begin, after] = ranges_.equal_range(range->first);
  const auto found = std::find_if(begin, after, [&](const auto& entry) { return &*entry.second == range; });
  end(*range);
  storage_.erase(found->second);
  ranges_.erase(found);
}

void Registrations::drop_oldest() {
  RegisteredRange* oldest = nullptr;
  for (RegisteredRange& range : storage_)
    if (range.uses == 0 && (!oldest || range.age < oldest->age)) oldest = &range;
  --unused_;
  remove(oldest);
}

std::uint64_t Registrations::remote_address(const RegisteredRange& range, const std::byte* data) const {
  return rules().uses_addresses ? reinterpret_cast<std::uint64_t>(data)
                                : static_cast<std::uint64_t>(data - range.first);
}

} // namespace kumihimo::fabric
