#include "common/zk/master_election.h"

#include "tests/support/expect_killed.h"
#include "tests/unit/zk/zk_fixture.h"

namespace ratchet::zk {
namespace {

// One candidate with its own session, as in its own process.
struct Candidate {
  Candidate(std::unique_ptr<ZkSession> the_session, const ZkPaths& paths, const ServerName& name)
      : session(std::move(the_session)),
        election(*session, paths, MasterNode{name, 0},
                 {.on_elected = [this] { elected.Set(true); },
                  .on_lost = [this](const std::string& why) { lost.Set(why); },
                  .on_active_changed = [this](const std::optional<ServerName>& active) { seen_active.Set(active); },
                  .on_obstacle = [this](const std::string& why) { obstacle.Set(why); }}) {
    election.Start();
  }
  ~Candidate() { election.Stop(); }

  std::unique_ptr<ZkSession> session;
  Observed<bool> elected;
  Observed<std::string> lost;
  Observed<std::optional<ServerName>> seen_active;
  Observed<std::string> obstacle;
  MasterElection election;
};

class ElectionTest : public ZkFixture {
 protected:
  std::unique_ptr<Candidate> Join(std::uint16_t port, std::uint64_t start_code = 1) {
    return std::make_unique<Candidate>(Connect(), Paths(), ServerName{"localhost", port, start_code});
  }
  // Returns true if a standby replaces the active master after a notice about the death of another process.
  bool ReplacesTheLivingOne() {
    const auto one = Join(1001);
    EXPECT_TRUE(one->elected.WaitFor(true));
    const auto two = Join(1002);
    EXPECT_TRUE(two->seen_active.WaitFor(ServerName{"localhost", 1001, 1}));
    two->election.ReplaceDead(ServerName{"localhost", 1001, 0});
    Observed<bool> done;
    two->session->Post([&] { done.Set(true); });  // after the removal
    EXPECT_TRUE(done.WaitFor(true));
    return two->elected.Get();
  }
};

// A node that no master has made never goes by itself: the standby names it, and is elected once it is removed.
TEST_F(ElectionTest, AStrangersNodeIsNamedUntilItIsRemoved) {
  const auto stranger = Connect();
  ASSERT_TRUE(stranger->EnsurePath(Paths().parent).ok());
  for (const std::string& data : {std::string("x"), EncodeMasterNode({ServerName{"localhost", 1009, 1}, 0})}) {
    ASSERT_TRUE(stranger->Create(Paths().Master(), data, NodeKind::kPersistent).ok());
    const auto master = Join(1001);
    ASSERT_TRUE(chaos::WaitUntil("the node is named", kPatience, [&] {
                  const std::string why = master->obstacle.Get();
                  return why.find(Paths().Master() + " is persistent") != std::string::npos &&
                         why.find("delete " + Paths().Master()) != std::string::npos;
                }).ok());
    EXPECT_FALSE(master->elected.Get());
    ASSERT_TRUE(stranger->Delete(Paths().Master()).ok());
    ASSERT_TRUE(master->elected.WaitFor(true));
    EXPECT_EQ(master->obstacle.Get(), "");
    master->election.Stop();
  }
  ASSERT_TRUE(stranger->Create(Paths().Master(), "x", NodeKind::kEphemeral).ok());
  const auto master = Join(1001);
  ASSERT_TRUE(chaos::WaitUntil("the node is named", kPatience, [&] {
                return master->obstacle.Get().find("ends") != std::string::npos;
              }).ok());
}

TEST_F(ElectionTest, OneIsElectedTheOthersStandByAndFollow) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto two = Join(1002);
  const auto three = Join(1003);
  const ServerName first{"localhost", 1001, 1};
  ASSERT_TRUE(two->seen_active.WaitFor(first));
  ASSERT_TRUE(three->seen_active.WaitFor(first));
  EXPECT_FALSE(two->elected.Get());

  const auto observer = Connect();
  EXPECT_EQ(ReadMaster(*observer, Paths())->server, first);
  EXPECT_EQ(ReadBackupMasters(*observer, Paths())->size(), 2u);

  one->election.Stop();
  ASSERT_TRUE(chaos::WaitUntil("one of the others is elected", kPatience, [&] {
                return two->elected.Get() || three->elected.Get();
              }).ok());
  Candidate& winner = two->elected.Get() ? *two : *three;
  Candidate& loser = two->elected.Get() ? *three : *two;
  ASSERT_TRUE(loser.seen_active.WaitFor(ReadMaster(*observer, Paths())->server));
  EXPECT_TRUE(winner.election.elected());
  EXPECT_FALSE(loser.elected.Get());
  EXPECT_EQ(one->lost.changes(), 0);  // stopped by its own will
  EXPECT_EQ(ReadBackupMasters(*observer, Paths())->size(), 1u);
}

TEST_F(ElectionTest, AnExpiredActiveIsToldAndTheStandbyTakesOver) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  Expire(*one->session);
  ASSERT_TRUE(one->lost.WaitFor("the ZooKeeper session has expired"));
  EXPECT_FALSE(one->election.elected());
  const auto two = Join(1002);
  EXPECT_TRUE(two->elected.WaitFor(true));
  EXPECT_EQ(one->lost.changes(), 1);
}

