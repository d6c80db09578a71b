// S130 (one check before each handler): every method of a master x users x targets. A second implementation reads the
// needs as text from the declarations and compares strings. It must agree with the services.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "common/audit/audit_policy.h"
#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/base/process_object.h"
#include "common/identity/certificate_callers.h"
#include "common/model/codec.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/model/proto/why.pb.h"
#include "common/model/region_info.h"
#include "common/rights/judge.h"
#include "common/rpc/channel_pool.h"
#include "common/rpc/methods/master_service.h"
#include "common/rpc/server.h"
#include "master/rpc/master_services.h"
#include "tests/support/master_world/service_env.h"
#include "tests/unit/master/fixture.h"

namespace ratchet::master {
namespace {

namespace pb = ::hbase::pb;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct Declared {
  std::string service;
  std::string method;
  std::string need;
  bool query = false;
};

// The declarations as text.
std::vector<Declared> ReadDeclarations() {
  std::vector<Declared> declared;
  for (const auto& entry : std::filesystem::directory_iterator("common/model/proto")) {
    std::ifstream file(entry.path());
    EXPECT_TRUE(file.good()) << entry.path() << ": the test runs in the repository's root";
    std::string service;
    std::string method;
    bool query = false;
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (std::regex_search(line, found, std::regex("^service ([A-Za-z]+)"))) service = found[1];
      if (std::regex_search(line, found, std::regex("^  rpc (\\w+)\\("))) {
        method = found[1];
        query = false;
      }
      query = query || line.find("NO_SIDE_EFFECTS") != std::string::npos;
      if (std::regex_search(line, found, std::regex("need: ([\\w@ ]+)$")))
        declared.push_back({service, method, found[1], query});
    }
  }
  return declared;
}

// A right in the naive form: "A", and "", "ns:default", "table:default:t", "table:default:t:f" or
// "table:default:t:f:q".
struct NaiveRight {
  char action;
  std::string where;
};

struct TestUser {
  std::string name;
  std::vector<NaiveRight> rights;
  bool superuser = false;
};

const std::set<std::string>& ChangesOfTables() {
  static const std::set<std::string> kChanges{"EnableTable",
                                              "DisableTable",
                                              "DeleteTable",
                                              "truncateTable",
                                              "ModifyTable",
                                              "AddColumn",
                                              "ModifyColumn",
                                              "DeleteColumn",
                                              "CreateTable",
                                              "SplitRegion",
                                              "MergeTableRegions",
                                              "TruncateRegion",
                                              "RequestLock",
                                              "ModifyTableStoreFileTracker",
                                              "ModifyColumnStoreFileTracker"};
  return kChanges;
}

// The needs of the requests that the test sends to methods whose request decides.
std::string NeedOfRequest(const std::string& method) {
  static const std::map<std::string, std::string> kNeeds{{"ExecProcedure", "AC@table"},
                                                         {"IsProcedureDone", "some@table"},
                                                         {"GetTableDescriptors", "AC@table"},
                                                         {"SetQuota", "A@table"},
                                                         {"ListRegions", "some@table"},
                                                         {"Why", "RA@global"},
                                                         {"Grant", "A@table"},
                                                         {"Revoke", "A@table"},
                                                         {"GetUserPermissions", "A@table"},
                                                         {"HasUserPermissions", "A@table"},
                                                         {"ListRights", "A@global"},
                                                         {"IssueToken", "A@global"},
                                                         {"ListTokens", "A@global"},
                                                         {"RevokeTokens", "A@global"}};
  return kNeeds.at(method);
}

bool NaiveAllows(const TestUser& user, std::string need, const std::string& method, const TableName& table) {
  if (need == "any" || need == "filter" || need == "handler" || user.superuser) return true;
  if (user.name.empty()) return false;
  if (need == "request") need = NeedOfRequest(method);
  if (need.rfind("owner or ", 0) == 0) need = need.substr(9);
  if (table.ns == "hbase" && ChangesOfTables().contains(method)) return false;
  const std::string letters = need.substr(0, need.find('@'));
  const std::string level = need.substr(need.find('@') + 1);
  const std::string whole = "table:" + table.ns + ":" + table.qualifier;
  std::set<std::string> around{""};
  if (level != "global") around.insert("ns:" + table.ns);
  if (level == "table" || level == "family") around.insert(whole);
  if (level == "family") around.insert(whole + ":f");
  for (const NaiveRight& right : user.rights) {
    if (letters == "some") {
      if (around.contains(right.where) || right.where.rfind(whole + ":", 0) == 0) return true;
    } else if (letters.find(right.action) != std::string::npos && around.contains(right.where)) {
      return true;
    }
  }
  return false;
}

class RightsMatrixTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.Boot(1);
    GivenTable("t", 1);
    gate_.Elected();
    gate_.Recovered({&master().logic(), &master().executor(), &master().store(), nullptr, master().executor().epoch()});
    gate_.WorkersStarted();
    gate_.Ready();
    env_.reload = [] { return Ok(); };
    services_ = {MakeMasterService(env_),     MakeRegionServerStatusService(env_),
                 MakeClientMetaService(env_), MakeHbckService(env_),
                 MakeLockService(env_),       MakeRatchetService(env_)};
    for (const auto& service : services_) service->CheckComplete();
    MakeUsers();
  }

  // Each action in each scope, once of the user and once of a group; and the users without a right.
  void MakeUsers() {
    std::vector<rights::RightsEntry> entries;
    std::string groups;
    users_ = {{"", {}}, {"stranger", {}}, {"root", {}, true}};
    const TableName table("default", "t");
    const std::vector<std::pair<std::string, rights::Scope>> scopes{
        {"", rights::Scope::Global()},
        {"ns:default", rights::Scope::Namespace("default")},
        {"table:default:t", rights::Scope::Table(table)},
        {"table:default:t:f", rights::Scope::Family(table, "f")},
        {"table:default:t:f:q", rights::Scope::Column(table, "f", "q")}};
    for (const char letter : std::string("RWXCA")) {
      for (const auto& [where, scope] : scopes) {
        const std::string name = std::string(1, letter) + "." + where;
        const rights::Actions actions = *rights::Actions::Parse(std::string(1, letter));
        entries.push_back({name, scope, actions});
        entries.push_back({"@" + name + "-group", scope, actions});
        users_.push_back({name, {{letter, where}}});
        users_.push_back({name + "-member", {{letter, where}}});
        member_of_[name + "-member"] = name + "-group";
      }
    }
    rights::Users::Table who;
    who.superusers.insert("root");
    for (const auto& [user, group] : member_of_) who.groups[user] = {group};
    who_->Set(rights::Mode::kEnforce, std::move(who));
    ASSERT_TRUE(holder_.Take(
        std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<rights::Scope>())));
  }

  static RegionInfo RegionOf(const TableName& table) {
    RegionInfo region;
    region.table = table;
    region.region_id = table.IsMeta() ? 1 : 7;
    return region;
  }
  static void Aim(pb::Permission& permission, const TableName& table) {
    permission.set_type(pb::Permission::Table);
    ToProto(table, *permission.mutable_table_permission()->mutable_table_name());
  }
  // Sets every field that names the target.
  static void Aim(Message& message, const TableName& table) {
    const auto& reflection = *message.GetReflection();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = message.GetDescriptor()->field(i);
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Message* const inner =
            field->is_repeated() ? reflection.AddMessage(&message, field) : reflection.MutableMessage(&message, field);
        if (auto* name = dynamic_cast<pb::TableName*>(inner))
          ToProto(table, *name);
        else if (auto* region = dynamic_cast<pb::RegionSpecifier*>(inner))
          SpecifyRegion(RegionOf(table), *region);
        else if (auto* info = dynamic_cast<pb::RegionInfo*>(inner))
          ToProto(RegionOf(table), *info);
        else if (auto* schema = dynamic_cast<pb::TableSchema*>(inner))
          ToProto(table, *schema->mutable_table_name());
        else if (auto* snapshot = dynamic_cast<pb::SnapshotDescription*>(inner))
          snapshot->set_table(table.ToString());
        else if (auto* permission = dynamic_cast<pb::Permission*>(inner))
          Aim(*permission, table);
        else if (auto* given = dynamic_cast<pb::UserPermission*>(inner))
          Aim(*given->mutable_permission(), table);
        else if (auto* asked = dynamic_cast<pb::ProcedureDescription*>(inner)) {
          asked->set_signature("flush-table-proc");
          asked->set_instance(table.ToString());
        } else {
          field->is_repeated() ? reflection.RemoveLast(&message, field) : reflection.ClearField(&message, field);
        }
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field->is_repeated()) {
        if (field->name() == "namespaceName") reflection.SetString(&message, field, table.ns);
        if (field->name() == "encoded_name") reflection.SetString(&message, field, RegionOf(table).name());
        if (field->name() == "family") reflection.SetString(&message, field, "f");
        if (field->name() == "user_name") reflection.SetString(&message, field, "stranger");
      }
    }
    if (auto* lock = dynamic_cast<pb::LockRequest*>(&message)) lock->clear_region_info();
    if (auto* asked = dynamic_cast<pb::GetUserPermissionsRequest*>(&message)) asked->set_type(pb::Permission::Table);
    if (auto* token = dynamic_cast<::ratchet::pb::IssueTokenRequest*>(&message)) token->set_user("another user");
    if (auto* asked = dynamic_cast<pb::HasUserPermissionsRequest*>(&message)) asked->set_user_name("another user");
  }

  // Compares both implementations; returns the number of differences.
  int Compare(bool report) {
    int differences = 0;
    const std::vector<TableName> targets{{"default", "t"},  {"default", "u"}, {"n2", "t"},
                                         {"hbase", "meta"}, {"hbase", "acl"}, {"default", "not-there"}};
    for (const Declared& declared : ReadDeclarations()) {
      const rpc::Service::Entry* const entry = Find(declared);
      if (entry == nullptr || declared.need == "member") continue;
      for (const TableName& target : targets) {
        const rpc::Service::MessagePtr request = entry->new_request();
        Aim(static_cast<Message&>(*request), target);
        for (const TestUser& user : users_) {
          rpc::CallContext call;
          call.user = user.name;
          call.method = declared.method;
          const Status allowed = entry->Allows(&judge_, call, *request);
          const bool expected = NaiveAllows(user, declared.need, declared.method, target);
          ++calls_;
          if (allowed.ok() == expected) continue;
          ++differences;
          if (report)
            ADD_FAILURE() << declared.method << " (" << declared.need << ") of " << target.ToString() << " by '"
                          << user.name << "': " << (allowed.ok() ? "allowed" : allowed.error().ToString());
          if (differences > 20) return differences;
        }
      }
    }
    return differences;
  }
  // The services with the judge, at a port.
  std::unique_ptr<rpc::RpcServer> Serve() {
    env_.judge = &judge_;
    rpc::ServerOptions options;
    options.judge = &judge_;
    auto server = std::make_unique<rpc::RpcServer>(std::move(options));
    server->Add(services_.front());
    EXPECT_TRUE(server->Start().ok());
    return server;
  }
  static auto As(const rpc::RpcServer& server, const std::string& user, const auto& method, const auto& request) {
    rpc::ChannelPoolOptions caller;
    caller.user = user;
    rpc::ChannelPool pool(caller);
    auto answer = pool.CallSync(method, {"127.0.0.1", server.port()}, request);
    pool.Stop();
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
    return answer->message;
  }
  const rpc::Service::Entry* Find(const Declared& declared) const {
    for (const auto& service : services_) {
      if (service->name() == declared.service) return service->Find(declared.method);
    }
    return nullptr;
  }

  MasterGate gate_{{"h", 1, 1}, "cluster-x", "test", cluster_.time()};
  LoadBook loads_;
  ServiceEnv env_ = QuietServiceEnv(gate_, loads_);
  rights::RightsHolder holder_;
  std::shared_ptr<rights::Users> who_ = std::make_shared<rights::Users>();
  rights::Judge judge_{holder_, who_};
  std::vector<std::shared_ptr<rpc::Service>> services_;
  std::vector<TestUser> users_;
  std::map<std::string, std::string> member_of_;
  std::size_t calls_ = 0;
};

