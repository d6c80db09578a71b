// The crash sweep of rights: after a death at any commit the rights agree with the tables and namespaces.
#include <algorithm>

#include <gtest/gtest.h>

#include "master/procedures/rights/change_tokens.h"
#include "master/procedures/rights/replace_token_key.h"
#include "master/procedures/rights/set_rights.h"
#include "master/requests/namespace_admin.h"
#include "master/requests/rights_admin.h"
#include "master/requests/submit_asked.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

using rights::Action;
using rights::Actions;
using rights::RightsEntry;
using rights::Scope;

master::MasterLogic& LogicOf(Rig& rig) { return rig.cluster.master().logic(); }

void Submit(Rig& rig, const RightsEntry& entry, master::pb::SetRightsData::Change change, procedure::Nonce nonce,
            Done done) {
  master::SubmitAsked(LogicOf(rig).env, master::SetRights::Make(entry, change), {"me", nonce}, {}, std::move(done));
}

void Give(Rig& rig, const RightsEntry& entry) {
  bool made = false;
  Submit(rig, entry, master::pb::SetRightsData::ADD, {}, [&made](const Result<ProcId>& pid) { made = pid.ok(); });
  RATCHET_CHECK(rig.cluster.Settle() && made, "not prepared");
}

void PrepareWithOwners(Rig& rig, int regions) {
  rig.cluster.master_options.judges_users = [] { return true; };
  Prepare(rig, regions);
}

// The record, and what every live server knows.
bool Has(Rig& rig, const std::string& user, const Scope& scope, Actions actions) {
  const auto alive = rig.cluster.Alive();
  return LogicOf(rig).rights.Get(user, scope) == actions &&
         std::all_of(alive.begin(), alive.end(), [&](const sim::SimServer* server) {
           const auto image = server->rights.image();
           return image != nullptr && image->Held({user, {}}, scope) == actions;
         });
}

const RightsEntry kOfFamily{"bob", Scope::Family(kTable, "f"), Action::kRead};

void PrepareFamily(Rig& rig) {
  PrepareWithOwners(rig, 1);
  Give(rig, kOfFamily);
}

void AddFamily(Rig& rig, const std::string& family) {
  master::SchemaChange add;
  add.kind = master::ChangeKind::kAddFamily;
  add.asked = Descriptor("t");
  add.asked.families.front().name = family;
  bool asked = false;
  Admin(rig).ModifyTable(add, true, {"me", {}}, [&asked](const Result<ProcId>& pid) { asked = pid.ok(); });
  RATCHET_CHECK(rig.cluster.Settle() && asked, "not prepared");
}

void Disable(Rig& rig) {
  bool asked = false;
  Admin(rig).DisableTable(kTable, {"me", {}}, [&asked](const Result<ProcId>& pid) { asked = pid.ok(); });
  RATCHET_CHECK(rig.cluster.Settle() && asked, "not prepared");
}

TEST(MasterCrash, SetRights) {
  Sweep(
      {"set rights", PrepareFamily,
       [](Rig& rig, procedure::Nonce nonce, Done done) {
         Submit(rig, {"bob", kOfFamily.scope, Action::kWrite}, master::pb::SetRightsData::ADD, nonce, std::move(done));
       },
       nullptr, [](Rig& rig) { return Has(rig, "bob", kOfFamily.scope, Action::kRead | Action::kWrite); }});
}

// The image of every live server has exactly this key, and its record is marked.
bool HasOneKey(Rig& rig, std::uint32_t id) {
  const auto keys = LogicOf(rig).rights.TokenKeys();
  const auto is_it = [id](const auto& all) { return all != nullptr && all->size() == 1 && all->front().id == id; };
  const auto alive = rig.cluster.Alive();
  return is_it(keys) && keys->front().told &&
         std::all_of(alive.begin(), alive.end(),
                     [&](const sim::SimServer* server) { return is_it(server->rights.token_keys()); });
}

void ReplaceKey(Rig& rig, bool withdraw, procedure::Nonce nonce, Done done) {
  const std::int64_t now = LogicOf(rig).env.clock.WallMillis();
  const master::TokenKeyOrder order{std::string(rights::kTokenKeyBytes, 'k'), withdraw, now, now + 1'000'000,
                                    INT64_MAX};
  master::SubmitAsked(LogicOf(rig).env, master::ReplaceTokenKey::Make(order), {"me", nonce}, {}, std::move(done));
}

