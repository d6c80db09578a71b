// A real cluster for one test, with a writer that runs meanwhile, and the checks at the end of every test.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chaos/cluster/process_cluster.h"
#include "chaos/demo/writer.h"
#include "common/base/exit_codes.h"
#include "common/client/admin.h"
#include "common/client/table.h"

namespace ratchet::chaos {

#define ASSERT_OK(expression)                                                                         \
  do {                                                                                                \
    const auto& assert_ok_result = (expression);                                                      \
    ASSERT_TRUE(assert_ok_result.ok()) << #expression << ": " << assert_ok_result.error().ToString(); \
  } while (false)

// A process that was given up detects this in several parts at once, and the first part decides its exit code: the lost
// session, a successor's mark, or (in a region server) the master's refusal.
inline bool LearnedThatItWasGivenUp(int code) {
  return code == exit_code::kSessionExpired || code == exit_code::kFenced || code == exit_code::kRefusedByMaster;
}

class ClusterTest : public ::testing::Test {
 protected:
  // Starts ZooKeeper, masters and servers, and connects. Fails the test if the cluster does not start.
  void Boot(int masters = 2, int servers = 3, ClusterSpec spec = {});
  // A fresh cluster whose first master dies at `fault` while it starts; a second one must finish the start.
  void BootInterrupted(const std::string& fault);
  // A table with family "u" (which the writer uses), split evenly over 6 hex digits.
  void MakeTable(const std::string& name, int regions);
  void StartWriter(const std::string& table);
  // Waits until the writer has had `more` further acknowledgements.
  void WaitForWrites(std::size_t more);
  // The end of every test: settles, stops the writer, compares every acknowledged row by value, one owner per region,
  // ZooKeeper's tree. Called by TearDown, unless the test has failed or has called SkipVerification.
  void Verify();
  void TearDown() override;
  // Hook for preparations: called when ZooKeeper runs, before masters and servers start.
  virtual void BeforeServers() {}

  ProcessCluster& cluster() { return *cluster_; }
  client::Connection& connection() { return *connection_; }
  client::Admin admin() { return client::Admin(*connection_); }
  client::Table table() { return client::Table(*connection_, TableName("default", writer_table_)); }
  // Returns the ServerName of a process such as "rs-2".
  [[nodiscard]] ServerName ServerNameOf(const std::string& process);
  void SkipVerification() { verify_ = false; }

  static constexpr Millis kPatience{120'000};  // deadline of every wait: generous, sanitizers are slow

 private:
  void Prepare(ClusterSpec spec);
  void Connect();
  void CheckZooKeeperTree();

  std::filesystem::path dir_;
  std::unique_ptr<ProcessCluster> cluster_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<Writer> writer_;
  std::string writer_table_;
  bool verify_ = true;
};

}  // namespace ratchet::chaos
