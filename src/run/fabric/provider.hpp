// The provider of libfabric that reaches the other processes, and what it announces: how memory is registered, what
// orders puts, and by what a target learns that the data of a put are there. Nothing is assumed that it does not say.
#pragma once

#include "base/result.hpp"
#include "fabric/library.hpp"

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kumihimo::fabric {

// What a provider announces, as this layer needs it.
struct ProviderRules {
  // Of mr_mode.
  bool registers_sources = false;  // FI_MR_LOCAL: memory that puts and messages read or write here, too
  bool uses_addresses = false;     // FI_MR_VIRT_ADDR: a put names the address at the target; else the offset
  bool chooses_keys = false;       // FI_MR_PROV_KEY; else this layer does
  bool binds_to_endpoints = false; // FI_MR_ENDPOINT: a registration is one endpoint's
  bool pins = false;               // FI_MR_ALLOCATED: a registration is of pages, which a later mapping does not have
  // Puts of at most so many bytes reach the target's memory in the order in which they were started; 0: no order.
  std::uint64_t ordered_bytes = 0;
  bool sends_after_puts = false; // a message arrives after the data of puts that were started before it
  bool puts_carry_data = false;  // 32 bits that the target gets with the put's last byte
  bool delivers = false;         // FI_DELIVERY_COMPLETE: an operation completes when the target has its data
  bool has_atomics = false;      // was asked for, and the provider has it
  std::size_t inject_bytes = 0;

  bool operator==(const ProviderRules&) const = default;
  // Whether puts can be flagged at all.
  bool can_flag() const { return puts_carry_data || delivers || (ordered_bytes > 0 && sends_after_puts); }
};
// Without `delivers`, which only a second question to the provider shows.
ProviderRules rules_of(const fi_info& info);

struct ProviderWish {
  std::string provider;       // as fi_info -l names it: "tcp;ofi_rxm". Empty: the first that is fit, or of FI_PROVIDER
  bool one_machine = false;   // all processes run on this machine: its loopback interface serves
  std::int32_t processes = 2; // that may be met
  bool atomics = false;       // if the provider has them, even where its puts are then not ordered
  std::int32_t engines = 1;   // addresses of each process
  std::string interface;      // as fi_info names its domain: "eth1", "mlx5_0". Empty: the provider's first that serves
};

// A fabric, a domain of it and its table of addresses. Closed in that order.
class FabricDomain {
 public:
  // Error: not applicable, no provider is fit.
  static Result<std::unique_ptr<FabricDomain>> open(const ProviderWish& wish);
  ~FabricDomain();
  FabricDomain(const FabricDomain&) = delete;
  FabricDomain& operator=(const FabricDomain&) = delete;

  const FabricLibrary& library() const { return library_; }
  const ProviderRules& rules() const { return rules_; }
  fi_info& info() const { return *info_; }
  fid_domain* domain() const { return domain_; }
  fid_av* addresses() const { return addresses_; }
  std::string provider() const { return info_->fabric_attr->prov_name; }
  // "lo" or "10.77.0.3"; may be empty.
  std::string interface() const { return info_->domain_attr->name ? info_->domain_attr->name : ""; }

 private:
  explicit FabricDomain(const FabricLibrary& library) : library_(library) {}
  Status choose(const ProviderWish& wish);
  bool add_atomics();
  Status open_objects(const ProviderWish& wish);

  const FabricLibrary& library_;
  ProviderRules rules_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
};

} // namespace kumihimo::fabric
