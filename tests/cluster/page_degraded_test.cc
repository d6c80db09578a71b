// The page of a blocked master: it answers from known data, with a mark that shows this.
#include <csignal>
#include <memory>

#include "chaos/cluster/child_process.h"
#include "chaos/shim/process_shims.h"
#include "tests/cluster/full_disk.h"
#include "tests/cluster/page_fixture.h"

namespace ratchet::chaos {
namespace {

class DegradedPageTest : public PageTest {
 protected:
  // Returns the marks of a view's envelope or of an error.
  static std::string MarksIn(const rapidjson::Document& answer) {
    std::string all;
    if (!answer.IsObject() || !answer.HasMember("marks") || !answer["marks"].IsArray()) return all;
    for (const auto& mark : answer["marks"].GetArray()) all += std::string(mark.GetString()) + "; ";
    return all;
  }
  std::string Marks() { return MarksIn(View("master-1", "settings")); }
  static rapidjson::Document Parsed(const std::string& text) {
    rapidjson::Document document;
    document.Parse(text.c_str());
    EXPECT_FALSE(document.HasParseError()) << text;
    return document;
  }
  void AwaitMark(const std::string& text) {
    ASSERT_OK(ProcessCluster::WaitUntil("the mark: " + text, kPatience,
                                        [&] { return Marks().find(text) != std::string::npos; }));
  }
  // Checks that every view without a path parameter answers with the mark. `from_files`: views of the history may be
  // refused, with the mark as the reason. So may the view that reads a table.
  void ExpectKnownData(const std::string& mark, bool from_files) {
    EXPECT_EQ(Get("master-1", "/").status, 200);
    EXPECT_EQ(Get("master-1", "/metrics").status, 200);
    const auto offered = View("master-1", "");
    ASSERT_TRUE(offered.HasMember("data"));
    std::size_t answered = 0;
    for (const auto& view : offered["data"].GetArray()) {
      const std::string path = view["path"].GetString();
      if (path.ends_with('/')) continue;
      const HttpAnswer answer = Get("master-1", path);
      const bool of_files = path.ends_with("/history") || path.ends_with("/recoveries") ||
                            path.ends_with("/failovers") || path.ends_with("/timeline");
      const bool of_table = path.ends_with("/quotas");  // it reads hbase:quota, which a region server has
      EXPECT_TRUE(answer.status == 200 || (((from_files && of_files) || of_table) && answer.status == 503))
          << path << ": " << answer.status << " " << answer.body;
      EXPECT_NE(MarksIn(Parsed(answer.body)).find(mark), std::string::npos)
          << path << ": " << answer.body.substr(0, 400);
      if (answer.status == 200) ++answered;
    }
    EXPECT_GE(answered, 12U);
    const auto cluster = View("master-1", "cluster");
    ASSERT_TRUE(cluster.HasMember("data"));
    EXPECT_GE(cluster["data"]["problems"].Size(), 1U) << "and the status names it too";
  }
  std::string CauseOf(std::uint64_t pid) {
    const auto why = View("master-1", fmt::format("why?subject={}", pid));
    if (!why.HasMember("data") || why["data"]["chains"].Empty()) return "";
    const auto& chain = why["data"]["chains"][0];
    return fmt::format("{}: {}", chain["cause"].GetString(), chain["cause_text"].GetString());
  }
};

// A master whose storage hangs on request. One close of the cluster takes long, so that its report must become durable
// while the storage already hangs.
class HangingPageTest : public DegradedPageTest {
 protected:
  void BootWithShim() {
    ClusterSpec spec;
    spec.environment = ArmedWith("regionserver.before_close=delay:3000");
    Boot(1, 2, spec);
    if (HasFatalFailure()) return;
    MakeTable("t", 2);
    if (HasFatalFailure()) return;
    SkipVerification();
    auto shims = ProcessShims::Create(cluster().spec().bin / "libratchet_shim.so", cluster().spec().dir / "shim");
    if (!shims.ok()) GTEST_SKIP() << "the preloaded library is not built together with a sanitizer";
    shims_ = std::move(*shims);
    const auto control = shims_->Of("master-1");
    const auto environment = shims_->EnvironmentOf("master-1");
    ASSERT_OK(control);
    ASSERT_OK(environment);
    control_ = *control;
    ASSERT_OK(cluster().Restart("master-1", *environment));
    ASSERT_OK(cluster().WaitServing(kPatience));
    EXPECT_EQ(Marks(), "");
  }
  // The pid of the move that waits.
  void MoveAndHang(bool looks_too) {
    const auto regions = admin().Regions(TableName("default", "t"));
    ASSERT_OK(regions);
    const auto moving = admin().Transit(client::RegionVerb::kMove, regions->front().region.encoded_name());
    ASSERT_OK(moving);
    moving_ = *moving;
    control_->sync_delay_ms = 3'600'000;
    if (looks_too) control_->list_delay_ms = 3'600'000;
    AwaitMark("this master's storage has not answered for");
  }
  void GoOnAndSettle() {
    Behave(*control_);
    ASSERT_OK(admin().WaitOk(Result<std::uint64_t>(moving_)));
    ASSERT_OK(ProcessCluster::WaitUntil("no mark", kPatience, [&] { return Marks().empty(); }));
  }

