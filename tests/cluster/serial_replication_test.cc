// A serial peer on real processes (S113): a region is written to while it moves and its servers die, and its writes
// come to the peer in their order.
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
  // The logs of the server are not shipped from here on: the peer lacks a table that they have a write of.
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
  // Write n makes a row, whose key is the lower the later it is, and changes the cell that all of them change.
  static std::string RowOf(int n) { return fmt::format("{:06}", kMostWrites - n); }
  void WriteOn(int count) {
    client::Table table(connection(), TableName("default", "one"));
    for (int i = 0; i < count; ++i) {
      const int n = ++last_;
      ASSERT_OK(table.Mutate(client::Mutation::Put(RowOf(n)).Set("u", "q", std::to_string(n))));
      ASSERT_OK(table.Mutate(client::Mutation::Put("same").Set("u", "q", std::to_string(n), kOneMoment)));
    }
  }
  // From the last write to the first one: what is looked at later may be newer, never older.
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
  // The peer has the first of the last write that it shows, and every one between.
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
  void ExpectAll() {
    const Status all = ProcessCluster::WaitUntil("all writes at the peer", kPatience, [&] {
      const auto writes = WritesAt(*other_connection_);
      return writes.ok() && static_cast<int>(writes->size()) == last_;
    });
    EXPECT_TRUE(all.ok()) << all.error().ToString();
    EXPECT_EQ(SameAt(*other_connection_), std::to_string(last_)) << "an earlier write came behind the last one";
  }

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
}

// Daughters come after their parent, and what they are merged into after both.
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
