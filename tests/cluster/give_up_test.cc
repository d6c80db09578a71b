// Files of a stopped table are damaged, lost or added by hand, on real processes. Regions that cannot be opened are
// shown with the command that resolves this, a region is given up with its files in quarantine, and the rows of the
// other regions remain (S84: give up a region by name; S85: move unnamed directories only if rows are complete).
#include <filesystem>
#include <fstream>

#include "common/model/codec.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/cluster_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

class GiveUpTest : public ClusterTest {
 protected:
  static constexpr int kRegions = 3;

  // Makes a disabled table with a row in each region, flushed to files.
  void GivenDisabledTable() {
    Boot(1, 2);
    if (HasFatalFailure()) return;
    MakeTable("t", kRegions);
    if (HasFatalFailure()) return;
    const auto regions = admin().Regions(kTable);
    ASSERT_OK(regions);
    ASSERT_EQ(regions->size(), static_cast<std::size_t>(kRegions));
    client::Table t(connection(), kTable);
    for (const auto& region : *regions) {
      const std::string row = region.region.start_key + "~";
      ASSERT_OK(t.Mutate(client::Mutation::Put(row).Set("u", "q", "kept")));
      rows_.push_back(row);
      encoded_.push_back(region.region.encoded_name());
    }
    ASSERT_OK(admin().WaitOk(admin().DisableTable(kTable)));
    for (const auto& entry : fs::directory_iterator(cluster().root() / "data" / "default")) {
      if (entry.path().filename().string().starts_with("t.")) table_directory_ = entry.path();
    }
    ASSERT_TRUE(fs::exists(DirectoryOf(1)));
  }
  fs::path DirectoryOf(std::size_t region) const { return table_directory_ / encoded_[region]; }
  // Damages manifests and store files that are not empty.
  static void FlipAByteInEachManifest(const fs::path& directory) {
    int flipped = 0;
    for (const auto& entry : fs::directory_iterator(directory)) {
      if (!entry.path().filename().string().starts_with("manifest.")) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(100);
      const int byte = file.get();
      file.seekp(100);
      file.put(static_cast<char>(byte ^ 0x40));
      ASSERT_TRUE(file.good()) << entry.path();
      ++flipped;
    }
    ASSERT_GT(flipped, 0);
  }
  std::vector<std::string> Problems() {
    const auto status = admin().Call(methods::kGetStatus, pb::GetStatusRequest());
    if (!status.ok()) return {};
    return {status->problem().begin(), status->problem().end()};
  }
  bool IsShown(const std::string& text) {
    const auto problems = Problems();
    return std::any_of(problems.begin(), problems.end(),
                       [&](const std::string& each) { return each.find(text) != std::string::npos; });
  }
  void LookNow() { (void)admin().Call(methods::kReconcile, pb::ReconcileRequest()); }
  // Waits until an opening of the region was refused with this reason.
  void WaitForRefusal(const std::string& why) {
    ASSERT_OK(ProcessCluster::WaitUntil("a refused opening", kPatience, [&] {
      const auto all = admin().Call(methods::kListProcedures, pb::ListProceduresRequest());
      return all.ok() && std::any_of(all->procedure().begin(), all->procedure().end(), [&](const auto& procedure) {
               return procedure.ShortDebugString().find(why) != std::string::npos;
             });
    }));
  }
  std::string Ended(const Result<std::uint64_t>& pid) {
    if (!pid.ok()) return pid.error().ToString();
    const auto ended = admin().Wait(*pid);
    if (!ended.ok()) return ended.error().ToString();
    return ended->error ? ended->error->ToString() : ended->result;
  }
  // Checks that every row exists except the row of region `lost`, and that each region accepts writes.
  void ExpectRowsBut(std::optional<std::size_t> lost) {
    client::Table t(connection(), kTable);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = t.Get({rows_[i], {}, 1, {}});
      ASSERT_OK(row);
      EXPECT_EQ(row->Value("u", "q").value_or(""), i == lost ? "" : "kept") << rows_[i];
      ASSERT_OK(t.Mutate(client::Mutation::Put(rows_[i] + "new").Set("u", "q", "v")));
    }
  }

  const TableName kTable{"default", "t"};
  std::vector<std::string> rows_;
  std::vector<std::string> encoded_;
  fs::path table_directory_;
};

