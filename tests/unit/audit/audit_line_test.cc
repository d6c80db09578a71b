// Lines of the audit log: what they show of hostile names, and what the verification finds.
#include "common/audit/audit_line.h"

#include <rapidjson/document.h>

#include <gtest/gtest.h>

#include "common/audit/audit_policy.h"
#include "common/audit/audit_target.h"
#include "common/audit/verify.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/client.pb.h"
#include "common/model/proto/master.pb.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/proto/token.pb.h"

namespace ratchet::audit {
namespace {

using namespace std::string_literals;

std::string Chain(int lines) {
  std::string text;
  std::string hash = NoHash();
  for (int i = 1; i <= lines; ++i) {
    AuditLine line;
    line.event = "change";
    const std::string line_text = WholeLine(static_cast<std::uint64_t>(i), hash, LineBody(line, "h", "p"));
    hash = ChainHash(line_text);
    text += line_text;
  }
  return text;
}
VerifyReport Report(const std::string& text) {
  Verifier verifier;
  verifier.AddFile("f", text);
  return verifier.report();
}

TEST(AuditLineTest, HostileNamesAreEscapedAndCut) {
  const std::string hostile = "bob\n{\"n\":9}\x1b[31m\0\"\\\x9b\xc3\xa9"s;
  AuditLine line;
  line.event = "deny";
  line.user = hostile;
  const std::string huge(1U << 20, 'x');
  line.target = line.why = line.method = huge;
  const std::string whole = WholeLine(7, NoHash(), LineBody(line, "h", "p"));
  EXPECT_LT(whole.size(), 4'096u);
  for (std::size_t i = 0; i + 1 < whole.size(); ++i) {
    EXPECT_GE(whole[i], ' ');
    EXPECT_LT(static_cast<unsigned char>(whole[i]), 0x7f);
  }
  rapidjson::Document json;
  ASSERT_FALSE(json.Parse(whole.c_str()).HasParseError());
  EXPECT_STREQ(json["user"].GetString(), R"(bob\x0A{"n":9}\x1B[31m\x00"\x5C\x9B\xC3\xA9)");
  std::uint64_t number = 0;
  std::string_view prev;
  EXPECT_TRUE(ReadLine(whole, number, prev));
  EXPECT_EQ(number, 7u);
}

TEST(AuditLineTest, TheVerificationFindsEveryChange) {
  const std::string text = Chain(6);
  EXPECT_TRUE(Report(text).problems.empty());
  EXPECT_EQ(Report(text).lines, 6u);
  // Any changed byte of a line that another one follows.
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  for (std::size_t i = 0; i < last; ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_FALSE(Report(changed).problems.empty()) << i;
  }
  std::vector<std::size_t> begins{0};
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) begins.push_back(++at);
  for (std::size_t i = 0; i + 2 < begins.size(); ++i) {
    std::string removed = text;
    removed.erase(begins[i], begins[i + 1] - begins[i]);
    EXPECT_EQ(Report(removed).problems.empty(), i == 0) << "without line " << i + 1;
    std::string twice = text;
    twice.insert(begins[i], text.substr(begins[i], begins[i + 1] - begins[i]));
    EXPECT_FALSE(Report(twice).problems.empty());
  }
  EXPECT_FALSE(Report(text.substr(0, text.size() - 5)).problems.empty());
  EXPECT_TRUE(Report(text + std::string(100, '\0')).problems.empty()) << "reserved space";
  EXPECT_FALSE(Report("some other file\n").problems.empty());
}

TEST(AuditTargetTest, NamesOfObjectsAreTheOnlyContent) {
  hbase::pb::CreateTableRequest create;
  create.mutable_table_schema()->mutable_table_name()->set_namespace_("ns");
  create.mutable_table_schema()->mutable_table_name()->set_qualifier("t");
  auto& attribute = *create.mutable_table_schema()->add_attributes();
  attribute.set_first("password");
  attribute.set_second("planted-secret");
  create.add_split_keys("planted-row");
  EXPECT_EQ(TargetOf(create), "ns:t");
  hbase::pb::MutateRequest put;
  put.mutable_region()->set_type(hbase::pb::RegionSpecifier::REGION_NAME);
  put.mutable_region()->set_value("t,,1.abc.");
  put.mutable_mutation()->set_row("planted-row");
  put.mutable_mutation()->add_column_value()->add_qualifier_value()->set_value("planted-secret");
  EXPECT_EQ(TargetOf(put).find("planted"), std::string::npos);
  EXPECT_EQ(TargetOf(put).find("region=t,,1.abc."), 0u) << TargetOf(put);
  hbase::pb::SnapshotRequest snapshot;
  snapshot.mutable_snapshot()->set_name("s1");
  EXPECT_EQ(TargetOf(snapshot), "name=s1");
}

// A change of rights names who gets them, in which scope, and which.
TEST(AuditTargetTest, RightsNameTheirUserScopeAndActions) {
  hbase::pb::GrantRequest grant;
  auto& permission = *grant.mutable_user_permission();
  permission.set_user("ali\nce");
  permission.mutable_permission()->set_type(hbase::pb::Permission::Table);
  auto& table = *permission.mutable_permission()->mutable_table_permission();
  table.mutable_table_name()->set_namespace_("ns");
  table.mutable_table_name()->set_qualifier("t");
  table.set_family("f");
  table.set_qualifier("q");
  for (const auto action : {hbase::pb::Permission::READ, hbase::pb::Permission::WRITE, hbase::pb::Permission::EXEC,
                            hbase::pb::Permission::CREATE, hbase::pb::Permission::ADMIN})
    table.add_action(action);
  EXPECT_EQ(TargetOf(grant), "user=ali\nce ns:t family=f qualifier=q actions=RWXCA");
  hbase::pb::RevokeRequest revoke;
  revoke.mutable_user_permission()->set_user("@ops");
  revoke.mutable_user_permission()->mutable_permission()->set_type(hbase::pb::Permission::Global);
  EXPECT_EQ(TargetOf(revoke), "user=@ops");
  pb::IssueTokenRequest token;
  token.set_user("etl");
  EXPECT_EQ(TargetOf(token), "user=etl");
}

TEST(AuditPolicyTest, ChangesOfClientsNeedALine) {
  rpc::CallContext call;
  call.method = "CreateTable";
  EXPECT_TRUE(NeedsLine(call, true));
  EXPECT_FALSE(NeedsLine(call, false));
  call.method = "Mutate";
  EXPECT_FALSE(NeedsLine(call, true));
  call.method = "OpenRegion";
  call.member = true;
  EXPECT_FALSE(NeedsLine(call, true));
  EXPECT_EQ(EventOf("Grant"), "rights");
  EXPECT_TRUE(RunsWithoutRoom("DeleteTable"));
  EXPECT_TRUE(RunsWithoutRoom("DisableTable")) << "or no enabled table could be deleted";
  EXPECT_FALSE(RunsWithoutRoom("Grant"));
}

}  // namespace
}  // namespace ratchet::audit
