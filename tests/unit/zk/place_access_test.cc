// The rights on the cluster's nodes, and who may change them, with a real ZooKeeper.
#include "common/zk/place_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKey = "proof-0123456789abcdef";
constexpr const char* kOtherKey = "proof-fedcba9876543210";

// Computed with Python's hmac, hashlib and base64.
TEST(NodeRightsTest, PasswordAndHashAreThoseOfTheDocument) {
  EXPECT_EQ(CredentialOf(kKey), "ratchet:69beaa061bcb85297a1012a677c9c6a58f6acc9c2aad30cb0c15bf83460dd8cb");
  EXPECT_EQ(ToText(RightsOfKeys({kKey})), "digest:ratchet:1zBS6xFLXv3+RohIp10P1V97DU0=:cdrwa,world:anyone:r");
  EXPECT_EQ(ToText(RightsOfKeys({})), "world:anyone:cdrwa");
  EXPECT_EQ(RightsOfKeys({kKey, kOtherKey}), RightsOfKeys({kOtherKey, kKey}));
}

TEST(NodeRightsTest, OnlyEveryPermissionCounts) {
  EXPECT_TRUE(IsOpen(OpenRights()));
  EXPECT_FALSE(IsOpen(RightsOfKeys({kKey})));
  EXPECT_FALSE(IsOpen({{"world", "anyone", 15}}));
  EXPECT_TRUE(BelongsTo(RightsOfKeys({kKey, kOtherKey}), {kOtherKey}));
  EXPECT_FALSE(BelongsTo(RightsOfKeys({kKey}), {kOtherKey}));
  EXPECT_FALSE(BelongsTo(OpenRights(), {kKey}));
  EXPECT_FALSE(BelongsTo({}, {}));
  EXPECT_EQ(ToText({}), "none");
}

class PlaceAccessTest : public ZkFixture {
 protected:
  void SetUp() override {
    member_ = Connect();
    stranger_ = Connect();
    const ZkPaths paths = Paths();
    for (const std::string& path : {paths.BackupMasters(), paths.RegionServers(), paths.Elections()})
      ASSERT_TRUE(member_->EnsurePath(path).ok());
    ASSERT_TRUE(member_->Create(paths.Master(), "m", NodeKind::kEphemeral).ok());
    ASSERT_TRUE(member_->Create(paths.RegionServer("a,1,1"), "r", NodeKind::kEphemeral).ok());
  }

  // All that a stranger could try; the text of each refusal.
  std::vector<std::string> Refusals(ZkSession& session) {
    const ZkPaths paths = Paths();
    std::vector<std::string> refusals;
    const auto tried = [&](const Status& status) {
      if (!status.ok()) refusals.push_back(status.error().message());
    };
    tried(session.Set(paths.Master(), "false"));
    tried(session.Set(paths.RegionServer("a,1,1"), "false"));
    tried(session.Create(paths.RegionServer("b,1,1"), "", NodeKind::kEphemeral));
    tried(session.Create(paths.BackupMaster("b,1,1"), "", NodeKind::kEphemeral));
    tried(session.Create(paths.parent + "/more", "", NodeKind::kPersistent));
    tried(session.SetRights(paths.Elections(), OpenRights()));
    tried(session.Delete(paths.RegionServer("a,1,1")));
    tried(session.Delete(paths.Master()));
    return refusals;
  }
  static constexpr std::size_t kTries = 8;

  // The user with a SHA-1 in Base64; a password would be longer.
  static bool IsHash(const std::string& id) {
    return id.size() == std::string("ratchet:").size() + 28 && id.starts_with("ratchet:") && id.ends_with('=');
  }

  static const SystemClock& Clock() {
    static const SystemClock clock;
    return clock;
  }

  std::unique_ptr<ZkSession> member_;
  std::unique_ptr<ZkSession> stranger_;
};

