// Rails and engines of a port. A rail is an interface of one provider, a domain of its own. An engine is an endpoint
// with its completion queue: engine e is on rail e modulo their number, here and at every other process.
#pragma once

#include "base/result.hpp"
#include "fabric/provider.hpp"

#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::fabric {

// "eth0,eth1": interfaces for FabricEngines::open. `name`: who gives them, for the error.
Result<std::vector<std::string>> rails_in(std::string_view name, std::string_view words);

class FabricEngines {
 public:
  static constexpr std::int32_t most = 4;

  // At least one engine a rail. No rails: one, of the provider's choice. `receives`: that an engine has posted.
  // Error: not applicable, no provider is fit, or it promises other things on one rail than on another.
  static Result<std::unique_ptr<FabricEngines>> open(ProviderWish wish, std::span<const std::string> rails,
                                                     std::int32_t engines, std::size_t receives);
  ~FabricEngines();
  FabricEngines(const FabricEngines&) = delete;
  FabricEngines& operator=(const FabricEngines&) = delete;
  void close(); // endpoints and queues; registrations may then end, and last the domains

  const std::vector<std::unique_ptr<FabricDomain>>& domains() const { return domains_; }
  const std::vector<fid_ep*>& endpoints() const { return endpoints_; }
  const FabricDomain& domain_of(std::size_t engine) const { return *domains_[engine % domains_.size()]; }
  fid_ep* endpoint(std::size_t engine) const { return endpoints_[engine]; }
  fid_cq* queue(std::size_t engine) const { return queues_[engine]; }
  std::size_t size() const { return endpoints_.size(); }
  std::size_t rails() const { return domains_.size(); }

  ProviderRules rules() const; // with the atomics that the endpoints really have
  std::string provider() const { return domains_.front()->provider(); }
  std::string interface() const; // of several rails "eth0+eth1"
  const FabricLibrary& library() const { return domains_.front()->library(); }
  // Of each endpoint, all of one length, one behind the other.
  std::vector<std::byte> addresses(std::size_t& bytes_of_each) const;

 private:
  FabricEngines() = default;
  Status open_rails(ProviderWish& wish, std::span<const std::string> rails);
  Result<fid_ep*> open_engine(const FabricDomain& domain, std::size_t receives);

  std::vector<std::unique_ptr<FabricDomain>> domains_; // a rail each
  std::vector<fid_ep*> endpoints_;
  std::vector<fid_cq*> queues_;
};

} // namespace kumihimo::fabric
