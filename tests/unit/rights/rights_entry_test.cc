#include "common/rights/rights_entry.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ratchet::rights {
namespace {

const TableName kTable("shop", "orders");

TEST(ActionsTest, LettersAreInHBasesOrderAndParseBack) {
  EXPECT_EQ((Action::kAdmin | Action::kRead).Letters(), "RA");
  EXPECT_EQ(Actions::All().Letters(), "RWXCA");
  EXPECT_EQ(Actions::Parse("AR"), Action::kRead | Action::kAdmin);
  EXPECT_EQ(Actions::Parse(""), Actions());
  for (const std::string wrong : {"RR", "r", "RZ", "R "}) EXPECT_EQ(Actions::Parse(wrong), std::nullopt) << wrong;
  EXPECT_EQ((Action::kRead | Action::kWrite).Names(), "READ,WRITE");
}

TEST(ScopeTest, AScopeCoversWhatLiesInIt) {
  const std::vector<Scope> chain = {Scope::Global(), Scope::Namespace("shop"), Scope::Table(kTable),
                                    Scope::Family(kTable, "f"), Scope::Column(kTable, "f", "q")};
  for (std::size_t outer = 0; outer < chain.size(); ++outer) {
    for (std::size_t inner = 0; inner < chain.size(); ++inner) {
      EXPECT_EQ(chain[outer].Covers(chain[inner]), outer <= inner) << outer << " " << inner;
    }
  }
  EXPECT_FALSE(Scope::Namespace("shop").Covers(Scope::Table(TableName("other", "orders"))));
  EXPECT_FALSE(Scope::Table(kTable).Covers(Scope::Family(TableName("shop", "others"), "f")));
  EXPECT_FALSE(Scope::Family(kTable, "f").Covers(Scope::Column(kTable, "g", "q")));
  EXPECT_FALSE(Scope::Column(kTable, "f", "q").Covers(Scope::Column(kTable, "f", "")));
}

TEST(RightsEntryTest, EveryScopeSurvivesTheMessage) {
  for (const Scope& scope :
       {Scope::Global(), Scope::Namespace("shop"), Scope::Table(kTable), Scope::Table(TableName("default", "t")),
        Scope::Family(kTable, "f"), Scope::Column(kTable, "f", "q"), Scope::Column(kTable, "f", "")}) {
    const RightsEntry entry{"ann", scope, Action::kRead | Action::kExec};
    const auto read = EntryFromProto(ToProto(entry));
    ASSERT_TRUE(read.ok()) << read.error().ToString();
    EXPECT_EQ(*read, entry);
  }
}

TEST(RightsEntryTest, AWrongMessageIsRefused) {
  const auto refused = [](const auto& change) {
    pb::RightsEntry entry = ToProto(RightsEntry{"ann", Scope::Column(kTable, "f", "q"), Action::kRead});
    change(entry);
    return !EntryFromProto(entry).ok();
  };
  EXPECT_FALSE(refused([](pb::RightsEntry&) {}));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.set_actions(0); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.set_actions(32); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.clear_user(); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.clear_table(); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.clear_family(); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.set_family(""); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.set_table("a b"); }));
  EXPECT_TRUE(refused([](pb::RightsEntry& e) { e.set_namespace_name("shop"); }));
}

TEST(RightsEntryTest, NamesThatWouldMeanSomethingElseInHbaseAclAreRefused) {
  for (const std::string good : {"ann", "@ops", "ann@EXAMPLE.ORG", "hbase/host@R", "J\xc3\xb6rg"}) {
    EXPECT_TRUE(CheckGrantee(good).ok()) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string("@"), std::string("@@ops"), std::string("bob,f"), std::string("a\nb"),
        std::string("a\0b", 3), std::string("a\x7f"), std::string("\xff"), std::string(kMaxUserBytes + 1, 'a')}) {
    EXPECT_FALSE(CheckGrantee(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace ratchet::rights
