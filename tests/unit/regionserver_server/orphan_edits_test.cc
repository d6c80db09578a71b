// S116 (missing directory is not evidence): what a split does with the edits of a region whose directory is missing,
// and how they are restored.
#include "regionserver/host/orphan_edits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "common/base/crc32c.h"
#include "common/base/log.h"
#include "common/base/mutant.h"
#include "common/io/record_log.h"
#include "common/io/unneeded_files.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

using ::testing::HasSubstr;

class OrphanEditsTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ConfigureLog({LogLevel::kError, {}});
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_, 5).outcome, OrderOutcome::kOpened);
    ASSERT_TRUE(Put(region_, "r", "q", "acknowledged").ok());
  }
  void TearDown() override {
    ServiceFixture::TearDown();
    ConfigureLog({});
  }
  void Move(const std::string& from, const std::string& to) {
    const std::size_t slash = to.rfind('/');
    auto source = *disk_->Open("/root/" + from.substr(0, from.rfind('/')));
    auto target = *disk_->OpenOrMake("/root/" + to.substr(0, slash));
    ASSERT_TRUE(source->RenameTo(from.substr(from.rfind('/') + 1), *target, to.substr(slash + 1)).ok());
  }
  // The server ends; its log is sealed, as it is on the disk.
  void EndServer() {
    for (const auto& region : host_->regions.All()) region->Abandon();
    host_->wals.Stop();
    auto wals = *root_->OpenDir("wals");
    ASSERT_TRUE(io::FencedDirectory::Fence(*wals, "host,1,100").ok());
  }
  // Splits the log by another host of the same process. Returns the payload of its answer, or the error.
  std::string Split(bool with_hint) {
    auto directory = *disk_->Open(kLogs);
    const std::string bytes = *directory->ReadAll(kLog);
    io::RecordReader::Options options;
    io::RecordReader reader(bytes, options);
    io::Record record;
    while (reader.Next(&record)) continue;
    SplitLogOrder order;
    order.pid = ProcId(++last_pid_);
    order.parameter.set_wal_path(std::string("wals/host,1,100-splitting/") + kLog);
    order.parameter.set_sealed_length(reader.tail().offset);
    order.parameter.set_sealed_crc32c(Crc32c(std::string_view(bytes).substr(0, reader.tail().offset)));
    order.parameter.set_sealed_last_sequence(reader.tail().last_sequence);
    if (with_hint) {
      auto& hint = *order.parameter.add_region();
      hint.set_encoded_name(region_.encoded_name());
      hint.set_region_dir(Home().substr(std::string("data/").size()));
    }
    RegionHost other(*root_, clock_, lanes_, HostOptions(), [](int, const std::string&) {});
    const OrderAnswer answer = other.orders.SplitLog(order);
    return answer.outcome == OrderOutcome::kDone ? answer.payload : answer.error_message;
  }
  // Opens the region on another server, which has its own log directory.
  std::string RowAfterTheNextOpening() {
    auto wals = *root_->OpenDir("wals");
    const auto previous = std::exchange(log_directory_, *io::FencedDirectory::Make(*wals, "other,1,100"));
    HostOptions options;
    options.wal.prepare_next = false;
    host_ = std::make_unique<RegionHost>(*root_, clock_, lanes_, options, [](int, const std::string&) {});
    if (!host_->wals.UseDirectory(*log_directory_).ok()) return "no log";
    OrderAnswer opened = OpenRegion(region_, 9);
    if (opened.outcome != OrderOutcome::kOpened) return opened.error_message;
    const auto got = Get(region_, "r");
    return got.ok() ? Text(got->message.result(), got->cells) : got.error().ToString();
  }
  std::string Home() const { return std::string("data/") + kTableDir + "/" + region_.encoded_name(); }
  std::vector<std::string> Kept() {
    const auto kept = disk_->Open("/root/quarantine/edits/" + region_.encoded_name());
    return kept.ok() ? *(*kept)->List() : std::vector<std::string>();
  }

  static constexpr const char* kLog = "log.0000000001";
  static constexpr const char* kLogs = "/root/wals/host,1,100-splitting";
  const RegionInfo region_ = TableRegion();
};

TEST_F(OrphanEditsTest, EditsOfARegionWhoseDirectoryIsAwayComeBackWithIt) {
  EndServer();
  Move(Home(), "away/region");
  EXPECT_THAT(Split(false), HasSubstr("dropped=0, covered=0, kept in quarantine/edits=" + region_.encoded_name()));
  EXPECT_EQ(Kept(), std::vector<std::string>{std::string("edits.host,1,100.") + kLog});
  Move("away/region", Home());
  EXPECT_EQ(RowAfterTheNextOpening(), "q=acknowledged");
  EXPECT_TRUE(Kept().empty());
}

