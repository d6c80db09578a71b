// Each method by a user with the least right that suffices, and by one who has every right but that: the second is
// refused and changes nothing, and the requests are such that the first does change something. Tests 1 and 2 of
// identity.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <google/protobuf/text_format.h>

#include "common/client/namespaces.h"
#include "common/client/snapshots.h"
#include "common/model/proto/aggregate.pb.h"
#include "common/model/proto/caller.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/model/proto/ratchet.pb.h"
#include "common/model/proto/token.pb.h"
#include "common/rights/scope.h"
#include "common/rpc/methods/client_service.h"
#include "common/rpc/methods/ratchet_service.h"
#include "tests/cluster/declared_methods.h"
#include "tests/cluster/rights_fixture.h"

namespace ratchet::chaos {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLetters = "RWXCA";

// The test adds this text to a request of the type that names the table t and its region. With `alone` the request is
// only the text and the region.
struct Words {
  std::string text;
  bool alone = false;
};

const std::map<std::string, Words>& RequestWords() {
  static const std::map<std::string, Words> kWords{
      {"AddReplicationPeerRequest",
       {R"(peer_id: "t" peer_config { clusterkey: "127.0.0.1:1:/other" } peer_state { state: DISABLED })", true}},
      {"RemoveReplicationPeerRequest", {R"(peer_id: "other")"}},
      {"CreateTableRequest",
       {R"(table_schema { table_name { namespace: "default" qualifier: "fresh" } column_families { name: "u" } })",
        true}},
      {"PauseRequest", {R"(scope { kind: RESOURCE resource: "namespace default" })", true}},
      {"ResumeRequest", {R"(scope { kind: RESOURCE resource: "namespace default" })", true}},
      {"MoveRegionRequest", {"", true}},
      {"TransitRegionRequest", {"verb: UNASSIGN"}},
      {"DeleteNamespaceRequest", {R"(namespaceName: "other")"}},
      {"GetNamespaceDescriptorRequest", {R"(namespaceName: "default")"}},
      {"ModifyColumnStoreFileTrackerRequest", {R"(family: "u")"}},
      {"GetUserPermissionsRequest", {"type: Table"}},
      {"HasUserPermissionsRequest",
       {R"(user_name: "another" permission { type: Table table_permission {
             table_name { namespace: "default" qualifier: "t" } action: READ } })",
        true}},
      {"GrantRequest",
       {R"(user_permission { user: "another" permission { type: Table table_permission {
             table_name { namespace: "default" qualifier: "t" } action: READ } } })",
        true}},
      {"RevokeRequest",
       {R"(user_permission { user: "third" permission { type: Table table_permission {
             table_name { namespace: "default" qualifier: "t" } action: READ } } })",
        true}},
      {"SetQuotaRequest",
       {R"(user_name: "another" table_name { namespace: "default" qualifier: "t" } throttle {
             type: REQUEST_NUMBER timed_quota { time_unit: SECONDS soft_limit: 100 scope: MACHINE } })",
        true}},
      {"ExecProcedureRequest", {R"(procedure { signature: "flush-table-proc" instance: "t" })", true}},
      {"IsProcedureDoneRequest", {R"(procedure { signature: "flush-table-proc" instance: "t" })", true}},
      {"SnapshotRequest", {R"(snapshot { name: "second" table: "t" })", true}},
      {"DeleteSnapshotRequest", {R"(snapshot { name: "first" table: "t" })", true}},
      {"IsSnapshotDoneRequest", {R"(snapshot { name: "first" table: "t" })", true}},
      {"RestoreSnapshotRequest", {R"(snapshot { name: "first" table: "t" })", true}},
      {"SetSplitOrMergeEnabledRequest", {"enabled: false switch_types: SPLIT", true}},
      {"GetRequest", {R"(get { row: "a" })", true}},
      {"ScanRequest", {"scan { } number_of_rows: 1 close_scanner: true", true}},
      {"MutateRequest",
       {R"(mutation { row: "a" mutate_type: PUT column_value {
             family: "u" qualifier_value { qualifier: "v" value: "changed" } } })",
        true}},
      {"LockRequest",
       {R"(lock_type: SHARED table_name { namespace: "default" qualifier: "t" } description: "a test")", true}}};
  return kWords;
}

