#include "common/rights/rights_image.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/base/prng.h"

namespace ratchet::rights {
namespace {

// A small world in which random rights meet often.
Scope RandomScope(Prng& random) {
  const auto pick = [&](int below) { return static_cast<int>(random.Below(static_cast<std::uint64_t>(below))); };
  const std::string ns = pick(2) == 0 ? "a" : "b";
  const TableName table(ns, pick(2) == 0 ? "t" : "u");
  const std::string family = pick(2) == 0 ? "f" : "g";
  switch (pick(5)) {
    case 0: return Scope::Global();
    case 1: return Scope::Namespace(ns);
    case 2: return Scope::Table(table);
    case 3: return Scope::Family(table, family);
    default: return Scope::Column(table, family, pick(2) == 0 ? "" : "q");
  }
}

// The second implementation: reads the list from its beginning for each question.
struct Naive {
  std::vector<RightsEntry> entries;
  std::vector<Scope> damaged;

  [[nodiscard]] bool Concerns(const RightsEntry& entry, const Subject& subject) const {
    if (entry.user == subject.user) return true;
    for (const std::string& group : subject.groups) {
      if (entry.user == "@" + group) return true;
    }
    return false;
  }
  [[nodiscard]] bool Bad(const Scope& scope) const {
    for (const Scope& bad : damaged) {
      const bool of_part = bad.level > Scope::Level::kTable;  // damages the whole table
      if ((of_part ? Scope::Table(bad.table) : bad).Covers(scope)) return true;
    }
    return false;
  }
  [[nodiscard]] Actions Held(const Subject& subject, const Scope& scope, bool inside) const {
    Actions held;
    if (Bad(scope)) return held;
    for (const RightsEntry& entry : entries) {
      if (!Concerns(entry, subject)) continue;
      if (entry.scope.Covers(scope) || (inside && scope.Covers(entry.scope) && !Bad(entry.scope))) {
        held |= entry.actions;
      }
    }
    return held;
  }
};

TEST(RightsImageTest, AgreesWithAListThatIsReadFromItsBeginning) {
  const std::uint64_t seed = RandomSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  Prng random(seed);
  const std::vector<std::string> users = {"ann", "bob", "@ops", "@dev"};
  const std::vector<Subject> subjects = {
      {"ann", {}}, {"bob", {"ops"}}, {"carl", {"ops", "dev"}}, {"", {"ops"}}, {"stranger", {}}};
  for (int round = 0; round < 300; ++round) {
    Naive naive;
    for (std::uint64_t i = random.Below(8); i > 0; --i) {
      naive.entries.push_back({users[random.Below(users.size())], RandomScope(random),
                               Actions::FromBits(1U + static_cast<std::uint32_t>(random.Below(31)))});
    }
    for (std::uint64_t i = random.Below(2); i > 0; --i) naive.damaged.push_back(RandomScope(random));
    const RightsImage made({1, 2}, naive.entries, naive.damaged);
    const auto image = RightsImage::FromProto(made.ToProto());
    ASSERT_TRUE(image.ok()) << image.error().ToString();
    EXPECT_EQ(image->Entries(), made.Entries());
    for (int question = 0; question < 20; ++question) {
      const Scope scope = RandomScope(random);
      const Subject& subject = subjects[random.Below(subjects.size())];
      const bool nobody = subject.user.empty();
      EXPECT_EQ(image->Held(subject, scope), nobody ? Actions() : naive.Held(subject, scope, false));
      const Actions wanted = Actions::FromBits(1U + static_cast<std::uint32_t>(random.Below(31)));
      EXPECT_EQ(image->HoldsWithin(subject, wanted, scope), !nobody && naive.Held(subject, scope, true).HasAny(wanted));
    }
  }
}

TEST(RightsImageTest, AnEmptyImageAllowsNothing) {
  const RightsImage image;
  EXPECT_EQ(image.Held({"ann", {"ops"}}, Scope::Global()), Actions());
  EXPECT_FALSE(image.HoldsWithin({"ann", {"ops"}}, Actions::All(), Scope::Global()));
}

TEST(RightsImageTest, AUserWhoIsNamedLikeAGroupHasNotItsRights) {
  const RightsImage image({1, 1}, {{"@ops", Scope::Global(), Actions::All()}}, {});
  EXPECT_EQ(image.Held({"@ops", {}}, Scope::Global()), Actions());
  EXPECT_EQ(image.Held({"ann", {"ops"}}, Scope::Global()), Actions::All());
}

TEST(RightsImageTest, ADamagedScopeDeniesEverythingInItAlsoToHoldersOfWiderRights) {
  const TableName table("a", "t");
  const RightsImage image({1, 1}, {{"ann", Scope::Global(), Actions::All()}}, {Scope::Table(table)});
  EXPECT_EQ(image.Held({"ann", {}}, Scope::Table(table)), Actions());
  EXPECT_EQ(image.Held({"ann", {}}, Scope::Family(table, "f")), Actions());
  EXPECT_EQ(image.Held({"ann", {}}, Scope::Table(TableName("a", "u"))), Actions::All());
}

TEST(RightsImageTest, ADamagedColumnDeniesItsTableAlsoToHoldersOfRightsAroundIt) {
  const TableName table("a", "t");
  const RightsImage image({1, 1}, {{"ann", Scope::Table(table), Actions::All()}}, {Scope::Column(table, "f", "q")});
  EXPECT_EQ(image.Held({"ann", {}}, Scope::Table(table)), Actions());
  EXPECT_EQ(image.Held({"ann", {}}, Scope::Family(table, "g")), Actions());
}

TEST(RightsImageTest, OneWrongEntryRefusesTheWholeImage) {
  pb::RightsImage image = RightsImage({1, 1}, {{"ann", Scope::Global(), Actions::All()}}, {}).ToProto();
  image.add_entries()->set_user("bob");
  EXPECT_FALSE(RightsImage::FromProto(image).ok());
}

TEST(RevokedTokensTest, GoToMembersAndAreBounded) {
  const RightsImage image({1, 1}, {}, {}, {}, {{7, "alice"}, {9, ""}});
  EXPECT_EQ(image.ToProto().revoked_tokens_size(), 0);
  pb::RightsImage proto = image.ToProtoForMembers();
  const auto read = RightsImage::FromProto(proto);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read->revoked_tokens(), (RevokedTokens{{7, "alice"}, {9, ""}}));
  for (std::size_t i = 0; i < kMostRevokedTokens; ++i) proto.add_revoked_tokens()->set_sequence(static_cast<int>(i));
  EXPECT_FALSE(RightsImage::FromProto(proto).ok());
}

}  // namespace
}  // namespace ratchet::rights
