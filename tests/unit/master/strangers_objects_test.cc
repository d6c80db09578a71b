// S166 (others' objects stay unknown): nonce, lock, procedure and snapshot of another user at the master, test 43 of
// identity.
#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/model/proto/procedure.pb.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/unit/master/fixture.h"
#include "tests/unit/master/judged_service.h"

namespace ratchet::master {
namespace {

namespace hpb = ::hbase::pb;
using rights::Action;

constexpr std::uint64_t kUnknownPid = 987'654;

// Ann and Bob have the same rights, and neither has A everywhere.
class StrangersObjectsTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.master_options.judges_users = [] { return true; };
    cluster_.Boot(1);
    GivenTable("t", 1);
    std::vector<rights::RightsEntry> entries;
    for (const char* user : {"ann", "bob"})
      entries.push_back({user, rights::Scope::Namespace("default"), Action::kAdmin | Action::kCreate});
    service_ = std::make_unique<JudgedService>(cluster_, std::set<std::string>(), entries);
  }

  template <class Request, class Response>
  Result<Response> As(const std::string& user, const rpc::Method<Request, Response>& method, const Request& request) {
    return service_->As(user, method, request);
  }
  // Checks that the refusal of Bob is the one about `unknown`, an object that does not exist.
  template <class Request, class Response>
  void ExpectNothingLearnt(const rpc::Method<Request, Response>& method, const Request& asked, const Request& unknown) {
    const auto refused = As("bob", method, asked);
    const auto none = As("bob", method, unknown);
    ASSERT_FALSE(refused.ok()) << method.name << " " << refused->ShortDebugString();
    ASSERT_FALSE(none.ok()) << method.name << " " << none->ShortDebugString();
    EXPECT_EQ(refused.error().remote_class(), exception::kAccessDenied) << method.name;
    EXPECT_EQ(refused.error().ToString(), none.error().ToString()) << method.name;
  }

  std::uint64_t LockAs(const std::string& user, std::uint64_t nonce) {
    hpb::LockRequest request;
    request.set_lock_type(hpb::EXCLUSIVE);
    ToProto(TableName("default", "t"), *request.mutable_table_name());
    request.set_description("backup of " + user);
    request.set_nonce_group(5);
    request.set_nonce(nonce);
    const auto lock = As(user, methods::kRequestLock, request);
    EXPECT_TRUE(lock.ok()) << lock.error().ToString();
    return lock.ok() ? lock->proc_id() : 0;
  }
  std::uint64_t CreateAs(const std::string& user, const std::string& table) {
    hpb::CreateTableRequest request;
    ToProto(Descriptor(table), *request.mutable_table_schema());
    request.set_nonce_group(5);
    request.set_nonce(9);
    const auto created = As(user, methods::kCreateTable, request);
    EXPECT_TRUE(created.ok()) << created.error().ToString();
    return created.ok() ? created->proc_id() : 0;
  }
  static hpb::LockHeartbeatRequest Beat(std::uint64_t pid, bool keep) {
    hpb::LockHeartbeatRequest request;
    request.set_proc_id(pid);
    request.set_keep_alive(keep);
    return request;
  }
  bool IsLocked(std::uint64_t pid) {
    const auto beat = As("ann", methods::kLockHeartbeat, Beat(pid, true));
    EXPECT_TRUE(beat.ok()) << beat.error().ToString();
    return beat.ok() && beat->lock_status() == hpb::LockHeartbeatResponse::LOCKED;
  }
  void GivenASnapshotOfAnn() {
    hpb::SnapshotRequest request;
    *request.mutable_snapshot() = Named("s");
    const auto taken = As("ann", methods::kSnapshot, request);
    ASSERT_TRUE(taken.ok()) << taken.error().ToString();
    ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  }
  static hpb::SnapshotDescription Named(const std::string& name) {
    hpb::SnapshotDescription snapshot;
    snapshot.set_name(name);
    snapshot.set_table("t");
    return snapshot;
  }
  template <class Request>
  static Request About(const std::string& snapshot) {
    Request request;
    *request.mutable_snapshot() = Named(snapshot);
    return request;
  }
  static hpb::IsProcedureDoneRequest DoneBySignature(const std::string& snapshot) {
    hpb::IsProcedureDoneRequest request;
    request.mutable_procedure()->set_signature("online-snapshot");
    request.mutable_procedure()->set_instance(snapshot);
    auto& table = *request.mutable_procedure()->add_configuration();
    table.set_name("table");
    table.set_value("t");
    return request;
  }
  int SnapshotsSeenBy(const std::string& user) {
    const auto list = As(user, methods::kGetCompletedSnapshots, {});
    EXPECT_TRUE(list.ok()) << list.error().ToString();
    return list.ok() ? list->snapshots_size() : -1;
  }

  std::unique_ptr<JudgedService> service_;
};

TEST_F(StrangersObjectsTest, ANonceIsItsUsers) {
  const std::uint64_t of_ann = CreateAs("ann", "a");
  const std::uint64_t of_bob = CreateAs("bob", "b");
  EXPECT_NE(of_ann, of_bob) << "not the answer to ann";
  EXPECT_EQ(CreateAs("ann", "a"), of_ann) << "a repetition creates no second table";
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  EXPECT_TRUE(master().logic().tables.Exists(TableName("default", "b")));
}

