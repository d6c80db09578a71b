// The needs of AdminService, as its declarations have them, compared with a second implementation: every method, each
// action in each scope, of a user and of a group. Tests 1 and 3 of identity.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "common/base/mutant.h"
#include "common/rpc/service.h"
#include "regionserver/rpc/admin_service.h"
#include "tests/unit/regionserver_server/service_fixture.h"

namespace ratchet::regionserver {
namespace {

using rights::Scope;

// Method and need, from the text of the declarations.
std::map<std::string, std::string> ReadNeeds() {
  std::map<std::string, std::string> needs;
  for (const auto& entry : std::filesystem::directory_iterator("common/model/proto")) {
    std::ifstream file(entry.path());
    EXPECT_TRUE(file.good()) << entry.path() << ": the test runs in the repository's root";
    std::string service;
    std::string method;
    for (std::string line; std::getline(file, line);) {
      std::smatch found;
      if (std::regex_search(line, found, std::regex("^service ([A-Za-z]+)"))) service = found[1];
      if (std::regex_search(line, found, std::regex("^  rpc (\\w+)\\("))) method = found[1];
      if (service == "AdminService" && std::regex_search(line, found, std::regex("need: ([\\w@ ]+)$")))
        needs[method] = found[1];
    }
  }
  return needs;
}

struct TestUser {
  char letter = ' ';  // of the one right
  int scope = -1;     // 0 everything, 1 the namespace, 2 the table, 3 its family, 4 another table; -1: no right
  bool superuser = false;
};

// The second implementation.
bool MayCall(const TestUser& user, const std::string& need) {
  if (need == "any" || need == "filter" || user.superuser) return true;
  if (need == "request") return MayCall(user, "A@global");  // the requests here name no user
  if (user.scope < 0 || user.scope == 4) return false;
  if (need == "some@table") return true;
  const bool has_letter = need.substr(0, need.find('@')).find(user.letter) != std::string::npos;
  return has_letter && user.scope <= (need.ends_with("@global") ? 0 : 2);
}

class AdminMatrixTest : public ServiceFixture {
 protected:
  void SetUp() override {
    ServiceFixture::SetUp();
    ASSERT_EQ(OpenRegion(region_).outcome, OrderOutcome::kOpened);
    AdminServiceParts parts;
    parts.admit = [] { return Ok(); };
    parts.find = [this](const std::string& name) { return host_->regions.Find(name); };
    service_ = MakeAdminService(std::move(parts));
    MakeUsers();
  }
  void MakeUsers() {
    const std::vector<Scope> scopes{Scope::Global(), Scope::Namespace(region_.table.ns), Scope::Table(region_.table),
                                    Scope::Family(region_.table, "f"), Scope::Table(TableName("default", "another"))};
    std::vector<rights::RightsEntry> entries;
    std::string groups;
    callers_ = {{"stranger", {}}, {"root", {' ', -1, true}}};
    for (const char letter : std::string("RWXCA")) {
      const rights::Actions actions = *rights::Actions::Parse(std::string(1, letter));
      for (int scope = 0; scope < 5; ++scope) {
        const std::string name = letter + std::to_string(scope);
        entries.push_back({name, scopes[static_cast<std::size_t>(scope)], actions});
        entries.push_back({"@g" + name, scopes[static_cast<std::size_t>(scope)], actions});
        groups += "g" + name + ": member-" + name + "\n";
        callers_[name] = callers_["member-" + name] = {letter, scope};
      }
    }
    users_->Set(rights::Mode::kEnforce, *rights::Users::Parse("root", groups));
    ASSERT_TRUE(
        rights_.Take(std::make_shared<rights::RightsImage>(rights::ImageNumber{1, 1}, entries, std::vector<Scope>())));
  }
  // Sets the region, where the request has one.
  void Aim(google::protobuf::Message& message) const {
    const auto* const field = message.GetDescriptor()->FindFieldByName("region");
    if (field == nullptr || field->is_repeated()) return;
    auto* const inner = message.GetReflection()->MutableMessage(&message, field);
    if (auto* region = dynamic_cast<pb::RegionSpecifier*>(inner)) *region = Specify(region_);
  }
  int Differences(bool report) {
    int differences = 0;
    for (const auto& [method, need] : ReadNeeds()) {
      const rpc::Service::Entry* const entry = service_->Find(method);
      if (entry == nullptr || need == "member") continue;
      const auto request = entry->new_request();
      Aim(static_cast<google::protobuf::Message&>(*request));
      for (const auto& [name, user] : callers_) {
        rpc::CallContext call;
        call.user = name;
        call.method = method;
        const Status allowed = entry->Allows(&judge_, call, *request);
        ++calls_;
        if (allowed.ok() == MayCall(user, need)) continue;
        ++differences;
        if (report)
          ADD_FAILURE() << method << " (" << need << ") by " << name << ": "
                        << (allowed.ok() ? "allowed" : allowed.error().ToString());
      }
    }
    return differences;
  }

  const RegionInfo region_ = TableRegion();
  std::shared_ptr<const rpc::Service> service_;
  std::map<std::string, TestUser> callers_;
  int calls_ = 0;
};

TEST_F(AdminMatrixTest, EveryMethodDecidesAsTheSecondImplementation) {
  EXPECT_EQ(Differences(true), 0);
  EXPECT_GT(calls_, 500);
}

TEST_F(AdminMatrixTest, ACallWithoutTheCheckIsNoticed) {
  const ScopedMutant mutant("rights.skip_check");
  EXPECT_GT(Differences(false), 0);
}

TEST_F(AdminMatrixTest, MembersOnlyMethodsAreDeclaredSo) {
  const auto needs = ReadNeeds();
  std::set<std::string> members;
  for (const auto& [method, need] : needs) {
    if (need == "member") members.insert(method);
  }
  EXPECT_EQ(members, (std::set<std::string>{"CloseRegion", "ExecuteProcedures", "OpenRegion", "ProbeServer"}));
  for (const std::string& method : service_->MethodNames()) EXPECT_TRUE(needs.contains(method)) << method;
}

}  // namespace
}  // namespace ratchet::regionserver
