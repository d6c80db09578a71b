// Two clusters of real processes, with a table "t" in both that the first cluster replicates.
#pragma once

#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/base/prng.h"
#include "common/client/peers.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {

inline constexpr const char* kPeer = "other";
// Logs roll often, so that sources move from one log to the next.
inline ClusterSpec SmallLogs() {
  ClusterSpec spec;
  spec.server_flags = {"--log-roll-bytes", "64KiB", "--memstore-flush-bytes", "64KiB"};
  spec.master_flags = {"--cleaner-interval-ms", "200"};
  return spec;
}

class ReplicationTest : public ClusterTest {
 protected:
  // `mutant`: mutant of the first cluster's processes; empty: none.
  explicit ReplicationTest(std::string mutant = "") : mutant_(std::move(mutant)) {}

  void SetUp() override {
    ClusterSpec spec = SmallLogs();
    if (!mutant_.empty()) spec.environment.emplace("RATCHET_MUTANT", mutant_);
    Boot(1, 3, spec);
    if (HasFatalFailure()) return;
    SkipVerification();  // the verification uses the fixture's writer
    StartOther();
    if (HasFatalFailure()) return;
    MakeShipped(connection(), "t", 4);
    MakeShipped(*other_connection_, "t", 2);
  }
  void TearDown() override {
    other_connection_.reset();
    other_.reset();
    ClusterTest::TearDown();
    if (!HasFailure()) std::filesystem::remove_all(other_dir_);
  }

  void StartOther() {
    ClusterSpec spec = SmallLogs();
    other_dir_ = std::filesystem::temp_directory_path() / fmt::format("ratchet-other-{:x}", RandomSeed() & 0xffffffU);
    spec.dir = other_dir_;
    spec.masters = 1;
    spec.servers = 2;
    spec.bin = cluster().spec().bin;
    spec.environment.emplace("RATCHET_START_AGAIN", "false");
    spec.environment.emplace("RATCHET_BALANCER_PERIOD_MS", "0");
    auto created = ProcessCluster::Create(spec);
    ASSERT_OK(created);
    other_ = std::move(*created);
    ASSERT_OK(other_->StartAll(kPatience));
    client::ConnectionOptions options;
    options.zookeeper = other_->zookeeper();
    options.user = "test";
    options.operation_timeout = kPatience;
    auto opened = client::Connection::Open(options);
    ASSERT_OK(opened);
    other_connection_ = std::move(*opened);
  }
  void MakeShipped(client::Connection& connection, const std::string& name, int regions) {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", name);
    descriptor.families.push_back(DefaultFamily("u"));
    descriptor.families.back().attributes["REPLICATION_SCOPE"] = "1";
    descriptor.families.push_back(DefaultFamily("local"));
    std::vector<std::string> keys;
    for (int i = 1; i < regions; ++i) keys.push_back(fmt::format("{:02}", 100 * i / regions));
    client::Admin asks(connection);
    ASSERT_OK(asks.WaitOk(asks.CreateTable(descriptor, keys)));
  }
  std::string KeyOf(ProcessCluster& cluster) { return cluster.zookeeper() + ":/hbase"; }
  void AddPeer(client::Connection& from, const std::string& key, bool serial = false) {
    hbase::pb::ReplicationPeer config;
    config.set_clusterkey(key);
    config.set_replicate_all(true);
    config.set_serial(serial);
    client::Admin asks(from);
    ASSERT_OK(asks.WaitOk(client::AddPeer(asks, kPeer, config, true)));
  }
  void SetPeer(bool enabled) {
    client::Admin asks = admin();
    ASSERT_OK(asks.WaitOk(enabled ? client::EnablePeer(asks, kPeer) : client::DisablePeer(asks, kPeer)));
  }
  // Puts, and a delete now and then.
  void Write(client::Connection& connection, const std::string& mark, int count) {
    client::Table table(connection, TableName("default", "t"));
    for (int i = 0; i < count; ++i) {
      const std::string row = fmt::format("{:02}-{}", written_++ % 100, mark);
      client::Mutation put = client::Mutation::Put(row);
      put.Set("u", "q", fmt::format("{}-{}-{}", mark, i, std::string(300, 'x'))).Set("local", "q", "stays");
      ASSERT_OK(table.Mutate(put));
      if (i % 7 == 6) ASSERT_OK(table.Mutate(client::Mutation::Delete(row).Remove(CellType::kDeleteColumn, "u", "q")));
    }
  }
  static std::map<std::string, std::string> RowsOf(client::Connection& connection, const std::string& family) {
    std::map<std::string, std::string> rows;
    client::Scan scan;
    scan.columns.push_back({family, std::nullopt});
    client::Table table(connection, TableName("default", "t"));
    client::Scanner scanner = table.Scan(scan);
    for (;;) {
      const auto row = scanner.Next();
      EXPECT_TRUE(row.ok()) << row.error().ToString();
      if (!row.ok() || !row->has_value()) return rows;
      for (const Cell& cell : (*row)->cells)
        rows[cell.row + "/" + cell.qualifier] = fmt::format("{}@{}", cell.value, cell.timestamp);
    }
  }
  void ExpectTheSame() {
    const Status same = ProcessCluster::WaitUntil("the same rows in both clusters", kPatience, [&] {
      return RowsOf(connection(), "u") == RowsOf(*other_connection_, "u");
    });
    EXPECT_TRUE(same.ok()) << same.error().ToString();
  }
  bool QueuesAreEmpty() {
    client::Admin asks = admin();
    const auto progress = client::ReplicationProgress(asks, "");
    return progress.ok() && progress->queue().empty();
  }
  std::size_t KeptLogs() {
    const auto kept = cluster().root() / "oldWALs";
    if (!std::filesystem::exists(kept)) return 0;
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(kept), {}));
  }

  const std::string mutant_;
  std::filesystem::path other_dir_;
  std::unique_ptr<ProcessCluster> other_;
  std::unique_ptr<client::Connection> other_connection_;
  int written_ = 0;
};

}  // namespace ratchet::chaos
