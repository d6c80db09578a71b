// Secret values in the configurations of replication peers: stored, and left out of answers to clients.
#include "common/model/peer_secrets.h"
#include "common/model/replication_peer.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/peer_directory.h"
#include "tests/unit/master/fixture.h"
#include "tests/unit/master/judged_service.h"

namespace ratchet::master {
namespace {

namespace hpb = ::hbase::pb;

TEST(PeerConfigTest, KeysOfSecretsAreKnown) {
  for (const char* secret :
       {"hbase.peer.password", "PASSWORD", "ssl.server.keystore.password", "ssl.server.keystore.pass", "a.passwd",
        "my.passphrase", "fs.s3.awsSecretAccessKey", "fs.s3a.secret.key", "fs.s3a.server-side-encryption.key",
        "fs.azure.account.key.mine.blob.core.windows.net", "dfs.adls.oauth2.credential", "oauth.refresh.token"})
    EXPECT_TRUE(NamesASecret(secret)) << secret;
  for (const char* plain : {"", "hbase.replication.source.shipedits.timeout", "key", "keys", "hbase.keytab.file",
                            "pass", "bypass.limit", "fs.s3a.endpoint"})
    EXPECT_FALSE(NamesASecret(plain)) << plain;
}

class PeerSecretsTest : public MasterTest {
 protected:
  static constexpr const char* kKey = "hbase.peer.password";
  static constexpr const char* kDataKey = "the.token";

  void SetUp() override {
    cluster_.Boot(1);
    service_ =
        std::make_unique<JudgedService>(cluster_, std::set<std::string>{"root"}, std::vector<rights::RightsEntry>());
  }
  static void Configure(hpb::ReplicationPeer& config, const std::string& name, const std::string& value) {
    auto& pair = *config.add_configuration();
    pair.set_name(name);
    pair.set_value(value);
  }
  static hpb::ReplicationPeer Config(const std::string& password, const std::string& token) {
    hpb::ReplicationPeer config;
    config.set_clusterkey("elsewhere:2181:/hbase");
    config.set_replicate_all(true);
    Configure(config, "a.limit", "7");
    Configure(config, kKey, password);
    auto& data = *config.add_data();
    data.set_first(kDataKey);
    data.set_second(token);
    return config;
  }
  // Settles, and returns the refusal; empty: done.
  template <class Request, class Response>
  std::string Change(const rpc::Method<Request, Response>& method, const hpb::ReplicationPeer& config) {
    Request request;
    request.set_peer_id("p");
    *request.mutable_peer_config() = config;
    if constexpr (std::is_same_v<Request, hpb::AddReplicationPeerRequest>)
      *request.mutable_peer_state() = PeerState(true);
    const auto changed = service_->As("root", method, request);
    if (!changed.ok()) return changed.error().message();
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return {};
  }
  std::string Add(const hpb::ReplicationPeer& config) { return Change(methods::kAddReplicationPeer, config); }
  std::string Update(const hpb::ReplicationPeer& config) {
    return Change(methods::kUpdateReplicationPeerConfig, config);
  }
  hpb::ReplicationPeer Stored() { return master().logic().peers.Get("p")->config(); }
  hpb::ReplicationPeer Shown() {
    hpb::GetReplicationPeerConfigRequest request;
    request.set_peer_id("p");
    const auto shown = service_->As("root", methods::kGetReplicationPeerConfig, request);
    EXPECT_TRUE(shown.ok()) << shown.error().ToString();
    return shown.ok() ? shown->peer_config() : hpb::ReplicationPeer();
  }

  std::unique_ptr<JudgedService> service_;
};

TEST_F(PeerSecretsTest, NoAnswerHasASecretValue) {
  ASSERT_EQ(Add(Config("first-password", "first-token")), "");
  const auto list = service_->As("root", methods::kListReplicationPeers, hpb::ListReplicationPeersRequest());
  ASSERT_TRUE(list.ok()) << list.error().ToString();
  ASSERT_EQ(list->peer_desc_size(), 1);
  const hpb::ReplicationPeer expected = Config(std::string(kHiddenValue), std::string(kHiddenValue));
  for (const hpb::ReplicationPeer& shown : {Shown(), list->peer_desc(0).config()})
    EXPECT_EQ(shown.ShortDebugString(), expected.ShortDebugString());
  EXPECT_EQ(Stored().configuration(1).value(), "first-password");
  EXPECT_EQ(Stored().data(0).second(), "first-token");
}

// As HBase's shell does: it asks for the configuration, changes a part, and returns the whole.
TEST_F(PeerSecretsTest, AnUpdateThatReturnsWhatWasShownKeepsTheSecrets) {
  ASSERT_EQ(Add(Config("first-password", "first-token")), "");
  hpb::ReplicationPeer config = Shown();
  config.set_bandwidth(100);
  ASSERT_EQ(Update(config), "");
  hpb::ReplicationPeer expected = Config("first-password", "first-token");
  expected.set_bandwidth(100);
  EXPECT_EQ(Stored().ShortDebugString(), expected.ShortDebugString());
  ASSERT_EQ(Update(Config("second-password", std::string(kHiddenValue))), "");
  EXPECT_EQ(Stored().ShortDebugString(), Config("second-password", "first-token").ShortDebugString());
  hpb::ReplicationPeer without = Shown();
  without.clear_data();
  ASSERT_EQ(Update(without), "");
  EXPECT_EQ(Stored().data_size(), 0) << "what an update leaves out is removed";
  EXPECT_EQ(Stored().configuration(1).value(), "second-password");
}

TEST_F(PeerSecretsTest, AHiddenValueIsNeverStored) {
  const std::string hidden(kHiddenValue);
  for (const auto& config : {Config(hidden, "a-token"), Config("a-password", hidden)}) {
    EXPECT_NE(Add(config).find("give the value itself"), std::string::npos);
    EXPECT_FALSE(master().logic().peers.Get("p").has_value());
  }
  hpb::ReplicationPeer bare = Config("", "");
  bare.clear_configuration();
  bare.clear_data();
  Configure(bare, "a.note", hidden);
  ASSERT_EQ(Add(bare), "") << "the key names no secret";
  for (const auto& config : {Config(hidden, "a-token"), Config("a-password", hidden)}) {
    const std::string refusal = Update(config);
    EXPECT_NE(refusal.find("give the value itself"), std::string::npos) << refusal;
    EXPECT_EQ(Stored().ShortDebugString(), bare.ShortDebugString());
  }
}

}  // namespace
}  // namespace ratchet::master