// The needs of the requests above, where the declaration leaves it to the request or to the handler.
std::string NeedOf(const Declared& method) {
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
                                                         {"ListConnections", "A@global"},
                                                         {"CloseConnections", "A@global"},
                                                         {"ListTokens", "A@global"},
                                                         {"RevokeTokens", "A@global"},
                                                         {"DeleteSnapshot", "A@global"},
                                                         {"RestoreSnapshot", "A@global"},
                                                         {"IsSnapshotDone", "A@global"},
                                                         {"Get", "R@rows"},
                                                         {"Scan", "R@rows"},
                                                         {"Mutate", "W@rows"}};
  if (method.need == "request" || method.need == "handler") {
    const auto found = kNeeds.find(method.method);
    return found == kNeeds.end() ? std::string() : found->second;
  }
  return method.need.starts_with("owner or ") ? method.need.substr(9) : method.need;
}

class RightsLeastTest : public RightsFixture {
 protected:
  // Their handlers judge parts of a request one by one, or want a certificate: ExpectRefusedParts has them.
  static bool IsLeftOut(const Declared& method) {
    static const std::set<std::string> kOut{"Multi", "ExecService", "IssueToken"};
    return kOut.contains(method.method);
  }
  // They end processes.
  static bool ComesLast(const Declared& method) {
    static const std::set<std::string> kLast{"StopServer", "StopMaster", "Shutdown"};
    return kLast.contains(method.method);
  }
  // 0: anything else; 1: the region goes elsewhere; 2: it ends; 3: procedures of the table wait.
  static int RankOf(const Declared& method) {
    static const std::map<std::string, int> kRanks{{"MoveRegion", 1},     {"UnassignRegion", 1}, {"TransitRegion", 1},
                                                   {"SplitRegion", 2},    {"DeleteTable", 2},    {"DisableTable", 2},
                                                   {"TruncateRegion", 2}, {"GiveUpRegion", 2},   {"RequestLock", 3}};
    const auto found = kRanks.find(method.method);
    return found == kRanks.end() ? 0 : found->second;
  }
  static bool IsForUsers(const std::string& need) { return need != "any" && need != "filter" && need != "member"; }

