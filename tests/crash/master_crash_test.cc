// The crash sweep over every procedure of the master. The steps are enumerated from the step tables at run time: a
// step, or an undo, at whose commit no master died, fails the last test.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "master/cluster/region_directory.h"
#include "master/procedures/register.h"
#include "master/repair/reconciler.h"
#include "master/requests/server_manager.h"
#include "procedure/api/procedure_registry.h"
#include "tests/crash/scenarios.h"

namespace ratchet::crash {
namespace {

constexpr std::size_t kScenarios = 68;

TEST(MasterCrash, FirstStart) {
  Sweep({"first start", nullptr, nullptr,
         [](Rig& rig) {
           if (rig.Once("servers"))
             for (int i = 0; i < 2; ++i) rig.cluster.AddServer("rs" + std::to_string(i));
         },
         [](Rig& rig) {
           const auto alive = rig.cluster.Alive();
           return std::all_of(alive.begin(), alive.end(),
                              [](const sim::SimServer* server) { return server->registered; });
         }});
}

TEST(MasterCrash, CreateTable) {
  Sweep({"create", [](Rig& rig) { Prepare(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).CreateTable(Descriptor("t"), {"m"}, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

// Batches of any size (master/procedures/assignment/assign_batch.h).
void PrepareBatches(Rig& rig, int regions) {
  rig.cluster.master_options.batch_least = 2;
  Prepare(rig, regions);
}

void CreateLarge(Rig& rig, procedure::Nonce nonce, Done done) {
  Admin(rig).CreateTable(Descriptor("large"), {"b", "d", "f", "h", "k", "m", "p"}, {"me", nonce}, std::move(done));
}

TEST(MasterCrash, CreateTableByBatches) {
  Sweep({"create by batches", [](Rig& rig) { PrepareBatches(rig, 0); }, CreateLarge, nullptr, nullptr});
}

TEST(MasterCrash, CreateTableByBatchesThatAServerRefuses) {
  Sweep({"create by batches with refusals",
         [](Rig& rig) {
           PrepareBatches(rig, 0);
           for (sim::SimServer* server : rig.cluster.Alive()) server->refuse_opens = 1;
         },
         CreateLarge, nullptr, nullptr});
}

TEST(MasterCrash, CreateTableByBatchesWhoseServerDies) {
  Sweep({"create by batches, a server dies", [](Rig& rig) { PrepareBatches(rig, 0); }, CreateLarge,
         [](Rig& rig) {
           if (rig.At("AssignBatch", "DISPATCH")) KillOnce(rig, Spare);
         },
         nullptr, /*breath=*/4});
}

// Some regions are shown as open before all have answers.
TEST(MasterCrash, CreateTableByBatchesWithLateReports) {
  Sweep({"create by batches with late reports",
         [](Rig& rig) {
           PrepareBatches(rig, 0);
           for (sim::SimServer* server : rig.cluster.Alive()) server->hold_reports = 1;
           rig.cluster.time().After(Millis(6'000), [&rig] {
             for (sim::SimServer* server : rig.cluster.Alive()) {
               server->hold_reports = 0;
               server->ReleaseReports();
             }
           });
         },
         CreateLarge, nullptr, nullptr});
}

TEST(MasterCrash, ServerCrashByBatches) {
  Sweep({"crash by batches", [](Rig& rig) { PrepareBatches(rig, 16); }, nullptr, [](Rig& rig) { KillOnce(rig, Spare); },
         CrashDealtWith});
}

TEST(MasterCrash, CreateTableAborted) {
  Sweep({"aborted create", [](Rig& rig) { Prepare(rig, 0); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).CreateTable(Descriptor("t"), {"m"}, {"me", nonce}, done);
         },
         [](Rig& rig) { AbortAt(rig, "CreateTable", "ADD_TO_META"); }, nullptr});
}

TEST(MasterCrash, DisableTable) {
  Sweep({"disable", [](Rig& rig) { Prepare(rig, 2); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).DisableTable(kTable, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, DisableTableAborted) {
  Sweep({"aborted disable", [](Rig& rig) { Prepare(rig, 2); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).DisableTable(kTable, {"me", nonce}, done);
         },
         [](Rig& rig) { AbortAt(rig, "DisableTable", "SET_DISABLING_TABLE_STATE"); }, nullptr});
}

TEST(MasterCrash, EnableTable) {
  Sweep({"enable", PrepareDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).EnableTable(kTable, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, EnableTableAborted) {
  Sweep({"aborted enable", PrepareDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).EnableTable(kTable, {"me", nonce}, done);
         },
         [](Rig& rig) { AbortAt(rig, "EnableTable", "SET_ENABLING_TABLE_STATE"); }, nullptr});
}

TEST(MasterCrash, DeleteTable) {
  Sweep({"delete", PrepareDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).DeleteTable(kTable, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, TruncateTable) {
  Sweep({"truncate", PrepareDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).TruncateTable(kTable, /*preserve_splits=*/true, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, TruncateTableWithoutSpace) {
  Sweep({"truncate without space", PrepareDisabled,
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).TruncateTable(kTable, /*preserve_splits=*/false, {"me", nonce}, done);
         },
         [](Rig& rig) { rig.cluster.storage().next_layout_error = Error(Code::kNoSpace, "full"); }, nullptr});
}

// The table is dropped while a pause delays the last step of its creation, after its regions were opened.
TEST(MasterCrash, DeleteTableThatIsBeingCreated) {
  const auto creation = procedure::PauseScope::Type("CreateTable");
  Sweep({"delete while enabling",
         [creation](Rig& rig) {
           Prepare(rig, 0);
           Admin(rig).CreateTable(Descriptor("t"), {"m"}, {"me", {}}, [](const Result<ProcId>&) {});
           RATCHET_CHECK(rig.cluster.RunUntil([&rig] { return rig.At("OpenRegion", "DISPATCH").has_value(); }),
                         "not prepared");
           bool paused = false;
           rig.cluster.master().executor().Pause(creation, {"me", "sweep"}, Millis(0),
                                                 [&](const auto& ok) { paused = ok.ok(); });
           RATCHET_CHECK(rig.cluster.RunUntil([&] { return paused && rig.cluster.master().executor().Idle(); }),
                         "not prepared");
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).DeleteTable(kTable, {"me", nonce}, done);
         },
         [creation](Rig& rig) {
           sim::SimMaster& master = rig.cluster.master();
           if (!rig.happened["made"]) rig.happened["made"] = !rig.cluster.meta().tables().empty();
           if (!master.ready() || !rig.happened["made"] || !rig.cluster.meta().tables().empty()) return;
           if (!rig.Once(fmt::format("resumed in epoch {}", master.epoch()))) return;
           master.executor().Resume(creation, {"me", "sweep"},
                                    [](const Status&) {});  // may be dead; then the next master does it
         },
         nullptr});
}

TEST(MasterCrash, MoveRegion) {
  Sweep({"move", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).MoveRegion(FirstRegion(rig), {}, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, MoveMeta) {
  Sweep({"move of meta", [](Rig& rig) { Prepare(rig, 1); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).MoveRegion("hbase:meta,,1", {}, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, OpeningRefused) {
  Sweep({"refused opening",
         [](Rig& rig) {
           Prepare(rig, 1);
           for (sim::SimServer* server : rig.cluster.Alive()) server->refuse_opens = 2;
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).MoveRegion(FirstRegion(rig), {}, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

TEST(MasterCrash, ServerCrash) {
  Sweep({"server crash", [](Rig& rig) { Prepare(rig, 3); }, nullptr, [](Rig& rig) { KillOnce(rig, Spare); },
         CrashDealtWith});
}

// Its log names one of its regions, and its split is refused at first: the others open before (S171: seal makes an
// index).
TEST(MasterCrash, ServerCrashWithUnnamedRegions) {
  Sweep({"crash with unnamed regions",
         [](Rig& rig) {
           Prepare(rig, 0);
           Admin(rig).CreateTable(Descriptor("t"), {"c", "f", "i", "l", "o"}, {"me", {}}, [](const Result<ProcId>&) {});
           RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
           for (sim::SimServer* server : rig.cluster.Alive()) {
             if (!server->regions().empty()) server->Write(server->regions().begin()->first);
             server->refuse_splits = 2;
           }
         },
         nullptr, [](Rig& rig) { KillOnce(rig, Spare); }, CrashDealtWith});
}

TEST(MasterCrash, ServerWithMetaCrashes) {
  Sweep({"crash with meta", [](Rig& rig) { Prepare(rig, 3); }, nullptr, [](Rig& rig) { KillOnce(rig, MetaHost); },
         CrashDealtWith});
}

// The server that is opening a region dies; then the server that is closing another region dies.
TEST(MasterCrash, ServerCrashesDuringATransition) {
  Sweep({"crash during transitions",
         [](Rig& rig) {
           Prepare(rig, 1);
           for (sim::SimServer* server : rig.cluster.Alive()) server->order_time = Millis(0);
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).MoveRegion(FirstRegion(rig), {}, {"me", nonce}, done);
         },
         [](Rig& rig) {
           const bool closing = !rig.happened["closing"];
           const auto order = rig.At(closing ? "CloseRegion" : "OpenRegion", "DISPATCH");
           if (!order || order->waiting.kind != procedure::WaitingOn::Kind::kEvent) return;
           for (sim::SimServer* server : rig.cluster.Alive()) {
             if (order->description.text().find(server->name().ToString()) == std::string::npos || server->fenced())
               continue;
             if (!rig.Once(closing ? "closing" : "killed")) continue;
             rig.happened["victim " + server->name().ToString()] = true;
             rig.cluster.Kill(*server);
             rig.cluster.AddServer(closing ? "fresh1" : "fresh2");
             return;
           }
         },
         CrashDealtWith});
}

// The first splitter of a dead server's log refuses it, and the second one dies.
TEST(MasterCrash, SplitterRefusesAndDies) {
  Sweep({"splitter trouble",
         [](Rig& rig) {
           Prepare(rig, 3);
           for (sim::SimServer* server : rig.cluster.Alive()) server->refuse_splits = 1;
         },
         nullptr,
         [](Rig& rig) {
           KillOnce(rig, Spare);
           const auto split = rig.At("SplitWalRemote", "DISPATCH");
           if (!split || split->waiting.kind != procedure::WaitingOn::Kind::kEvent || rig.happened["splitter"]) return;
           for (sim::SimServer* server : rig.cluster.Alive()) {
             if (split->description.text().find("worker=" + server->name().ToString()) == std::string::npos ||
                 server->fenced())
               continue;
             if (server->refuse_splits > 0) continue;  // it must refuse first
             if (!rig.Once("splitter")) return;
             rig.happened["victim " + server->name().ToString()] = true;
             rig.cluster.Kill(*server);
             rig.cluster.AddServer("fresh");
             return;
           }
         },
         [](Rig& rig) { return CrashDealtWith(rig); }});
}

master::SchemaChange AddFamily(const char* family) {
  master::SchemaChange change;
  change.kind = master::ChangeKind::kAddFamily;
  change.asked.name = kTable;
  change.asked.families.push_back(DefaultFamily(family));
  return change;
}

TEST(MasterCrash, ModifyTable) {
  Sweep({"modify", [](Rig& rig) { Prepare(rig, 3); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).ModifyTable(AddFamily("g"), true, {"me", nonce}, done);
         },
         nullptr,
         [](Rig& rig) {
           const auto table = rig.cluster.master().logic().tables.Get(kTable);
           return table && table->schema != nullptr && table->schema->Family("g") != nullptr;
         }});
}

// The server of a region dies before it answers the flush.
TEST(MasterCrash, FlushTable) {
  Sweep({"flush", [](Rig& rig) { Prepare(rig, 3); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).FlushTable(kTable, {}, {"me", nonce}, done);
         },
         [](Rig& rig) {
           if (rig.At("FlushRegion", "DISPATCH")) KillOnce(rig, MetaHost);
         },
         [](Rig& rig) { return CrashDealtWith(rig); }});
}

// The server of a region dies before it answers the compaction.
TEST(MasterCrash, CompactTable) {
  Sweep({"compact", [](Rig& rig) { Prepare(rig, 3); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).CompactTable(kTable, true, {"me", nonce}, done);
         },
         [](Rig& rig) {
           if (rig.At("CompactRegion", "DISPATCH")) KillOnce(rig, MetaHost);
         },
         [](Rig& rig) { return CrashDealtWith(rig); }});
}

// A server dies while its region is being reopened.
TEST(MasterCrash, ModifyTableMeetsACrash) {
  Sweep({"modify and crash", [](Rig& rig) { Prepare(rig, 3); },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).ModifyTable(AddFamily("g"), true, {"me", nonce}, done);
         },
         [](Rig& rig) {
           if (rig.At("ReopenTableRegions", "REOPEN_REGIONS")) KillOnce(rig, MetaHost);
         },
         [](Rig& rig) { return CrashDealtWith(rig); }});
}

// A region that no server can open keeps its table ENABLING, and is given up.
TEST(MasterCrash, GiveUpRegion) {
  Sweep({"give up",
         [](Rig& rig) {
           PrepareDisabled(rig);
           rig.cluster.storage().damaged.insert(FirstRegion(rig));
           Admin(rig).EnableTable(kTable, {"me", {}}, [](const Result<ProcId>&) {});
           RATCHET_CHECK(rig.cluster.RunUntil(
                             [&rig] { return rig.At("TransitRegionState", "GET_ASSIGN_CANDIDATE").has_value(); }),
                         "?");
           RATCHET_CHECK(rig.cluster.RunFor(Millis(1'000)), "not prepared");
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).GiveUpRegion(*rig.cluster.storage().damaged.begin(), {"me", nonce}, done);
         },
         nullptr, [](Rig& rig) { return !rig.cluster.storage().quarantined.empty(); }, 15});
}

TEST(MasterCrash, FillHoles) {
  Sweep({"fill holes",
         [](Rig& rig) {
           PrepareDisabled(rig);
           rig.cluster.meta().mutable_regions().erase(FirstRegion(rig));
         },
         [](Rig& rig, procedure::Nonce nonce, Done done) {
           Admin(rig).FillHoles(kTable, {"me", nonce}, done);
         },
         nullptr, nullptr});
}

// DISPATCH of an order runs the other steps itself (master/procedures/core/remote_order.h).
bool OnlyStoredByEarlierVersions(const procedure::ProcedureRegistry::Type& type, const procedure::StepRow& row) {
  const bool order = type.name == "OpenRegion" || type.name == "CloseRegion" || type.name == "SplitWalRemote";
  return order && row.name != "DISPATCH";
}

TEST(MasterCrash, ZEveryStepWasSwept) {
  const Swept& swept = AllSwept();
  std::printf("%zu scenarios, %llu runs, %llu masters died\n", swept.scenarios,
              static_cast<unsigned long long>(swept.runs), static_cast<unsigned long long>(swept.deaths));
  if (swept.scenarios < kScenarios) GTEST_SKIP() << "only " << swept.scenarios << " scenarios were run";
  procedure::ProcedureRegistry registry;
  master::RegisterMasterProcedures(registry);
  for (const procedure::ProcedureRegistry::Type* type : registry.Types()) {
    for (const procedure::StepRow& row : type->rows) {
      const std::string step = type->name + ":" + std::string(row.name);
      if (OnlyStoredByEarlierVersions(*type, row)) {
        EXPECT_FALSE(swept.before.contains(step) || swept.after.contains(step)) << step << " is stored again";
        continue;
      }
      EXPECT_TRUE(swept.before.contains(step)) << "no master died before the commit of " << step;
      EXPECT_TRUE(swept.after.contains(step)) << "no master died after the commit of " << step;
      if (row.undo != procedure::UndoKind::kCall) continue;
      EXPECT_TRUE(swept.before.contains(step + ":undo")) << "no master died before the undo of " << step;
      EXPECT_TRUE(swept.after.contains(step + ":undo")) << "no master died after the undo of " << step;
    }
  }
}

}  // namespace
}  // namespace ratchet::crash
