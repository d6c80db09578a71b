// ClientService: every method, and every service of a region, x each action in each scope, of a user and of a group.
// A second implementation decides with a list of cells: which of them a user may see and change. Reads are compared
// cell by cell, writes by the rows that the table has at the end. Tests 1 and 2 of identity.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/base/mutant.h"
#include "common/model/proto/access_control.pb.h"
#include "common/model/proto/aggregate.pb.h"
#include "common/model/proto/filter.pb.h"
#include "common/model/proto/multi_row_mutation.pb.h"
#include "common/model/proto/region_access.pb.h"
#include "common/rpc/exceptions.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

using rights::Scope;

struct Column {
  std::string family;
  std::string qualifier;  // empty: the whole family
  bool operator<(const Column& other) const {
    return std::tie(family, qualifier) < std::tie(other.family, other.qualifier);
  }
};
using Columns = std::vector<Column>;

const Columns& AllCells() {
  static const Columns cells{{"f1", "a"}, {"f1", "b"}, {"f2", "a"}};
  return cells;
}

// One right in the naive form.
struct MatrixRight {
  char letter;
  std::string where;  // "all", "ns", "t", "f1", "f2", "f1:a" or "another"
};

struct MatrixUser {
  std::vector<MatrixRight> rights;
  bool superuser = false;
};

// The second implementation: one right, one column.
bool Covers(const std::string& where, const Column& column) {
  if (where == "all" || where == "ns" || where == "t") return true;
  if (where == column.family) return true;
  return !column.qualifier.empty() && where == column.family + ":" + column.qualifier;
}

bool Holds(const MatrixUser& user, char letter, const Column& column) {
  return user.superuser || std::any_of(user.rights.begin(), user.rights.end(), [&](const MatrixRight& right) {
           return right.letter == letter && Covers(right.where, column);
         });
}

// A call, and what it needs.
struct MatrixCall {
  std::string name;
  bool reads = false;    // the answer has the visible cells of `asked`
  Columns asked;         // columns that it reads
  Columns conditions;    // columns that must be readable as a whole, or the call is refused
  Columns changes;       // columns that it changes
  bool execute = false;  // X too, with --exec-permission-checks
  std::function<std::string(const std::string& row)> send;  // returns the visible cells, or "denied"
};

std::string Name(const Column& column) { return column.family + ":" + column.qualifier; }

class ClientMatrixTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_, 1, {"f1", "f2"}).outcome, OrderOutcome::kOpened);
    pb::MutateRequest cells;
    *cells.mutable_region() = Specify(region_);
    *cells.mutable_mutation() = PutProto("row", "a", "v", "f1");
    *cells.mutable_mutation()->add_column_value() = PutProto("row", "b", "v", "f1").column_value(0);
    *cells.mutable_mutation()->add_column_value() = PutProto("row", "a", "v", "f2").column_value(0);
    ASSERT_TRUE(Call(methods::kMutate, cells).ok());
    MakeUsers();
    AddReads();
    AddWrites();
    AddBatches();
    AddServices();
  }
  void TearDown() override {
    if (caller_ != nullptr) caller_->Stop();
    ServiceFixture::TearDown();
  }

  void MakeUsers() {
    const TableName table = region_.table;
    const std::map<std::string, Scope> scopes{{"all", Scope::Global()},
                                              {"ns", Scope::Namespace(table.ns)},
                                              {"t", Scope::Table(table)},
                                              {"f1", Scope::Family(table, "f1")},
                                              {"f2", Scope::Family(table, "f2")},
                                              {"f1:a", Scope::Column(table, "f1", "a")},
                                              {"another", Scope::Table(TableName("default", "another"))}};
    std::vector<rights::RightsEntry> entries;
    std::string groups;
    users_of_ = {{"stranger", {}}, {"root", {{}, true}}};
    const auto add = [&](const std::vector<MatrixRight>& given) {
      std::string name;
      for (const MatrixRight& right : given) name += right.letter + std::string(".") + right.where + ".";
      std::replace(name.begin(), name.end(), ':', '-');  // it ends the name of a group
      for (const MatrixRight& right : given) {
        const rights::Actions actions = *rights::Actions::Parse(std::string(1, right.letter));
        entries.push_back({name, scopes.at(right.where), actions});
        entries.push_back({"@g-" + name, scopes.at(right.where), actions});
      }
      groups += "g-" + name + ": member-" + name + "\n";
      users_of_[name] = users_of_["member-" + name] = {given};
    };
    for (const char letter : std::string("RWXCA")) {
      for (const auto& [where, scope] : scopes) add({{letter, where}});
    }
    for (const auto& [where, scope] : scopes) {
      add({{'R', where}, {'W', where}});
      add({{'R', where}, {'X', "t"}});
      add({{'W', where}, {'X', "ns"}});
    }
    users_->Set(rights::Mode::kEnforce, *rights::Users::Parse("root", groups));
    ASSERT_TRUE(
        rights_.Take(std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<Scope>())));
  }

  // Sends as the current user. Without cell blocks, so that the answer has the cells.
  template <class Request, class Response>
  Result<Response> Send(const rpc::Method<Request, Response>& method, const Request& request) {
    auto answer = caller_->CallSync(method, {"127.0.0.1", server_->port()}, request);
    if (!answer.ok()) return answer.error();
    return std::move(answer->message);
  }
  static std::string Verdict(const Error& error) {
    return error.remote_class() == rpc::exception::kAccessDenied ? "denied" : error.ToString();
  }
  static std::string Cells(const pb::Result& result) {
    std::set<std::string> cells;
    for (const pb::Cell& cell : result.cell()) cells.insert(cell.family() + ":" + cell.qualifier());
    std::string text;
    for (const std::string& cell : cells) text += cell + " ";
    return text;
  }
  template <class Message>
  static void Ask(Message& message, const Columns& columns) {
    for (const Column& each : columns) {
      auto* column = message.add_column();
      column->set_family(each.family);
      if (!each.qualifier.empty()) column->add_qualifier(each.qualifier);
    }
  }

  void AddReads() {
    for (const Columns& asked : std::vector<Columns>{{}, {{"f1", ""}}, {{"f2", ""}}, {{"f1", "a"}}, {{"f1", "b"}}}) {
      const std::string name = asked.empty() ? "all" : Name(asked.front());
      MatrixCall get{"Get " + name, true, asked, {}, {}, false, {}};
      get.send = [this, asked](const std::string&) {
        pb::GetRequest request;
        *request.mutable_region() = Specify(region_);
        request.mutable_get()->set_row("row");
        Ask(*request.mutable_get(), asked);
        const auto answer = Send(methods::kGet, request);
        return answer.ok() ? Cells(answer->result()) : Verdict(answer.error());
      };
      MatrixCall scan{"Scan " + name, true, asked, {}, {}, false, {}};
      scan.send = [this, asked](const std::string&) {
        pb::ScanRequest request;
        *request.mutable_region() = Specify(region_);
        request.set_number_of_rows(10);
        request.set_close_scanner(true);
        request.mutable_scan()->set_start_row("row");
        request.mutable_scan()->set_stop_row("row\x01");
        Ask(*request.mutable_scan(), asked);
        const auto answer = Send(methods::kScan, request);
        if (!answer.ok()) return Verdict(answer.error());
        return answer->results_size() == 0 ? std::string() : Cells(answer->results(0));
      };
      calls_.push_back(std::move(get));
      calls_.push_back(std::move(scan));
    }
  }

  static pb::MutationProto Mutation(pb::MutationProto::MutationType type, const std::string& row,
                                    const Columns& columns) {
    pb::MutationProto mutation;
    mutation.set_row(row);
    mutation.set_mutate_type(type);
    for (const Column& each : columns) {
      auto* column = mutation.add_column_value();
      column->set_family(each.family);
      auto* cell = column->add_qualifier_value();
      cell->set_qualifier(each.qualifier);
      cell->set_value(std::string(8, '\0'));
      if (type != pb::MutationProto::DELETE) continue;
      cell->set_delete_type(each.qualifier.empty() ? pb::MutationProto::DELETE_FAMILY
                                                   : pb::MutationProto::DELETE_MULTIPLE_VERSIONS);
    }
    return mutation;
  }
  // Equal to a missing value: holds in each row of this test.
  static void SetCondition(pb::Condition& condition, const std::string& row) {
    condition.set_row(row);
    condition.set_family("f1");
    condition.set_qualifier("a");
    condition.set_compare_type(pb::EQUAL);
    condition.mutable_comparator()->set_name("org.apache.hadoop.hbase.filter.NullComparator");
    condition.mutable_comparator()->set_serialized_comparator(pb::NullComparator().SerializeAsString());
  }
  void AddWrite(const std::string& name, pb::MutationProto::MutationType type, const Columns& columns,
                const Columns& needed, bool checked = false) {
    MatrixCall call{"Mutate " + name, false, {}, {}, needed, false, {}};
    if (checked) {
      call.conditions = {{"f1", "a"}};
      call.changes.push_back({"f1", "a"});  // a condition needs R and W
    }
    call.send = [this, type, columns, checked](const std::string& row) {
      pb::MutateRequest request;
      *request.mutable_region() = Specify(region_);
      *request.mutable_mutation() = Mutation(type, row, columns);
      if (checked) SetCondition(*request.mutable_condition(), row);
      const auto answer = Send(methods::kMutate, request);
      return answer.ok() ? std::string() : Verdict(answer.error());
    };
    calls_.push_back(std::move(call));
  }
  void AddWrites() {
    using Type = pb::MutationProto;
    AddWrite("put f1:a", Type::PUT, {{"f1", "a"}}, {{"f1", "a"}});
    AddWrite("put f1:b", Type::PUT, {{"f1", "b"}}, {{"f1", "b"}});
    AddWrite("put f1:a f2:a", Type::PUT, {{"f1", "a"}, {"f2", "a"}}, {{"f1", "a"}, {"f2", "a"}});
    AddWrite("increment f1:a", Type::INCREMENT, {{"f1", "a"}}, {{"f1", "a"}});
    AddWrite("append f2:a", Type::APPEND, {{"f2", "a"}}, {{"f2", "a"}});
    AddWrite("delete f1:a", Type::DELETE, {{"f1", "a"}}, {{"f1", "a"}});
    AddWrite("delete f1", Type::DELETE, {{"f1", ""}}, {{"f1", ""}});
    AddWrite("delete the row", Type::DELETE, {}, {{"f1", ""}, {"f2", ""}});
    AddWrite("check f1:a, put f1:b", Type::PUT, {{"f1", "b"}}, {{"f1", "b"}}, true);
  }

  std::string SendBatch(const pb::MultiRequest& request) {
    const auto answer = Send(methods::kMulti, request);
    if (!answer.ok()) return Verdict(answer.error());
    const auto& region = answer->regionactionresult(0);
    const bool whole = region.has_exception();
    if (!whole && region.resultorexception_size() == 0) return "no result";
    const bool failed = whole || region.resultorexception(0).has_exception();
    if (!failed) return Cells(region.resultorexception(0).result());
    const auto& exception = whole ? region.exception() : region.resultorexception(0).exception();
    return exception.name() == rpc::exception::kAccessDenied ? "denied" : exception.name();
  }
  void AddBatches() {
    MatrixCall get{"Multi get", true, {}, {}, {}, false, {}};
    get.send = [this](const std::string&) {
      pb::MultiRequest request;
      auto& actions = *request.add_regionaction();
      *actions.mutable_region() = Specify(region_);
      actions.add_action()->set_index(0);
      actions.mutable_action(0)->mutable_get()->set_row("row");
      return SendBatch(request);
    };
    calls_.push_back(std::move(get));
    for (const bool atomic : {false, true}) {
      MatrixCall put{atomic ? "Multi atomic put" : "Multi put", false, {}, {}, {{"f1", "a"}}, false, {}};
      put.send = [this, atomic](const std::string& row) {
        pb::MultiRequest request;
        auto& actions = *request.add_regionaction();
        *actions.mutable_region() = Specify(region_);
        actions.set_atomic(atomic);
        actions.add_action()->set_index(0);
        *actions.mutable_action(0)->mutable_mutation() = Mutation(pb::MutationProto::PUT, row, {{"f1", "a"}});
        return SendBatch(request);
      };
      calls_.push_back(std::move(put));
    }
  }

  std::string SendService(const std::string& service, const std::string& method, const std::string& bytes) {
    pb::CoprocessorServiceRequest request;
    *request.mutable_region() = Specify(region_);
    request.mutable_call()->set_row("");
    request.mutable_call()->set_service_name(service);
    request.mutable_call()->set_method_name(method);
    request.mutable_call()->set_request(bytes);
    const auto answer = Send(methods::kExecService, request);
    return answer.ok() ? std::string() : Verdict(answer.error());
  }
  void AddServices() {
    MatrixCall rows{"MutateRows", false, {}, {}, {{"f2", "a"}}, true, {}};
    rows.send = [this](const std::string& row) {
      pb::MutateRowsRequest request;
      *request.add_mutation_request() = Mutation(pb::MutationProto::PUT, row, {{"f2", "a"}});
      return SendService("hbase.pb.MultiRowMutationService", "MutateRows", request.SerializeAsString());
    };
    // An aggregate needs a right on some of the requested columns, as its scan does.
    MatrixCall count{"GetRowNum f1", false, {{"f1", ""}}, {}, {}, true, {}};
    count.send = [this](const std::string&) {
      pb::AggregateRequest request;
      request.set_interpreter_class_name("org.apache.hadoop.hbase.client.coprocessor.LongColumnInterpreter");
      Ask(*request.mutable_scan(), {{"f1", ""}});
      return SendService("hbase.pb.AggregateService", "GetRowNum", request.SerializeAsString());
    };
    MatrixCall check{"CheckPermissions R f1:a", false, {}, {{"f1", "a"}}, {}, false, {}};
    check.send = [this](const std::string&) {
      pb::CheckPermissionsRequest request;
      auto* permission = request.add_permission();
      permission->set_type(pb::Permission::Table);
      auto* in_table = permission->mutable_table_permission();
      ToProto(region_.table, *in_table->mutable_table_name());
      in_table->set_family("f1");
      in_table->set_qualifier("a");
      in_table->add_action(pb::Permission::READ);
      return SendService("hbase.pb.AccessControlService", "CheckPermissions", request.SerializeAsString());
    };
    calls_.push_back(std::move(rows));
    calls_.push_back(std::move(count));
    calls_.push_back(std::move(check));
  }

  // The second implementation: "denied", or the visible cells of a read, or "" of a write.
  std::string Expected(const MatrixUser& user, const MatrixCall& call) const {
    const bool executes =
        user.superuser || std::any_of(user.rights.begin(), user.rights.end(), [](const auto& right) {
          return right.letter == 'X' && (right.where == "t" || right.where == "ns" || right.where == "all");
        });
    if (call.execute && exec_checks_ && !executes) return "denied";
    for (const Column& column : call.conditions) {
      if (!Holds(user, 'R', column)) return "denied";
    }
    for (const Column& column : call.changes) {
      if (!Holds(user, 'W', column)) return "denied";
    }
    if (!call.reads && call.asked.empty()) return "";
    std::string visible;
    for (const Column& cell : AllCells()) {
      const bool wanted = call.asked.empty() || std::any_of(call.asked.begin(), call.asked.end(), [&](const Column& c) {
                            return c.family == cell.family && (c.qualifier.empty() || c.qualifier == cell.qualifier);
                          });
      if (wanted && Holds(user, 'R', cell)) visible += Name(cell) + " ";
    }
    if (visible.empty()) return "denied";
    return call.reads ? visible : "";
  }

  void Become(const std::string& user) {
    if (caller_ != nullptr) caller_->Stop();
    rpc::ChannelPoolOptions options;
    options.user = user;
    options.cell_blocks = false;
    caller_ = std::make_unique<rpc::ChannelPool>(options);
  }
  // Sends each call as each user; returns the number of differences. Allowed writes are noted.
  int Differences(bool report) {
    int differences = 0;
    for (const auto& [name, user] : users_of_) {
      Become(name);
      for (const MatrixCall& call : calls_) {
        const std::string row = "w/" + name + "/" + call.name;
        const std::string expected = Expected(user, call);
        const std::string found = call.send(row);
        ++sent_;
        const bool leaves_a_row = call.name.find("delete") == std::string::npos && !call.changes.empty();
        if (expected.empty() && leaves_a_row) written_.insert(row);
        if (found == expected) continue;
        if (found.empty() && leaves_a_row) unexpected_.insert(row);
        ++differences;
        if (report)
          ADD_FAILURE() << call.name << " by " << name << ": '" << found << "', the second implementation: '"
                        << expected << "'";
      }
    }
    return differences;
  }
  // The rows of the table that this test's calls wrote.
  std::set<std::string> RowsOfTheTable() {
    Become("root");
    std::set<std::string> rows;
    pb::ScanRequest request;
    *request.mutable_region() = Specify(region_);
    request.set_number_of_rows(100'000);
    request.set_close_scanner(true);
    request.mutable_scan()->set_start_row("w/");
    request.mutable_scan()->set_max_result_size(64 << 20);
    const auto answer = Send(methods::kScan, request);
    EXPECT_TRUE(answer.ok()) << answer.error().ToString();
    if (!answer.ok()) return rows;
    EXPECT_FALSE(answer->more_results_in_region());
    for (const pb::Result& result : answer->results()) rows.insert(result.cell(0).row());
    return rows;
  }

  const RegionInfo region_ = TableRegion();
  std::map<std::string, MatrixUser> users_of_;
  std::vector<MatrixCall> calls_;
  std::set<std::string> written_;     // by calls that the second implementation allows
  std::set<std::string> unexpected_;  // by others
  std::unique_ptr<rpc::ChannelPool> caller_;
  int sent_ = 0;
};

