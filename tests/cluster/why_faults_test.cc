// Stuck situations caused by a fault: a full disk, a failing undo, a dead splitter, a damaged file, a limit.
#include <csignal>

#include "tests/cluster/full_disk.h"
#include "tests/cluster/why_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class WhyFaultsTest : public WhyClusterTest {
 protected:
  const TableName kTable{"default", "t"};

  Result<std::uint64_t> Create(const std::string& name, const std::vector<std::string>& keys = {}) {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", name);
    descriptor.families.push_back(DefaultFamily("u"));
    return admin().CreateTable(descriptor, keys);
  }
};

class WhyFullDiskTest : public OnLoopDisk<WhyFaultsTest> {};

// 5: a full disk.
TEST_F(WhyFullDiskTest, AFullDisk) {
  Boot(1, 1);
  if (HasFatalFailure() || IsSkipped()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ExpectNothingWaits();
  ASSERT_OK(disk_->Fill());
  ExpectWhy(5, {}, "SPACE", {"free on the disk below the root", "make room"});
  const Told status = RunHere({"status"});
  EXPECT_NE(status.text.find("free on the disk below the root"), std::string::npos) << status.text;
  ASSERT_OK(disk_->Free());
  ExpectNothingWaits();
}

// 8: an undo that fails.
TEST_F(WhyFaultsTest, AnUndoThatFails) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("master-1"));
  // The procedure is delayed after the step whose undo archives the directory, so that it can be aborted; the archive
  // cannot be made.
  ASSERT_OK(cluster().Start("master-1", ArmedWith("executor.after_commit~CreateTable:WRITE_FS_LAYOUT=delay:10000;"
                                                  "io.create~/archive/=failx1000000")));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto creating = Create("undone");
  ASSERT_OK(creating);
  ASSERT_OK(ProcessCluster::WaitUntil("the layout", kPatience, [this] {
    const fs::path data = cluster().root() / "data" / "default";
    return fs::exists(data) && fs::directory_iterator(data) != fs::directory_iterator();
  }));
  ASSERT_OK(admin().Abort(*creating));
  ExpectWhy(8, Pid(creating), "UNDO_FAILS", {"archive", "the master tries the undo again"});
  ExpectWhy(8, {}, "UNDO_FAILS");
  ASSERT_OK(cluster().Restart("master-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("the undo", kPatience, [this] {
    const auto listed = RunHere({"list"});
    return listed.code == cli::kExitOk && RunHere({"why"}).code == cli::kExitOk;
  }));
}

// 12: the worker of a log's splitting is killed, and its death is not noticed yet.
TEST_F(WhyFaultsTest, ASplitterThatDies) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  const ServerName dead = ServerNameOf("rs-1");
  std::vector<std::string> others;
  for (int i = 0; i < 2; ++i) {
    const auto name = cluster().AddServer(ArmedWith("split.before_publish=pause"), {"--zk-session-ms", "60000"});
    ASSERT_OK(name);
    others.push_back(*name);
  }
  ASSERT_OK(cluster().WaitServing(kPatience));
  ASSERT_OK(cluster().Kill9("rs-1"));
  std::string worker;
  ASSERT_OK(ProcessCluster::WaitUntil("a splitter", kPatience, [&] {
    const std::string text = RunHere({"why"}).text;
    for (const std::string& name : others) {
      if (text.find(fmt::format("(SplitWalRemote) to server {}", ServerNameOf(name).ToString())) != std::string::npos)
        worker = name;
    }
    return !worker.empty();
  }));
  const ServerName splitter = ServerNameOf(worker);
  ASSERT_OK(cluster().Kill9(worker));
  ExpectWhy(12, {}, "SILENT_SERVER",
            {"ServerCrash server=" + dead.ToString(), "SplitWalRemote", "the answer of server " + splitter.ToString()});
}

// 13: a descriptor that is damaged on the disk.
TEST_F(WhyFaultsTest, ADamagedDescriptor) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_GT(DamageFiles("desc."), 0);
  ASSERT_OK(cluster().Start("master-1"));
  ExpectWhy(13, {"t"}, "DAMAGED_FILE", {"desc."});
  ExpectWhy(13, {}, "DAMAGED_FILE");
}

// 14: a limit that is reached, because a step of the table does not end.
TEST_F(WhyFaultsTest, ALimitThatIsReached) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1", ArmedWith("executor.before_step~TransitRegionState:GET_ASSIGN_CANDIDATE=pause"),
                            {"--procedure-steps-per-table", "1"}));
  ASSERT_OK(cluster().WaitServing(kPatience));
  const auto creating = Create("t", {"3", "6", "9"});
  ASSERT_OK(creating);
  ExpectWhy(14, {"t"}, "LIMIT", {"procedure-steps-per-table"});
  ASSERT_OK(cluster().Restart("master-1"));
  ASSERT_OK(admin().WaitOk(Result<std::uint64_t>(*creating)));
}

// 21: actions on files that hang, as on a storage that does not answer under one directory. There are more of them than
// workers, and hbase:meta's recovery and other tables continue.
TEST_F(WhyFaultsTest, FileActionsThatHang) {
  Boot(1, 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1", ArmedWith("master.file_action~making data/default/hangs=pausex3"),
                            {"--procedure-threads", "1"}));
  ASSERT_OK(cluster().WaitServing(kPatience));
  std::vector<Result<std::uint64_t>> hang;
  for (const char* name : {"hangs1", "hangs2", "hangs3"}) hang.push_back(Create(name));
  for (const auto& pid : hang) {
    ASSERT_OK(pid);
    ExpectWhy(21, Pid(pid), "OUTSIDE", {"making data/default/hangs", "look at the storage"});
  }
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  const auto holder = cluster().MetaHolder();
  ASSERT_OK(holder);
  ASSERT_OK(cluster().Kill9(*holder));
  MakeTable("later", 1);  // after hbase:meta's recovery
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9("master-1"));
  ASSERT_OK(cluster().Start("master-1"));
  ASSERT_OK(cluster().WaitServing(kPatience));
  for (const auto& pid : hang) ASSERT_OK(admin().WaitOk(pid));
}

}  // namespace
}  // namespace ratchet::chaos
