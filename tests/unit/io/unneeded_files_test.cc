#include "common/io/unneeded_files.h"

#include <gtest/gtest.h>

namespace ratchet::io {
namespace {

TEST(UnneededFilesTest, NamesOfLogs) {
  EXPECT_EQ(ToString({"log", 3}), "log.0000000003");
  EXPECT_EQ(ParseLogFileName("log.0000000003"), (LogFileName{"log", 3}));
  EXPECT_EQ(ParseLogFileName("meta.12345678901"), (LogFileName{"meta", 12'345'678'901}));
  for (const char* other : {"log", "log.", "log.1x", "log.-1", "wal.0000000001", "split.log.0000000001",
                            "covered.log.0000000001", "log.0000000001.tmp", "log.99999999999999999999", "ALIVE", ""})
    EXPECT_FALSE(ParseLogFileName(other)) << other;
}

TEST(UnneededFilesTest, AMarkCoversItsLogAndAllBeforeOfItsPrefix) {
  const std::vector<std::string> names{"ALIVE", CoveredMark({"log", 7}), "covered.", "covered.log.x", "log.0000000008"};
  EXPECT_EQ(names[1], "covered.log.0000000007");
  EXPECT_EQ(CoveredUpTo(names, "log"), 7U);
  EXPECT_EQ(CoveredUpTo(names, "meta"), 0U);
  EXPECT_TRUE(IsCovered(names, {"log", 7}));
  EXPECT_TRUE(IsCovered(names, {"log", 1}));
  EXPECT_FALSE(IsCovered(names, {"log", 8}));
  EXPECT_FALSE(IsCovered(names, {"log", 0})) << "no log has this number";
  EXPECT_FALSE(IsCovered(names, {"meta", 1}));
  EXPECT_EQ(CoveredUpTo({CoveredMark({"log", 9}), CoveredMark({"log", 10})}, "log"), 10U)
      << "seen in the middle of a renaming";
}

TEST(UnneededFilesTest, AnUnneededFileKeepsItsName) {
  EXPECT_EQ(UnneededName("7-1.sst"), "unneeded.7-1.sst");
  EXPECT_EQ(ParseUnneededName("unneeded.7-1.sst"), "7-1.sst");
  EXPECT_FALSE(ParseUnneededName("7-1.sst"));
  EXPECT_FALSE(ParseUnneededName("unneeded."));
}

}  // namespace
}  // namespace ratchet::io