TEST_F(ElectionTest, AStandbyWhoseSessionExpiresIsTold) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto two = Join(1002);
  ASSERT_TRUE(two->seen_active.WaitFor(ServerName{"localhost", 1001, 1}));
  Expire(*two->session);
  EXPECT_EQ(one->lost.changes(), 0);
  EXPECT_TRUE(two->lost.WaitFor("the ZooKeeper session has expired"));
}

TEST_F(ElectionTest, AnActiveWhoseNodeIsRemovedOrReplacedHasLost) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto operator_session = Connect();
  ASSERT_TRUE(operator_session->Delete(Paths().Master()).ok());
  ASSERT_TRUE(chaos::WaitUntil("it notices", kPatience, [&] { return one->lost.changes() == 1; }).ok());
  EXPECT_FALSE(one->election.elected());
}

// Bytes of another client in the node would hide the active master from every client for as long as it lives.
TEST_F(ElectionTest, AnActiveWhoseNodeIsOverwrittenWritesItAgain) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto two = Join(1002);
  const ServerName first{"localhost", 1001, 1};
  ASSERT_TRUE(two->seen_active.WaitFor(first));
  const auto stranger = Connect();
  for (const std::string& bytes : {std::string("garbage"), std::string(), EncodeMasterNode({{"elsewhere", 7, 9}, 0})}) {
    ASSERT_TRUE(stranger->Set(Paths().Master(), bytes).ok());
    ASSERT_TRUE(chaos::WaitUntil("the node is right again", kPatience, [&] {
                  const auto active = ReadMaster(*stranger, Paths());
                  return active.ok() && active->server == first;
                }).ok());
  }
  EXPECT_TRUE(one->election.elected());
  EXPECT_EQ(one->lost.changes(), 0);
  EXPECT_FALSE(two->elected.Get());
  EXPECT_TRUE(two->seen_active.WaitFor(first));
}

TEST_F(ElectionTest, ARestartedServerOfElectionsChangesNobody) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto two = Join(1002);
  ASSERT_TRUE(two->seen_active.WaitFor(ServerName{"localhost", 1001, 1}));
  Observed<SessionState> state;
  one->session->Subscribe([&](SessionState now) { state.Set(now); });
  ASSERT_TRUE(Server().Kill9().ok());
  ASSERT_TRUE(state.WaitFor(SessionState::kConnecting));
  ASSERT_TRUE(Server().Start(kPatience).ok());
  ASSERT_TRUE(state.WaitFor(SessionState::kConnected));
  ASSERT_TRUE(two->session->WaitConnected(kPatience).ok());
  EXPECT_TRUE(one->election.elected());
  EXPECT_EQ(one->lost.changes(), 0);
  EXPECT_FALSE(two->elected.Get());
}

