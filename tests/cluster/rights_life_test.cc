// Rights stay in force while everything around them changes: regions move, split, merge and open elsewhere; hbase:acl
// is offline, damaged or lost; the whole cluster restarts. Tests 38, 39 and 41 of identity.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/rights/scope.h"
#include "tests/cluster/rights_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 60;

std::string RowAt(int i) { return fmt::format("row{:03}", i); }

// Asks all the time what three users may see of a table with the families u and v: all, u, nothing. Each operation has
// to end with the right verdict, wherever the regions are.
class Verdicts {
 public:
  Verdicts(std::unique_ptr<client::Connection> whole, std::unique_ptr<client::Connection> part,
           std::unique_ptr<client::Connection> stranger)
      : whole_(std::move(whole)),
        part_(std::move(part)),
        stranger_(std::move(stranger)),
        threads_{std::thread([this] { Run(&Verdicts::Scans); }), std::thread([this] { Run(&Verdicts::Calls); })} {}
  ~Verdicts() { Stop(); }
  Verdicts(const Verdicts&) = delete;
  Verdicts& operator=(const Verdicts&) = delete;

  void Stop() {
    stopping_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }
  // Both kinds of questions, to their end.
  [[nodiscard]] int rounds() const { return std::min(scans_.load(), calls_.load()); }
  [[nodiscard]] std::vector<std::string> Wrong() const {
    const MutexLock lock(mutex_);
    return wrong_;
  }

 private:
  void Run(void (Verdicts::*ask)()) {
    while (!stopping_) {
      (this->*ask)();
      PollPause(0);
    }
  }
  void Add(std::string text) {
    const MutexLock lock(mutex_);
    if (wrong_.size() < 20) wrong_.push_back(std::move(text));
  }
  void Expect(bool right, const std::string& what, const std::string& got) {
    if (!right) Add(what + ": " + got);
  }
  void Scans() {
    ScanAs(*whole_, "whole", 2);
    ScanAs(*part_, "part", 1);
    ++scans_;
  }
  void ScanAs(client::Connection& connection, const std::string& who, std::size_t cells) {
    client::Scan scan;
    scan.rows_per_call = 7;
    client::Scanner scanner(connection, table_, scan);
    int rows = 0;
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) return Add(who + " scans: " + row.error().ToString());
      if (!row->has_value()) break;
      Expect((*row)->key == RowAt(rows) && (*row)->cells.size() == cells && (*row)->cells.front().family == "u",
             who + " scans", (*row)->key);
      ++rows;
    }
    Expect(rows == kRows, who + " scans", std::to_string(rows) + " rows");
  }
  void Calls() {
    const std::string row = RowAt(static_cast<int>(prng_.Below(kRows)));
    const auto get = [&](client::Connection& connection, std::vector<client::Column> columns) {
      return client::Table(connection, table_).Get({row, std::move(columns), 1, {}});
    };
    const auto all = get(*whole_, {});
    Expect(all.ok() && all->cells.size() == 2, "whole gets", Text(all));
    const auto part = get(*part_, {});
    Expect(part.ok() && part->cells.size() == 1 && part->cells.front().family == "u", "part gets", Text(part));
    const client::Mutation put = client::Mutation::Put(row).Set("u", "q", "forged");
    ExpectDenied("part gets v", get(*part_, {{"v", std::nullopt}}));
    ExpectDenied("stranger gets", get(*stranger_, {}));
    ExpectDenied("part puts", client::Table(*part_, table_).Mutate(put));
    ExpectDenied("stranger puts", client::Table(*stranger_, table_).Mutate(put));
    ++calls_;
  }
  static std::string Text(const Result<client::Row>& row) {
    return row.ok() ? std::to_string(row->cells.size()) + " cells" : row.error().ToString();
  }
  void ExpectDenied(const std::string& what, const Result<client::Row>& row) {
    Expect(!row.ok() && row.error().remote_class() == rpc::exception::kAccessDenied, what, Text(row));
  }

  const TableName table_{"default", "p"};
  const std::unique_ptr<client::Connection> whole_;
  const std::unique_ptr<client::Connection> part_;
  const std::unique_ptr<client::Connection> stranger_;
  std::atomic<bool> stopping_{false};
  std::atomic<int> scans_{0};
  std::atomic<int> calls_{0};
  Prng prng_{RandomSeed()};  // of the rows that are read, any of which will do
  mutable Mutex mutex_;
  std::vector<std::string> wrong_ GUARDED_BY(mutex_);
  std::array<std::thread, 2> threads_;
};

class RightsLifeTest : public RightsFixture {
 protected:
  const TableName table_{"default", "p"};