TEST(MasterCrash, ReplaceTokenKey) {
  Sweep({"withdraw token keys",
         [](Rig& rig) {
           PrepareWithOwners(rig, 1);
           bool made = false;
           ReplaceKey(rig, false, {}, [&made](const Result<ProcId>& pid) { made = pid.ok(); });
           RATCHET_CHECK(rig.cluster.Settle() && made, "not prepared");
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) { ReplaceKey(rig, true, nonce, std::move(done)); }, nullptr,
         [](Rig& rig) { return HasOneKey(rig, 2); }});
}

master::IssuedToken TokenOf(Rig& rig, const std::string& user) {
  const std::int64_t now = LogicOf(rig).env.clock.WallMillis();
  return {0, user, 1, now, now + 1'000'000'000, "me", "", false};
}

TEST(MasterCrash, IssueToken) {
  Sweep({"issue token", [](Rig& rig) { PrepareWithOwners(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           master::SubmitAsked(LogicOf(rig).env, master::ChangeTokens::Issue(TokenOf(rig, "etl")), {"me", nonce}, {},
                               std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           const auto tokens = LogicOf(rig).rights.Tokens();
           return tokens.size() == 1 && tokens[0].user == "etl" && !tokens[0].revoked;
         }});
}

TEST(MasterCrash, RevokeTokens) {
  Sweep({"revoke tokens",
         [](Rig& rig) {
           PrepareWithOwners(rig, 1);
           for (const char* user : {"etl", "etl", "bob"}) {
             bool issued = false;
             LogicOf(rig).rights_admin.IssueToken(
                 TokenOf(rig, user), {"me", {}},
                 [&issued](const Result<ProcId>& pid, const std::string&) { issued = pid.ok(); });
             RATCHET_CHECK(rig.cluster.Settle() && issued, "not prepared");
           }
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           master::SubmitAsked(LogicOf(rig).env, master::ChangeTokens::Revoke("etl", std::nullopt), {"me", nonce}, {},
                               std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           const auto own = LogicOf(rig).rights.RevokedTokens();
           const auto alive = rig.cluster.Alive();
           return own->size() == 2 && LogicOf(rig).rights.Tokens().size() == 3 &&
                  std::all_of(alive.begin(), alive.end(), [&](const sim::SimServer* server) {
                    const auto known = server->rights.revoked_tokens();
                    return known != nullptr && *known == *own;
                  });
         }});
}

TEST(MasterCrash, TakeRights) {
  Sweep({"take rights", PrepareFamily,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Submit(rig, {"bob", kOfFamily.scope, {}}, master::pb::SetRightsData::TAKE, nonce, std::move(done));
         },
         nullptr, [](Rig& rig) { return Has(rig, "bob", kOfFamily.scope, {}); }});
}

TEST(MasterCrash, CreateTableWithOwner) {
  Sweep({"create table with owner", [](Rig& rig) { PrepareWithOwners(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).CreateTable(Descriptor("t"), {"m"}, {"alice", nonce}, std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           return LogicOf(rig).tables.Exists(kTable) && Has(rig, "alice", Scope::Table(kTable), Actions::All());
         }});
}

TEST(MasterCrash, DeleteTableWithRights) {
  Sweep({"delete table with rights",
         [](Rig& rig) {
           PrepareFamily(rig);
           Disable(rig);
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).DeleteTable(kTable, {"me", nonce}, std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           return !LogicOf(rig).tables.Exists(kTable) && LogicOf(rig).rights.size() == 0 &&
                  Has(rig, "bob", kOfFamily.scope, {});
         }});
}

TEST(MasterCrash, DropFamilyWithRights) {
  Sweep({"drop family with rights",
         [](Rig& rig) {
           PrepareFamily(rig);
           AddFamily(rig, "g");
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           master::SchemaChange drop;
           drop.kind = master::ChangeKind::kDeleteFamily;
           drop.asked = Descriptor("t");
           Admin(rig).ModifyTable(drop, true, {"me", nonce}, std::move(done));
         },
         nullptr, [](Rig& rig) { return Has(rig, "bob", kOfFamily.scope, {}); }});
}

// The snapshot is of a table without the family.
TEST(MasterCrash, RestoreSnapshotWithRights) {
  const RightsEntry of_new_family{"bob", Scope::Family(kTable, "g"), Action::kRead};
  Sweep({"restore with rights",
         [of_new_family](Rig& rig) {
           PrepareFamily(rig);
           hbase::pb::SnapshotDescription description;
           description.set_name("s");
           description.set_table("t");
           description.set_creation_time(1);
           LogicOf(rig).snapshot_admin.TakeSnapshot(description, {"me", {}}, [](const Result<ProcId>&) {});
           RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
           AddFamily(rig, "g");
           Give(rig, of_new_family);
           Disable(rig);
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           LogicOf(rig).snapshot_admin.PutBack("s", kTable, {"me", nonce}, std::move(done));
         },
         nullptr,
         [of_new_family](Rig& rig) {
           return Has(rig, "bob", of_new_family.scope, {}) && Has(rig, "bob", kOfFamily.scope, Action::kRead);
         }});
}

void TakeSnapshot(Rig& rig) {
  hbase::pb::SnapshotDescription description;
  description.set_name("s");
  description.set_table("t");
  description.set_creation_time(1);
  LogicOf(rig).snapshot_admin.TakeSnapshot(description, {"me", {}}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
}

// S161 (rights return when asked for): in the commit of the restore.
TEST(MasterCrash, RestoreSnapshotThatGivesRights) {
  Sweep({"restore that gives rights",
         [](Rig& rig) {
           PrepareFamily(rig);
           TakeSnapshot(rig);
           bool taken = false;
           Submit(rig, {"bob", kOfFamily.scope, {}}, master::pb::SetRightsData::TAKE, {},
                  [&taken](const Result<ProcId>& pid) { taken = pid.ok(); });
           RATCHET_CHECK(rig.cluster.Settle() && taken, "not prepared");
           Disable(rig);
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           LogicOf(rig).snapshot_admin.PutBack("s", kTable, {"me", nonce}, std::move(done), std::nullopt, true);
         },
         nullptr, [](Rig& rig) { return Has(rig, "bob", kOfFamily.scope, Action::kRead); }});
}

TEST(MasterCrash, CloneSnapshotThatGivesRights) {
  const TableName clone("default", "c");
  Sweep({"clone that gives rights",
         [](Rig& rig) {
           PrepareFamily(rig);
           TakeSnapshot(rig);
         },
         [clone](Rig& rig, procedure::Nonce nonce, Done done) {
           LogicOf(rig).snapshot_admin.PutBack("s", clone, {"me", nonce}, std::move(done), std::nullopt, true);
         },
         nullptr,
         [clone](Rig& rig) {
           return LogicOf(rig).tables.Exists(clone) && Has(rig, "me", Scope::Table(clone), Actions::All()) &&
                  Has(rig, "bob", Scope::Family(clone, "f"), Action::kRead);
         }});
}

// The undo takes the rights away too.
TEST(MasterCrash, CloneSnapshotThatGivesRightsAborted) {
  const TableName clone("default", "c");
  Sweep({"clone that gives rights, aborted",
         [](Rig& rig) {
           PrepareFamily(rig);
           TakeSnapshot(rig);
         },
         [clone](Rig& rig, procedure::Nonce nonce, Done done) {
           LogicOf(rig).snapshot_admin.PutBack("s", clone, {"me", nonce}, std::move(done), std::nullopt, true);
         },
         [](Rig& rig) { AbortAt(rig, "CloneSnapshot", "ADD_TO_META"); },
         [clone](Rig& rig) {
           const bool made = LogicOf(rig).tables.Exists(clone);
           return Has(rig, "bob", Scope::Family(clone, "f"), made ? Actions(Action::kRead) : Actions()) &&
                  LogicOf(rig).rights.KeysWithin(Scope::Table(clone)).size() == (made ? 2U : 0U);
         }});
}

TEST(MasterCrash, DeleteNamespaceWithRights) {
  Sweep({"delete namespace with rights",
         [](Rig& rig) {
           PrepareWithOwners(rig, 0);
           bool made = false;
           LogicOf(rig).namespace_admin.Create({"sales", {}}, {"me", {}},
                                               [&made](const Result<ProcId>& pid) { made = pid.ok(); });
           RATCHET_CHECK(rig.cluster.Settle() && made, "not prepared");
           Give(rig, {"bob", Scope::Namespace("sales"), Action::kCreate});
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           LogicOf(rig).namespace_admin.Delete("sales", {"me", nonce}, std::move(done));
         },
         nullptr,
         [](Rig& rig) {
           return !LogicOf(rig).namespaces.Get("sales").has_value() && LogicOf(rig).rights.size() == 0 &&
                  Has(rig, "bob", Scope::Namespace("sales"), {});
         }});
}

}  // namespace
}  // namespace ratchet::crash
