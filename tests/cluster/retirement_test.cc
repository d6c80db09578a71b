// Unneeded files of log and region directories are archived and then deleted, while servers are written to, killed and
// stopped; no acknowledged write is lost (S32: two-stage cleaner).
#include <filesystem>
#include <map>
#include <set>

#include "common/base/prng.h"
#include "common/io/unneeded_files.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class RetirementTest : public ClusterTest {
 protected:
  void BootSmall() {
    ClusterSpec spec;
    spec.master_flags = {"--cleaner-interval-ms", "200", "--archive-ttl-ms", "1000"};
    spec.server_flags = {"--log-roll-bytes", "64KiB", "--memstore-flush-bytes", "32KiB", "--max-logs", "2"};
    Boot(1, 2, std::move(spec));
    if (HasFatalFailure()) return;
    MakeTable("large", 4);
    if (HasFatalFailure()) return;
    MakeTable("t", 2);
    if (HasFatalFailure()) return;
    StartWriter("t");
  }
  // Writes rows that are large enough to roll logs and fill memory stores quickly, and records the acknowledged ones.
  void WriteLargeRows(int count) {
    client::Table target(connection(), TableName("default", "large"));
    for (int i = 0; i < count; ++i) {
      const std::string row = fmt::format("{:06X}~large-{}", prng_.Below(0x20000), large_.size());
      const std::string value(4096, static_cast<char>('a' + prng_.Below(26)));
      ASSERT_OK(target.Mutate(client::Mutation::Put(row).Set("u", "large", value)));
      large_[row] = value;
    }
  }
  void CheckLargeRows() {
    client::Table target(connection(), TableName("default", "large"));
    for (const auto& [row, value] : large_) {
      const auto found = target.Get({row, {}, 1, {}});
      ASSERT_OK(found);
      ASSERT_EQ(found->Value("u", "large"), value) << row;
    }
  }
  static std::set<std::string> FilesBelow(const fs::path& top) {
    std::set<std::string> files;
    std::error_code error;  // ignores files that are removed during the walk
    for (fs::recursive_directory_iterator it(top, fs::directory_options::skip_permission_denied, error), end;
         !error && it != end; it.increment(error)) {
      if (it->is_regular_file(error)) files.insert(fs::relative(it->path(), top, error));
    }
    return files;
  }
  fs::path Root() { return cluster().root(); }
  // Returns the numbers of the logs that are still in a server's own directory.
  std::set<std::uint64_t> LogsOf(const ServerName& server) {
    std::set<std::uint64_t> numbers;
    for (const auto& name : FilesBelow(Root() / "wals" / server.ToString())) {
      const auto log = io::ParseLogFileName(name);
      if (log && log->prefix == io::kRegionLogPrefix) numbers.insert(log->number);
    }
    return numbers;
  }
  // Writes until the files for which `wanted` holds have been seen in the archive.
  std::string WriteUntilArchived(const std::string& what, const std::function<bool(const std::string& path)>& wanted) {
    std::string found;
    const Status seen = ProcessCluster::WaitUntil(what, kPatience, [&] {
      WriteLargeRows(10);
      for (const auto& path : FilesBelow(Root() / "archive"))
        if (found.empty() && wanted(path)) found = path;
      return HasFatalFailure() || !found.empty();
    });
    EXPECT_TRUE(seen.ok()) << seen.error().ToString();
    return found;
  }
  void ExpectToVanish(const std::string& archived) {
    ASSERT_OK(ProcessCluster::WaitUntil("deletion of archive/" + archived, kPatience,
                                        [&] { return !fs::exists(Root() / "archive" / archived); }));
  }

  const std::uint64_t seed_ = RandomSeed();
  Prng prng_{seed_};
  std::map<std::string, std::string> large_;
};

bool Has(const std::string& path, std::string_view part) { return path.find(part) != std::string::npos; }

TEST_F(RetirementTest, LogsAndStoreFilesGoAndNothingIsMissed) {
  BootSmall();
  if (HasFatalFailure()) return;
  SCOPED_TRACE(fmt::format("seed {}", seed_));
  const std::string victim = "rs-1";
  const ServerName first = ServerNameOf(victim);
  const std::string log = WriteUntilArchived("a log of a live server", [&](const std::string& path) {
    return Has(path, "/files/wals/" + first.ToString() + "/log.");
  });
  const std::string file = WriteUntilArchived("a replaced store file", [](const std::string& path) {
    return Has(path, "/files/data/default/large.") && path.ends_with(".sst");
  });
  if (HasFailure()) return;
  ExpectToVanish(log);
  ExpectToVanish(file);

  // The server is killed meanwhile: the remaining logs are split, and the removed ones are covered by store files.
  WriteLargeRows(40);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Kill9(victim));
  WriteLargeRows(40);
  if (HasFatalFailure()) return;
  ASSERT_OK(cluster().Start(victim));
  const std::string edits = WriteUntilArchived("consumed edits", [](const std::string& path) {
    return Has(path, "/files/data/default/large.") && Has(path, "/edits.");
  });
  if (HasFailure()) return;
  ExpectToVanish(edits);
  CheckLargeRows();

  // Kills both at once, so that every region is opened from the remaining files.
  for (const auto& name : cluster().Names(Role::kRegionServer)) ASSERT_OK(cluster().Kill9(name));
  for (const auto& name : cluster().Names(Role::kRegionServer)) ASSERT_OK(cluster().Start(name));
  WaitForWrites(50);
  CheckLargeRows();
}

// The number of logs stays bounded under any number of writes.
TEST_F(RetirementTest, ALiveServerKeepsFewLogs) {
  BootSmall();
  if (HasFatalFailure()) return;
  const ServerName server = ServerNameOf("rs-2");
  const auto newest = [&] {
    const auto logs = LogsOf(server);
    return logs.empty() ? std::uint64_t{0} : *logs.rbegin();
  };
  while (newest() < 12 && !HasFatalFailure()) WriteLargeRows(20);
  if (HasFatalFailure()) return;
  // At most four logs: two that wait for flushes (--max-logs), the current log and the prepared one.
  ASSERT_OK(ProcessCluster::WaitUntil("retirement", kPatience, [&] { return LogsOf(server).size() <= 4; }));
  CheckLargeRows();
}

TEST_F(RetirementTest, AStoppedServerLeavesNoUnusedSpace) {
  BootSmall();
  if (HasFatalFailure()) return;
  WriteLargeRows(40);
  if (HasFatalFailure()) return;
  const ServerName stopped = ServerNameOf("rs-2");
  ASSERT_OK(
      cluster().Kill9("master-1"));  // so that the remaining files can be checked before a region is opened elsewhere
  ASSERT_OK(cluster().Stop("rs-2", kPatience));
  const auto logs = LogsOf(stopped);
  ASSERT_FALSE(logs.empty());
  const fs::path prepared = Root() / "wals" / stopped.ToString() / io::ToString({"log", *logs.rbegin()});
  EXPECT_EQ(fs::file_size(prepared), 0U) << "the prepared file gives its space back";
  ASSERT_OK(cluster().Start("master-1"));
  WaitForWrites(50);
  CheckLargeRows();
}

}  // namespace
}  // namespace ratchet::chaos