TEST_F(ElectionTest, ANewIncarnationDoesNotWaitForItsDeadPredecessor) {
  // The predecessor's session lives on for a minute: nothing closed it.
  const auto predecessor = Connect(Millis(60'000));
  ASSERT_TRUE(predecessor->EnsurePath(Paths().parent).ok());
  ASSERT_TRUE(
      predecessor->Create(Paths().Master(), EncodeMasterNode({{"localhost", 1001, 1}, 0}), NodeKind::kEphemeral).ok());
  const auto successor = Join(1001, 2);
  EXPECT_TRUE(successor->elected.WaitFor(true));
}

// S121 (early findings are positive).
TEST_F(ElectionTest, TheNodeOfADeadMasterIsRemovedAheadOfItsSession) {
  const ServerName dead{"localhost", 1001, 1};
  const auto predecessor = Connect(Millis(60'000));
  ASSERT_TRUE(predecessor->EnsurePath(Paths().parent).ok());
  ASSERT_TRUE(predecessor->Create(Paths().Master(), EncodeMasterNode({dead, 0}), NodeKind::kEphemeral).ok());
  const auto standby = Join(1002);
  ASSERT_TRUE(standby->seen_active.WaitFor(dead));
  EXPECT_FALSE(standby->elected.Get());
  EXPECT_EQ(ReadBackupMasters(*predecessor, Paths())->size(), 1u);
  const std::int32_t elections = predecessor->Get(Paths().Elections())->version;
  standby->election.ReplaceDead(dead);
  EXPECT_TRUE(standby->elected.WaitFor(true));
  EXPECT_EQ(ReadMaster(*predecessor, Paths())->server, (ServerName{"localhost", 1002, 1}));
  EXPECT_TRUE(ReadBackupMasters(*predecessor, Paths())->empty());
  EXPECT_EQ(predecessor->Get(Paths().Elections())->version, elections + 1);
  EXPECT_EQ(standby->lost.changes(), 0);
}

// Two standbys of a dead master: one replaces it, and the other one follows.
TEST_F(ElectionTest, OnlyOneStandbyReplacesADeadMaster) {
  const ServerName dead{"localhost", 1001, 1};
  const auto predecessor = Connect(Millis(60'000));
  ASSERT_TRUE(predecessor->EnsurePath(Paths().parent).ok());
  ASSERT_TRUE(predecessor->Create(Paths().Master(), EncodeMasterNode({dead, 0}), NodeKind::kEphemeral).ok());
  const auto one = Join(1002);
  const auto two = Join(1003);
  ASSERT_TRUE(one->seen_active.WaitFor(dead));
  ASSERT_TRUE(two->seen_active.WaitFor(dead));
  one->election.ReplaceDead(dead);
  two->election.ReplaceDead(dead);
  ASSERT_TRUE(chaos::WaitUntil("a standby is elected", kPatience, [&] {
                return one->elected.Get() || two->elected.Get();
              }).ok());
  Candidate& winner = one->elected.Get() ? *one : *two;
  Candidate& loser = one->elected.Get() ? *two : *one;
  ASSERT_TRUE(loser.seen_active.WaitFor(ReadMaster(*predecessor, Paths())->server));
  EXPECT_TRUE(winner.election.elected());
  EXPECT_FALSE(loser.elected.Get());
  EXPECT_EQ(ReadBackupMasters(*predecessor, Paths())->size(), 1u);
}

TEST_F(ElectionTest, AStandbyWhoseNodeWasRemovedReplacesADeadMasterToo) {
  const ServerName dead{"localhost", 1001, 1};
  const auto predecessor = Connect(Millis(60'000));
  ASSERT_TRUE(predecessor->EnsurePath(Paths().parent).ok());
  ASSERT_TRUE(predecessor->Create(Paths().Master(), EncodeMasterNode({dead, 0}), NodeKind::kEphemeral).ok());
  const auto standby = Join(1002);
  ASSERT_TRUE(standby->seen_active.WaitFor(dead));
  ASSERT_TRUE(predecessor->Delete(Paths().BackupMaster("localhost,1002,1")).ok());
  standby->election.ReplaceDead(dead);
  EXPECT_TRUE(standby->elected.WaitFor(true));
}

TEST_F(ElectionTest, TheNodeOfAnotherMasterIsNotRemoved) { EXPECT_FALSE(ReplacesTheLivingOne()); }

TEST_F(ElectionTest, RemovingAnyMastersNodeIsNoticed) {
  ExpectKilled(
      "election.remove_any_master",
      [&] { return std::string(ReplacesTheLivingOne() ? "a living master was replaced" : ""); }, "was replaced");
}

// A master that stops has read its node; then a standby removes the node and is elected.
TEST_F(ElectionTest, AStoppingMasterLeavesTheNodeOfItsSuccessor) {
  const auto one = Join(1001);
  ASSERT_TRUE(one->elected.WaitFor(true));
  const auto two = Join(1002);
  ASSERT_TRUE(two->seen_active.WaitFor(ServerName{"localhost", 1001, 1}));
  const auto read = ReadElected(*one->session, Paths());
  ASSERT_TRUE(read.ok());
  two->election.ReplaceDead(ServerName{"localhost", 1001, 1});
  ASSERT_TRUE(two->elected.WaitFor(true));
  EXPECT_EQ(two->session->Get(Paths().Master())->version, read->node.version);
  EXPECT_FALSE(RemoveElected(*one->session, Paths(), *read).ok());
  const auto node = ReadMaster(*two->session, Paths());
  ASSERT_TRUE(node.ok()) << node.error().ToString();
  EXPECT_EQ(node->server.port, 1002);
}

TEST_F(ElectionTest, EachElectionIsCounted) {
  const auto observer = Connect();
  for (std::int32_t elections = 1; elections <= 3; ++elections) {
    const auto master = Join(1001);
    ASSERT_TRUE(master->elected.WaitFor(true));
    EXPECT_EQ(observer->Get(Paths().Elections())->version, elections);
  }
}

TEST_F(ElectionTest, NobodyIsRegisteredAtFirst) {
  const auto session = Connect();
  EXPECT_EQ(ReadMaster(*session, Paths()).error().code(), Code::kNotFound);
  EXPECT_TRUE(ReadBackupMasters(*session, Paths())->empty());
}

}  // namespace
}  // namespace ratchet::zk
