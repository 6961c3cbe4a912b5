// Memory that is registered with a provider, explicitly: no monitor watches the program's memory.
//
// A provider that pins pages would write to the old pages after the program has unmapped memory and mapped other at the
// same address. So an unused registration is kept for the next message only where the provider does not pin, and is
// ended at once elsewhere, but for memory that this process's transports own.
#pragma once

#include "base/result.hpp"
#include "fabric/provider.hpp"

#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <vector>

namespace kumihimo::fabric {

// Registered bytes. One registration for each endpoint where the provider binds them, otherwise one for each domain.
struct RegisteredRange {
  std::byte* first = nullptr;
  std::int64_t bytes = 0;
  std::vector<fid_mr*> of_engine;
  std::int32_t uses = 0;
  std::uint64_t age = 0; // of the last use

  // Engine e is of domain e modulo their number.
  fid_mr* at(std::size_t engine) const { return of_engine[engine % of_engine.size()]; }
};

class Registrations {
 public:
  static constexpr std::size_t most_kept = 256; // unused ones

  // Of one provider: `domains` are its rails.
  Registrations(const std::vector<std::unique_ptr<FabricDomain>>& domains, const std::vector<fid_ep*>& engines)
      : domains_(domains), engines_(engines) {}
  ~Registrations();
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;

  // A registration that covers the bytes, new or kept. Error: the provider can register no more.
  Result<RegisteredRange*> use(const std::byte* data, std::int64_t bytes);
  // `keep`: for the next message. Otherwise late puts of other processes are refused by the provider from now on.
  void release(RegisteredRange* range, bool keep = true);

  // How a put by another process names a byte of the range.
  std::uint64_t remote_address(const RegisteredRange& range, const std::byte* data) const;
  std::size_t count() const { return ranges_.size(); }

 private:
  Status add(RegisteredRange& range);
  void remove(RegisteredRange* range);
  void drop_oldest();

  const ProviderRules& rules() const { return domains_.front()->rules(); }

  const std::vector<std::unique_ptr<FabricDomain>>& domains_;
  const std::vector<fid_ep*>& engines_;
  std::list<RegisteredRange> storage_;
  std::multimap<const std::byte*, std::list<RegisteredRange>::iterator> ranges_; // by their first byte
  std::size_t unused_ = 0;
  std::uint64_t clock_ = 0, next_key_ = 1;
};

} // namespace kumihimo::fabric