  void GivenObjects() {
    TableDescriptor descriptor;
    descriptor.name = TableName("default", "t");
    descriptor.families = {DefaultFamily("u"), DefaultFamily("v")};
    ASSERT_OK(admin().WaitOk(admin().CreateTable(descriptor, {"m"})));
    client::Admin own = admin();
    ASSERT_OK(admin().WaitOk(client::CreateNamespace(own, {"other", {}})));
    MakeTable("another", 1);
    client::Table rows(connection(), descriptor.name);
    ASSERT_OK(rows.Mutate(client::Mutation::Put("a").Set("u", "v", "1")));
    ASSERT_OK(admin().WaitOk(client::Snapshots(connection()).Take("first", descriptor.name, {})));
    ASSERT_OK(Grant("third", InTable("t", "RW")));
    const auto regions = admin().Regions(descriptor.name);
    ASSERT_OK(regions);
    region_ = regions->front().region;
    holder_ = ProcessOf(regions->front().server);
  }
  static hpb::Permission At(const std::string& level, std::string_view letters) {
    if (level == "global") return Everywhere(letters);
    if (level == "namespace") return InNamespace("default", letters);
    return InTable("t", letters, level == "family" ? "u" : "");
  }
  // One user for each sufficient letter, and one with every other right that there is.
  void MakeUsers(const std::string& need) {
    const std::string letters = need.substr(0, need.find('@'));
    const std::string level = need.substr(need.find('@') + 1);
    const bool some = letters == "some";
    Users& users = users_[need];
    for (const char letter : some ? std::string("RX") : letters) {
      users.enough.push_back(fmt::format("least-{}-{}", letter, level));
      ASSERT_OK(Grant(users.enough.back(), At(level, std::string(1, letter))));
    }
    users.short_of = fmt::format("without-{}-{}", letters, level);
    std::string rest(kLetters);
    std::erase_if(rest, [&](char letter) { return some || letters.find(letter) != std::string::npos; });
    if (!rest.empty()) ASSERT_OK(Grant(users.short_of, Everywhere(rest)));
    std::vector<hpb::Permission> others{InNamespace("other", kLetters), InTable("another", kLetters)};
    if (level == "global") others.push_back(InNamespace("default", kLetters));
    if (level == "namespace") others.push_back(InTable("t", kLetters));
    if (level == "table" && !some) others.push_back(InTable("t", kLetters, "u"));
    if (level == "family" || (level == "rows" && letters == "W")) others.push_back(InTable("t", kLetters, "v"));
    for (const hpb::Permission& permission : others) ASSERT_OK(Grant(users.short_of, permission));
  }
  [[nodiscard]] std::vector<std::string> PlacesOf(const Declared& method) const {
    if (method.service == "ClientService") return {holder_};
    if (method.service == "AdminService" || method.service == "ClientMetaService") return {holder_, active_};
    return {active_};
  }
  [[nodiscard]] std::shared_ptr<google::protobuf::Message> RequestOf(const Declared& method) const {
    auto request = NewMessage(method.request);
    if (request == nullptr) return nullptr;
    const TargetFiller filler(region_, false);
    const auto words = RequestWords().find(method.request.substr(method.request.rfind('.') + 1));
    const bool alone = words != RequestWords().end() && words->second.alone;
    if (!alone) filler.Fill(*request);
    const auto* const field = request->GetDescriptor()->FindFieldByName("region");
    if (alone && field != nullptr)
      SpecifyRegion(region_, dynamic_cast<hpb::RegionSpecifier&>(
                                 *request->GetReflection()->MutableMessage(request.get(), field)));
    if (words == RequestWords().end()) return request;
    google::protobuf::TextFormat::Parser parser;
    const auto added = NewMessage(method.request);
    parser.AllowPartialMessage(true);
    EXPECT_TRUE(parser.ParseFromString(words->second.text, added.get())) << method.request;
    request->MergeFrom(*added);
    return request;
  }
  // The class of the refusal at the process; nullopt: not served there.
  std::optional<std::string> Ask(const std::string& user, const Declared& method, const std::string& process) {
    const auto request = RequestOf(method);
    const auto answer = NewMessage(method.response);
    if (request == nullptr || answer == nullptr) return "no such message: " + method.request;
    auto& pool = pools_[user];
    if (pool == nullptr) pool = std::make_unique<rpc::ChannelPool>(As(user));
    std::string text = CallDeclared(*pool, {"127.0.0.1", cluster().Info(process).port}, method, *request, answer);
    if (text == rpc::kNoSuchMethod || text == rpc::exception::kUnknownService) return std::nullopt;
    served_.insert(method.service + "." + method.method);
    return text;
  }
  static std::string Named(const std::string& user, const Declared& method, const std::string& answer) {
    return fmt::format("{}.{} ({}) by {}: {}", method.service, method.method, method.need, user, answer);
  }

