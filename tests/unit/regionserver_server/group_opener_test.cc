// S133 (shared syncs): openings share syncs, and none continues before a sync that began after its step.
#include "regionserver/host/group_opener.h"

#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/log.h"
#include "common/io/fatal.h"
#include "common/io/fenced_directory.h"
#include "common/model/codec.h"
#include "regionserver/host/region_host.h"
#include "tests/support/expect_killed.h"
#include "tests/support/sim_disk.h"

namespace ratchet::regionserver {
namespace {

// Collects work, so that a test decides when it runs.
class HeldLanes final : public Lanes {
 public:
  void Run(Lane /*lane*/, std::function<void()> work) override { works.push_back(std::move(work)); }
  bool RunNext() {
    if (works.empty()) return false;
    const auto work = std::move(works.front());
    works.pop_front();
    work();
    return true;
  }
  void RunAll() {
    while (RunNext()) continue;
  }
  std::deque<std::function<void()>> works;
};

std::string Name(OpenJob::Step step) { return step == OpenJob::Step::kClaim ? "claim" : "record"; }

class FakeJob final : public OpenJob {
 public:
  FakeJob(std::string name, std::vector<std::string>& events, io::Directory* directory = nullptr)
      : name_(std::move(name)), events_(events), directory_(directory) {}
  bool Run(Step step) override { return Note(Name(step)), name_ != "ends"; }
  Status Sync(Step step) override {
    Note("begins to sync " + Name(step));
    if (during_sync) std::exchange(during_sync, {})();
    Note("has synced " + Name(step));
    return Ok();
  }
  void NoteDurable(Step step) override { Note("shared sync of " + Name(step)); }
  io::Directory& directory() override { return *directory_; }
  io::WritableFile* file(Step /*step*/) override { return nullptr; }
  void Finish() override { Note("finish"); }
  void Fail(const Error& /*error*/) override { Note("fail"); }
  std::function<void()> during_sync;

 private:
  void Note(const std::string& what) { events_.push_back(name_ + ": " + what); }
  const std::string name_;
  std::vector<std::string>& events_;
  io::Directory* const directory_;
};

class GroupOpenerTest : public testing::Test {
 protected:
  std::shared_ptr<FakeJob> Add(GroupOpener& opener, const std::string& name, io::Directory* directory = nullptr) {
    auto job = std::make_shared<FakeJob>(name, events_, directory);
    opener.Add(job);
    return job;
  }
  std::ptrdiff_t At(const std::string& event) const {
    return std::find(events_.begin(), events_.end(), event) - events_.begin();
  }
  std::size_t Count(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(events_.begin(), events_.end(), [&part](const std::string& event) {
      return event.find(part) != std::string::npos;
    }));
  }