TEST_F(RightsMatrixTest, EveryMethodDecidesAsTheSecondImplementation) {
  EXPECT_EQ(Compare(true), 0);
  RecordProperty("calls", static_cast<int>(calls_));
  EXPECT_GT(calls_, 30'000u);
}

TEST_F(RightsMatrixTest, ACallWithoutTheCheckIsNoticed) {
  const ScopedMutant mutant("rights.skip_check");
  EXPECT_GT(Compare(false), 0);
}

TEST_F(RightsMatrixTest, EachOfferedMethodIsDeclaredAndEachDeclaredMethodIsOffered) {
  std::map<std::string, std::set<std::string>> declared;
  for (const Declared& each : ReadDeclarations()) declared[each.service].insert(each.method);
  std::size_t all = 0;
  for (const auto& [service, methods] : declared) all += methods.size();
  EXPECT_GE(all, 157u);
  for (const auto& service : services_) {
    const std::vector<std::string> names = service->MethodNames();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), declared[service->name()]) << service->name();
  }
}

TEST_F(RightsMatrixTest, ListsLeaveOutWhatTheCallerMayNotSee) {
  const auto pid = Create("v", 1);
  ASSERT_TRUE(cluster_.Settle());
  const auto server = Serve();
  const auto as = [&server](const std::string& user, const auto& method, const auto& request) {
    return As(*server, user, method, request);
  };
  const auto names = [&](const std::string& user) {
    return as(user, methods::kGetTableNames, pb::GetTableNamesRequest()).table_names_size();
  };
  EXPECT_EQ(names("root"), 2);
  EXPECT_EQ(names("R.table:default:t:f:q"), 1) << "a right on a column shows the table's name";
  EXPECT_EQ(names("W.ns:default-member"), 2);
  EXPECT_EQ(names("stranger"), 0);
  const auto descriptors = [&](const std::string& user) {
    return as(user, methods::kGetTableDescriptors, pb::GetTableDescriptorsRequest()).table_schema_size();
  };
  EXPECT_EQ(descriptors("C.table:default:t"), 1);
  EXPECT_EQ(descriptors("R.table:default:t"), 0);
  pb::GetProcedureResultRequest result;
  result.set_proc_id(pid->value());
  const auto state = [&](const std::string& user) { return as(user, methods::kGetProcedureResult, result).state(); };
  EXPECT_EQ(state("stranger"), pb::GetProcedureResultResponse::NOT_FOUND) << "as if there were no such procedure";
  EXPECT_EQ(state("me"), pb::GetProcedureResultResponse::FINISHED) << "the owner";
  EXPECT_EQ(state("A."), pb::GetProcedureResultResponse::FINISHED);
  rpc::ChannelPoolOptions caller;
  caller.user = "stranger";
  rpc::ChannelPool stranger(caller);
  const auto refused = stranger.CallSync(methods::kGetProcedures, {"127.0.0.1", server->port()}, {});
  ASSERT_FALSE(refused.ok()) << "the server itself checks, before the handler";
  EXPECT_EQ(refused.error().remote_class(), exception::kAccessDenied);
  stranger.Stop();
  server->Stop();
}