TEST_F(ClientMatrixTest, EveryCallDecidesAsTheSecondImplementationAndRefusedOnesChangeNothing) {
  EXPECT_EQ(Differences(true), 0);
  EXPECT_GT(sent_, 2'000);
  EXPECT_GT(written_.size(), 100u);
  EXPECT_EQ(RowsOfTheTable(), written_);
}

TEST_F(ClientMatrixTest, ServicesNeedExecuteWithItsCheck) {
  exec_checks_ = true;
  EXPECT_EQ(Differences(true), 0);
  EXPECT_EQ(RowsOfTheTable(), written_);
}

TEST_F(ClientMatrixTest, ReadsOfHiddenColumnsAreNoticed) {
  const ScopedMutant mutant("rights.hidden_columns");
  EXPECT_GT(Differences(false), 0);
}

// Bulk loads and services of a server are not offered: no right lets a caller reach them.
TEST_F(ClientMatrixTest, OtherMethodsAreNotOffered) {
  const auto service =
      MakeDataService(DataServiceParts{[this](const std::string& name) { return host_->regions.Find(name); },
                                       [] { return Ok(); }, epochs_, *scanners_, clock_});
  const auto names = service->MethodNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
            (std::set<std::string>{"ExecService", "Get", "Multi", "Mutate", "Scan"}));
  for (const char* name : {"BulkLoadHFile", "PrepareBulkLoad", "CleanupBulkLoad", "ExecRegionServerService"})
    EXPECT_EQ(service->Find(name), nullptr) << name;
}

}  // namespace
}  // namespace ratchet::regionserver