  io::SimDisk sim_;
  const std::unique_ptr<io::SimDisk::Process> disk_ = sim_.NewProcess();
  const std::unique_ptr<io::Directory> root_ = disk_->OpenOrMake("/root").value();
  HeldLanes lanes_;
  std::vector<std::string> events_;
};

TEST_F(GroupOpenerTest, OneOpeningAloneRunsThroughOnOneThread) {
  GroupOpener opener(*root_, lanes_);
  Add(opener, "a");
  ASSERT_TRUE(lanes_.RunNext());
  EXPECT_EQ(events_,
            (std::vector<std::string>{"a: claim", "a: begins to sync claim", "a: has synced claim", "a: record",
                                      "a: begins to sync record", "a: has synced record", "a: finish"}));
  EXPECT_TRUE(lanes_.works.empty());
}

TEST_F(GroupOpenerTest, AnOpeningThatEndsEarlyLeavesTheOthersAlone) {
  GroupOpener opener(*root_, lanes_, {.most_active = 1});
  Add(opener, "ends");
  Add(opener, "b");
  lanes_.RunAll();
  EXPECT_EQ(Count("ends:"), 1U);
  EXPECT_EQ(Count("b: finish"), 1U);
}

TEST_F(GroupOpenerTest, NoOpeningIsSyncedBeforeAllOthersThatAreReady) {
  GroupOpener opener(*root_, lanes_);
  for (const char* name : {"a", "b", "c"}) Add(opener, name);
  lanes_.RunAll();
  for (const char* step : {"claim", "record"}) {
    for (const char* first : {"a", "b", "c"}) {
      for (const char* second : {"a", "b", "c"}) {
        EXPECT_LT(At(fmt::format("{}: {}", first, step)), At(fmt::format("{}: begins to sync {}", second, step)));
      }
    }
  }
  EXPECT_EQ(Count("finish"), 3U);
}

TEST_F(GroupOpenerTest, OpeningsInProgressAreBounded) {
  GroupOpener opener(*root_, lanes_, {.most_together = 2, .most_active = 3});
  for (int i = 0; i < 20; ++i) Add(opener, std::to_string(i));
  while (lanes_.RunNext()) EXPECT_LE(Count(": claim"), Count("finish") + 3);
  EXPECT_EQ(Count("finish"), 20U);
}

TEST_F(GroupOpenerTest, FewDescriptorsMeanFewOpeningsInProgress) {
  EXPECT_EQ(LimitsFor(1 << 20).most_active, GroupLimits{}.most_active);
  EXPECT_EQ(LimitsFor(1024).most_active, 128U);
  EXPECT_EQ(LimitsFor(4).most_active, 1U);
}

// The second opening makes its claim while the sync of the first one runs.
void JoinARunningSync(GroupOpener& opener, HeldLanes& lanes, std::vector<std::string>& events) {
  auto first = std::make_shared<FakeJob>("a", events);
  first->during_sync = [&] {
    opener.Add(std::make_shared<FakeJob>("b", events));
    EXPECT_TRUE(lanes.RunNext());
  };
  opener.Add(first);
  lanes.RunAll();
  const auto at = [&events](const std::string& event) {
    return std::find(events.begin(), events.end(), event) - events.begin();
  };
  EXPECT_LT(at("b: claim"), at("a: has synced claim"));
  EXPECT_LT(at("b: has synced claim"), at("b: record")) << "its state was read before its claim was durable";
  EXPECT_NE(at("b: finish"), static_cast<std::ptrdiff_t>(events.size()));
}

TEST_F(GroupOpenerTest, AnOpeningThatComesDuringASyncWaitsForTheNext) {
  GroupOpener opener(*root_, lanes_);
  JoinARunningSync(opener, lanes_, events_);
}

TEST_F(GroupOpenerTest, JoiningARunningSyncIsNoticed) {
  ExpectKilled(
      "host.join_running_sync",
      [this] {
        GroupOpener opener(*root_, lanes_);
        JoinARunningSync(opener, lanes_, events_);
      },
      "its state was read before its claim was durable");
}

TEST(FileSystemSyncTest, ManyOpeningsShareOneSyncWhereItIsTrusted) {
  const auto path = std::filesystem::temp_directory_path() / fmt::format("ratchet_openings_{}", ::getpid());
  const auto root = io::PosixDisk().OpenOrMake(path.string()).value();
  const bool trusted = io::FileSystemSync::Of(*root) != nullptr;
  HeldLanes lanes;
  std::vector<std::string> events;
  GroupOpener opener(*root, lanes, {.sync_threads = 1});
  for (int i = 0; i < 9; ++i) opener.Add(std::make_shared<FakeJob>(std::to_string(i), events, root.get()));
  lanes.RunAll();
  const auto count = [&events](const std::string& part) {
    return std::count_if(events.begin(), events.end(),
                         [&part](const std::string& event) { return event.find(part) != std::string::npos; });
  };
  EXPECT_EQ(count("shared sync of claim"), trusted ? 9 : 0);
  EXPECT_EQ(count("has synced claim"), trusted ? 0 : 9);
  EXPECT_EQ(count("finish"), 9);
  std::filesystem::remove_all(path);
}

TEST(FileSystemSyncTest, OnlyKernelsThatReportFailedWritesAreTrusted) {
  for (const char* release : {"5.8.0", "5.10.0-29-amd64", "6.1.0", "10.0"})
    EXPECT_TRUE(io::FileSystemSync::ReportsErrors(release)) << release;
  for (const char* release : {"5.7.19", "4.18.0-553.el8", "", "x", "6"})
    EXPECT_FALSE(io::FileSystemSync::ReportsErrors(release)) << release;
}

TEST(FileSystemSyncTest, FuseIsNotTrusted) {
  EXPECT_TRUE(io::FileSystemSync::IsTrusted(0xEF53));       // ext4
  EXPECT_FALSE(io::FileSystemSync::IsTrusted(0x65735546));  // FUSE
  EXPECT_FALSE(io::FileSystemSync::IsTrusted(0x6969));      // NFS
}

// Regions on a disk double, opened together by one server after the other.
class OpenTogetherTest : public testing::Test {
 protected:
  static constexpr int kRegions = 3;

