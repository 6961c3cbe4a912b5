#include "fabric/provider.hpp"

#include <fmt/format.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::fabric {
namespace {

constexpr std::size_t least_data_bytes = 4; // of remote data
constexpr std::uint64_t wanted_mr_mode =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
constexpr std::size_t queue_entries = 512; // of operations under way at an endpoint, each way

// Providers that reach no other node, or take milliseconds for an operation, or whose keys are longer than 64 bits.
// A user who names one gets it.
constexpr std::array<std::string_view, 5> unfit = {"shm", "sockets", "udp", "ofi_mrail", "ofi_hook"};

bool is_unfit(std::string_view provider) {
  return std::any_of(unfit.begin(), unfit.end(),
                     [&](std::string_view name) { return provider.find(name) != provider.npos; });
}

std::string_view interface_of(const fi_info& info) { return info.domain_attr->name ? info.domain_attr->name : ""; }

bool is_loopback(const fi_info& info) { return interface_of(info) == "lo"; }

// Each once, for a sentence.
std::string interfaces_of(const fi_info* all, std::string_view provider) {
  std::vector<std::string_view> names;
  for (const fi_info* each = all; each; each = each->next)
    if (each->fabric_attr->prov_name == provider &&
        std::find(names.begin(), names.end(), interface_of(*each)) == names.end())
      names.push_back(interface_of(*each));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Settings of libfabric's environment that it reads at its first call in the process; those of the user stay. Taken
// back afterwards, because the program's children inherit them.
class LibrarySettings {
 public:
  explicit LibrarySettings(std::int32_t processes) {
    // rxm fails with more peers than this, 256 by default.
    set("FI_UNIVERSE_SIZE", std::to_string(std::max(processes, 256)));
    // rxm keeps buffers for messages, 70 MB an endpoint without the next line. Ours are headers and eager messages,
    // for which it makes no rendezvous of its own below this size.
    set("FI_OFI_RXM_BUFFER_SIZE", "16384");
    set("FI_OFI_RXM_MSG_RX_SIZE", "128");
    // Memory is registered explicitly here. A second monitor of memory beside the MPI library's would break its.
    set("FI_MR_CACHE_MONITOR", "disabled");
  }
  ~LibrarySettings() {
    for (const char* name : set_) unsetenv(name);
  }
  LibrarySettings(const LibrarySettings&) = delete;
  LibrarySettings& operator=(const LibrarySettings&) = delete;

 private:
  void set(const char* name, const std::string& value) {
    if (!std::getenv(name) && setenv(name, value.c_str(), 0) == 0) set_.push_back(name);
  }
  std::vector<const char*> set_;
};

// fi_getinfo() with our wishes. Null: no provider has them.
fi_info* ask(const FabricLibrary& library, const std::string& provider, bool delivery, bool atomics = false) {
  fi_info* const hints = library.dupinfo(nullptr); // an empty one
  if (!hints) return nullptr;
  hints->caps = FI_MSG | FI_RMA | (atomics ? FI_ATOMIC : 0);
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->mr_mode = static_cast<int>(wanted_mr_mode);
  hints->domain_attr->threading = FI_THREAD_DOMAIN; // one thread at a time in a port
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->size = hints->rx_attr->size = queue_entries;
  if (delivery) hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  if (!provider.empty()) hints->fabric_attr->prov_name = strdup(provider.c_str());
  fi_info* found = nullptr;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (library.getinfo(interface_version(), nullptr, nullptr, 0, hints, &found) == 0) break;
    found = nullptr;
    hints->tx_attr->size = hints->rx_attr->size = 0; // a provider may have shorter queues only
  }
  library.freeinfo(hints);
  return found;
}

} // namespace

ProviderRules rules_of(const fi_info& info) {
  ProviderRules rules;
  const auto mode = static_cast<std::uint64_t>(info.domain_attr->mr_mode);
  rules.registers_sources = (mode & FI_MR_LOCAL) != 0;
  rules.uses_addresses = (mode & FI_MR_VIRT_ADDR) != 0;
  rules.chooses_keys = (mode & FI_MR_PROV_KEY) != 0;
  rules.binds_to_endpoints = (mode & FI_MR_ENDPOINT) != 0;
  rules.pins = (mode & FI_MR_ALLOCATED) != 0;
  // Both ends must keep an order. FI_ORDER_WAW is of all writes, FI_ORDER_RMA_WAW of these; a provider states either.
  const std::uint64_t order = info.tx_attr->msg_order & info.rx_attr->msg_order;
  const bool ordered = (order & (FI_ORDER_WAW | FI_ORDER_RMA_WAW)) != 0;
  rules.ordered_bytes = ordered ? info.ep_attr->max_order_waw_size : 0;
  rules.sends_after_puts = (order & FI_ORDER_SAW) != 0;
  rules.puts_carry_data = info.domain_attr->cq_data_size >= least_data_bytes;
  rules.inject_bytes = info.tx_attr->inject_size;
  return rules;
}