  void GivenTableAndUsers() {
    TableDescriptor descriptor;
    descriptor.name = table_;
    descriptor.families = {DefaultFamily("u"), DefaultFamily("v")};
    ASSERT_OK(admin().WaitOk(admin().CreateTable(descriptor, {RowAt(20), RowAt(40)})));
    client::Table rows(connection(), table_);
    for (int i = 0; i < kRows; ++i)
      ASSERT_OK(rows.Mutate(client::Mutation::Put(RowAt(i)).Set("u", "q", "1").Set("v", "q", "1")));
    ASSERT_OK(Grant("whole", InTable("p", "R")));
    ASSERT_OK(Grant("part", InTable("p", "R", "u")));
  }
  void StartVerdicts() {
    verdicts_ = std::make_unique<Verdicts>(ConnectAs("whole"), ConnectAs("part"), ConnectAs("stranger"));
    AwaitVerdicts();
  }
  // Each question was asked and answered once more, from now on.
  void AwaitVerdicts() {
    const int enough = verdicts_->rounds() + 2;
    ASSERT_OK(ProcessCluster::WaitUntil("verdicts", kPatience, [&] { return verdicts_->rounds() >= enough; }));
  }
  void EndVerdicts() {
    AwaitVerdicts();
    verdicts_->Stop();
    EXPECT_EQ(verdicts_->Wrong(), std::vector<std::string>());
  }
  void TearDown() override {
    if (verdicts_ != nullptr) verdicts_->Stop();
    verdicts_.reset();
    RightsFixture::TearDown();
  }

  std::vector<client::RegionLocation> Regions(const TableName& table) {
    auto regions = admin().Regions(table);
    EXPECT_TRUE(regions.ok());
    return regions.ok() ? *regions : std::vector<client::RegionLocation>();
  }
  void MoveOne(Prng& prng) {
    const auto regions = Regions(table_);
    ASSERT_FALSE(regions.empty());
    const std::vector<std::string> servers = cluster().Names(Role::kRegionServer);
    const std::string& target = servers[prng.Below(servers.size())];
    ASSERT_OK(admin().WaitOk(admin().Transit(
        client::RegionVerb::kMove, regions[prng.Below(regions.size())].region.encoded_name(), ServerNameOf(target))));
  }

  // hbase:acl as its readers see it: "row|qualifier" to letters. Empty: it cannot be read.
  std::map<std::string, std::string> Acl() {
    std::map<std::string, std::string> cells;
    client::Scanner scanner(connection(), rights::AclTableName(), {}, Millis{2'000});
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) return {};
      if (!row->has_value()) return cells;
      for (const Cell& cell : (*row)->cells) cells[cell.row + "|" + cell.qualifier] = cell.value;
    }
  }
  void AwaitAcl(const std::map<std::string, std::string>& wanted) {
    std::map<std::string, std::string> last;
    const Status same =
        ProcessCluster::WaitUntil("hbase:acl to follow", kPatience, [&] { return (last = Acl()) == wanted; });
    ASSERT_TRUE(same.ok()) << testing::PrintToString(last) << ", not " << testing::PrintToString(wanted);
  }
  std::string AclRegion() {
    const auto regions = Regions(rights::AclTableName());
    return regions.empty() ? std::string() : regions.front().region.encoded_name();
  }
  // A right is given, used, taken, and no longer there, while hbase:acl cannot be read.
  void ExpectChangesWithoutTheTable() {
    EXPECT_TRUE(Acl().empty()) << "hbase:acl can be read";
    const auto guest = ConnectAs("guest");
    client::Table rows(*guest, table_);
    const client::Get get{RowAt(1), {}, 1, {}};
    ASSERT_OK(Grant("guest", InTable("p", "R")));
    EXPECT_TRUE(rows.Get(get).ok());
    ASSERT_OK(Revoke("guest", InTable("p", "R")));
    EXPECT_TRUE(IsDenied(rows.Get(get)));
    AwaitVerdicts();
  }
  // Flips one bit of each store file of hbase:acl; with the same files again: as before.
  std::vector<fs::path> AclFiles() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(cluster().root() / "data" / "hbase")) {
      const bool acl = entry.path().string().find("/hbase/acl.") != std::string::npos;
      if (acl && entry.path().extension() == ".sst") files.push_back(entry.path());
    }
    return files;
  }
  static void FlipBits(const std::vector<fs::path>& files) {
    for (const fs::path& path : files) {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(20);
      const int byte = file.get();
      file.seekp(20);
      file.put(static_cast<char>(byte ^ 0x40));
      ASSERT_TRUE(file.good()) << path;
    }
  }
  void ColdStart() {
    for (const Role role : {Role::kMaster, Role::kRegionServer}) {
      for (const std::string& name : cluster().Names(role)) ASSERT_OK(cluster().Kill9(name));
    }
    for (const std::string& name : cluster().Names(Role::kMaster)) ASSERT_OK(cluster().Start(name));
    ASSERT_OK(cluster().WaitActiveMaster(kPatience));
    Told told;
    ASSERT_OK(ProcessCluster::WaitUntil("an answer of why", kPatience, [&] {
      told = RunHere({"why"});
      return told.code == cli::kExitWaits;
    }));
    EXPECT_EQ(told.text.find("acl"), std::string::npos) << told.text;
    EXPECT_EQ(told.text.find("ights"), std::string::npos) << told.text;
    for (const std::string& name : cluster().Names(Role::kRegionServer)) ASSERT_OK(cluster().Start(name));
    ASSERT_OK(cluster().WaitServing(kPatience));
  }

 private:
  std::unique_ptr<Verdicts> verdicts_;
};