  struct Server {
    ~Server() {
      disk->SetHook({});
      for (const auto& region : host->regions.All()) region->Abandon();
      host->wals.Stop();
    }
    std::unique_ptr<io::SimDisk::Process> disk;
    std::unique_ptr<io::Directory> root;
    std::unique_ptr<io::FencedDirectory> log_directory;
    HeldLanes lanes;
    std::unique_ptr<RegionHost> host;
    std::map<int, OrderAnswer> answers;  // by region
  };

  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    io::SetFatalHandler([](const std::string& /*reason*/) {});
  }
  void TearDown() override {
    io::SetFatalHandler({});
    ConfigureLog({});
  }

  static RegionInfo RegionOf(int i) {
    RegionInfo region;
    region.table = TableName("default", "t");
    region.start_key = fmt::format("{:02}", i);
    region.end_key = fmt::format("{:02}", i + 1);
    region.region_id = 1234;
    return region;
  }

  std::unique_ptr<Server> Start(io::SimDisk& sim) {
    auto server = std::make_unique<Server>();
    server->disk = sim.NewProcess();
    server->root = server->disk->OpenOrMake("/root").value();
    for (int i = 0; i < kRegions; ++i)
      EXPECT_TRUE(server->disk->OpenOrMake("/root/data/default/t.7/" + RegionOf(i).encoded_name()).ok());
    const auto wals = server->disk->OpenOrMake("/root/wals").value();
    server->log_directory = io::FencedDirectory::Make(*wals, fmt::format("host,1,{}", ++starts_)).value();
    HostOptions options;
    options.wal.prepare_next = false;
    server->host = std::make_unique<RegionHost>(*server->root, clock_, server->lanes, options,
                                                [](int /*code*/, const std::string& /*why*/) {});
    EXPECT_TRUE(server->host->wals.UseDirectory(*server->log_directory).ok());
    return server;
  }

  // `served`: by region, the opening that the master knows to have served.
  static void Open(Server& server, std::uint64_t open_number, const std::map<int, std::uint64_t>& served) {
    TableDescriptor table;
    table.name = TableName("default", "t");
    table.families.push_back(DefaultFamily("f"));
    for (int i = 0; i < kRegions; ++i) {
      auto order = std::make_shared<OpenOrder>();
      order->pid = ProcId(open_number * 100 + static_cast<std::uint64_t>(i));
      order->encoded_name = RegionOf(i).encoded_name();
      ToProto(RegionOf(i), order->region);
      order->open_number = open_number;
      order->issued = open_number;
      if (const auto found = served.find(i); found != served.end())
        order->opened_before = true, order->served = found->second;
      order->table_dir = "default/t.7";
      ToProto(table, order->schema);
      server.host->orders.OpenWithOthers(order,
                                         [&server, i](OrderAnswer answer) { server.answers[i] = std::move(answer); });
    }
    server.lanes.RunAll();
  }