  std::unique_ptr<ProcessShims> shims_;
  ShimControl* control_ = nullptr;
  std::uint64_t moving_ = 0;
};

TEST_F(HangingPageTest, WhileSyncsHang) {
  BootWithShim();
  if (HasFatalFailure() || IsSkipped()) return;
  MoveAndHang(false);
  if (HasFatalFailure()) return;
  ASSERT_OK(ProcessCluster::WaitUntil("the chain to end at the storage", kPatience, [&] {
    return CauseOf(moving_).starts_with("STORE: the storage of the procedure store has not answered");
  }));
  ExpectKnownData("this master's storage has not answered for", true);
  GoOnAndSettle();
}

// The CHECK before an answer hangs too: the page shows the previous answers again, with their age.
TEST_F(HangingPageTest, WhileTheWholeStorageHangs) {
  BootWithShim();
  if (HasFatalFailure() || IsSkipped()) return;
  const std::vector<std::string> paths = {"cluster", "procedures", "locks", "servers", "regions", "tables", "store"};
  for (const std::string& path : paths) EXPECT_TRUE(View("master-1", path).HasMember("data")) << path;
  MoveAndHang(true);
  if (HasFatalFailure()) return;
  for (const std::string& path : paths) {
    const auto view = View("master-1", path);
    EXPECT_TRUE(view.HasMember("data")) << path;
    EXPECT_NE(MarksIn(view).find("cannot answer its own page now: this is its last answer"), std::string::npos) << path;
  }
  const HttpAnswer unknown = Get("master-1", "/api/v1/table/t");
  EXPECT_EQ(unknown.status, 503) << "was not asked for before";
  EXPECT_NE(MarksIn(Parsed(unknown.body)).find("storage has not answered for"), std::string::npos) << unknown.body;
  EXPECT_EQ(Get("master-1", "/").status, 200);
  EXPECT_EQ(Get("master-1", "/metrics").status, 200);
  GoOnAndSettle();
  EXPECT_EQ(MarksIn(View("master-1", "cluster")), "");
}

TEST_F(DegradedPageTest, WhileManyStepsWaitForFiles) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("master-1"));
  // Each step hangs while it makes the directory of its table; there are more of them than workers.
  ASSERT_OK(cluster().Start("master-1", ArmedWith("io.create~/default/held=pausex1000"), {"--procedure-threads", "2"}));
  ASSERT_OK(cluster().WaitServing(kPatience));
  std::vector<std::uint64_t> pids;
  for (int i = 0; i < 40; ++i) {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", fmt::format("held{}", i));
    descriptor.families.push_back(DefaultFamily("u"));
    const auto creating = admin().CreateTable(descriptor, {});
    ASSERT_OK(creating);
    pids.push_back(*creating);
  }
  AwaitMark("steps wait for their own work");
  for (const std::uint64_t pid : {pids.front(), pids.back()}) {
    EXPECT_NE(CauseOf(pid).find("the step's own work has not ended: making data/default/held"), std::string::npos)
        << CauseOf(pid);
  }
  EXPECT_EQ(View("master-1", "procedures")["total"].GetUint64(), 40U);
  ExpectKnownData("steps wait for their own work", false);
  ASSERT_OK(cluster().Restart("master-1"));
  for (const std::uint64_t pid : pids) ASSERT_OK(admin().WaitOk(Result<std::uint64_t>(pid)));
  EXPECT_EQ(Marks(), "");
}

TEST_F(DegradedPageTest, WhileMetaIsAway) {
  Boot(1, 1);
  if (HasFatalFailure()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(cluster().Kill9("rs-1"));
  AwaitMark("hbase:meta is offline");
  ExpectKnownData("hbase:meta is offline", false);
  for (const char* path : {"table/t", "regions?table=t", "why?subject=t"}) {
    const auto view = View("master-1", path);
    EXPECT_TRUE(view.HasMember("data")) << path;
    EXPECT_NE(MarksIn(view).find("hbase:meta is offline"), std::string::npos) << path;
  }
  EXPECT_EQ(View("master-1", "regions?table=t")["total"].GetUint64(), 2U) << "as they were known";
  ASSERT_OK(cluster().Start("rs-1"));
  ASSERT_OK(ProcessCluster::WaitUntil("no mark", kPatience, [&] { return Marks().empty(); }));
}

class FullDiskPageTest : public OnLoopDisk<DegradedPageTest> {};

TEST_F(FullDiskPageTest, WhileTheDiskIsFull) {
  Boot(1, 1);
  if (HasFatalFailure() || IsSkipped()) return;
  MakeTable("t", 2);
  if (HasFatalFailure()) return;
  SkipVerification();
  ASSERT_OK(disk_->Fill());
  AwaitMark("are free on the disk below the root");
  ExpectKnownData("are free on the disk below the root", false);
  const auto why = View("master-1", "why");
  ASSERT_TRUE(why.HasMember("data"));
  std::string causes;
  for (const auto& chain : why["data"]["chains"].GetArray()) causes += std::string(chain["cause"].GetString()) + " ";
  EXPECT_NE(causes.find("SPACE"), std::string::npos) << causes;
  ASSERT_OK(disk_->Free());
  ASSERT_OK(ProcessCluster::WaitUntil("no mark", kPatience, [&] { return Marks().empty(); }));
}

}  // namespace
}  // namespace ratchet::chaos
