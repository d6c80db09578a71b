#include "chaos/hostile/message_maker.h"

#include <set>

#include <gtest/gtest.h>

#include "chaos/hostile/catalog.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/filter.pb.h"

namespace ratchet::chaos {
namespace {

TEST(MessageMakerTest, EveryMessageCanBeSentAndReadAgain) {
  const std::uint64_t seed = RandomSeed();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  MessageMaker maker(seed, {"own"});
  for (const HostileMethod& method : HostileMethods()) {
    for (int i = 0; i < 5; ++i) {
      const auto message = maker.Make(*method.request);
      ASSERT_TRUE(message->IsInitialized()) << method.name << " lacks " << message->InitializationErrorString();
      const std::unique_ptr<google::protobuf::Message> again(message->New());
      EXPECT_TRUE(again->ParseFromString(message->SerializeAsString())) << method.name;
    }
  }
}

TEST(MessageMakerTest, TheSeedFixesEverything) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    MessageMaker first(seed, {});
    MessageMaker second(seed, {});
    for (const HostileMethod& method : HostileMethods()) {
      EXPECT_EQ(first.Make(*method.request)->DebugString(), second.Make(*method.request)->DebugString());
    }
    EXPECT_EQ(first.Cells(), second.Cells());
  }
}

// A Get's filter has a name that a server knows, and bytes that are a message of that class, including nested filters.
TEST(MessageMakerTest, FiltersHaveClassesThatServersKnow) {
  MessageMaker maker(11, {"own"});
  std::set<std::string> classes;
  int nested = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto message = maker.Make(*hbase::pb::GetRequest::descriptor());
    const auto& filter = dynamic_cast<const hbase::pb::GetRequest&>(*message).get().filter();
    if (!filter.name().starts_with("org.apache.hadoop.hbase.filter.")) continue;
    const std::string name = filter.name().substr(filter.name().rfind('.') + 1);
    classes.insert(name);
    hbase::pb::FilterList list;
    if (name == "FilterList") {
      ASSERT_TRUE(list.ParseFromString(filter.serialized_filter()));
      nested += list.filters_size();
    }
  }
  EXPECT_EQ(classes.size(), 29U);
  EXPECT_GT(nested, 10);
}

TEST(MessageMakerTest, EdgesAndNamesOccur) {
  MessageMaker maker(7, {"the_table"});
  bool edge = false;
  bool own = false;
  bool empty = false;
  for (int i = 0; i < 2'000; ++i) {
    for (const HostileMethod& method : HostileMethods()) {
      if (method.name != "RegionServerStartup" && method.name != "GetTableState") continue;
      const std::string text = maker.Make(*method.request)->ShortDebugString();
      edge |= text.find("18446744073709551615") != std::string::npos;
      own |= text.find("the_table") != std::string::npos;
      empty |= text.find("\"\"") != std::string::npos;
    }
  }
  EXPECT_TRUE(edge);
  EXPECT_TRUE(own);
  EXPECT_TRUE(empty);
}

}  // namespace
}  // namespace ratchet::chaos
