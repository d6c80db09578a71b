// The version that clients name in the connection header is kept while the connection is open, and counted.
#include "common/rpc/client_versions.h"

#include "common/rpc/frame.h"
#include "common/rpc/handshake.h"
#include "tests/unit/rpc/rpc_fixture.h"

namespace ratchet::rpc {
namespace {

std::string HelloOf(const std::string& version) {
  hbase::pb::ConnectionHeader header;
  header.mutable_user_info()->set_effective_user("u");
  header.set_service_name(std::string(methods::kClientService));
  auto& info = *header.mutable_version_info();
  info.set_version(version);
  for (auto* text : {info.mutable_url(), info.mutable_revision(), info.mutable_user(), info.mutable_date(),
                     info.mutable_src_checksum()})
    *text = "x";
  const std::string body = header.SerializeAsString();
  std::string hello("HBas\0\x50", kPreambleBytes);
  AppendBig32(static_cast<std::uint32_t>(body.size()), hello);
  return hello + body;
}

class ClientVersionsTest : public RpcTest {
 protected:
  [[nodiscard]] ClientVersions::Counts Counts() const { return server_->stats().client_versions; }
};

TEST_F(ClientVersionsTest, AreCountedWhileTheConnectionIsOpen) {
  {
    RawClient first(endpoint().port);
    RawClient second(endpoint().port);
    RawClient silent(endpoint().port);
    ASSERT_TRUE(first.Send(HelloOf("2.6.1")) && second.Send(HelloOf("2.6.1")) && silent.Send(Hello()));
    const ClientVersions::Counts expected{{"2.6.1", 2}, {"unnamed", 1}};
    EXPECT_TRUE(Eventually([&] { return Counts() == expected; }));
  }
  EXPECT_TRUE(Eventually([&] { return Counts().empty(); })) << "the connections have ended";
}

TEST(ClientVersionTableTest, IsBoundedAndPrintable) {
  ClientVersions versions;
  EXPECT_EQ(versions.Add(std::string(100, 'v')).size(), kMostVersionText);
  EXPECT_EQ(versions.Add("\n").find('\n'), std::string::npos);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < 3 * kMostVersions; ++i) names.push_back(versions.Add(std::to_string(i)));
  EXPECT_LE(versions.Look().size(), kMostVersions + 1);
  EXPECT_GT(versions.Look().find(kOtherVersions)->second, kMostVersions);
  for (const std::string& name : names) versions.Remove(name);
  EXPECT_EQ(versions.Look().size(), 2U);
}

}  // namespace
}  // namespace ratchet::rpc
