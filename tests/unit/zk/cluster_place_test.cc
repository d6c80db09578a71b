// S72 (root and ZooKeeper node belong together): a root and a place in ZooKeeper belong together.
#include "common/zk/cluster_place.h"

#include "common/base/mutant.h"
#include "common/zk/znode_codec.h"
#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

constexpr const char* kOurs = "11111111-aaaa";
constexpr const char* kTheirs = "22222222-bbbb";

RootIdentity RootOf(const std::string& id, bool history) { return {id, history}; }

PlaceIdentity PlaceOf(const std::string& id) {
  PlaceIdentity place;
  place.there = true;
  place.cluster_id = id;
  return place;
}

TEST(PlaceTest, EveryPairOfRootAndPlace) {
  struct Case {
    RootIdentity root;
    PlaceIdentity place;
    bool belongs;
  };
  const std::vector<Case> cases = {
      {RootOf("", false), {}, true},                   // both are new
      {RootOf(kOurs, false), {}, true},                // the first master has written cluster.id, and nothing else
      {RootOf(kOurs, true), PlaceOf(kOurs), true},     // as always
      {RootOf(kOurs, false), PlaceOf(kOurs), true},    // the place is taken, nothing is claimed yet
      {RootOf(kOurs, true), {}, false},                // an empty ensemble, an unused parent
      {RootOf("", true), {}, false},                   // cluster.id was lost
      {RootOf(kOurs, true), PlaceOf(kTheirs), false},  // another cluster's ensemble or parent
      {RootOf(kOurs, false), PlaceOf(kTheirs), false},
      {RootOf("", false), PlaceOf(kTheirs), false},  // an empty directory instead of the root
      {RootOf("", false), PlaceOf(""), false},       // bytes that make no sense
      {RootOf(kOurs, true), PlaceOf(""), false},
  };
  for (const Case& one : cases) {
    const Status compared = ComparePlace(one.root, one.place, "/p/hbaseid");
    SCOPED_TRACE(one.root.cluster_id + (one.root.history ? " with" : " without") + " history, " + one.place.cluster_id);
    EXPECT_EQ(compared.ok(), one.belongs);
    if (compared.ok()) continue;
    const std::string& said = compared.error().message();
    EXPECT_NE(said.find(one.root.cluster_id.empty() ? "--root is none" : one.root.cluster_id), std::string::npos)
        << said;
    const std::string theirs = !one.place.there               ? "hbaseid is none"
                               : one.place.cluster_id.empty() ? "unreadable"
                                                              : one.place.cluster_id;
    EXPECT_NE(said.find(theirs), std::string::npos) << said;
  }
}

class ClusterPlaceTest : public ZkFixture {};

TEST_F(ClusterPlaceTest, ANewClusterTakesAnEmptyPlaceOnceAndForGood) {
  const auto session = Connect();
  EXPECT_FALSE(ReadPlace(*session, Paths())->there);
  ASSERT_TRUE(ClaimPlace(*session, Paths(), RootOf(kOurs, false), false).ok());
  const auto node = session->Get(Paths().ClusterId());
  ASSERT_TRUE(node.ok());
  EXPECT_EQ(node->owner_session, 0) << "it has to outlive every process";
  EXPECT_EQ(*DecodeClusterIdNode(node->data), kOurs);
  ASSERT_TRUE(ClaimPlace(*session, Paths(), RootOf(kOurs, true), false).ok());
  EXPECT_EQ(session->Get(Paths().ClusterId())->created_zxid, node->created_zxid);
  EXPECT_EQ(session->Get(Paths().ClusterId())->version, node->version) << "written once";
  EXPECT_EQ(ClaimPlace(*session, Paths(), RootOf(kTheirs, true), false).error().code(), Code::kFailedPrecondition);
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kOurs);
}

TEST_F(ClusterPlaceTest, WithoutTheCheckAWrongPlaceIsTaken) {
  const auto session = Connect();
  ASSERT_EQ(ClaimPlace(*session, Paths(), RootOf(kOurs, true), false).error().code(), Code::kFailedPrecondition);
  ASSERT_FALSE(ReadPlace(*session, Paths())->there);
  const ScopedMutant mutant("place.no_check");
  EXPECT_TRUE(ClaimPlace(*session, Paths(), RootOf(kOurs, true), false).ok());
}

TEST_F(ClusterPlaceTest, AdoptingTakesAPlaceWhereNothingIsRegistered) {
  const auto session = Connect();
  ASSERT_TRUE(*ClaimPlace(*session, Paths(), RootOf(kOurs, true), true));  // an ensemble that was lost
  EXPECT_FALSE(*ClaimPlace(*session, Paths(), RootOf(kOurs, true), true)) << "once";
  ASSERT_TRUE(*ClaimPlace(*session, Paths(), RootOf(kTheirs, true), true));
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kTheirs);
  for (const std::string& node : {Paths().Master(), Paths().BackupMaster("h,1,2"), Paths().RegionServer("h,1,2")}) {
    ASSERT_TRUE(session->EnsurePath(node.substr(0, node.rfind('/'))).ok());
    ASSERT_TRUE(session->Create(node, "", NodeKind::kEphemeral).ok());
    const auto refused = ClaimPlace(*session, Paths(), RootOf(kOurs, true), true);
    ASSERT_FALSE(refused.ok()) << node;
    EXPECT_NE(refused.error().message().find(kTheirs), std::string::npos) << refused.error().message();
    ASSERT_TRUE(session->Delete(node).ok());
  }
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kTheirs);
}