// Superusers have every right without an entry. HBase's clients find them in the global list of all users.
TEST_F(RightsMatrixTest, SuperusersAreListedWithEveryRight) {
  env_.judge = &judge_;
  services_.front() = MakeMasterService(env_);
  rights::Users::Table who = *who_->table();
  who.supergroups.insert("ops");
  who_->Set(rights::Mode::kEnforce, std::move(who));
  const auto server = Serve();
  pb::GetUserPermissionsRequest all;
  all.set_type(pb::Permission::Global);
  const auto listed = As(*server, "root", methods::kGetUserPermissions, all);
  ASSERT_EQ(listed.user_permission_size(), 2) << "the book of the master has no entry";
  const std::vector<std::string> names{listed.user_permission(0).user(), listed.user_permission(1).user()};
  EXPECT_EQ(names, (std::vector<std::string>{"root", "@ops"}));
  for (const auto& each : listed.user_permission()) {
    EXPECT_EQ(each.permission().type(), pb::Permission::Global);
    const auto& actions = each.permission().global_permission().action();
    EXPECT_EQ(std::set<int>(actions.begin(), actions.end()), (std::set<int>{0, 1, 2, 3, 4})) << each.user();
  }
  EXPECT_EQ(As(*server, "root", methods::kGetUserPermissions, pb::GetUserPermissionsRequest()).user_permission_size(),
            2)
      << "a request without a type asks for the global list";
  pb::GetUserPermissionsRequest one = all;
  one.set_user_name("root");
  EXPECT_EQ(As(*server, "root", methods::kGetUserPermissions, one).user_permission_size(), 0);
  pb::GetUserPermissionsRequest table;
  table.set_type(pb::Permission::Table);
  ToProto(TableName("default", "t"), *table.mutable_table_name());
  EXPECT_EQ(As(*server, "root", methods::kGetUserPermissions, table).user_permission_size(), 0);
}

