// Snapshots of real processes are exported to files and imported again.
#include <fstream>
#include <map>

#include "common/base/prng.h"
#include "common/client/snapshots.h"
#include "common/client/table.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

class ExportTest : public ClusterTest {
 protected:
  void SetUp() override {
    exports_ = std::filesystem::temp_directory_path() / fmt::format("ratchet-exports-{:x}", RandomSeed() & 0xffffffU);
    std::filesystem::create_directories(exports_);
    ClusterSpec spec;
    spec.master_flags = {"--snapshot-export-dir", exports_.string()};
    Boot(2, 2, spec);
    if (HasFatalFailure()) return;
    MakeTable("t", 4);
    client::Table table(connection(), TableName("default", "t"));
    for (int i = 0; i < 200; ++i) {
      const std::string row = fmt::format("{:06X}", 0x20000 * i / 200);
      ASSERT_OK(table.Mutate(client::Mutation::Put(row).Set("u", "q", fmt::format("{}-{}", i, std::string(200, 'x')))));
      rows_[row] = fmt::format("{}-{}", i, std::string(200, 'x'));
    }
    ASSERT_OK(admin().WaitOk(snapshots().Take("s", TableName("default", "t"), {})));
  }
  void TearDown() override {
    ClusterTest::TearDown();
    std::filesystem::remove_all(exports_);
  }
  client::Snapshots snapshots() { return client::Snapshots(connection()); }
  std::string place() const { return (exports_ / "one").string(); }
  void ExpectRows(const std::string& name) {
    std::map<std::string, std::string> found;
    client::Table table(connection(), TableName("default", name));
    client::Scanner scanner = table.Scan({});
    for (;;) {
      const auto row = scanner.Next();
      ASSERT_OK(row);
      if (!row->has_value()) break;
      found[(*row)->key] = std::string((*row)->Value("u", "q").value_or(""));
    }
    EXPECT_EQ(found, rows_);
  }

  std::filesystem::path exports_;
  std::map<std::string, std::string> rows_;
};

// The table and its snapshot are deleted, and the master that exported it is dead.
TEST_F(ExportTest, WhatWasExportedIsThereAgainAfterEverythingElseIsGone) {
  ASSERT_OK(admin().WaitOk(snapshots().Export("s", place())));
  const TableName table("default", "t");
  ASSERT_OK(admin().WaitOk(admin().DisableTable(table)));
  ASSERT_OK(admin().WaitOk(admin().DeleteTable(table)));
  ASSERT_OK(snapshots().Delete("s"));
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  ASSERT_OK(cluster().Restart(*active));
  ASSERT_OK(cluster().WaitServing(kPatience));
  ASSERT_OK(admin().WaitOk(snapshots().Import(place(), "again")));
  ASSERT_OK(admin().WaitOk(snapshots().PutBack("again", TableName("default", "c"))));
  ExpectRows("c");
}

TEST_F(ExportTest, ADamagedExportIsRefusedAndLeavesNothing) {
  ASSERT_OK(admin().WaitOk(snapshots().Export("s", place())));
  std::filesystem::path largest;
  std::uintmax_t size = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place())) {
    if (!entry.is_regular_file() || entry.file_size() <= size) continue;
    largest = entry.path();
    size = entry.file_size();
  }
  ASSERT_GT(size, 0U);
  {
    std::fstream file(largest, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(size / 2));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.put(static_cast<char>(byte ^ 1));
  }
  const Status refused = admin().WaitOk(snapshots().Import(place(), "again"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message().find(largest.filename().string()), std::string::npos)
      << refused.error().ToString();
  const auto all = snapshots().List();
  ASSERT_OK(all);
  EXPECT_EQ(all->size(), 1U);
  // A new export to the same place repairs it.
  ASSERT_OK(admin().WaitOk(snapshots().Export("s", place())));
  ASSERT_OK(admin().WaitOk(snapshots().Import(place(), "again")));
  ASSERT_OK(admin().WaitOk(snapshots().PutBack("again", TableName("default", "c"))));
  ExpectRows("c");
}

}  // namespace
}  // namespace ratchet::chaos
