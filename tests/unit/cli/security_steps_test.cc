#include "common/tools/cli/security_steps.h"

#include <functional>

#include <gmock/gmock.h>

namespace ratchet::cli {
namespace {

using ::testing::HasSubstr;

pb::ProcessSecurity Protected(const std::string& process, bool master) {
  pb::ProcessSecurity facts;
  facts.set_process(process);
  facts.set_tls("require");
  facts.set_tls_connect(true);
  facts.set_proof_key(true);
  facts.set_proof_required(true);
  facts.set_users_from("cn");
  facts.set_rights("enforce");
  if (master) facts.set_zk_acl("set");
  return facts;
}

class SecurityStepsTest : public ::testing::Test {
 protected:
  // The steps that are missing when the region server is changed like this.
  std::vector<std::size_t> Missing(const std::function<void(pb::ProcessSecurity&)>& change, bool of_master = false) {
    std::vector<pb::ProcessSecurity> all{Protected("master m", true), Protected("region server r", false)};
    change(all[of_master ? 0 : 1]);
    const auto steps = SecuritySteps(all, {});
    std::vector<std::size_t> missing;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].missing.empty()) continue;
      missing.push_back(i + 1);
      text_ = steps[i].missing.front();
    }
    return missing;
  }
  std::string text_;
};

TEST_F(SecurityStepsTest, AProtectedClusterHasDoneAllSteps) {
  const auto steps = SecuritySteps({Protected("master m", true), Protected("region server r", false)}, {});
  ASSERT_EQ(steps.size(), 8u);
  EXPECT_EQ(StepsDone(steps), 8u);
}

TEST_F(SecurityStepsTest, EachStepNamesTheProcessThatLacksIt) {
  using Steps = std::vector<std::size_t>;
  EXPECT_EQ(Missing([](auto& p) { p.set_tls("off"); }), (Steps{2, 7}));
  EXPECT_EQ(Missing([](auto& p) { p.set_tls("accept"); }), Steps{7});
  EXPECT_THAT(text_, HasSubstr("region server r: --tls is accept"));
  EXPECT_EQ(Missing([](auto& p) { p.set_tls_connect(false); }), Steps{3});
  EXPECT_EQ(Missing([](auto& p) { p.set_proof_required(false); }), Steps{4});
  EXPECT_EQ(Missing([](auto& p) { p.set_proof_key(false); }), Steps{4});
  EXPECT_EQ(Missing([](auto& p) {
              auto* peer = p.add_plain();
              peer->set_address("10.0.0.7");
              peer->set_connections(3);
            }),
            Steps{5});
  EXPECT_THAT(text_, HasSubstr("3 from 10.0.0.7"));
  EXPECT_EQ(Missing([](auto& p) {
              p.set_rights("log");
              p.set_would_be_refused(12);
            }),
            Steps{6});
  EXPECT_THAT(text_, HasSubstr("12 demands"));
  EXPECT_EQ(Missing([](auto& p) { p.set_users_from("off"); }), Steps{6});
  EXPECT_EQ(Missing([](auto& p) { p.set_zk_acl("open"); }, /*of_master=*/true), Steps{8});
}

TEST_F(SecurityStepsTest, ASilentProcessLacksTheFirstStepAndNothingIsDone) {
  const auto steps = SecuritySteps({Protected("master m", true)}, {"region server old,1,2"});
  EXPECT_THAT(steps.front().missing.front(), HasSubstr("region server old,1,2"));
  EXPECT_EQ(StepsDone(steps), 0u);
}

}  // namespace
}  // namespace ratchet::cli