// The truth about this process: a client may name its own user, or must prove it.
TEST_F(RightsMatrixTest, TheCapabilitiesAreThoseOfTheProcess) {
  env_.judge = &judge_;
  services_.front() = MakeMasterService(env_);
  const auto server = Serve();
  using Capabilities = pb::SecurityCapabilitiesResponse;
  const auto shown = [&] {
    const auto answer = As(*server, "root", methods::kGetSecurityCapabilities, pb::SecurityCapabilitiesRequest());
    return std::set<int>(answer.capabilities().begin(), answer.capabilities().end());
  };
  EXPECT_EQ(shown(), (std::set<int>{Capabilities::SIMPLE_AUTHENTICATION, Capabilities::AUTHORIZATION}));
  identity::IdentityOptions options;
  options.user_from = "cn";
  auto proven = identity::CertificateCallers::Open(options);
  ASSERT_TRUE(proven.ok()) << proven.error().ToString();
  ProcessObject<identity::CertificateCallers>::Set(*proven);
  EXPECT_EQ(shown(), (std::set<int>{Capabilities::SECURE_AUTHENTICATION, Capabilities::AUTHORIZATION}));
  options.simple_users = "on";  // and clients in plain text
  auto named = identity::CertificateCallers::Open(options);
  ASSERT_TRUE(named.ok()) << named.error().ToString();
  ProcessObject<identity::CertificateCallers>::Set(*named);
  who_->Set(rights::Mode::kOff, *who_->table());
  EXPECT_EQ(shown(), (std::set<int>{Capabilities::SIMPLE_AUTHENTICATION}));
  ProcessObject<identity::CertificateCallers>::Set(nullptr);
}