  // Writes a row into each region and flushes it.
  static void WriteAndFlush(Server& server) {
    for (int i = 0; i < kRegions; ++i) {
      const auto region = server.host->regions.Get(RegionOf(i).encoded_name());
      ASSERT_NE(region, nullptr);
      Mutation put;
      put.row = RegionOf(i).start_key;
      put.cells.push_back({put.row, "f", "q", kLatestTimestamp, CellType::kPut, "v"});
      AtomicMutation unit;
      unit.mutations.push_back(std::move(put));
      std::promise<bool> written;
      region->Mutate(std::move(unit),
                     [&written](const Result<MutationResult>& result) { written.set_value(result.ok()); });
      ASSERT_TRUE(written.get_future().get());
      ASSERT_TRUE(region->Flush().ok());
    }
  }

  // The second server opens the regions together, and the power fails at its operation `number`. Returns false when the
  // server has made fewer operations.
  bool PowerFailsAt(std::uint64_t number) {
    io::SimDisk sim;
    std::map<int, std::uint64_t> served;
    auto first = Start(sim);
    Open(*first, 1, served);
    WriteAndFlush(*first);
    first.reset();
    for (int i = 0; i < kRegions; ++i) served[i] = 1;

    auto second = Start(sim);
    const std::uint64_t before = second->disk->operations();
    second->disk->SetHook(io::CrashAtOp(before + number));
    Open(*second, 2, served);
    const bool failed = second->disk->crashed();
    for (const auto& [i, answer] : second->answers)
      if (answer.outcome == OrderOutcome::kOpened) served[i] = 2;
    second.reset();
    sim.PowerFailure(io::SimDisk::Loss::kRandom, number);

    auto third = Start(sim);
    Open(*third, 3, served);
    for (int i = 0; i < kRegions; ++i) {
      EXPECT_EQ(third->answers[i].outcome, OrderOutcome::kOpened)
          << "region " << i << " after operation " << number << ": " << third->answers[i].error_message;
      const auto region = third->host->regions.Get(RegionOf(i).encoded_name());
      if (region == nullptr) continue;
      GetSpec get;
      get.row = RegionOf(i).start_key;
      const auto cells = region->Get(get);
      EXPECT_TRUE(cells.ok() && cells->size() == 1) << "region " << i << " lost its row at operation " << number;
    }
    return failed;
  }

  SystemClock clock_;
  int starts_ = 0;
};

TEST_F(OpenTogetherTest, APowerFailureAtAnyOperationLosesNoRegion) {
  std::uint64_t number = 1;
  while (PowerFailsAt(number) && !HasFailure()) ++number;
  EXPECT_GE(number, 6U * kRegions) << "the failure came at too few operations";
}

TEST_F(OpenTogetherTest, ARegionThatIsOpenIsReportedAgain) {
  io::SimDisk sim;
  const auto server = Start(sim);
  Open(*server, 1, {});
  server->answers.clear();
  Open(*server, 2, {});
  for (int i = 0; i < kRegions; ++i) {
    EXPECT_EQ(server->answers[i].outcome, OrderOutcome::kOpened);
    EXPECT_EQ(server->answers[i].open_number, 1U);
  }
}

TEST_F(OpenTogetherTest, ARegionThatCannotOpenLeavesTheOthersAlone) {
  io::SimDisk sim;
  const auto server = Start(sim);
  const std::string bad = RegionOf(1).encoded_name();
  server->disk->SetHook(io::FailOps(io::SimOp::kCreate, bad, Code::kNoSpace));
  Open(*server, 1, {});
  EXPECT_EQ(server->answers[0].outcome, OrderOutcome::kOpened);
  EXPECT_EQ(server->answers[1].outcome, OrderOutcome::kFailedOpen);
  EXPECT_EQ(server->answers[2].outcome, OrderOutcome::kOpened);
  server->disk->SetHook({});
  Open(*server, 2, {});
  EXPECT_EQ(server->answers[1].outcome, OrderOutcome::kOpened) << server->answers[1].error_message;
}

}  // namespace
}  // namespace ratchet::regionserver
