// Compactions that found no room: retried after a pause, and reported meanwhile.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "common/base/log.h"
#include "regionserver/host/compactor.h"
#include "tests/support/manual_time.h"

namespace ratchet::regionserver {
namespace {

const Error kNoRoom(Code::kNoSpace, "only 5 bytes are free");

TEST(PutOffCompactionsTest, AreTriedAgainAfterAPauseAndTold) {
  ConfigureLog({LogLevel::kError, {}});
  ManualTime time;
  time.Advance(Millis(1));
  PutOffCompactions put_off;
  hbase::pb::StorageReport report;
  put_off.Fill(report);
  EXPECT_FALSE(report.has_put_off_compactions());
  EXPECT_TRUE(put_off.Due(time.Now()).empty());

  put_off.Add({"r1", true}, kNoRoom);
  put_off.Add({"r1", false}, kNoRoom);
  put_off.Add({"r1", false}, kNoRoom);
  put_off.Fill(report);
  EXPECT_EQ(report.put_off_compactions(), 2U);
  EXPECT_EQ(report.put_off_why(), "only 5 bytes are free");
  EXPECT_EQ(put_off.Due(time.Now()).size(), 2U);
  time.Advance(PutOffCompactions::kPause - Millis(1));
  EXPECT_TRUE(put_off.Due(time.Now()).empty());
  time.Advance(Millis(1));
  EXPECT_EQ(put_off.Due(time.Now()).size(), 2U);

  put_off.Remove({"r1", false});
  put_off.Remove({"r1", true});
  hbase::pb::StorageReport after;
  put_off.Fill(after);
  EXPECT_FALSE(after.has_put_off_compactions());
  ConfigureLog({});
}

TEST(PutOffCompactionsTest, EachHasItsTurn) {
  ConfigureLog({LogLevel::kError, {}});
  ManualTime time;
  time.Advance(Millis(1));
  PutOffCompactions put_off;
  constexpr std::size_t kMany = PutOffCompactions::kAtOnce * 3 - 5;
  for (std::size_t i = 0; i < kMany; ++i) put_off.Add({fmt::format("r{}", i), false}, kNoRoom);
  std::set<PutOffCompactions::Compaction> seen;
  for (int round = 0; round < 3; ++round) {
    for (const auto& compaction : put_off.Due(time.Now())) seen.insert(compaction);
    time.Advance(PutOffCompactions::kPause);
  }
  EXPECT_EQ(seen.size(), kMany);
  ConfigureLog({});
}

}  // namespace
}  // namespace ratchet::regionserver
