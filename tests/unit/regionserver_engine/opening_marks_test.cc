// S113 (serial order of openings): where the openings of a region begin and end, in the logs and in the manifests.
#include <algorithm>
#include <atomic>

#include "common/base/fault_point.h"
#include "common/base/mutant.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/manifest.h"
#include "tests/unit/regionserver_engine/build_world.h"

namespace ratchet::regionserver {
namespace {

class OpeningMarksTest : public BuildRegionsTest {
 protected:
  void SetUp() override {
    BuildRegionsTest::SetUp();
    world.unsure = [this](const Error&) { ++unsure_; };
    ShipFamily(true);
  }
  void TearDown() override {
    FaultPoints::Instance().DisarmAll();
    BuildRegionsTest::TearDown();
  }
  void ShipFamily(bool shipped) { world.table.families.front().attributes["REPLICATION_SCOPE"] = shipped ? "1" : "0"; }
  std::unique_ptr<Server> Another(const std::string& name) { return std::move(world.Start(name)).value(); }

  struct Mark {
    OpeningMark mark;
    std::string region;
    QueuePoint end;
  };
  // The marks in a server's logs, in their order.
  std::vector<Mark> MarksOf(Server& at) {
    std::vector<Mark> marks;
    auto names = at.fenced->directory().List().value();
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      const auto log = io::ParseLogFileName(name);
      if (!log) continue;
      const std::string bytes = at.fenced->directory().ReadAll(name).value();
      io::RecordReader::Options options;
      options.expected = {kServerLogKind, io::LogFileId(at.name + "/" + name)};
      io::RecordReader reader(bytes, options);
      for (io::Record record; reader.Next(&record);) {
        const LogEntry entry = DecodeLogEntry(record.payload).value();
        if (entry.mark) marks.push_back({*entry.mark, entry.region, {at.name, log->number, record.end}});
      }
    }
    return marks;
  }
  std::vector<QueuePoint> Until(const RegionInfo& region, std::uint64_t number) {
    auto process = world.disk.NewProcess("reader");
    auto directory = process->Open(PathOf(region)).value();
    return ReadManifest(*directory, region.encoded_name(), number).value().shipped_until;
  }
  static QueuePoint EndOf(const std::string& name) { return {name, kEndOfQueue, 0}; }

  std::atomic<int> unsure_{0};
};

TEST_F(OpeningMarksTest, BeginMarkNamesEarlierOpenings) {
  auto region = Open(*server, parent, 1).value();
  EXPECT_EQ(Until(parent, 1), (std::vector<QueuePoint>{EndOf("a,1,1")})) << "while it is open";
  Write(*region, "r", "1");
  region->Close().value();
  const auto marks = MarksOf(*server);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].mark, (OpeningMark{true, {}})) << "nothing was before";
  EXPECT_EQ(marks[1].mark, (OpeningMark{false, {}}));
  const std::vector<QueuePoint> until = Until(parent, 1);
  ASSERT_EQ(until.size(), 1U);
  EXPECT_EQ(until[0].server, "a,1,1");
  EXPECT_EQ(until[0].file, marks[1].end.file);
  EXPECT_GT(until[0].offset, marks[0].end.offset) << "the write is in front of it";
  EXPECT_LT(until[0].offset, marks[1].end.offset) << "the mark is behind it";

  auto next = Another("b,1,1");
  auto again = Open(*next, parent, 2).value();
  EXPECT_EQ(All(*again), "r=1 ");
  ASSERT_EQ(MarksOf(*next).size(), 1U);
  EXPECT_EQ(MarksOf(*next)[0].mark, (OpeningMark{true, until}));
  EXPECT_EQ(Until(parent, 2), (std::vector<QueuePoint>{EndOf("b,1,1")})) << "what was before is in the log's mark";
  again->Abandon();
}

TEST_F(OpeningMarksTest, OmittingEarlierOpeningsIsNoticed) {
  Open(*server, parent, 1).value()->Close().value();
  const ScopedMutant mutant("region.silent_marks");
  auto next = Another("b,1,1");
  Open(*next, parent, 2).value()->Abandon();
  EXPECT_TRUE(MarksOf(*next)[0].mark.after.empty());
}