TEST_F(RightsMatrixTest, ARefusalOfWhyDoesNotTellWhichTablesExist) {
  env_.judge = &judge_;
  const rpc::Service::Entry* const why = Find({"RatchetService", "Why", ""});
  const auto ask = [&](const std::string& user, const std::string& subject) {
    ::ratchet::pb::WhyRequest request;
    request.set_subject(subject);
    rpc::CallContext call;
    call.user = user;
    call.method = "Why";
    const Status allowed = why->Allows(&judge_, call, request);
    return allowed.ok() ? std::string("allowed") : allowed.error().message();
  };
  EXPECT_EQ(ask("R.table:default:t:f:q", "t"), "allowed");
  EXPECT_EQ(ask("A.", "not-there"), "allowed");
  EXPECT_NE(ask("stranger", "t"), "allowed");
  EXPECT_EQ(ask("stranger", "t"), ask("stranger", "not-there"));
}

// The class of a method in the audit log, by the code that writes its lines.
std::string AuditClassOf(const Declared& declared) {
  rpc::CallContext call;
  call.method = declared.method;
  call.member = declared.need == "member";
  if (!audit::NeedsLine(call, !declared.query)) return "refusals";
  return std::string(audit::EventOf(call.method)) + (audit::RunsWithoutRoom(call.method) ? ", without room" : "");
}

// The table is written by a script; the classes here are those of the code.
TEST(RightsDocumentTest, ListsEachMethodWithItsNeedAndItsClassInTheAuditLog) {
  std::ifstream file("docs/rights.md");
  std::set<std::string> listed;  // "service|need|class|method"
  for (std::string line; std::getline(file, line);) {
    std::smatch row;
    if (!std::regex_match(line, row, std::regex("\\| (\\w+) \\| `([\\w@ ]+)` \\| ([\\w, ]+) \\| (.*) \\|"))) continue;
    std::istringstream methods(row[4].str());
    for (std::string method; methods >> method;) {
      if (method.back() == ',') method.pop_back();
      listed.insert(row[1].str() + "|" + row[2].str() + "|" + row[3].str() + "|" + method);
    }
  }
  std::set<std::string> declared;
  for (const Declared& each : ReadDeclarations())
    declared.insert(each.service + "|" + each.need + "|" + AuditClassOf(each) + "|" + each.method);
  EXPECT_EQ(listed, declared);
}

}  // namespace
}  // namespace ratchet::master