TEST_F(GiveUpTest, ARegionWithADamagedManifestIsGivenUpAndItsTableIsEnabled) {
  GivenDisabledTable();
  if (HasFatalFailure()) return;
  FlipAByteInEachManifest(DirectoryOf(1));
  if (HasFatalFailure()) return;
  const auto enabling = admin().EnableTable(kTable);
  ASSERT_OK(enabling);
  WaitForRefusal("manifest.");
  if (HasFatalFailure()) return;
  EXPECT_FALSE(admin().GiveUpRegion(encoded_[0]).ok()) << "it is open";
  const auto given_up = admin().GiveUpRegion(encoded_[1]);
  const std::string said = Ended(given_up);
  ASSERT_NE(said.find("its files are in quarantine/data/default/t."), std::string::npos) << said;
  ASSERT_OK(admin().WaitOk(enabling));
  ExpectRowsBut(1);
  EXPECT_FALSE(fs::exists(DirectoryOf(1)));
  const fs::path quarantined = cluster().root() / "quarantine" / "data" / "default" / table_directory_.filename() /
                               fmt::format("{}.{}", encoded_[1], *given_up);
  EXPECT_TRUE(fs::exists(quarantined)) << quarantined;
  EXPECT_FALSE(fs::is_empty(quarantined));
  const auto regions = admin().Regions(kTable);
  ASSERT_OK(regions);
  EXPECT_EQ(regions->size(), static_cast<std::size_t>(kRegions));
}

// An empty directory has the same result: an opening finds no files, but the master knows that the region was open
// before.
TEST_F(GiveUpTest, ARegionThatHasLostItsFilesOpensWhenTheyAreBack) {
  GivenDisabledTable();
  if (HasFatalFailure()) return;
  const fs::path aside = cluster().root() / "aside";
  fs::rename(DirectoryOf(1), aside);
  fs::create_directory(DirectoryOf(1));
  const auto enabling = admin().EnableTable(kTable);
  ASSERT_OK(enabling);
  WaitForRefusal("recorded an opening of the region");
  if (HasFatalFailure()) return;
  fs::rename(DirectoryOf(1),
             cluster().root() / "emptied");  // atomically, because a server that tries to open it makes files there
  ASSERT_OK(ProcessCluster::WaitUntil("the missing directory to be shown", kPatience, [&] {
    LookNow();
    return IsShown("ratchet give-up " + encoded_[1]);
  }));
  fs::rename(aside, DirectoryOf(1));
  ASSERT_OK(admin().WaitOk(enabling));
  ExpectRowsBut(std::nullopt);
  ASSERT_OK(ProcessCluster::WaitUntil("nothing to be shown", kPatience, [&] {
    LookNow();
    return Problems().empty();
  }));
}

TEST_F(GiveUpTest, ADirectoryThatNoRecordNamesIsTakenAway) {
  GivenDisabledTable();
  if (HasFatalFailure()) return;
  const fs::path unknown = table_directory_ / std::string(32, 'a');
  fs::create_directory(unknown);
  std::ofstream(unknown / "5-3.sst") << "rows";
  ASSERT_OK(ProcessCluster::WaitUntil("it to be gone", kPatience, [&] {
    LookNow();
    return !fs::exists(unknown);
  }));
  bool kept = false;
  for (const auto& entry : fs::recursive_directory_iterator(cluster().root() / "quarantine")) {
    const std::string folder = entry.path().parent_path().filename();
    kept = kept || (entry.path().filename() == "5-3.sst" && folder.starts_with(std::string(32, 'a')));
  }
  EXPECT_TRUE(kept) << "rows are never thrown away";
  ASSERT_OK(admin().WaitOk(admin().EnableTable(kTable)));
  ExpectRowsBut(std::nullopt);
}

}  // namespace
}  // namespace ratchet::chaos