// All of a dead server's logs may belong to the region. Its marks are not edits of the region.
TEST_F(OpeningMarksTest, ADeadServersOpeningEndsWithItsLogs) {
  {
    auto region = Open(*server, parent, 1).value();
    Write(*region, "r", "1");
    region->Abandon();
  }
  server.reset();
  world.Recover("a,1,1").value();
  auto next = Another("b,1,1");
  auto region = Open(*next, parent, 2).value();
  EXPECT_EQ(All(*region), "r=1 ");
  EXPECT_EQ(MarksOf(*next)[0].mark, (OpeningMark{true, {EndOf("a,1,1")}}));
  region->Abandon();
}

// The server of the opening continues to live, and would never write the end of the opening.
TEST_F(OpeningMarksTest, AnOpeningThatFailsBehindItsRecordHasEnded) {
  FaultSpec spec;
  spec.action = FaultAction::kFail;
  FaultPoints::Instance().Arm("region.manifest_written", spec);
  EXPECT_FALSE(Open(*server, parent, 1).ok());
  FaultPoints::Instance().DisarmAll();
  const auto marks = MarksOf(*server);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_FALSE(marks[1].mark.opens);
  const auto until = Until(parent, 1);
  ASSERT_EQ(until.size(), 1U);
  EXPECT_EQ(until[0].file, marks[1].end.file);
  EXPECT_GE(until[0].offset, marks[0].end.offset);
  EXPECT_LT(until[0].offset, marks[1].end.offset);
  EXPECT_EQ(unsure_, 0);
}

// Later openings wait for an opening that has shipped once, however many openings between them ship nothing.
TEST_F(OpeningMarksTest, OpeningsThatShipNothingPassEarlierEndsOn) {
  Open(*server, parent, 1).value()->Close().value();
  const auto until = Until(parent, 1);
  ShipFamily(false);
  Open(*server, parent, 2).value()->Close().value();
  EXPECT_EQ(MarksOf(*server).size(), 2U) << "no marks";
  EXPECT_EQ(Until(parent, 2), until);
  ShipFamily(true);
  auto next = Another("b,1,1");
  auto region = Open(*next, parent, 3).value();
  EXPECT_EQ(MarksOf(*next)[0].mark.after, until);
  region->Abandon();
}

TEST_F(OpeningMarksTest, DaughtersComeAfterTheParentAndMergedRegionsAfterBoth) {
  MakeParent();
  const auto until = Until(parent, 1);
  ASSERT_EQ(until.size(), 1U);
  MustBuild(10, {parent}, {left, right});
  auto other = Another("b,1,1");
  Open(*server, left, 20, 10).value()->Close().value();
  Open(*other, right, 21, 10).value()->Close().value();
  EXPECT_EQ(MarksOf(*server)[2].mark, (OpeningMark{true, until}));
  EXPECT_EQ(MarksOf(*other)[0].mark, (OpeningMark{true, until}));
  const RegionInfo whole = Child("", "", 30);
  MustBuild(30, {left, right}, {whole});
  auto third = Another("c,1,1");
  Open(*third, whole, 40, 30).value()->Abandon();
  const auto after = MarksOf(*third)[0].mark.after;
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0], Until(left, 20)[0]);
  EXPECT_EQ(after[1], Until(right, 21)[0]);
}

// The marks use sequences: the logs are covered together with them, or the files would stay permanently.
TEST_F(OpeningMarksTest, MarksKeepNoLogFile) {
  auto region = Open(*server, parent, 1).value();
  server->log->Roll().value();
  for (const auto& file : server->log->Files()) EXPECT_TRUE(file.owed.empty()) << file.name;
  region->Close().value();
  server->log->Roll().value();
  for (const auto& file : server->log->Files()) EXPECT_TRUE(file.owed.empty()) << file.name;
}

}  // namespace
}  // namespace ratchet::regionserver
