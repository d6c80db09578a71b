#include "master/telemetry/load_book.h"

#include "master/telemetry/past_book.h"

#include <gtest/gtest.h>

#include "common/model/codec.h"
#include "common/model/region_info.h"

namespace ratchet::master {
namespace {

RegionInfo RegionOfTable(const std::string& table) {
  RegionInfo region;
  region.table = TableName("default", table);
  return region;
}

void AddRegion(hbase::pb::ServerLoad& load, const RegionInfo& region, std::uint64_t flushed) {
  auto& of_region = *load.add_region_loads();
  SpecifyRegion(region, *of_region.mutable_region_specifier());
  of_region.set_complete_sequence_id(flushed);
}

TEST(LoadBookTest, ServersThatSayNothingAnyMoreAreForgotten) {
  LoadBook book;
  TimePoint now{Millis(1'000)};
  const ServerName gone{"gone", 1, 1};
  const ServerName here{"here", 1, 1};
  book.Put(gone, {}, now);
  now += Millis(9 * 60'000);
  book.Put(here, {}, now);
  EXPECT_TRUE(book.Get(gone).has_value());
  now += Millis(2 * 60'000);
  book.Put(here, {}, now);
  EXPECT_FALSE(book.Get(gone).has_value());
  EXPECT_TRUE(book.Get(here).has_value());
}

TEST(PastBookTest, TheFullestDiskIsToldBelowTheMarkOnly) {
  PastBook book;
  TimePoint now{Millis(1'000)};
  const std::vector<ServerName> all{{"a", 1, 1}, {"b", 1, 1}, {"c", 1, 1}};
  EXPECT_FALSE(book.LowDisk(all).has_value()) << "no server has reported";
  const auto put = [&](const ServerName& server, std::uint64_t free) {
    ProcessNote note;
    note.disk_free_bytes = free;
    book.Put(server, note, now);
  };
  for (const ServerName& server : all) put(server, kDiskLow);
  EXPECT_FALSE(book.LowDisk(all).has_value());
  put(all[1], 30U << 20U);
  put(all[2], 12U << 20U);
  const auto low = book.LowDisk(all);
  ASSERT_TRUE(low.has_value());
  EXPECT_EQ(low->text, "only 12 MiB are free on the disk below the root, as c,1,1 reports");
  EXPECT_EQ(low->since, now);
  EXPECT_FALSE(book.LowDisk({all[0]}).has_value()) << "of these servers only";
  now += Millis(5'000);
  put(all[2], 11U << 20U);
  EXPECT_EQ(book.LowDisk(all)->since, now - Millis(5'000)) << "since it began";
  put(all[1], kDiskLow);
  put(all[2], kDiskLow);
  EXPECT_FALSE(book.LowDisk(all).has_value());
}

TEST(LoadBookTest, ARegionsLoadIsTheOneOfItsLastServer) {
  LoadBook book;
  TimePoint now{Millis(1'000)};
  const RegionInfo region = RegionOfTable("t");
  EXPECT_FALSE(book.LoadOf(region.encoded_name()).has_value());
  for (const std::uint64_t compacted : {7, 9, 8}) {
    hbase::pb::ServerLoad load;
    AddRegion(load, region, 1);
    load.mutable_region_loads(0)->set_last_major_compaction_ts(compacted);
    now += Millis(1);
    // The second server's name sorts before the first one's.
    book.Put(compacted == 9 ? ServerName{"a", 1, 1} : ServerName{"b", 1, 1}, std::move(load), now);
    EXPECT_EQ(book.LoadOf(region.encoded_name())->last_major_compaction_ts(), compacted);
  }
  const auto at = [&](const ServerName& server) {
    return book.LoadOf(region.encoded_name(), server)->last_major_compaction_ts();
  };
  EXPECT_EQ(at({"a", 1, 1}), 9U) << "where the region is counts, although another server was heard later";
  EXPECT_EQ(at({"never-heard", 1, 1}), 8U);
}

// Tables that are made and dropped without end: the data about their regions is removed.
TEST(LoadBookTest, RegionsThatNoServerListsAnyMoreAreForgotten) {
  LoadBook book;
  const TimePoint now{Millis(1'000)};
  const ServerName server{"here", 1, 1};
  const RegionInfo kept = RegionOfTable("kept");
  const RegionInfo first = RegionOfTable("t0");
  for (int i = 0; i < 5'000; ++i) {
    hbase::pb::ServerLoad load;
    AddRegion(load, kept, 9);
    AddRegion(load, RegionOfTable("t" + std::to_string(i)), 7);
    book.Put(server, std::move(load), now);
    if (i == 100) {
      EXPECT_EQ(book.FlushedSequence(first.encoded_name()), 7u) << "a region that moves is listed by none for a while";
    }
  }
  EXPECT_FALSE(book.FlushedSequence(first.encoded_name()).has_value());
  EXPECT_EQ(book.FlushedSequence(kept.encoded_name()), 9u);
  hbase::pb::ServerLoad late;
  AddRegion(late, kept, 8);
  book.Put(server, std::move(late), now);
  EXPECT_EQ(book.FlushedSequence(kept.encoded_name()), 9u) << "the greatest counts";
}

}  // namespace
}  // namespace ratchet::master