TEST_F(PlaceAccessTest, OnlyHoldersOfTheKeyChangeNodesAndEverybodyReads) {
  PlaceAccess access(*member_, Paths());
  ASSERT_TRUE(access.Begin({kKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());

  const auto refusals = Refusals(*stranger_);
  EXPECT_EQ(refusals.size(), kTries);
  for (const std::string& refusal : refusals) EXPECT_THAT(refusal, HasSubstr("not authenticated"));
  EXPECT_EQ(stranger_->Get(Paths().Master())->data, "m");
  EXPECT_THAT(*stranger_->Children(Paths().RegionServers()), testing::ElementsAre("a,1,1"));

  // A region server with the key gives its node the rights of its parent.
  const auto server = Connect();
  PlaceAccess of_server(*server, Paths());
  ASSERT_TRUE(of_server.Begin({kKey}).ok());
  ASSERT_TRUE(server->Create(Paths().RegionServer("c,1,1"), "", NodeKind::kEphemeral).ok());
  EXPECT_EQ(*server->Rights(Paths().RegionServer("c,1,1")), RightsOfKeys({kKey}));
  EXPECT_EQ(Refusals(*server).size(), 0U);
}

// Test 7 of identity: each client may ask for the rights, and they show a hash of the password at most.
TEST_F(PlaceAccessTest, TheRightsShowAStrangerNeitherKeyNorPassword) {
  PlaceAccess access(*member_, Paths());
  ASSERT_TRUE(access.Begin({kKey, kOtherKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
  const ZkPaths paths = Paths();
  for (const std::string& path : {paths.parent, paths.Master(), paths.RegionServers(), paths.RegionServer("a,1,1"),
                                  paths.BackupMasters(), paths.Elections()}) {
    // A ZooKeeper may hide the hash from strangers, so what it keeps is what a member sees.
    for (ZkSession* session : {stranger_.get(), member_.get()}) {
      const auto shown = session->Rights(path);
      ASSERT_TRUE(shown.ok()) << shown.error().ToString();
      std::size_t of_keys = 0;
      for (const NodeRight& right : *shown) {
        if (right.scheme == "world") continue;
        ++of_keys;
        EXPECT_EQ(right.scheme, "digest") << path;
        EXPECT_TRUE(IsHash(right.id) || (session == stranger_.get() && right.id == "ratchet:x"))
            << path << ": " << right.id;
      }
      EXPECT_EQ(of_keys, 2U) << path;
      for (const std::string key : {kKey, kOtherKey}) {
        EXPECT_THAT(ToText(*shown), Not(HasSubstr(key)));
        EXPECT_THAT(ToText(*shown), Not(HasSubstr(CredentialOf(key))));
      }
    }
  }
}

TEST_F(PlaceAccessTest, NodesAreOpenedAgain) {
  PlaceAccess access(*member_, Paths());
  ASSERT_TRUE(access.Take({kKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
  const auto successor = Connect();
  PlaceAccess open(*successor, Paths());
  ASSERT_TRUE(open.Begin({kKey}).ok());
  ASSERT_TRUE(open.KeepSometimes(false, Clock().Now()).ok());
  EXPECT_THAT(Refusals(*stranger_), testing::IsEmpty());
}

// The steps of a change of the key: a holder of the old one alone may do nothing after the last step.
TEST_F(PlaceAccessTest, RightsFollowTheKeys) {
  PlaceAccess access(*member_, Paths());
  PlaceAccess late(*stranger_, Paths());
  ASSERT_TRUE(access.Take({kKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
  ASSERT_TRUE(access.Take({kKey, kOtherKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
  ASSERT_TRUE(late.Begin({kKey}).ok());
  EXPECT_TRUE(stranger_->Set(Paths().Master(), "m").ok());
  ASSERT_TRUE(access.Take({kOtherKey}).ok());
  ASSERT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
  EXPECT_EQ(Refusals(*stranger_).size(), kTries);
  EXPECT_TRUE(member_->Set(Paths().Master(), "m").ok());
}

TEST_F(PlaceAccessTest, ForeignRightsAreNamedWithTheWantedOnes) {
  ASSERT_TRUE(member_->Authenticate({kOtherKey}).ok());
  ASSERT_TRUE(member_->SetRights(Paths().parent, RightsOfKeys({kOtherKey})).ok());
  PlaceAccess access(*stranger_, Paths());
  for (const Status& status :
       {access.Begin({kKey}), access.KeepSometimes(true, Clock().Now()), access.KeepSometimes(false, Clock().Now())}) {
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code(), Code::kFailedPrecondition);
    EXPECT_THAT(status.error().message(), HasSubstr(Paths().parent + " has the rights "));
    EXPECT_THAT(status.error().message(), HasSubstr(ToText(RightsOfKeys({kKey}))));
  }
}

TEST_F(PlaceAccessTest, NodesThatDisappearMeanwhileAreNoError) {
  ZkPaths missing;
  missing.parent = Paths().parent + "/missing";
  PlaceAccess access(*member_, missing);
  EXPECT_TRUE(access.Begin({}).ok());
  EXPECT_TRUE(access.KeepSometimes(true, Clock().Now()).ok());
}

// The library presents the keys again on each new connection of the session.
TEST_F(PlaceAccessTest, AKeyThatWasPresentedBeforeIsNotSentTwice) {
  ASSERT_TRUE(member_->Authenticate({kKey}).ok());
  ASSERT_TRUE(member_->Authenticate({kKey, kOtherKey}).ok());
  ASSERT_TRUE(member_->SetRights(Paths().parent, RightsOfKeys({kOtherKey})).ok());
  EXPECT_TRUE(member_->Create(Paths().parent + "/mine", "", NodeKind::kPersistent).ok());
  member_->Close();
  EXPECT_EQ(member_->Authenticate({"proof-another-key-of-it"}).error().code(), Code::kAborted);
}

}  // namespace
}  // namespace ratchet::zk
