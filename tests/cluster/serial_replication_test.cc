// A serial peer on real processes (S113: serial order of openings): a region is written to while it moves and its
// servers die, and the peer receives its writes in order.
#include <atomic>
#include <thread>

#include "tests/cluster/replication_fixture.h"

namespace ratchet::chaos {
namespace {

constexpr int kMostWrites = 999'999;
constexpr std::int64_t kOneMoment = 1'000;  // the timestamp of the cell that each write changes

class SerialReplicationTest : public ReplicationTest {
 protected:
  explicit SerialReplicationTest(std::string mutant = "") : ReplicationTest(std::move(mutant)) {}

  void SetUp() override {
    ReplicationTest::SetUp();
    if (HasFatalFailure()) return;
    for (client::Connection* each : {&connection(), other_connection_.get()}) MakeShipped(*each, "one", 1);
    MakeShipped(connection(), "absent", 1);
    if (HasFatalFailure()) return;
    AddPeer(connection(), KeyOf(*other_), /*serial=*/true);
  }
  void TearDown() override {
    StopWatching();
    ReplicationTest::TearDown();
  }

  RegionInfo RegionOf(const std::string& table) {
    const auto regions = admin().Regions(TableName("default", table));
    EXPECT_TRUE(regions.ok() && !regions->empty());
    return regions.ok() && !regions->empty() ? regions->front().region : RegionInfo();
  }
  void Move(const std::string& table, const std::string& name) {
    const auto regions = admin().Regions(TableName("default", table));
    ASSERT_OK(regions);
    const ServerName target = ServerNameOf(name);
    if (regions->front().server == target) return;
    ASSERT_OK(
        admin().WaitOk(admin().Transit(client::RegionVerb::kMove, regions->front().region.encoded_name(), target)));
  }
  // Blocks the shipping of the server's logs: the peer lacks a table of one of their writes.
  void HoldUp(const std::string& name) {
    Move("absent", name);
    client::Table absent(connection(), TableName("default", "absent"));
    ASSERT_OK(absent.Mutate(client::Mutation::Put("r").Set("u", "q", "v")));
    const std::string server = ServerNameOf(name).ToString();
    ASSERT_OK(ProcessCluster::WaitUntil("logs that are held up", kPatience,
                                        [&] { return SourceOf(server).error().find("absent") != std::string::npos; }));
  }
  void LetGo() { MakeShipped(*other_connection_, "absent", 1); }

  hbase::pb::ReplicationProgress SourceOf(const std::string& logs_of) {
    client::Admin asks = admin();
    const auto progress = client::ReplicationProgress(asks, kPeer);
    if (progress.ok()) {
      for (const auto& source : progress->source())
        if (source.progress().server() == logs_of) return source.progress();
    }
    return {};
  }
  // Write n makes a row, with a lower key for a later write, and changes the cell shared by all writes.
  static std::string RowOf(int n) { return fmt::format("{:06}", kMostWrites - n); }
  void WriteOn(int count) {
    client::Table table(connection(), TableName("default", "one"));
    for (int i = 0; i < count; ++i) {
      const int n = ++last_;
      ASSERT_OK(table.Mutate(client::Mutation::Put(RowOf(n)).Set("u", "q", std::to_string(n))));
      ASSERT_OK(table.Mutate(client::Mutation::Put("same").Set("u", "q", std::to_string(n), kOneMoment)));
    }
  }
  // Reads from the last write to the first, so that later reads can only see newer state.
  static Result<std::vector<int>> WritesAt(client::Connection& at) {
    std::vector<int> writes;
    client::Table table(at, TableName("default", "one"));
    client::Scan scan;
    scan.stop_row = "a";
    client::Scanner scanner = table.Scan(scan);
    for (;;) {
      RATCHET_ASSIGN(const auto row, scanner.Next());
      if (!row) return writes;
      writes.push_back(kMostWrites - std::stoi(row->key));
    }
  }
  // Returns true if the peer has every write from the first to the last one that it shows.
  static bool IsWhole(const std::vector<int>& writes) {
    for (std::size_t i = 0; i < writes.size(); ++i)
      if (writes[i] != writes.front() - static_cast<int>(i)) return false;
    return writes.empty() || writes.back() == 1;
  }
  void Watch() {
    watcher_ = std::thread([this] {
      while (!stop_) {
        const auto writes = WritesAt(*other_connection_);
        if (!writes.ok()) continue;
        ++looks_;
        if (!IsWhole(*writes)) ++gaps_;
      }
    });
  }
  void StopWatching() {
    stop_ = true;
    if (watcher_.joinable()) watcher_.join();
  }
  std::string SameAt(client::Connection& at) {
    client::Table table(at, TableName("default", "one"));
    client::Get get;
    get.row = "same";
    const auto row = table.Get(get);
    return row.ok() ? std::string(row->Value("u", "q").value_or("")) : "";
  }
  // The row of a write is put before the cell that all writes share, so that cell may come in a later batch.
  void ExpectAll() {
    const Status all = ProcessCluster::WaitUntil("all writes at the peer", kPatience, [&] {
      const auto writes = WritesAt(*other_connection_);
      return writes.ok() && static_cast<int>(writes->size()) == last_ && SharedCellIsNewest();
    });
    EXPECT_TRUE(all.ok()) << all.error().ToString() << "; the shared cell is " << SameAt(*other_connection_);
  }
  bool SharedCellIsNewest() { return SameAt(*other_connection_) == std::to_string(last_); }