TEST_F(RightsLifeTest, PartialRightsHoldWhileRegionsMoveSplitMergeAndOpenElsewhere) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  Prng prng(seed);
  Boot(1, 3, Enforcing());
  if (HasFatalFailure()) return;
  GivenTableAndUsers();
  if (HasFatalFailure()) return;
  StartVerdicts();
  for (int round = 0; round < 3 && !HasFatalFailure(); ++round) {
    MoveOne(prng);
    if (HasFatalFailure()) return;
    ASSERT_OK(admin().WaitOk(admin().SplitRegion(Regions(table_).front().region, RowAt(3 + round))));
    AwaitVerdicts();
    MoveOne(prng);
    if (HasFatalFailure()) return;
    const auto regions = Regions(table_);
    ASSERT_EQ(regions.size(), 4U);
    ASSERT_OK(
        admin().WaitOk(admin().MergeRegions({regions[0].region.encoded_name(), regions[1].region.encoded_name()})));
    AwaitVerdicts();
  }
  const std::string victim = ProcessOf(Regions(table_).front().server);
  ASSERT_OK(cluster().Kill9(victim));
  AwaitVerdicts();
  ASSERT_OK(cluster().Start(victim));
  ASSERT_OK(cluster().WaitServing(kPatience));
  EndVerdicts();
}

TEST_F(RightsLifeTest, NothingWaitsForTheTableOfRights) {
  Boot(2, 2, Enforcing());
  if (HasFatalFailure()) return;
  GivenTableAndUsers();
  if (HasFatalFailure()) return;
  StartVerdicts();
  const std::map<std::string, std::string> wanted{{"p|test", "RWXCA"}, {"p|whole", "R"}, {"p|part,u", "R"}};
  AwaitAcl(wanted);
  if (HasFatalFailure()) return;
  // Not even a superuser writes into it, and strangers do not read it.
  client::Table acl(connection(), rights::AclTableName());
  EXPECT_TRUE(IsDenied(acl.Mutate(client::Mutation::Put("hbase:acl").Set("l", "mallory", "RWXCA"))));
  const auto stranger = ConnectAs("stranger");
  client::Scanner foreign(*stranger, rights::AclTableName(), {});
  EXPECT_TRUE(IsDenied(foreign.Next()));

  const std::string region = AclRegion();
  ASSERT_OK(admin().WaitOk(admin().FlushTable(rights::AclTableName())));
  ASSERT_OK(admin().WaitOk(admin().Transit(client::RegionVerb::kUnassign, region)));
  ExpectChangesWithoutTheTable();
  if (HasFatalFailure()) return;
  ASSERT_OK(Grant("guest", InTable("p", "C")));
  ASSERT_OK(admin().WaitOk(admin().Transit(client::RegionVerb::kAssign, region)));
  std::map<std::string, std::string> more = wanted;
  more["p|guest"] = "C";
  AwaitAcl(more);
  if (HasFatalFailure()) return;

  // Offline, and with damaged files, in a cluster that starts from nothing.
  ASSERT_OK(admin().WaitOk(admin().Transit(client::RegionVerb::kUnassign, region)));
  const std::vector<fs::path> files = AclFiles();
  ASSERT_FALSE(files.empty());
  FlipBits(files);
  ColdStart();
  if (HasFatalFailure()) return;
  AwaitVerdicts();
  ExpectChangesWithoutTheTable();
  if (HasFatalFailure()) return;
  const auto opening = admin().Transit(client::RegionVerb::kAssign, region);
  ASSERT_OK(opening);
  ExpectChangesWithoutTheTable();
  if (HasFatalFailure()) return;
  FlipBits(files);
  ASSERT_OK(Revoke("guest", InTable("p", "C")));
  AwaitAcl(wanted);
  EndVerdicts();
}

}  // namespace
}  // namespace ratchet::chaos
