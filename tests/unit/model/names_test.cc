#include <gtest/gtest.h>

#include "common/model/codec.h"
#include "common/model/name_rules.h"
#include "common/model/proto/common.pb.h"
#include "common/model/region_info.h"
#include "common/model/server_name.h"
#include "common/model/table_name.h"

namespace ratchet {
namespace {

TEST(TableNameTest, ParsesBothForms) {
  EXPECT_EQ(TableName::Parse("t1").value(), TableName("default", "t1"));
  EXPECT_EQ(TableName::Parse("ns_1:t-1.x").value(), TableName("ns_1", "t-1.x"));
  EXPECT_EQ(TableName("default", "t1").ToString(), "t1");
  EXPECT_EQ(MetaTableName().ToString(), "hbase:meta");
  EXPECT_TRUE(MetaTableName().IsMeta());
}

TEST(TableNameTest, RefusesIllegalNames) {
  for (const char* bad : {"", ":", "ns:", ":t", "-t", ".t", "a b", "a,b", "n-s:t", "a:b:c", "t\n", "täble", "a/b"}) {
    const auto result = TableName::Parse(bad);
    ASSERT_FALSE(result.ok()) << bad;
    EXPECT_EQ(result.error().code(), Code::kInvalidArgument) << bad;
  }
}

TEST(TableNameTest, NamesThatNoDirectoryCanHaveAreRefused) {
  const std::string longest(kMaxTableNamePartBytes, 't');
  EXPECT_TRUE(TableName::Parse(longest).ok());
  EXPECT_TRUE(TableName::Parse(longest + ":" + longest).ok());
  for (const std::string& bad : {longest + "t", std::string(70'000, 't'), longest + "n:t"}) {
    const auto refused = TableName::Parse(bad);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
    EXPECT_LT(refused.error().message().size(), 400u);
  }
}

TEST(ServerNameTest, RoundTripsAsItIsSpelled) {
  const ServerName name = ServerName::Parse("host-1.example,16020,1700000000123").value();
  EXPECT_EQ(name, (ServerName{"host-1.example", 16020, 1700000000123}));
  EXPECT_EQ(name.ToString(), "host-1.example,16020,1700000000123");
  // A directory is fenced under the name that it has; another spelling is another server.
  EXPECT_EQ(ServerName::Parse("Host,1,2").value().ToString(), "Host,1,2");
  EXPECT_EQ(LowerCaseHost("Host-1.Example"), "host-1.example");
  for (const char* bad : {"", "h", "h,1", "h,1,", ",1,2", "h,x,1", "h,70000,1", "h,1,-2", "h,1,2,3", "h,1,2 ", "h,01,2",
                          "h,1,+2", "h,0,2", "h,1,0", "h,1,18446744073709551615"}) {
    EXPECT_FALSE(ServerName::Parse(bad).ok()) << bad;
  }
}

TEST(ServerNameTest, TheAddressOfAnIpv6HostHasBrackets) {
  EXPECT_EQ((ServerName{"h", 24'022, 7}.Address()), "h:24022");
  EXPECT_EQ((ServerName{"10.0.0.1", 24'022, 7}.Address()), "10.0.0.1:24022");
  EXPECT_EQ((ServerName{"::1", 24'022, 7}.Address()), "[::1]:24022");
  EXPECT_EQ((ServerName{"::1", 24'022, 7}.ToString()), "::1,24022,7");
}

TEST(ServerNameTest, NamesThatNoFileAndNoRecordCouldHoldAreRefused) {
  const std::string longest(kMaxHostBytes, 'h');
  EXPECT_TRUE(CheckServerName({longest, 65535, kMaxStartCode}).ok());
  EXPECT_TRUE(CheckServerName({"fe80::1", 1, 1}).ok());
  for (const std::string& host :
       {std::string(), std::string("a,b"), std::string("a/b"), std::string(".."), std::string("-h"), std::string("h\n"),
        std::string("h\0x", 3), std::string("h h"), std::string("hä"), longest + "h", std::string(70'000, 'h')}) {
    const Status refused = CheckServerName({host, 1, 1});
    ASSERT_FALSE(refused.ok()) << host.substr(0, 20);
    EXPECT_EQ(refused.error().code(), Code::kInvalidArgument);
    EXPECT_LT(refused.error().message().size(), 400u) << "what is hostile is not repeated at length";
    for (const char c : refused.error().message()) EXPECT_GE(c, ' ');
    hbase::pb::ServerName wire;
    wire.set_host_name(host);
    wire.set_port(1);
    wire.set_start_code(1);
    EXPECT_FALSE(FromProto(wire).ok());
  }
  for (const ServerName& name : {ServerName{"h", 0, 1}, ServerName{"h", 1, 0}, ServerName{"h", 1, UINT64_MAX},
                                 ServerName{"h", 1, kMaxStartCode + 1}}) {
    EXPECT_FALSE(CheckServerName(name).ok()) << name.ToString();
  }
  hbase::pb::ServerName port;
  port.set_host_name("h");
  port.set_port(65'536);
  port.set_start_code(1);
  EXPECT_FALSE(FromProto(port).ok());
}

TEST(RegionNameTest, HashesAsHBaseDoes) {
  RegionInfo region;
  region.table = TableName("default", "TestTable");
  region.start_key = "0094429456";
  region.region_id = 1289497600452;
  EXPECT_EQ(region.name(), "TestTable,0094429456,1289497600452.527db22f95c8a9e0116f0cc13c680396.");
  EXPECT_EQ(region.encoded_name(), "527db22f95c8a9e0116f0cc13c680396");
}

TEST(RegionNameTest, MetaHasItsFixedName) {
  EXPECT_EQ(MetaRegionInfo().name(), "hbase:meta,,1");
  EXPECT_EQ(MetaRegionInfo().encoded_name(), "1588230740");
  EXPECT_EQ(EncodedNameOf("hbase:meta,,1").value(), "1588230740");
  EXPECT_EQ(ParseRegionName("hbase:meta,,1").value(), MetaRegionInfo());
}

TEST(RegionNameTest, ParsesKeysWithCommasDotsAndAnyBytes) {
  for (const std::string& key :
       {std::string(), std::string("a,b,,"), std::string("x.y."), std::string("\0\xff,\n", 4)}) {
    RegionInfo region;
    region.table = TableName("ns", "t.1");
    region.start_key = key;
    region.region_id = 42;
    EXPECT_EQ(ParseRegionName(region.name()).value(), region);
    EXPECT_EQ(EncodedNameOf(region.name()).value(), region.encoded_name());
    region.replica_id = 11;
    EXPECT_NE(region.name().find("_000B."), std::string::npos);
    EXPECT_EQ(ParseRegionName(region.name()).value(), region);
  }
}

TEST(RegionNameTest, RefusesWhatIsNoName) {
  for (const char* bad : {"", "t", "t,,1", "t,,1.abc.", "t,,1.527db22f95c8a9e0116f0cc13c680396.",
                          "527db22f95c8a9e0116f0cc13c680396", "t,,1.527DB22F95C8A9E0116F0CC13C680396."}) {
    EXPECT_FALSE(ParseRegionName(bad).ok()) << bad;
  }
}

TEST(RegionNameTest, SpecifiersOfEitherKind) {
  RegionInfo region;
  region.table = TableName("default", "t");
  region.region_id = 7;
  hbase::pb::RegionSpecifier specifier;
  SpecifyRegion(region, specifier);
  EXPECT_EQ(EncodedNameOf(specifier).value(), region.encoded_name());
  SpecifyEncoded(region.encoded_name(), specifier);
  EXPECT_EQ(EncodedNameOf(specifier).value(), region.encoded_name());
  specifier.set_value("");
  EXPECT_FALSE(EncodedNameOf(specifier).ok());
}

TEST(RegionInfoTest, ContainsIsHalfOpen) {
  RegionInfo region;
  region.start_key = "b";
  region.end_key = "d";
  EXPECT_FALSE(region.Contains("a"));
  EXPECT_TRUE(region.Contains("b"));
  EXPECT_TRUE(region.Contains("c\xff"));
  EXPECT_FALSE(region.Contains("d"));
  region.end_key = "";
  EXPECT_TRUE(region.Contains("\xff\xff"));
}

}  // namespace
}  // namespace ratchet