TEST_F(StrangersObjectsTest, ANonceOfALockIsItsUsers) {
  const std::uint64_t of_ann = LockAs("ann", 9);
  EXPECT_NE(LockAs("bob", 9), of_ann);
  EXPECT_EQ(LockAs("ann", 9), of_ann);
}

TEST_F(StrangersObjectsTest, AnswersToNoncesOfOthersAreNoticed) {
  const ScopedMutant mutant("rights.any_users_nonce");
  EXPECT_EQ(CreateAs("ann", "a"), CreateAs("bob", "b"));
  EXPECT_EQ(LockAs("ann", 10), LockAs("bob", 10));
}

TEST_F(StrangersObjectsTest, ALockIsKeptAndReleasedByItsHolderOnly) {
  const std::uint64_t pid = LockAs("ann", 9);
  ASSERT_TRUE(cluster_.RunUntil([&] { return IsLocked(pid); }));
  for (const bool keep : {true, false})
    ExpectNothingLearnt(methods::kLockHeartbeat, Beat(pid, keep), Beat(kUnknownPid, keep));
  EXPECT_TRUE(IsLocked(pid)) << "a refusal changes nothing";
  const auto released = As("ann", methods::kLockHeartbeat, Beat(pid, false));
  ASSERT_TRUE(released.ok()) << released.error().ToString();
  ASSERT_TRUE(cluster_.RunUntil([&] { return master().executor().GetResult(ProcId(pid)).finished(); }));
}

TEST_F(StrangersObjectsTest, AProcedureOfAnotherUserIsAsOneThatDoesNotExist) {
  const std::uint64_t pid = CreateAs("ann", "a");
  ASSERT_TRUE(cluster_.Settle()) << master().Unfinished();
  const auto asked = [](std::uint64_t number) {
    ::ratchet::pb::GetProcedureRequest request;
    request.set_pid(number);
    return request;
  };
  ExpectNothingLearnt(methods::kGetProcedure, asked(pid), asked(kUnknownPid));
  const auto own = As("ann", methods::kGetProcedure, asked(pid));
  ASSERT_TRUE(own.ok()) << own.error().ToString();
  EXPECT_EQ(own->procedure().owner(), "ann");
  EXPECT_EQ(own->procedure().peer().substr(0, 10), "127.0.0.1:");
  EXPECT_EQ(own->procedure().method(), "MasterService.CreateTable");
  const auto abort = [](std::uint64_t number) {
    hpb::AbortProcedureRequest request;
    request.set_proc_id(number);
    return request;
  };
  ExpectNothingLearnt(methods::kAbortProcedure, abort(pid), abort(kUnknownPid));
  const auto result = [this](const std::string& user, std::uint64_t number) {
    hpb::GetProcedureResultRequest request;
    request.set_proc_id(number);
    const auto answer = As(user, methods::kGetProcedureResult, request);
    return answer.ok() ? answer->SerializeAsString() : answer.error().ToString();
  };
  EXPECT_EQ(result("bob", pid), result("bob", kUnknownPid));
  EXPECT_NE(result("ann", pid), result("bob", pid));
}

TEST_F(StrangersObjectsTest, ASnapshotOfAnotherUserIsAsOneThatDoesNotExist) {
  GivenASnapshotOfAnn();
  ExpectNothingLearnt(methods::kIsSnapshotDone, About<hpb::IsSnapshotDoneRequest>("s"),
                      About<hpb::IsSnapshotDoneRequest>("none"));
  ExpectNothingLearnt(methods::kDeleteSnapshot, About<hpb::DeleteSnapshotRequest>("s"),
                      About<hpb::DeleteSnapshotRequest>("none"));
  ExpectNothingLearnt(methods::kRestoreSnapshot, About<hpb::RestoreSnapshotRequest>("s"),
                      About<hpb::RestoreSnapshotRequest>("none"));
  ExpectNothingLearnt(methods::kIsProcedureDone, DoneBySignature("s"), DoneBySignature("none"));
  EXPECT_EQ(SnapshotsSeenBy("bob"), 0);
  EXPECT_EQ(SnapshotsSeenBy("ann"), 1) << "a refusal deletes nothing";
  EXPECT_TRUE(As("ann", methods::kIsSnapshotDone, About<hpb::IsSnapshotDoneRequest>("s"))->done());
  EXPECT_TRUE(As("ann", methods::kIsProcedureDone, DoneBySignature("s"))->done());
  EXPECT_TRUE(As("ann", methods::kDeleteSnapshot, About<hpb::DeleteSnapshotRequest>("s")).ok());
  EXPECT_EQ(SnapshotsSeenBy("ann"), 0);
}

TEST_F(StrangersObjectsTest, AskingAboutSnapshotsOfOthersIsNoticed) {
  GivenASnapshotOfAnn();
  const ScopedMutant mutant("snapshot.any_user_asks");
  EXPECT_TRUE(As("bob", methods::kIsProcedureDone, DoneBySignature("s")).ok());
  EXPECT_TRUE(As("bob", methods::kIsSnapshotDone, About<hpb::IsSnapshotDoneRequest>("s")).ok());
  EXPECT_TRUE(As("bob", methods::kDeleteSnapshot, About<hpb::DeleteSnapshotRequest>("s")).ok());
}

}  // namespace
}  // namespace ratchet::master