Result<std::unique_ptr<FabricDomain>> FabricDomain::open(const ProviderWish& wish) {
  const FabricLibrary* const library = TRY(FabricLibrary::open());
  std::unique_ptr<FabricDomain> made(new FabricDomain(*library));
  if (Status status = made->choose(wish); !status) return status.error();
  if (Status status = made->open_objects(wish); !status) return status.error();
  return made;
}

// The first provider of libfabric's order that is fit. Of its interfaces the one that is wished; without a wish the
// loopback one if all processes are on this machine, otherwise the first that is none; the user's FI_TCP_IFACE leaves
// one alone.
Status FabricDomain::choose(const ProviderWish& wish) {
  static std::mutex mutex; // of the environment
  const std::lock_guard lock(mutex);
  const LibrarySettings settings(wish.processes);
  const bool any = wish.provider.empty() && !std::getenv("FI_PROVIDER");
  fi_info* const all = ask(library_, wish.provider, false);
  const fi_info *best = nullptr, *first = nullptr;
  for (const fi_info* each = all; each; each = each->next) {
    const std::string_view name = each->fabric_attr->prov_name;
    if (any && is_unfit(name)) continue;
    if (!first) first = each;
    if (name != first->fabric_attr->prov_name) continue;
    const bool serves =
        wish.interface.empty() ? is_loopback(*each) == wish.one_machine : interface_of(*each) == wish.interface;
    if (!best && serves) best = each;
  }
  if (!best && wish.interface.empty()) best = first;
  if (best) info_ = library_.dupinfo(best);
  const bool misses = first && !best;
  const std::string there = misses ? interfaces_of(all, first->fabric_attr->prov_name) : "";
  if (all) library_.freeinfo(all);
  if (misses)
    return wrong_value(fmt::format("a rail must be an interface of the provider of libfabric: {}", there),
                       wish.interface, "see fi_info -c FI_RMA -t FI_EP_RDM");
  if (!info_)
    return not_applicable(
        wish.provider.empty()
            ? std::string("no provider of libfabric has both messages and puts to remote memory here")
            : fmt::format("the provider {} of libfabric has no puts to remote memory here", wish.provider),
        {}, "see `fi_info -c FI_RMA -t FI_EP_RDM`, or use the network mpi");
  const bool has_atomics = wish.atomics && add_atomics();
  rules_ = rules_of(*info_);
  rules_.has_atomics = has_atomics;
  if (fi_info* const delivering = ask(library_, info_->fabric_attr->prov_name, true, has_atomics)) {
    rules_.delivers = true;
    library_.freeinfo(delivering);
  }
  if (!rules_.can_flag())
    return not_applicable(fmt::format("the provider {} of libfabric cannot say when the data of a put have arrived: it "
                                      "has neither remote data, nor ordered puts, nor delivery-complete",
                                      provider()),
                          {}, "use the network mpi");
  return Nothing{};
}

// The description of the same provider and interface with atomics, if there is one.
bool FabricDomain::add_atomics() {
  fi_info* const all = ask(library_, info_->fabric_attr->prov_name, false, true);
  fi_info* same = nullptr;
  for (const fi_info* each = all; each && !same; each = each->next) {
    const bool named = each->domain_attr->name && info_->domain_attr->name;
    if (std::string_view(each->fabric_attr->prov_name) == info_->fabric_attr->prov_name &&
        (!named || interface_of(*each) == interface_of(*info_)))
      same = library_.dupinfo(each);
  }
  if (all) library_.freeinfo(all);
  if (!same) return false;
  library_.freeinfo(std::exchange(info_, same));
  return true;
}

Status FabricDomain::open_objects(const ProviderWish& wish) {
  const auto check = [&](int code, const char* what) {
    return code == 0 ? Status(Nothing{})
                     : Status(not_applicable(
                           fmt::format("{} of provider {} failed: {}", what, provider(), library_.text(code)), {},
                           "use the network mpi"));
  };
  if (Status s = check(library_.fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric"); !s) return s;
  if (Status s = check(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain"); !s) return s;
  fi_av_attr table{};
  table.type = info_->domain_attr->av_type == FI_AV_UNSPEC ? FI_AV_MAP : info_->domain_attr->av_type;
  table.count = static_cast<std::size_t>(std::max(wish.processes, 2)) * static_cast<std::size_t>(wish.engines);
  return check(fi_av_open(domain_, &table, &addresses_, nullptr), "fi_av_open");
}

FabricDomain::~FabricDomain() {
  if (addresses_) fi_close(&addresses_->fid);
  if (domain_) fi_close(&domain_->fid);
  if (fabric_) fi_close(&fabric_->fid);
  if (info_) library_.freeinfo(info_);
}

} // namespace kumihimo::fabric
