// Which version a server has, whether it is too old, and where the system's regions go.
#include "master/cluster/server_version.h"

#include <gtest/gtest.h>

#include "common/base/version.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

const ServerName kOne{"one", 1, 1};
const ServerName kTwo{"two", 1, 1};
const ServerName kThree{"three", 1, 1};

TEST(ServerVersionTest, TextsAreReadByTheirNumbers) {
  EXPECT_EQ(ParseServerVersion("0.2"), (ServerVersion{0, 2, 0}));
  EXPECT_EQ(ParseServerVersion("0.3~git20261127.1a2b3c4d"), (ServerVersion{0, 3, 0}));
  EXPECT_EQ(ParseServerVersion("1.10.3-rc1+dirty"), (ServerVersion{1, 10, 3}));
  EXPECT_LT(ParseServerVersion("0.9.9"), ParseServerVersion("0.10"));
  EXPECT_EQ(ParseServerVersion("2.6.0-ratchet"), (ServerVersion{0, 1, 0})) << "what every server of 0.1 said";
  for (const char* bad : {"", "x", "1.", ".1", "1..2", "1.2.3.4", "1 ", "-1", "99999999999"}) {
    EXPECT_EQ(ParseServerVersion(bad), std::nullopt) << bad;
  }
}

TEST(ServerVersionTest, AVersionIsReportedInAFormThatOlderMastersParse) {
  const std::string build = "0.3~git20261127.1a2b3c4d";
  EXPECT_EQ(ReportedVersion(build).find('~'), std::string::npos);
  EXPECT_EQ(ParseServerVersion(ReportedVersion(build)), (ServerVersion{0, 3, 0}));
  EXPECT_EQ(ShownVersion(ReportedVersion(build)), build);
  for (const char* other : {"0.2", "2.6.0-ratchet", "1.2.3+dirty"}) EXPECT_EQ(ShownVersion(other), other);
}

TEST(ServerVersionTest, AServerBelowTheBoundIsRefused) {
  EXPECT_TRUE(CheckServerVersion(kOne, "0.1", "0.1").ok());
  EXPECT_TRUE(CheckServerVersion(kOne, "1", "0.1").ok());
  const Status old = CheckServerVersion(kOne, "0.1.9", "0.2");
  ASSERT_FALSE(old.ok());
  EXPECT_EQ(old.error().message(),
            "region server one,1,1 has version '0.1.9', but this master requires 0.2 or newer: install a newer "
            "ratchet-regionserver, or lower the master's setting oldest-server-version");
  EXPECT_FALSE(CheckServerVersion(kOne, "", "0.1").ok());
  EXPECT_FALSE(CheckServerVersion(kOne, "0.1", "new").ok());
}

TEST(ServerVersionTest, TheNewestThatNeedNotBeAvoided) {
  const std::vector<VersionedServer> servers = {{kOne, "0.2"}, {kTwo, "0.3"}, {kThree, "0.3"}};
  using Names = std::vector<ServerName>;
  EXPECT_EQ(NewestOf(servers, {}), (Names{kTwo, kThree}));
  EXPECT_EQ(NewestOf(servers, {kTwo}), Names{kThree});
  EXPECT_EQ(NewestOf(servers, {kTwo, kThree}), Names{kOne}) << "an older one, rather than one that refused";
  EXPECT_EQ(NewestOf(servers, {kOne, kTwo, kThree}), (Names{kTwo, kThree}));
  EXPECT_EQ(NewestOf({{kOne, "odd"}, {kTwo, "0.1"}}, {}), Names{kTwo});
  EXPECT_EQ(NewestOf({{kOne, "odd"}, {kTwo, ""}}, {}), (Names{kOne, kTwo}));
  EXPECT_TRUE(NewestOf({}, {}).empty());
}

class NewestServerTest : public MasterTest {};

// The names show which servers are new: the directory knows their version before meta moves.
TEST_F(NewestServerTest, MetaMovesToTheNewest) {
  cluster_.Boot(3);
  GivenTable("t", 6);
  sim::SimServer& old_host = MetaHost();
  std::vector<sim::SimServer*> others;
  for (sim::SimServer* server : cluster_.Alive()) {
    if (server != &old_host) others.push_back(server);
  }
  master().logic().servers.AddOnline(old_host.name(), "0.2");
  master().logic().servers.AddOnline(others[0]->name(), "0.2");
  master().logic().servers.AddOnline(others[1]->name(), "0.3");
  (void)Move(std::string(kMetaEncodedName));
  ExpectSettled();
  EXPECT_EQ(MetaHost().name(), others[1]->name());
  (void)Move(std::string(kMetaEncodedName));
  ExpectSettled();
  EXPECT_NE(MetaHost().name(), others[1]->name()) << "off the newest, as asked for";
  (void)Move(std::string(kMetaEncodedName), others[0]->name());
  ExpectSettled();
  EXPECT_EQ(MetaHost().name(), others[0]->name()) << "where an operator says";
  ExpectServed("t", 6);
}

}  // namespace
}  // namespace ratchet::master