  // Everything that the methods change, by kind.
  std::map<std::string, std::string> Fingerprint() {
    std::map<std::string, std::string> print;
    const auto add = [&](const std::string& kind, const auto& method, const auto& request) {
      const auto answer = admin().Call(method, request);
      print[kind] = answer.ok() ? answer->ShortDebugString() : "error: " + answer.error().ToString();
    };
    add("namespaces", methods::kListNamespaceDescriptors, hpb::ListNamespaceDescriptorsRequest());
    add("tables", methods::kGetTableDescriptors, hpb::GetTableDescriptorsRequest());
    add("snapshots", methods::kGetCompletedSnapshots, hpb::GetCompletedSnapshotsRequest());
    add("peers", methods::kListReplicationPeers, hpb::ListReplicationPeersRequest());
    add("rights", methods::kListRights, pb::ListRightsRequest());
    add("pauses", methods::kListPauses, pb::ListPausesRequest());
    pb::ListProceduresRequest procedures;
    procedures.set_include_finished(true);
    if (const auto listed = admin().Call(methods::kListProcedures, procedures); listed.ok()) {
      for (const auto& each : listed->procedure())
        print["procedures"] += fmt::format("{} {} of {}\n", each.pid(), each.type(), each.owner());
    }
    if (const auto regions = admin().Regions(region_.table); regions.ok()) {
      for (const auto& each : *regions) print["regions"] += each.region.name() + " at " + each.server.ToString() + "\n";
    }
    print["rows"] = RowsOf(region_.table);
    print["quotas"] = RowsOf(TableName("hbase", "quota"));
    rpc::ChannelPool& pool = connection().pool();
    for (const Declared& method : methods_) {
      if (method.service != "MasterService" || !method.method.starts_with("Is") || method.method == "IsProcedureDone")
        continue;
      const auto answer = NewMessage(method.response);
      const std::string refused =
          CallDeclared(pool, {"127.0.0.1", cluster().Info(active_).port}, method, *RequestOf(method), answer);
      print["switches"] += method.method + ": " + refused + answer->ShortDebugString() + "\n";
    }
    for (const char* folder : {"wals", "archive", "data/default"}) {
      std::set<std::string> files;
      for (const auto& entry : fs::recursive_directory_iterator(cluster().root() / folder))
        files.insert(entry.path().string());
      print["files"] += fmt::format("{}\n", fmt::join(files, "\n"));
    }
    return print;
  }
  std::string RowsOf(const TableName& table) {
    std::string text;
    client::Scanner scanner(connection(), table, {}, Millis{5'000});
    for (;;) {
      const auto row = scanner.Next();
      if (!row.ok()) return row.error().remote_class();
      if (!row->has_value()) return text;
      for (const Cell& cell : (*row)->cells) text += cell.row + " " + cell.qualifier + "=" + cell.value + "\n";
    }
  }
  static std::set<std::string> Differences(const std::map<std::string, std::string>& before,
                                           const std::map<std::string, std::string>& after) {
    std::set<std::string> kinds;
    for (const auto& [kind, text] : before) {
      const auto now = after.find(kind);
      if (now == after.end() || now->second != text) kinds.insert(kind);
    }
    return kinds;
  }
  // Every method by users who lack the right, superusers for what is only for members.
  void ExpectRefusals() {
    for (const Declared& method : methods_) {
      if (IsLeftOut(method) || method.need == "any" || method.need == "filter") continue;
      const std::string need = NeedOf(method);
      const std::string lacking = need == "member" ? "admin" : users_[need].short_of;
      for (const std::string& user : {lacking, std::string("stranger")}) {
        for (const std::string& place : PlacesOf(method)) {
          const auto answer = Ask(user, method, place);
          if (!answer) continue;
          ++refused_;
          EXPECT_EQ(*answer, rpc::exception::kAccessDenied) << Named(user, method, *answer);
        }
      }
    }
  }
  template <class Request, class Response>
  Result<Response> AskAs(const std::string& user, const rpc::Method<Request, Response>& method, const Request& request,
                         const std::string& process) {
    auto& pool = pools_[user];
    if (pool == nullptr) pool = std::make_unique<rpc::ChannelPool>(As(user));
    auto answer = pool->CallSync(method, {"127.0.0.1", cluster().Info(process).port}, request);
    if (!answer.ok()) return answer.error();
    return std::move(answer->message);
  }
  static hpb::MutationProto PutOf(const std::string& value) {
    hpb::MutationProto put;
    put.set_row("a");
    put.set_mutate_type(hpb::MutationProto::PUT);
    auto& column = *put.add_column_value();
    column.set_family("u");
    auto& cell = *column.add_qualifier_value();
    cell.set_qualifier("parts");
    cell.set_value(value);
    return put;
  }
  // Two puts. Returns the class of each refusal; empty: an action was allowed.
  std::set<std::string> BatchAs(const std::string& user, bool atomic) {
    hpb::MultiRequest request;
    auto& group = *request.add_regionaction();
    SpecifyRegion(region_, *group.mutable_region());
    group.set_atomic(atomic);
    for (std::uint32_t i = 0; i < 2; ++i) {
      auto& action = *group.add_action();
      action.set_index(i);
      *action.mutable_mutation() = PutOf(fmt::format("{} {} {}", user, atomic, i));
    }
    const auto answer = AskAs(user, methods::kMulti, request, holder_);
    if (!answer.ok()) return {answer.error().remote_class()};
    const auto& result = answer->regionactionresult(0);
    if (result.has_exception()) return {result.exception().name()};
    std::set<std::string> refusals;
    for (const auto& each : result.resultorexception()) refusals.insert(each.exception().name());
    return refusals;
  }
  // MutateRows of one put, or a count of rows.
  std::string ServiceAs(const std::string& user, bool writes) {
    hpb::MutateRowsRequest rows;
    *rows.add_mutation_request() = PutOf(user + " by a service");
    hpb::AggregateRequest count;
    count.set_interpreter_class_name("org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter");
    count.mutable_scan()->add_column()->set_family("u");
    hpb::CoprocessorServiceRequest request;
    SpecifyRegion(region_, *request.mutable_region());
    auto& call = *request.mutable_call();
    call.set_row("a");
    call.set_service_name(writes ? "MultiRowMutationService" : "AggregateService");
    call.set_method_name(writes ? "MutateRows" : "GetRowNum");
    call.set_request(writes ? rows.SerializeAsString() : count.SerializeAsString());
    const auto answer = AskAs(user, methods::kExecService, request, holder_);
    return answer.ok() ? std::string() : answer.error().remote_class();
  }
  void ExpectRefusedParts() {
    const std::string denied(rpc::exception::kAccessDenied);
    for (const std::string& user : {users_["W@rows"].short_of, std::string("stranger")}) {
      for (const bool atomic : {false, true})
        EXPECT_EQ(BatchAs(user, atomic), std::set<std::string>{denied}) << "Multi by " << user << ", atomic " << atomic;
      EXPECT_EQ(ServiceAs(user, true), denied) << "MutateRows by " << user;
    }
    for (const std::string& user : {users_["R@rows"].short_of, std::string("stranger")})
      EXPECT_EQ(ServiceAs(user, false), denied) << "GetRowNum by " << user;
    // A user without a certificate gets no token, not even a superuser.
    for (const std::string& user : {std::string("stranger"), std::string("admin")}) {
      for (const std::string& name : {user, std::string("another")}) {
        pb::IssueTokenRequest request;
        request.set_user(name);
        const auto issued = AskAs(user, methods::kIssueToken, request, active_);
        ASSERT_FALSE(issued.ok()) << user << " has a token of " << name;
        EXPECT_EQ(issued.error().remote_class(), denied) << issued.error().ToString();
      }
    }
  }
  // The requests of ExpectRefusedParts do something if their user may.
  void ExpectAllowedParts() {
    const auto rows_with = [this](const std::string& value) {
      return RowsOf(region_.table).find("parts=" + value) != std::string::npos;
    };
    const std::string writer = users_["W@rows"].enough.front();
    const std::set<std::string> allowed{""};
    for (const bool atomic : {false, true}) {
      EXPECT_EQ(BatchAs(writer, atomic), allowed);
      EXPECT_TRUE(rows_with(fmt::format("{} {} 1", writer, atomic)));
    }
    EXPECT_EQ(ServiceAs(writer, true), "");
    EXPECT_TRUE(rows_with(writer + " by a service"));
    EXPECT_EQ(ServiceAs(users_["R@rows"].enough.front(), false), "");
    const auto who = AskAs("stranger", methods::kWhoAmI, pb::WhoAmIRequest(), active_);
    ASSERT_OK(who);
    EXPECT_EQ(who->user(), "stranger");
  }
  void ExpectAllowed(const Declared& method, const std::vector<std::string>& users, const std::string& place) {
    for (const std::string& user : users) {
      const auto answer = Ask(user, method, place);
      if (!answer) continue;
      EXPECT_NE(*answer, rpc::exception::kAccessDenied) << Named(user, method, *answer);
    }
  }

  struct Users {
    std::vector<std::string> enough;
    std::string short_of;
  };
  static std::vector<Declared> InOrder() {
    std::vector<Declared> all = ReadDeclared();
    std::sort(all.begin(), all.end(), [](const Declared& left, const Declared& right) {
      return std::tuple(RankOf(left), left.service, left.method) <
             std::tuple(RankOf(right), right.service, right.method);
    });
    return all;
  }
  std::vector<Declared> methods_ = InOrder();
  RegionInfo region_;
  std::string holder_;  // of the region
  std::string active_;
  std::map<std::string, Users> users_;  // by need
  std::map<std::string, std::unique_ptr<rpc::ChannelPool>> pools_;
  std::set<std::string> served_;
  int refused_ = 0;
};

TEST_F(RightsLeastTest, EachRightAllowsItsMethodsAndTheLackOfItChangesNothing) {
  Boot(2, 2, Enforcing());
  if (HasFatalFailure()) return;
  const auto active = cluster().ActiveMaster();
  ASSERT_OK(active);
  active_ = *active;
  GivenObjects();
  if (HasFatalFailure()) return;
  for (const Declared& method : methods_) {
    const std::string need = NeedOf(method);
    if (IsLeftOut(method) || !IsForUsers(need) || users_.contains(need)) continue;
    ASSERT_NE(need.find('@'), std::string::npos) << method.method << " has no need that the test knows";
    MakeUsers(need);
    if (HasFatalFailure()) return;
  }
  // The tables that follow are made by the master itself.
  ASSERT_OK(ProcessCluster::WaitUntil("hbase:acl and hbase:namespace", kPatience, [&] {
    return RowsOf(rights::AclTableName()).find('=') != std::string::npos &&
           RowsOf(TableName("hbase", "namespace")).find('=') != std::string::npos;
  }));
  ASSERT_OK(cluster().WaitServing(kPatience));

  const auto before = Fingerprint();
  ExpectRefusals();
  ExpectRefusedParts();
  if (HasFatalFailure()) return;
  const auto refused = Fingerprint();
  for (const std::string& kind : Differences(before, refused))
    ADD_FAILURE() << "refused calls have changed " << kind << ":\n" << before.at(kind) << "\nnow\n" << refused.at(kind);
  EXPECT_GT(refused_, 250);
  ExpectAllowedParts();
  const auto ready = Fingerprint();

  for (const Declared& method : methods_) {
    if (IsLeftOut(method) || ComesLast(method) || method.need == "member") continue;
    const std::string need = NeedOf(method);
    for (const std::string& place : PlacesOf(method))
      ExpectAllowed(method, IsForUsers(need) ? users_[need].enough : std::vector<std::string>{"stranger"}, place);
  }
  for (const Declared& method : methods_) {
    if (IsLeftOut(method)) continue;
    EXPECT_TRUE(served_.contains(method.service + "." + method.method)) << method.method << " is served nowhere";
  }
  // Requests of a permitted user change something of each kind. Regions may be at their first servers again.
  std::set<std::string> same;
  const Status all = ProcessCluster::WaitUntil("changes of each kind", kPatience, [&] {
    const auto now = Fingerprint();
    const auto changed = Differences(ready, now);
    same.clear();
    for (const auto& [kind, text] : ready) {
      if (kind != "regions" && !changed.contains(kind)) same.insert(kind);
    }
    return same.empty();
  });
  EXPECT_TRUE(all.ok()) << "nothing has changed: " << testing::PrintToString(same);
  const std::string may = users_["A@global"].enough.front();
  for (const auto& [name, place] : {std::pair{std::string("StopServer"), holder_}, {"StopMaster", active_}}) {
    for (const Declared& method : methods_) {
      if (method.method == name) ExpectAllowed(method, {may}, place);
    }
    ASSERT_OK(cluster().WaitExit(place, kPatience));
  }
  SkipVerification();
}

}  // namespace
}  // namespace ratchet::chaos
