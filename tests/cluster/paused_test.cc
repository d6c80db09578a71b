// Pauses on real processes: a delayed procedure uses the state at its lock grant, and a server that starts meanwhile
// waits (S69: lock-grant order decides).
#include <fmt/format.h>

#include "common/model/codec.h"
#include "common/model/proto/operator.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class PausedTest : public ClusterTest {
 protected:
  static pb::PauseScope Everything() {
    pb::PauseScope scope;
    scope.set_kind(pb::PauseScope::EVERYTHING);
    return scope;
  }
  static pb::PauseScope Type(const std::string& type) {
    pb::PauseScope scope;
    scope.set_kind(pb::PauseScope::TYPE);
    scope.set_type(type);
    return scope;
  }
  Status Pause(const pb::PauseScope& scope) {
    pb::PauseRequest request;
    *request.mutable_scope() = scope;
    const auto answer = admin().Call(methods::kPause, request);
    return answer.ok() ? Ok() : Status(answer.error());
  }
  Status Resume(const pb::PauseScope& scope) {
    pb::ResumeRequest request;
    *request.mutable_scope() = scope;
    const auto answer = admin().Call(methods::kResume, request);
    return answer.ok() ? Ok() : Status(answer.error());
  }
  std::size_t Pauses() {
    const auto answer = admin().Call(methods::kListPauses, pb::ListPausesRequest());
    return answer.ok() ? static_cast<std::size_t>(answer->pause_size()) : 0;
  }
  // A server that starts while everything is paused keeps retrying and does not exit. Its registration proceeds on
  // resume.
  void AServerStartsAndWaits() {
    const auto name = cluster().AddServer();
    ASSERT_OK(name);
    const std::string line = "Start: not registered yet";
    ASSERT_OK(cluster().WaitLog(*name, line, kPatience));
    ASSERT_OK(Resume(Everything()));
    ASSERT_OK(cluster().WaitServing(kPatience));
    EXPECT_TRUE(cluster().Running(*name));
    EXPECT_EQ(cluster().Info(*name).came_again, 0U) << "it had given up once";
  }
};

TEST_F(PausedTest, LateDropUsesTheCurrentTable) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  MakeTable("u", 2);
  if (HasFatalFailure()) return;
  StartWriter("t");
  const TableName name("default", "u");
  client::Table rows(connection(), name);
  for (const bool enabled_at_the_end : {true, false}) {
    ASSERT_OK(admin().WaitOk(admin().DisableTable(name)));
    ASSERT_OK(Pause(Type("DeleteTable")));
    const auto drop = admin().DeleteTable(name);
    ASSERT_OK(drop);
    ASSERT_OK(admin().WaitOk(admin().EnableTable(name)));
    ASSERT_OK(rows.Mutate(client::Mutation::Put("800000").Set("u", "q", "kept")));
    if (!enabled_at_the_end) ASSERT_OK(admin().WaitOk(admin().DisableTable(name)));
    ASSERT_OK(Resume(Type("DeleteTable")));
    const Status dropped = admin().WaitOk(*drop);
    EXPECT_EQ(dropped.ok(), !enabled_at_the_end)
        << (dropped.ok() ? "dropped while enabled" : dropped.error().ToString());
    ASSERT_OK(cluster().WaitServing(kPatience));
    if (!enabled_at_the_end) break;
    const auto row = rows.Get({"800000", {}, 1, {}});
    ASSERT_OK(row);
    EXPECT_FALSE(row->cells.empty()) << "its files are gone";
  }
  const auto tables = admin().ListTables();
  ASSERT_OK(tables);
  EXPECT_EQ(tables->size(), 1U);
  MakeTable("u", 2);  // a leftover would prevent this
  const auto fresh = rows.Get({"800000", {}, 1, {}});
  ASSERT_OK(fresh);
  EXPECT_TRUE(fresh->cells.empty());
}

TEST_F(PausedTest, AServerThatStartsInAPauseOfEverythingWaits) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  StartWriter("t");
  ASSERT_OK(Pause(Everything()));
  AServerStartsAndWaits();
}

TEST_F(PausedTest, AServerThatStartsUnderAMasterThatStartedPausedWaits) {
  Boot(1, 3);
  if (HasFatalFailure()) return;
  MakeTable("t", 3);
  if (HasFatalFailure()) return;
  StartWriter("t");
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1", {}, {"--start-paused"}));
  ASSERT_OK(WaitUntil("the pause", kPatience, [this] { return Pauses() == 1; }));
  AServerStartsAndWaits();
}

}  // namespace
}  // namespace ratchet::chaos
