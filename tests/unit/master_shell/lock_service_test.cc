// Locks of clients (LockService): they are kept by heartbeats, and a lock of each kind of resource excludes another.
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/model/codec.h"
#include "common/model/proto/procedure.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/region_info.h"
#include "common/rpc/exceptions.h"
#include "common/rpc/methods/lock_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "master/cluster/lock_keys.h"
#include "tests/unit/master_shell/operator_fixture.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
namespace rpb = ::ratchet::pb;

TEST_F(OperatorServiceTest, LocksOfClients) {
  pb::LockRequest request;
  request.set_lock_type(pb::EXCLUSIVE);
  EXPECT_EQ(Call(methods::kRequestLock, request).error().remote_class(), rpc::exception::kDoNotRetryIo);
  request.mutable_table_name()->set_namespace_("default");
  request.mutable_table_name()->set_qualifier("t");
  request.set_description("backup");
  request.set_nonce_group(1);
  request.set_nonce(2);
  const auto lock = Call(methods::kRequestLock, request);
  ASSERT_TRUE(lock.ok()) << lock.error().ToString();
  EXPECT_EQ(Call(methods::kRequestLock, request)->proc_id(), lock->proc_id());
  request.set_nonce(3);
  const auto second = Call(methods::kRequestLock, request);
  Run();
  const auto beat = [this](std::uint64_t pid, bool keep) {
    pb::LockHeartbeatRequest heartbeat;
    heartbeat.set_proc_id(pid);
    heartbeat.set_keep_alive(keep);
    return Call(methods::kLockHeartbeat, heartbeat).value();
  };
  const auto locked = [&beat](std::uint64_t pid) {
    return beat(pid, true).lock_status() == pb::LockHeartbeatResponse::LOCKED;
  };
  EXPECT_TRUE(RunUntil([&] { return locked(lock->proc_id()); }));
  rpb::GetProcedureRequest look;
  look.set_pid(second->proc_id());
  const auto waits = Call(methods::kGetProcedure, look);
  ASSERT_EQ(waits->wait_chain_size(), 1);
  EXPECT_EQ(waits->wait_chain(0).substr(0, 19), "2 -lock table t-> 1")
      << "and what that one waits for, if it does not run";
  const auto locks = Call(methods::kListLocks, rpb::ListLocksRequest());
  ASSERT_EQ(locks->wait_chain_size(), 1);
  EXPECT_EQ(locks->wait_chain(0).substr(0, 19), "2 -lock table t-> 1");
  EXPECT_EQ(beat(lock->proc_id(), true).timeout_ms(), 30'000u);
  EXPECT_EQ(beat(second->proc_id(), true).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
  EXPECT_EQ(beat(lock->proc_id(), false).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
  EXPECT_TRUE(RunUntil([&] { return locked(second->proc_id()); }));
  EXPECT_EQ(beat(12345, true).lock_status(), pb::LockHeartbeatResponse::UNLOCKED);
}

// For each kind of resource: the lock is shown with its name, and a second exclusive lock waits until the first one is
// released.
TEST_F(OperatorServiceTest, ALockOfEachKindExcludesAnother) {
  const auto on_namespace = [](pb::LockRequest& request) { request.set_namespace_("team"); };
  const auto on_table = [](pb::LockRequest& request) {
    request.mutable_table_name()->set_namespace_("team");
    request.mutable_table_name()->set_qualifier("t");
  };
  RegionInfo region;
  region.table = TableName("team", "t");
  region.start_key = "a";
  region.end_key = "b";
  region.region_id = 7;
  const auto on_region = [&region](pb::LockRequest& request) { ToProto(region, *request.add_region_info()); };
  const std::vector<std::pair<std::string, std::function<void(pb::LockRequest&)>>> kinds = {
      {"namespace team", on_namespace},
      {"table team:t", on_table},
      {"region team:t/" + region.encoded_name(), on_region}};
  std::uint64_t nonce = 1;
  const auto ask = [&](const std::function<void(pb::LockRequest&)>& on) {
    pb::LockRequest request;
    request.set_lock_type(pb::EXCLUSIVE);
    request.set_description("backup");
    request.set_nonce_group(1);
    request.set_nonce(nonce++);
    on(request);
    const auto lock = Call(methods::kRequestLock, request);
    EXPECT_TRUE(lock.ok()) << lock.error().ToString();
    Run();
    return lock.ok() ? lock->proc_id() : 0;
  };
  const auto locked = [&](std::uint64_t pid, bool keep) {
    pb::LockHeartbeatRequest heartbeat;
    heartbeat.set_proc_id(pid);
    heartbeat.set_keep_alive(keep);
    return Call(methods::kLockHeartbeat, heartbeat).value().lock_status() == pb::LockHeartbeatResponse::LOCKED;
  };
  for (const auto& kind : kinds) {
    const std::string name = kind.first;
    const auto& on = kind.second;
    SCOPED_TRACE(name);
    const std::uint64_t holder = ask(on);
    ASSERT_TRUE(RunUntil([&] { return locked(holder, true); }));
    const std::uint64_t waiter = ask(on);
    const auto locks = Call(methods::kListLocks, rpb::ListLocksRequest());
    const auto row = std::find_if(locks->lock().begin(), locks->lock().end(),
                                  [&name](const auto& lock) { return lock.resource() == name; });
    ASSERT_NE(row, locks->lock().end()) << locks->DebugString();
    ASSERT_EQ(row->exclusive_holder_size(), 1);
    EXPECT_EQ(row->exclusive_holder(0), holder);
    EXPECT_FALSE(locked(waiter, true));
    EXPECT_FALSE(locked(holder, false));
    EXPECT_TRUE(RunUntil([&] { return locked(waiter, true); }));
    EXPECT_FALSE(locked(waiter, false));
    ASSERT_TRUE(Ends(ProcId(waiter)));
  }
}

// Each way to name hbase:meta leads to one key, which its openings and closes lock.
TEST_F(OperatorServiceTest, EveryLockOnMetaIsTheOneOfItsTransitions) {
  pb::LockRequest by_table;
  by_table.set_lock_type(pb::EXCLUSIVE);
  by_table.set_description("upgrade");
  by_table.mutable_table_name()->set_namespace_("hbase");
  by_table.mutable_table_name()->set_qualifier("meta");
  pb::LockRequest by_region = by_table;
  by_region.clear_table_name();
  ToProto(MetaRegionInfo(), *by_region.add_region_info());
  pb::LockRequest by_namespace = by_region;
  by_namespace.clear_region_info();
  by_namespace.set_namespace_("hbase");
  EXPECT_EQ(RegionKey(MetaRegionInfo()), procedure::ResourceKey::Meta()) << "what its transitions lock";
  std::vector<std::uint64_t> pids;
  for (pb::LockRequest request : {by_table, by_region, by_namespace}) {
    request.set_nonce_group(1);
    request.set_nonce(10 + pids.size());
    const auto lock = Call(methods::kRequestLock, request);
    ASSERT_TRUE(lock.ok()) << lock.error().ToString();
    pids.push_back(lock->proc_id());
  }
  Run();
  for (std::size_t i = 1; i < pids.size(); ++i) {
    rpb::GetProcedureRequest look;
    look.set_pid(pids[i]);
    ASSERT_TRUE(RunUntil([&] { return Call(methods::kGetProcedure, look)->wait_chain_size() == 1; })) << i;
    EXPECT_NE(Call(methods::kGetProcedure, look)->wait_chain(0).find("-lock meta"), std::string::npos)
        << Call(methods::kGetProcedure, look)->wait_chain(0);
  }
}

}  // namespace
}  // namespace ratchet::master
