// S114 (no start without the past): on real processes, a master whose procedures/ is lost is refused, and nothing of
// the cluster is changed. S119 (made logs are required): the regions of a dead server whose log is lost wait for the
// log.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "common/zk/cluster_place.h"
#include "common/zk/refused_start.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class PastTest : public PageTest {
 protected:
  [[nodiscard]] fs::path Store() { return cluster().root() / "procedures"; }
  [[nodiscard]] fs::path Away() { return cluster().spec().dir / "procedures.away"; }
  // Returns the output of `ratchet why` and `ratchet status` while no master is active.
  std::string Shown() {
    auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{10'000}});
    EXPECT_TRUE(session.ok() && (*session)->WaitConnected(kPatience).ok());
    const auto text = zk::ReadRefusedStart(**session, zk::ZkPaths{});
    return text.ok() ? *text : std::string();
  }
  void ExpectRefused(const std::string& name, const std::string& text) {
    const auto ended = cluster().WaitExit(name, kPatience);
    ASSERT_OK(ended);
    EXPECT_EQ(*ended, exit_code::kWentBack) << name;
    EXPECT_FALSE(cluster().LogLines(name, text).empty()) << "the log of " << name << " does not have: " << text;
  }
};

TEST_F(PastTest, AMasterWithoutItsProceduresIsRefused) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  StartWriter("t");
  WaitForWrites(20);
  if (HasFatalFailure()) return;
  for (const char* name : {"master-1", "master-2"}) ASSERT_OK(cluster().Kill9(name));
  fs::rename(Store(), Away());
  for (const char* name : {"master-1", "master-2"}) {
    ASSERT_OK(cluster().Start(name));
    const HttpAnswer page = Get(name, "/api/v1/cluster");
    EXPECT_EQ(page.status, 503);
    EXPECT_NE(page.body.find("MASTER_REFUSED"), std::string::npos) << page.body;
    EXPECT_NE(page.body.find("procedures/ is missing, but epochs up to"), std::string::npos) << page.body;
    ExpectRefused(name, "procedures/ is missing, but epochs up to");
    if (HasFatalFailure()) return;
  }
  EXPECT_FALSE(fs::exists(Store())) << "a refused start has made a new one";
  EXPECT_NE(Shown().find("procedures/ is missing, but epochs up to"), std::string::npos) << Shown();
  fs::create_directory(Store());
  ASSERT_OK(cluster().Start("master-1"));
  ExpectRefused("master-1", "procedures/ is empty");
  if (HasFatalFailure()) return;
  fs::remove(Store());
  fs::rename(Away(), Store());
  for (const char* name : {"master-1", "master-2"}) ASSERT_OK(cluster().Start(name));
  WaitForWrites(20);
  ASSERT_OK(ProcessCluster::WaitUntil("the cause is gone", kPatience, [&] { return Shown().empty(); }));
}

// The active master finds its claim gone, restarts, and is refused; the standby is refused when it is elected.
TEST_F(PastTest, AMasterWhoseProceduresAreMovedAwayLeavesAndIsRefused) {
  Boot(2, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  StartWriter("t");
  WaitForWrites(20);
  if (HasFatalFailure()) return;
  fs::rename(Store(), Away());
  for (const char* name : {"master-1", "master-2"}) {
    const auto ended = cluster().WaitExit(name, kPatience);
    ASSERT_OK(ended);
    if (*ended == exit_code::kFenced) {
      ASSERT_OK(cluster().Start(name));  // in this test no process restarts itself
    }
    ExpectRefused(name, "procedures/ is missing, but epochs up to");
    if (HasFatalFailure()) return;
  }
  WaitForWrites(20);  // region servers continue
  fs::rename(Away(), Store());
  for (const char* name : {"master-1", "master-2"}) ASSERT_OK(cluster().Start(name));
  WaitForWrites(20);
}

// S119: its rows are gone, and the operator has decided that the regions open without them.
TEST_F(PastTest, ARegionServersLostLogIsWaitedForUntilAnOperatorAcceptsTheLoss) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  MakeTable("t", 4);
  if (HasFatalFailure()) return;
  const TableName name("default", "t");
  const std::string server = ServerNameOf("rs-1").ToString();
  const fs::path wals = cluster().root() / "wals";
  const std::string log = "log.0000000001";
  ASSERT_TRUE(fs::exists(wals / server / log));
  ASSERT_OK(cluster().Kill9("rs-1"));
  fs::rename(wals / server / log, cluster().spec().dir / "lost.log");
  const std::string cause = "log wals/" + server + "-splitting/" + log + " is missing";
  ASSERT_OK(ProcessCluster::WaitUntil("the split names the lost log", kPatience, [&] {
    const auto all = admin().Call(methods::kListProcedures, pb::ListProceduresRequest());
    return all.ok() && std::any_of(all->procedure().begin(), all->procedure().end(), [&](const auto& procedure) {
             return procedure.ShortDebugString().find(cause) != std::string::npos;
           });
  }));
  std::ofstream(wals / (server + "-splitting") / ("accepted." + log)).close();
  client::Table t(connection(), name);
  ASSERT_OK(ProcessCluster::WaitUntil("each region takes a row", kPatience, [&] {
    const auto regions = admin().Regions(name);
    return regions.ok() && std::all_of(regions->begin(), regions->end(), [&](const auto& region) {
             return t.Mutate(client::Mutation::Put(region.region.start_key + "~").Set("u", "q", "v")).ok();
           });
  }));
}

// A standby that sees another state of the root, for example by a mount of its own: the master that leads shows the
// refusal until the refused one has started.
TEST_F(PastTest, TheOtherMastersShowARefusal) {
  Boot(2, 1);
  if (HasFatalFailure()) return;
  const std::string active = Active();
  const std::string other = active == "master-1" ? "master-2" : "master-1";
  ASSERT_OK(cluster().Kill9(other));
  auto session = zk::ZkSession::Open({cluster().zookeeper(), Millis{10'000}});
  ASSERT_TRUE(session.ok() && (*session)->WaitConnected(kPatience).ok());
  const zk::ZkPaths paths;
  const auto place = zk::ReadPlace(**session, paths);
  ASSERT_OK(place);
  std::string start;
  for (const auto& process : cluster().Processes()) {
    if (process.name == other) start = fmt::format("127.0.0.1:{}: ", process.port);
  }
  const auto shown = [&](const std::string& by, const std::string& view) {
    return Get(by, "/api/v1/" + view)
               .body.find("MASTER_REFUSED: a master was refused at its start: " + start + "procedures/ is missing") !=
           std::string::npos;
  };
  const auto note = [&](const std::string& of) {
    return zk::NoteRefusedStart(**session, paths, place->cluster_id, of + "procedures/ is missing");
  };
  ASSERT_OK(note(start));
  ASSERT_OK(
      ProcessCluster::WaitUntil("the active master shows it", kPatience, [&] { return shown(active, "cluster"); }));
  ASSERT_OK(cluster().Start(other));
  ASSERT_OK(ProcessCluster::WaitUntil("it is gone when that master has started", kPatience,
                                      [&] { return PagePort(other) != 0 && !shown(active, "cluster"); }));
  start = "h:1: ";
  ASSERT_OK(note(start));
  ASSERT_OK(
      ProcessCluster::WaitUntil("a standby shows it of itself", kPatience, [&] { return shown(other, "master"); }));
  ASSERT_OK(zk::ForgetRefusedStart(**session, paths));
}

}  // namespace
}  // namespace ratchet::chaos