TEST_F(OrphanEditsTest, ARegionThatTheOrderNamesIsNoExceptionFromThat) {
  EndServer();
  Move(Home(), "away/region");
  EXPECT_THAT(Split(true), HasSubstr("dropped=0"));
  Move("away/region", Home());
  EXPECT_EQ(RowAfterTheNextOpening(), "q=acknowledged");
}

TEST_F(OrphanEditsTest, EditsOfARegionInTheArchiveAreDropped) {
  EndServer();
  Move(Home(), "archive/3/regions/" + std::string(kTableDir) + "/" + region_.encoded_name());
  EXPECT_THAT(Split(true), HasSubstr("dropped=1, covered=0"));
  EXPECT_TRUE(Kept().empty());
}

TEST_F(OrphanEditsTest, EditsFollowARegionIntoQuarantine) {
  EndServer();
  const std::string place = "quarantine/data/" + std::string(kTableDir) + "/" + region_.encoded_name() + ".77";
  Move(Home(), place);
  EXPECT_THAT(Split(false), HasSubstr("dropped=0"));
  const std::vector<std::string> names = *(*disk_->Open("/root/" + place))->List();
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), std::string("edits.host,1,100.") + kLog));
}

// Entries that a close has flushed need no directory, so a table that was dropped long ago leaves nothing in
// quarantine.
TEST_F(OrphanEditsTest, EditsOfARegionThatTheServerHasClosedAreDropped) {
  CloseOrder close;
  close.pid = ProcId(++last_pid_);
  close.encoded_name = region_.encoded_name();
  ASSERT_TRUE(host_->orders.Close(close).has_value());
  EndServer();
  const std::vector<std::string> names = *(*disk_->Open(kLogs))->List();
  EXPECT_TRUE(FlushedUpTo(names, region_.encoded_name()).has_value());
  Move(Home(), "away/region");
  EXPECT_THAT(Split(false), HasSubstr("dropped=1, covered=0"));
  EXPECT_TRUE(Kept().empty());
}

TEST_F(OrphanEditsTest, AMarkOfAnEarlierCloseSaysNothingOfLaterEdits) {
  CloseOrder close;
  close.pid = ProcId(++last_pid_);
  close.encoded_name = region_.encoded_name();
  ASSERT_TRUE(host_->orders.Close(close).has_value());
  ASSERT_EQ(OpenRegion(region_, 6).outcome, OrderOutcome::kOpened);
  ASSERT_TRUE(Put(region_, "r", "q", "later").ok());
  EndServer();
  Move(Home(), "away/region");
  EXPECT_THAT(Split(false), HasSubstr("dropped=0"));
  Move("away/region", Home());
  EXPECT_EQ(RowAfterTheNextOpening(), "q=later");
}

TEST_F(OrphanEditsTest, MarksGoWithTheLogsThatTheyAreAbout) {
  CloseOrder close;
  close.pid = ProcId(++last_pid_);
  close.encoded_name = region_.encoded_name();
  ASSERT_TRUE(host_->orders.Close(close).has_value());
  ASSERT_TRUE(host_->wals.Roll().ok());
  host_->wals.LookAfterLogs();  // the first file is covered
  host_->wals.LookAfterLogs();
  const std::vector<std::string> names = *log_directory_->directory().List();
  EXPECT_FALSE(FlushedUpTo(names, region_.encoded_name()).has_value());
}

TEST_F(OrphanEditsTest, TakingAMissingDirectoryForAGoneRegionIsNoticed) {
  const ScopedMutant mutant("split.missing_is_gone");
  EndServer();
  Move(Home(), "away/region");
  EXPECT_THAT(Split(true), HasSubstr("dropped=1"));
  Move("away/region", Home());
  EXPECT_EQ(RowAfterTheNextOpening(), "");  // lost
}

TEST_F(OrphanEditsTest, LeavingKeptEditsIsNoticed) {
  EndServer();
  Move(Home(), "away/region");
  EXPECT_THAT(Split(true), HasSubstr("dropped=0"));
  Move("away/region", Home());
  const ScopedMutant mutant("region.leave_kept_edits");
  EXPECT_EQ(RowAfterTheNextOpening(), "");  // not lost, but not readable
}

}  // namespace
}  // namespace ratchet::regionserver
