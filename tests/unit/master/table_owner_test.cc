// S167 (naming an owner is a grant): who owns a new table whose descriptor names an owner.
#include "common/base/exception_names.h"
#include "common/base/mutant.h"
#include "common/model/codec.h"
#include "common/rpc/methods/master_service.h"
#include "master/cluster/rights_book.h"
#include "tests/unit/master/fixture.h"
#include "tests/unit/master/judged_service.h"

namespace ratchet::master {
namespace {

namespace hpb = ::hbase::pb;
using rights::Action;
using rights::Actions;
using rights::Scope;

// Ann holds A in the namespace, Carl C; root and boss are superusers.
class TableOwnerTest : public MasterTest {
 protected:
  void SetUp() override {
    cluster_.master_options.judges_users = [] { return true; };
    cluster_.Boot(1);
    service_ = std::make_unique<JudgedService>(
        cluster_, std::set<std::string>{"root", "boss"},
        std::vector<rights::RightsEntry>{{"ann", Scope::Namespace("default"), Action::kAdmin},
                                         {"carl", Scope::Namespace("default"), Action::kCreate}});
  }
  // The end of the procedure, or the class of the refusal.
  std::string CreateAs(const std::string& user, const std::string& table, const std::string& owner) {
    TableDescriptor descriptor = Descriptor(table);
    if (!owner.empty()) descriptor.attributes[std::string(kOwnerKey)] = owner;
    hpb::CreateTableRequest request;
    ToProto(descriptor, *request.mutable_table_schema());
    const auto answer = service_->As(user, methods::kCreateTable, request);
    if (!answer.ok()) return answer.error().remote_class();
    EXPECT_TRUE(cluster_.Settle()) << master().Unfinished();
    return Outcome(ProcId(answer->proc_id()));
  }
  Actions Held(const std::string& user, const std::string& table) {
    return master().logic().rights.Get(user, Scope::Table(TableName("default", table)));
  }
  bool Exists(const std::string& table) { return master().logic().tables.Exists(TableName("default", table)); }

  std::unique_ptr<JudgedService> service_;
};

TEST_F(TableOwnerTest, TheNamedOwnerGetsEveryRightAndTheCallerNone) {
  EXPECT_EQ(CreateAs("root", "t1", "bob"), "success");
  EXPECT_EQ(Held("bob", "t1"), Actions::All());
  EXPECT_EQ(Held("root", "t1"), Actions());
  EXPECT_EQ(CreateAs("ann", "t2", "bob"), "success");
  EXPECT_EQ(Held("bob", "t2"), Actions::All());
  EXPECT_EQ(Held("ann", "t2"), Actions());
  EXPECT_EQ(CreateAs("carl", "t3", ""), "success");
  EXPECT_EQ(Held("carl", "t3"), Actions::All());
  EXPECT_EQ(CreateAs("carl", "t4", "carl"), "success");
  EXPECT_EQ(Held("carl", "t4"), Actions::All());
}

TEST_F(TableOwnerTest, NamingAnotherOwnerNeedsWhatAGrantNeeds) {
  EXPECT_EQ(CreateAs("carl", "t", "bob"), exception::kAccessDenied) << "C is not enough";
  EXPECT_EQ(CreateAs("ann", "t", "boss"), exception::kAccessDenied) << "only superusers give rights to superusers";
  EXPECT_EQ(CreateAs("bob", "t", "bob"), exception::kAccessDenied) << "the own name gives no right to create";
  EXPECT_FALSE(Exists("t"));
  EXPECT_TRUE(master().logic().rights.List().empty());
  EXPECT_EQ(CreateAs("root", "t", "boss"), "success");
}

TEST_F(TableOwnerTest, NamingAnotherOwnerIsNoticed) {
  const ScopedMutant mutant("rights.any_owner");
  EXPECT_EQ(CreateAs("carl", "t", "bob"), "success");
}

TEST_F(TableOwnerTest, NamesThatAreNotUsersAreRefused) {
  for (const std::string& owner : {std::string("@ops"), std::string("a,b"), std::string("a\nb"), std::string(256, 'a')})
    EXPECT_NE(CreateAs("root", "t", owner), "success") << owner;
  EXPECT_FALSE(Exists("t"));
  EXPECT_TRUE(master().logic().rights.List().empty());
}

}  // namespace
}  // namespace ratchet::master