TEST_F(ClusterPlaceTest, SeveralNewMastersAgree) {
  const auto one = Connect();
  const auto two = Connect();
  ASSERT_TRUE(ClaimPlace(*one, Paths(), RootOf(kOurs, false), false).ok());
  EXPECT_TRUE(ClaimPlace(*two, Paths(), RootOf(kOurs, false), false).ok());
  EXPECT_FALSE(ClaimPlace(*two, Paths(), RootOf(kTheirs, false), false).ok());
}

TEST_F(ClusterPlaceTest, AnIdThatWasPublishedForClientsOnlyIsMadeToLast) {
  auto publisher = Connect();
  ASSERT_TRUE(publisher->EnsurePath(Paths().parent).ok());
  ASSERT_TRUE(publisher->Create(Paths().ClusterId(), EncodeClusterIdNode(kOurs), NodeKind::kEphemeral).ok());
  const auto session = Connect();
  ASSERT_TRUE(ClaimPlace(*session, Paths(), RootOf(kOurs, true), false).ok());
  publisher->Close();
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kOurs);
}

constexpr const char* kServer = "h,1,2";

// The id was removed while region servers of a root live: their log directories show whose place it is.
TEST_F(ClusterPlaceTest, ARegisteredServerWithALogDirectoryMakesThePlaceKnown) {
  const auto session = Connect();
  bool has_directory = true;
  const HasLogDirectory has = [&](const std::string& server) -> Result<bool> {
    EXPECT_EQ(server, kServer);
    return has_directory;
  };
  EXPECT_FALSE(*IsKnownPlace(*session, Paths(), has)) << "nothing is registered";
  EXPECT_FALSE(*IdMayReturn(*session, Paths()));
  ASSERT_TRUE(session->EnsurePath(Paths().RegionServers()).ok());
  ASSERT_TRUE(session->Create(Paths().RegionServer(kServer), "", NodeKind::kPersistent).ok());
  EXPECT_FALSE(*IsKnownPlace(*session, Paths(), has)) << "a copy of a node is not a server";
  ASSERT_TRUE(session->Delete(Paths().RegionServer(kServer)).ok());
  ASSERT_TRUE(session->Create(Paths().RegionServer("no server's name"), "", NodeKind::kEphemeral).ok());
  EXPECT_FALSE(*IsKnownPlace(*session, Paths(), has));
  ASSERT_TRUE(session->Create(Paths().RegionServer(kServer), "", NodeKind::kEphemeral).ok());
  EXPECT_TRUE(*IsKnownPlace(*session, Paths(), has));
  EXPECT_TRUE(*IdMayReturn(*session, Paths()));
  has_directory = false;
  EXPECT_FALSE(*IsKnownPlace(*session, Paths(), has)) << "another root's server";
  has_directory = true;
  ASSERT_TRUE(KeepPlace(*session, Paths(), kTheirs, false).ok());
  EXPECT_FALSE(*IsKnownPlace(*session, Paths(), has)) << "it names another cluster";
  EXPECT_FALSE(*IdMayReturn(*session, Paths()));
}

TEST_F(ClusterPlaceTest, TakingAnyServerForOnesOwnIsNoticed) {
  const auto session = Connect();
  ASSERT_TRUE(session->EnsurePath(Paths().RegionServers()).ok());
  ASSERT_TRUE(session->Create(Paths().RegionServer(kServer), "", NodeKind::kEphemeral).ok());
  const HasLogDirectory none = [](const std::string&) -> Result<bool> { return false; };
  ASSERT_FALSE(*IsKnownPlace(*session, Paths(), none));
  const ScopedMutant mutant("place.any_server");
  EXPECT_TRUE(*IsKnownPlace(*session, Paths(), none));
}

TEST_F(ClusterPlaceTest, TheActiveMasterKeepsItsPlace) {
  const auto session = Connect();
  ASSERT_TRUE(ClaimPlace(*session, Paths(), RootOf(kOurs, false), false).ok());
  const auto stranger = Connect();
  for (const bool active : {false, true}) {
    ASSERT_TRUE(stranger->Delete(Paths().ClusterId()).ok());
    ASSERT_TRUE(KeepPlace(*session, Paths(), kOurs, active).ok());
    EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kOurs);
    ASSERT_TRUE(stranger->Set(Paths().ClusterId(), "garbage").ok());
    ASSERT_TRUE(KeepPlace(*session, Paths(), kOurs, active).ok());
    EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kOurs);
  }
  ASSERT_TRUE(stranger->Set(Paths().ClusterId(), EncodeClusterIdNode(kTheirs)).ok());
  EXPECT_EQ(KeepPlace(*session, Paths(), kOurs, false).error().code(), Code::kFailedPrecondition)
      << "not before a claim";
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kTheirs);
  ASSERT_TRUE(KeepPlace(*session, Paths(), kOurs, true).ok());
  EXPECT_EQ(ReadPlace(*session, Paths())->cluster_id, kOurs);
}

}  // namespace
}  // namespace ratchet::zk
