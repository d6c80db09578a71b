// Who a caller is, as the master knows it.
#include "common/rpc/methods/ratchet_service.h"
#include "tests/unit/master/fixture.h"
#include "tests/unit/master/judged_service.h"

namespace ratchet::master {
namespace {

using WhoAmIRequest = ::ratchet::pb::WhoAmIRequest;

class WhoAmITest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(1);
    service_ = std::make_unique<JudgedService>(cluster_, "root,@ops", "ops: ann\nstaff: ann, bob\n");
  }
  ::ratchet::pb::WhoAmIResponse Ask(const std::string& user) {
    auto who = service_->As(user, methods::kWhoAmI, WhoAmIRequest());
    EXPECT_TRUE(who.ok()) << user << ": " << who.error().ToString();
    if (!who.ok()) return {};
    EXPECT_TRUE(who->peer().starts_with("127.0.0.1:")) << who->peer();
    who->clear_peer();
    return *std::move(who);
  }

  std::unique_ptr<JudgedService> service_;
};

// No user has a right here.
TEST_F(WhoAmITest, EveryCallerLearnsItsUserAndGroups) {
  EXPECT_EQ(Ask("ann").ShortDebugString(),
            R"(user: "ann" by: "simple" group: "ops" group: "staff" superuser: true member: false)");
  EXPECT_EQ(Ask("bob").ShortDebugString(), R"(user: "bob" by: "simple" group: "staff" superuser: false member: false)");
  EXPECT_EQ(Ask("root").ShortDebugString(), R"(user: "root" by: "simple" superuser: true member: false)");
  EXPECT_EQ(Ask("").ShortDebugString(), R"(by: "simple" member: false)") << "a client that names no user";
}

}  // namespace
}  // namespace ratchet::master