  int last_ = 0;
  std::thread watcher_;
  std::atomic<bool> stop_{false};
  std::atomic<int> looks_{0};
  std::atomic<int> gaps_{0};
};

TEST_F(SerialReplicationTest, ARegionThatMovesAndWhoseServerDiesIsShippedInOrder) {
  Watch();
  Move("one", "rs-1");
  WriteOn(20);
  ASSERT_NO_FATAL_FAILURE(ExpectAll());
  const std::string first = ServerNameOf("rs-1").ToString();
  const std::string second = ServerNameOf("rs-2").ToString();
  HoldUp("rs-1");
  WriteOn(20);
  Move("one", "rs-2");
  WriteOn(20);
  const std::string region = RegionOf("one").encoded_name();
  ASSERT_OK(ProcessCluster::WaitUntil("logs that wait", kPatience, [&] {
    const auto source = SourceOf(second);
    return source.waits_for_region() == region && source.waits_for_server() == first && source.lag_ms() > 0;
  }));
  ASSERT_OK(cluster().Kill9("rs-2"));
  WriteOn(20);  // on a third server, or on the first again
  Move("one", "rs-3");
  WriteOn(20);
  const auto writes = WritesAt(*other_connection_);
  ASSERT_OK(writes);
  EXPECT_EQ(writes->size(), 20U) << "later writes came before those that are held up";
  LetGo();
  ExpectAll();
  EXPECT_EQ(gaps_, 0) << "of " << looks_ << " looks";
  EXPECT_GT(looks_, 0);
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the queues", kPatience, [&] { return QueuesAreEmpty(); }));
  EXPECT_TRUE(SharedCellIsNewest()) << "an earlier write came after the last one: " << SameAt(*other_connection_);
}

// Writes of daughters follow those of their parent, and writes of a merged region follow those of both.
TEST_F(SerialReplicationTest, DaughtersAndMergedRegionsComeAfterTheirParents) {
  Watch();
  Move("one", "rs-1");
  HoldUp("rs-1");
  WriteOn(20);
  ASSERT_OK(admin().WaitOk(admin().SplitRegion(RegionOf("one"), "b")));
  const auto daughters = admin().Regions(TableName("default", "one"));
  ASSERT_OK(daughters);
  ASSERT_EQ(daughters->size(), 2U);
  for (const auto& each : *daughters) {
    if (each.server == ServerNameOf("rs-2")) continue;
    ASSERT_OK(
        admin().WaitOk(admin().Transit(client::RegionVerb::kMove, each.region.encoded_name(), ServerNameOf("rs-2"))));
  }
  WriteOn(20);
  ASSERT_OK(admin().WaitOk(
      admin().MergeRegions({(*daughters)[0].region.encoded_name(), (*daughters)[1].region.encoded_name()})));
  Move("one", "rs-3");
  WriteOn(20);
  ASSERT_OK(ProcessCluster::WaitUntil("logs that wait", kPatience, [&] {
    return !SourceOf(ServerNameOf("rs-3").ToString()).waits_for_region().empty();
  }));
  const auto writes = WritesAt(*other_connection_);
  ASSERT_OK(writes);
  EXPECT_TRUE(writes->empty());
  LetGo();
  ExpectAll();
  EXPECT_EQ(gaps_, 0) << "of " << looks_ << " looks";
  ASSERT_OK(ProcessCluster::WaitUntil("the end of the queues", kPatience, [&] { return QueuesAreEmpty(); }));
  EXPECT_TRUE(SharedCellIsNewest()) << "an earlier write came after the last one: " << SameAt(*other_connection_);
}

class WithoutTheGate : public SerialReplicationTest {
 protected:
  WithoutTheGate() : SerialReplicationTest("replication.any_order") {}
};

TEST_F(WithoutTheGate, LaterWritesThatComeFirstAreNoticed) {
  Move("one", "rs-1");
  HoldUp("rs-1");
  WriteOn(20);
  Move("one", "rs-2");
  WriteOn(20);
  ASSERT_OK(ProcessCluster::WaitUntil("a later write without the first", kPatience, [&] {
    const auto writes = WritesAt(*other_connection_);
    return writes.ok() && !writes->empty() && !IsWhole(*writes);
  }));
}

}  // namespace
}  // namespace ratchet::chaos
