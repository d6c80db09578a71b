// S161 (rights return when asked for): a snapshot keeps the rights in its table, and a restore or a clone gives them
// back for RESTORE_ACL.
#include "master/procedures/rights/snapshot_rights.h"
#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/rights_book.h"
#include "master/cluster/snapshot_book.h"
#include "master/requests/rights_admin.h"
#include "master/requests/snapshot_admin.h"
#include "tests/unit/master/fixture.h"
#include "tests/unit/master/judged_service.h"

namespace ratchet::master {
namespace {

using rights::Action;
using rights::Actions;
using rights::RightsEntry;
using rights::Scope;

const TableName kTable("default", "t");
const TableName kClone("default", "c");
const Scope kFamily = Scope::Family(kTable, "f");

class SnapshotRightsTest : public MasterTest {
 protected:
  RightsBook& book() { return master().logic().rights; }
  SnapshotAdmin& snapshots() { return master().logic().snapshot_admin; }
  std::string Ended(const Result<ProcId>& pid) {
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(pid);
  }
  void Grant(const RightsEntry& entry, bool merge = true) {
    Status answer = Error(Code::kInternal, "not answered");
    master().logic().rights_admin.Grant(entry, merge, {"me", {}}, [&answer](const Status& done) { answer = done; });
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
  }
  void Revoke(const std::string& user, const Scope& scope) {
    Status answer = Error(Code::kInternal, "not answered");
    master().logic().rights_admin.Revoke({user, scope, {}}, {"me", {}}, [&answer](const Status& d) { answer = d; });
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
  }
  void Take(const std::string& name) {
    hbase::pb::SnapshotDescription description;
    description.set_name(name);
    description.set_table("t");
    EXPECT_EQ(Ended(master().Ask([&](Done done) {
                snapshots().TakeSnapshot(description, {"me", {}}, done);
              })),
              "success");
  }
  std::string PutBack(const std::string& name, const TableName& table, bool rights) {
    return Ended(master().Ask([&](Done done) {
      snapshots().PutBack(name, table, {"me", {}}, done, std::nullopt, rights);
    }));
  }
  // In the record, and in the image of each server.
  void ExpectEverywhere(const std::string& user, const Scope& scope, Actions actions) {
    const bool group = user.front() == '@';
    const std::vector<std::string> groups(group ? 1 : 0, user.substr(1));
    const rights::Subject subject{group ? "a member" : user, groups};
    EXPECT_EQ(book().Image(master().epoch())->Held(subject, scope), actions) << user;
    for (const sim::SimServer* server : cluster_.Alive()) {
      ASSERT_NE(server->rights.image(), nullptr);
      EXPECT_EQ(server->rights.image()->Held(subject, scope), actions) << user << server->name().ToString();
    }
  }
  void GivenASnapshotWithRights() {
    cluster_.Boot(2);
    GivenTable("t", 2);
    Grant({"alice", Scope::Table(kTable), Action::kRead | Action::kWrite});
    Grant({"bob", kFamily, Action::kRead});
    Grant({"@ops", Scope::Column(kTable, "f", "q"), Action::kWrite});
    Grant({"elsewhere", Scope::Namespace("default"), Action::kRead});
    Take("s");
    Revoke("alice", Scope::Table(kTable));
    Revoke("bob", kFamily);
    Revoke("@ops", Scope::Column(kTable, "f", "q"));
    Revoke("elsewhere", Scope::Namespace("default"));
    Grant({"carol", Scope::Table(kTable), Action::kRead});
  }
  hbase::pb::SnapshotParts Parts() {
    hbase::pb::SnapshotParts parts;
    auto* right = parts.add_rights();
    *right = rights::ToProto(RightsEntry{"bob", kFamily, Action::kRead});
    parts.set_has_rights(true);
    return parts;
  }
  Status Set(const hbase::pb::SnapshotParts& parts, pb::TableData& data) {
    return SetRestoredRights(master().logic().env, parts, Descriptor("t"), data);
  }
  pb::TableData DataOf(const TableName& table) {
    pb::TableData data;
    data.set_ns(table.ns);
    data.set_qualifier(table.qualifier);
    data.set_restores_rights(true);
    return data;
  }
};

TEST_F(SnapshotRightsTest, ARestoreGivesTheRightsOfTheSnapshotBackAndKeepsLaterOnes) {
  GivenASnapshotWithRights();
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(PutBack("s", kTable, /*rights=*/true), "success");
  ExpectEverywhere("alice", Scope::Table(kTable), Action::kRead | Action::kWrite);
  ExpectEverywhere("bob", kFamily, Action::kRead);
  ExpectEverywhere("@ops", Scope::Column(kTable, "f", "q"), Action::kWrite);
  ExpectEverywhere("carol", Scope::Table(kTable), Action::kRead);
  ExpectEverywhere("elsewhere", Scope::Namespace("default"), {});
}

TEST_F(SnapshotRightsTest, WithoutTheRequestNoRightReturns) {
  GivenASnapshotWithRights();
  EXPECT_EQ(Ended(Disable("t")), "success");
  EXPECT_EQ(PutBack("s", kTable, /*rights=*/false), "success");
  EXPECT_EQ(PutBack("s", kClone, /*rights=*/false), "success");
  for (const TableName& table : {kTable, kClone}) ExpectEverywhere("alice", Scope::Table(table), {});
  ExpectEverywhere("carol", Scope::Table(kTable), Action::kRead);
  EXPECT_EQ(book().size(), 1U);
}

TEST_F(SnapshotRightsTest, ACloneGetsTheRightsUnderItsName) {
  GivenASnapshotWithRights();
  EXPECT_EQ(PutBack("s", kClone, /*rights=*/true), "success");
  ExpectEverywhere("alice", Scope::Table(kClone), Action::kRead | Action::kWrite);
  ExpectEverywhere("alice", Scope::Table(kTable), {});
  ExpectEverywhere("bob", Scope::Family(kClone, "f"), Action::kRead);
  ExpectEverywhere("@ops", Scope::Column(kClone, "f", "q"), Action::kWrite);
  ExpectEverywhere("carol", Scope::Table(kClone), {});
  EXPECT_EQ(book().KeysWithin(Scope::Table(kClone)).size(), 3U);
}

TEST_F(SnapshotRightsTest, TheOwnerOfACloneKeepsEveryRight) {
  cluster_.master_options.judges_users = [] { return true; };
  cluster_.Boot(2);
  GivenTable("t", 1);
  Grant({"me", Scope::Table(kTable), Action::kRead}, /*merge=*/false);
  Take("s");
  EXPECT_EQ(PutBack("s", kClone, /*rights=*/true), "success");
  ExpectEverywhere("me", Scope::Table(kClone), Actions::All());
}

TEST_F(SnapshotRightsTest, AnAbortedCloneLeavesNoRight) {
  GivenASnapshotWithRights();
  const auto pid = master().Ask([&](Done done) {
    snapshots().PutBack("s", kClone, {"me", {}}, done, std::nullopt, true);
  });
  ASSERT_TRUE(cluster_.RunUntil([&] {
    for (const ProcId each : master().executor().FindUnfinished("CloneSnapshot")) {
      const auto info = master().executor().Get(each);
      if (info && info->step_name == "COPY_REGIONS") return true;
    }
    return false;
  }));
  master().executor().Abort(*pid, {"op", "no"}, [](const Status&) {});
  EXPECT_NE(Ended(pid), "success");
  EXPECT_TRUE(book().KeysWithin(Scope::Table(kClone)).empty());
}

TEST_F(SnapshotRightsTest, ASnapshotOfAnEarlierVersionRestoresNoneAndTheProcedureShowsThat) {
  cluster_.Boot(1);
  hbase::pb::SnapshotParts old = Parts();
  old.clear_rights();
  old.clear_has_rights();
  pb::TableData data = DataOf(kTable);
  ASSERT_TRUE(Set(old, data).ok());
  EXPECT_TRUE(data.rights_unknown());
  EXPECT_TRUE(RestoredRights(data).empty());
}

TEST_F(SnapshotRightsTest, RightsThatTheTableCannotHaveAreLeftOutOrRefused) {
  cluster_.Boot(1);
  pb::TableData data = DataOf(kClone);
  hbase::pb::SnapshotParts parts = Parts();
  *parts.add_rights() = rights::ToProto(RightsEntry{"bob", Scope::Family(kTable, "dropped"), Action::kRead});
  ASSERT_TRUE(Set(parts, data).ok());
  EXPECT_EQ(RestoredRights(data), (std::vector<RightsEntry>{{"bob", Scope::Family(kClone, "f"), Action::kRead}}));
  for (const Scope& wider : {Scope::Global(), Scope::Namespace("default")}) {
    hbase::pb::SnapshotParts forged = Parts();
    *forged.add_rights() = rights::ToProto(RightsEntry{"mallory", wider, Actions::All()});
    EXPECT_FALSE(Set(forged, data).ok());
  }
  hbase::pb::SnapshotParts many = Parts();
  for (int i = 0; i < 5'001; ++i)
    *many.add_rights() = rights::ToProto(RightsEntry{"user" + std::to_string(i), kFamily, Action::kRead});
  EXPECT_FALSE(Set(many, data).ok());
}

TEST_F(SnapshotRightsTest, RightsOfDroppedFamiliesAreNoticed) {
  cluster_.Boot(1);
  const ScopedMutant mutant("snapshot.rights_of_dropped_families");
  pb::TableData data = DataOf(kTable);
  hbase::pb::SnapshotParts parts = Parts();
  *parts.add_rights() = rights::ToProto(RightsEntry{"bob", Scope::Family(kTable, "dropped"), Action::kRead});
  ASSERT_TRUE(Set(parts, data).ok());
  EXPECT_EQ(RestoredRights(data).size(), 2U);
}

// Through the wire: who may ask for the rights.
class SnapshotRightsServiceTest : public SnapshotRightsTest {
 protected:
  // Restores into a new table as `user`, and returns the class of the refusal.
  std::string CloneAs(const std::string& user, const std::string& table, bool rights) {
    hbase::pb::RestoreSnapshotRequest request;
    request.mutable_snapshot()->set_name("s");
    request.mutable_snapshot()->set_table(table);
    request.set_restoreacl(rights);
    const auto answer = service_->As(user, methods::kRestoreSnapshot, request);
    return answer.ok() ? "" : answer.error().remote_class();
  }
  void GivenAService() {
    cluster_.Boot(2);
    GivenTable("t", 1);
    Take("s");  // owned by "me"
    service_ = std::make_unique<JudgedService>(
        cluster_, std::set<std::string>{"root"},
        std::vector<RightsEntry>{{"me", Scope::Namespace("default"), Action::kAdmin | Action::kCreate},
                                 {"admin", Scope::Global(), Actions(Action::kAdmin)}});
  }

  std::unique_ptr<JudgedService> service_;
};

TEST_F(SnapshotRightsServiceTest, RestoringRightsNeedsTheRightToAdministerEverything) {
  GivenAService();
  EXPECT_EQ(CloneAs("me", "c1", false), "") << "the owner, without the rights of others";
  EXPECT_EQ(CloneAs("me", "c2", true), exception::kAccessDenied);
  EXPECT_EQ(CloneAs("stranger", "c3", true), exception::kAccessDenied);
  EXPECT_EQ(CloneAs("admin", "c4", true), "");
  EXPECT_EQ(CloneAs("root", "c5", true), "");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_FALSE(master().logic().tables.Exists(TableName("default", "c2"))) << "a refusal changes nothing";
}

TEST_F(SnapshotRightsServiceTest, RestoringWithoutTheRightIsNoticed) {
  GivenAService();
  const ScopedMutant mutant("snapshot.any_user_restores_rights");
  EXPECT_EQ(CloneAs("me", "c2", true), "");
}

}  // namespace
}  // namespace ratchet::master
