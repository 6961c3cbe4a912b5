#include "fabric/engines.hpp"

#include <fmt/format.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>
#include <utility>

namespace kumihimo::fabric {
namespace {

// A provider may announce atomics and have none of these.
bool does_atomics(fid_ep* endpoint) {
  std::size_t adds = 0, swaps = 0;
  return fi_fetch_atomicvalid(endpoint, FI_INT64, FI_SUM, &adds) == 0 &&
         fi_compare_atomicvalid(endpoint, FI_INT64, FI_CSWAP, &swaps) == 0 && adds > 0 && swaps > 0;
}

} // namespace

Result<std::vector<std::string>> rails_in(std::string_view name, std::string_view words) {
  std::vector<std::string> rails;
  for (const auto part : std::views::split(words, ',')) rails.emplace_back(part.begin(), part.end());
  const bool fits = !rails.empty() && rails.size() <= std::size_t{FabricEngines::most};
  if (fits && std::find(rails.begin(), rails.end(), "") == rails.end()) return rails;
  return wrong_value(fmt::format("{} must be 1 to {} interfaces with commas between them", name, FabricEngines::most),
                     fmt::format("'{}'", words));
}

Result<std::unique_ptr<FabricEngines>> FabricEngines::open(ProviderWish wish, std::span<const std::string> rails,
                                                           std::int32_t engines, std::size_t receives) {
  std::unique_ptr<FabricEngines> opened(new FabricEngines);
  wish.engines = std::clamp(std::max(engines, static_cast<std::int32_t>(rails.size())), 1, most);
  if (Status status = opened->open_rails(wish, rails); !status) return status.error();
  for (std::int32_t engine = 0; engine < wish.engines; ++engine)
    opened->endpoints_.push_back(
        TRY(opened->open_engine(opened->domain_of(static_cast<std::size_t>(engine)), receives)));
  return opened;
}

Status FabricEngines::open_rails(ProviderWish& wish, std::span<const std::string> rails) {
  if (rails.empty()) domains_.push_back(TRY(FabricDomain::open(wish)));
  for (const std::string& rail : rails) {
    wish.interface = rail;
    domains_.push_back(TRY(FabricDomain::open(wish)));
    wish.provider = provider(); // one for all
    if (!(domains_.back()->rules() == domains_.front()->rules()))
      return not_applicable(fmt::format("the provider {} promises other things on the interface {} than on {}",
                                        provider(), rail, rails.front()),
                            {}, "name rails of one kind");
  }
  return Nothing{};
}

Result<fid_ep*> FabricEngines::open_engine(const FabricDomain& domain, std::size_t receives) {
  fid_ep* endpoint = nullptr;
  fid_cq* queue = nullptr;
  fi_cq_attr wanted{};
  wanted.format = FI_CQ_FORMAT_DATA;
  wanted.size = domain.info().tx_attr->size + domain.info().rx_attr->size + receives;
  wanted.wait_obj = FI_WAIT_NONE;
  int code = fi_cq_open(domain.domain(), &wanted, &queue, nullptr);
  const char* what = "fi_cq_open";
  if (code == 0)
    queues_.push_back(queue), what = "fi_endpoint",
                              code = fi_endpoint(domain.domain(), &domain.info(), &endpoint, nullptr);
  if (code == 0) what = "fi_ep_bind", code = fi_ep_bind(endpoint, &domain.addresses()->fid, 0);
  if (code == 0) code = fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV);
  if (code == 0) what = "fi_enable", code = fi_enable(endpoint);
  if (code == 0) return endpoint;
  if (endpoint) fi_close(&endpoint->fid);
  return not_applicable(fmt::format("{} of provider {} failed: {}", what, provider(), library().text(code)), {},
                        "use the network mpi");
}

FabricEngines::~FabricEngines() { close(); }

// Endpoints first: they use everything else.
void FabricEngines::close() {
  for (fid_ep* endpoint : std::exchange(endpoints_, {})) fi_close(&endpoint->fid);
  for (fid_cq* queue : std::exchange(queues_, {})) fi_close(&queue->fid);
}

ProviderRules FabricEngines::rules() const {
  ProviderRules rules = domains_.front()->rules();
  rules.has_atomics = rules.has_atomics && std::all_of(endpoints_.begin(), endpoints_.end(), does_atomics);
  return rules;
}

std::string FabricEngines::interface() const {
  std::string all;
  for (const auto& domain : domains_) {
    if (!all.empty()) all += '+';
    all += domain->interface();
  }
  return all;
}

std::vector<std::byte> FabricEngines::addresses(std::size_t& bytes_of_each) const {
  std::array<std::array<std::byte, 256>, most> found{};
  std::size_t longest = 0;
  for (std::size_t engine = 0; engine < size(); ++engine) {
    std::size_t bytes = found[engine].size();
    if (fi_getname(&endpoints_[engine]->fid, found[engine].data(), &bytes) == 0) longest = std::max(longest, bytes);
  }
  bytes_of_each = (longest + 7) / 8 * 8;
  std::vector<std::byte> all(size() * bytes_of_each);
  for (std::size_t engine = 0; engine < size(); ++engine)
    std::memcpy(all.data() + engine * bytes_of_each, found[engine].data(), bytes_of_each);
  return all;
}

} // namespace kumihimo::fabric
