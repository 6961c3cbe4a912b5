// What is read from what providers announce, of providers that this machine has not, too.
#include "fabric/port.hpp"

#include <gtest/gtest.h>

namespace kumihimo::fabric {
namespace {

// As fi_info shows them; only what rules_of() reads.
struct Announced {
  fi_tx_attr tx{};
  fi_rx_attr rx{};
  fi_ep_attr endpoint{};
  fi_domain_attr domain{};
  fi_info info{};

  Announced(std::uint64_t mr_mode, std::uint64_t order, std::size_t ordered, std::size_t data_bytes) {
    domain.mr_mode = static_cast<int>(mr_mode);
    domain.cq_data_size = data_bytes;
    tx.msg_order = rx.msg_order = order;
    endpoint.max_order_waw_size = ordered;
    info.tx_attr = &tx;
    info.rx_attr = &rx;
    info.ep_attr = &endpoint;
    info.domain_attr = &domain;
  }
};

TEST(ProviderRules, Of_verbs_with_rxm) {
  const Announced verbs(FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
                        FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_SAS, 1 << 30, 4);
  const ProviderRules rules = rules_of(verbs.info);
  EXPECT_TRUE(rules.registers_sources && rules.uses_addresses && rules.chooses_keys && rules.pins);
  EXPECT_FALSE(rules.binds_to_endpoints);
  EXPECT_EQ(rules.ordered_bytes, 1u << 30);
  EXPECT_TRUE(rules.sends_after_puts && rules.puts_carry_data && rules.can_flag());
}

TEST(ProviderRules, Of_cxi_which_counts_offsets_and_binds_memory_to_endpoints) {
  const Announced cxi(FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY, FI_ORDER_SAS | FI_ORDER_RMA_WAW, 0, 8);
  const ProviderRules rules = rules_of(cxi.info);
  EXPECT_TRUE(rules.binds_to_endpoints && rules.chooses_keys && rules.puts_carry_data);
  EXPECT_FALSE(rules.uses_addresses || rules.registers_sources || rules.sends_after_puts);
  EXPECT_EQ(rules.ordered_bytes, 0u) << "ordered, but of no length";
}

TEST(ProviderRules, An_order_that_one_end_alone_keeps_is_none) {
  Announced shm(FI_MR_VIRT_ADDR, FI_ORDER_WAW | FI_ORDER_SAW, 1 << 20, 8);
  shm.tx.msg_order = FI_ORDER_SAS;
  const ProviderRules rules = rules_of(shm.info);
  EXPECT_EQ(rules.ordered_bytes, 0u);
  EXPECT_FALSE(rules.sends_after_puts);
}

TEST(ProviderRules, A_provider_without_data_order_and_delivery_cannot_flag) {
  const Announced none(0, FI_ORDER_SAS, 0, 2);
  ProviderRules rules = rules_of(none.info);
  EXPECT_FALSE(rules.can_flag()) << "two bytes hold no flag";
  rules.delivers = true;
  EXPECT_TRUE(rules.can_flag());
}

TEST(FabricDomain, A_provider_that_is_not_here_is_not_applicable_and_the_advice_says_what_to_do) {
  const auto domain = FabricDomain::open({"no_such_provider", true, 2});
  ASSERT_FALSE(domain.ok());
  EXPECT_EQ(domain.error().kind, Error::Kind::not_applicable);
  EXPECT_NE(domain.error().sentence().find("no_such_provider"), std::string::npos) << domain.error().sentence();
  EXPECT_NE(domain.error().sentence().find("use the network mpi"), std::string::npos);
}

TEST(FabricPort, RailsAreInterfacesOfTheProvider) {
  PortOptions options;
  options.provider = {"tcp;ofi_rxm", true, 2};
  if (!FabricPort::open(options).ok()) GTEST_SKIP() << "the provider tcp;ofi_rxm is not here";
  options.rails = {"lo", "no_such_interface"};
  const auto wrong = FabricPort::open(options);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().kind, Error::Kind::bad_input);
  const std::string sentence = wrong.error().sentence();
  EXPECT_NE(sentence.find("lo"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("(got no_such_interface)"), std::string::npos) << sentence;

  options.rails = {"lo", "lo", "lo"};
  const auto three = FabricPort::open(options);
  ASSERT_TRUE(three.ok());
  EXPECT_EQ((*three)->engines(), 3u) << "one a rail, though two are the default";
  EXPECT_EQ((*three)->interface(), "lo+lo+lo");
}

TEST(FabricPort, NamesOfRailsAreSeparatedByCommas) {
  EXPECT_EQ(*rails_in("rails", "eth0,mlx5_1"), (std::vector<std::string>{"eth0", "mlx5_1"}));
  for (const char* words : {"", ",", "lo,", ",lo", "lo,,lo", "a,b,c,d,e"}) {
    const auto wrong = rails_in("KUMIHIMO_FABRIC_RAILS", words);
    ASSERT_FALSE(wrong.ok()) << words;
    EXPECT_EQ(wrong.error().sentence(),
              "KUMIHIMO_FABRIC_RAILS must be 1 to 4 interfaces with commas between them (got '" + std::string(words) +
                  "')");
  }
}

} // namespace
} // namespace kumihimo::fabric
