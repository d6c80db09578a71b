#include "common/rights/judge.h"

#include <gtest/gtest.h>

#include "common/base/exception_names.h"
#include "common/base/mutant.h"

namespace ratchet::rights {
namespace {

const TableName kJudged("default", "t");
constexpr const char* kPleaseHold = "org.apache.hadoop.hbase.PleaseHoldException";

class JudgeTest : public ::testing::Test {
 protected:
  void SetMode(Mode mode, const std::string& superusers = "root,@ops") {
    auto table = Users::Parse(superusers, "ops: olga\nreaders: rita, rob # a comment\n\n# another\n");
    ASSERT_TRUE(table.ok()) << table.error().message();
    users_->Set(mode, std::move(*table));
  }
  void Grant(std::vector<RightsEntry> entries) {
    ASSERT_TRUE(holder_.Take(std::make_shared<RightsImage>(ImageNumber{1, ++number_}, entries, std::vector<Scope>())));
  }
  // The class of the refusal; empty: allowed.
  std::string Ask(const std::string& user, const Demand& demand, bool member = false) {
    const Status allowed = judge_.Check({user, member}, demand, "Test");
    return allowed.ok() ? std::string() : allowed.error().remote_class();
  }
  std::string TextOf(const Demand& demand) { return AccessDenied("u", demand).message(); }

  RightsHolder holder_;
  std::shared_ptr<Users> users_ = std::make_shared<Users>();
  Judge judge_{holder_, users_};
  std::uint64_t number_ = 0;
  const std::string denied_{exception::kAccessDenied};
};

TEST_F(JudgeTest, WithoutRightsEveryCallerPasses) {
  EXPECT_EQ(Ask("", Demand::Superuser()), "");
  EXPECT_FALSE(judge_.judges());
}

TEST_F(JudgeTest, AProcessWithoutAnImageServesSuperusersAndMembersOnly) {
  SetMode(Mode::kEnforce);
  const Demand demand = Demand::Of(Scope::Global(), Action::kAdmin);
  EXPECT_EQ(Ask("rob", demand), kPleaseHold);
  EXPECT_EQ(Ask("root", demand), "");
  EXPECT_EQ(Ask("olga", demand), "") << "a member of @ops";
  EXPECT_EQ(Ask("@ops", demand), kPleaseHold) << "a group is not a user";
  EXPECT_EQ(Ask("", demand, true), "") << "a process of the cluster";
  EXPECT_EQ(Ask("", demand), denied_) << "no user at all";
  const ScopedMutant mutant("rights.serve_without_image");
  EXPECT_EQ(Ask("rob", demand), "");
}

TEST_F(JudgeTest, RightsHoldInTheirScopeAndInside) {
  SetMode(Mode::kEnforce);
  Grant({{"rob", Scope::Table(kJudged), Action::kRead},
         {"@readers", Scope::Namespace("ns"), Action::kRead},
         {"ann", Scope::Column(kJudged, "f", "q"), Action::kWrite}});
  EXPECT_EQ(Ask("rob", Demand::Of(Scope::Family(kJudged, "f"), Action::kRead)), "");
  EXPECT_EQ(Ask("rob", Demand::Of(Scope::Table(kJudged), Action::kWrite)), denied_);
  EXPECT_EQ(Ask("rob", Demand::Of(Scope::Global(), Action::kRead)), denied_);
  EXPECT_EQ(Ask("rita", Demand::Of(Scope::Table({"ns", "x"}), Action::kRead)), "") << "by the group";
  EXPECT_EQ(Ask("ann", Demand::Of(Scope::Table(kJudged), Action::kWrite)), denied_);
  EXPECT_EQ(Ask("ann", Demand::Some(Scope::Table(kJudged))), "") << "a right inside the table";
  Demand owned = Demand::Of(Scope::Global(), Action::kAdmin);
  owned.owner = "ann";
  EXPECT_EQ(Ask("ann", owned), "");
  EXPECT_EQ(Ask("rob", owned), denied_);
  EXPECT_EQ(Ask("rob", Demand::Superuser()), denied_);
  EXPECT_EQ(judge_.refused(), 5u);
}

TEST_F(JudgeTest, TheModeLogAllowsAndCounts) {
  SetMode(Mode::kLog);
  Grant({});
  EXPECT_EQ(Ask("rob", Demand::Of(Scope::Global(), Action::kAdmin)), "");
  EXPECT_EQ(judge_.would_be_refused(), 1u);
  EXPECT_EQ(judge_.refused(), 0u);
  EXPECT_TRUE(judge_.Sees({"rob"}, Demand::Superuser())) << "lists are not filtered";
}

TEST_F(JudgeTest, RefusalsHaveTheTextThatClientsCompare) {
  EXPECT_EQ(TextOf(Demand::Of(Scope::Global(), Action::kAdmin)),
            "Insufficient permissions for user 'u' (global, action=ADMIN)");
  EXPECT_EQ(TextOf(Demand::Of(Scope::Table(kJudged), Action::kRead)),
            "Insufficient permissions for user 'u' (table=t, action=READ)");
  EXPECT_EQ(TextOf(Demand::Of(Scope::Table(kJudged), Action::kAdmin | Action::kCreate)),
            "Insufficient permissions (user=u, scope=default:t, params=[table=default:t,],action=CREATE)");
  EXPECT_EQ(TextOf(Demand::Of(Scope::Namespace("ns"), Action::kAdmin)),
            "Insufficient permissions (user=u, scope=ns, params=[namespace=ns,],action=ADMIN)");
  EXPECT_EQ(TextOf(Demand::Of(Scope::Column(kJudged, "f", "q"), Action::kWrite)),
            "Insufficient permissions (user=u, scope=default:t, family=f:q, "
            "params=[table=default:t,family=f:q],action=WRITE)");
}

TEST(UsersTest, WrongNamesAndLinesAreRefused) {
  EXPECT_TRUE(Users::Parse("", "").ok());
  EXPECT_FALSE(Users::Parse("a,@", "").ok());
  EXPECT_FALSE(Users::Parse("@@a", "").ok());
  EXPECT_FALSE(Users::Parse("", "no colon").ok());
  EXPECT_FALSE(Users::Parse("", "@g: a").ok());
  const auto wrong = Users::Parse("", "g: a\ng: @h");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.error().message().find("line 2"), std::string::npos) << wrong.error().message();
  std::string many = "g: ";
  for (std::size_t i = 0; i <= kMostMemberships; ++i) many += "u,";
  EXPECT_FALSE(Users::Parse("", many).ok()) << "memberships are bounded";
  const auto table = Users::Parse("a, @g", "g: b, c\nh: b");
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table->superusers.contains("a") && table->supergroups.contains("g"));
  EXPECT_EQ(table->groups.at("b"), (std::vector<std::string>{"g", "h"}));
}

}  // namespace
}  // namespace ratchet::rights
