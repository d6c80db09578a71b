#include "tests/crash/scenarios.h"

#include <cstdio>

#include <gtest/gtest.h>

namespace ratchet::crash {

TableDescriptor Descriptor(const std::string& name) {
  TableDescriptor descriptor;
  descriptor.name = TableName("default", name);
  descriptor.families.push_back(DefaultFamily("f"));
  return descriptor;
}
master::TableAdmin& Admin(Rig& rig) { return rig.cluster.master().logic().admin; }

// Three servers and, unless `regions` is 0, an enabled table with written regions.
void Prepare(Rig& rig, int regions) {
  rig.cluster.Boot(3);
  if (regions == 0) return;
  std::vector<std::string> keys;
  for (int i = 1; i < regions; ++i) keys.push_back(std::string(1, static_cast<char>('a' + i)));
  Admin(rig).CreateTable(Descriptor("t"), keys, {"me", {}}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
  rig.cluster.WriteEverywhere();
}
void PrepareDisabled(Rig& rig) {
  Prepare(rig, 2);
  Admin(rig).DisableTable(kTable, {"me", {}}, [](const Result<ProcId>&) {});
  RATCHET_CHECK(rig.cluster.Settle(), "not prepared");
}

std::string FirstRegion(Rig& rig) { return rig.cluster.meta().regions().begin()->first; }
sim::SimServer* MetaHost(Rig& rig) {
  for (sim::SimServer* server : rig.cluster.Alive()) {
    if (!server->fenced() && server->IsOpen(std::string(kMetaEncodedName))) return server;
  }
  return nullptr;
}
// A live server that carries neither meta nor the first region.
sim::SimServer* Spare(Rig& rig) {
  for (sim::SimServer* server : rig.cluster.Alive()) {
    if (server != MetaHost(rig) && !server->IsOpen(FirstRegion(rig))) return server;
  }
  return nullptr;
}
// Kills one server, once the master is ready.
void KillOnce(Rig& rig, sim::SimServer* (*choose)(Rig&)) {
  if (!rig.cluster.master().ready() || rig.happened["killed"]) return;
  sim::SimServer* victim = choose(rig);
  if (victim == nullptr || !rig.Once("killed")) return;
  rig.happened["victim " + victim->name().ToString()] = true;
  rig.cluster.Kill(*victim);
}
bool CrashDealtWith(Rig& rig) {
  if (!rig.happened["killed"]) return false;
  for (const auto& [server, logs] : rig.cluster.storage().logs) {
    if (rig.happened.contains("victim " + server.ToString())) return false;
  }
  return true;
}
void AbortAt(Rig& rig, const std::string& type, const std::string& step) {
  if (const auto info = rig.At(type, step);
      info && info->waiting.kind == procedure::WaitingOn::Kind::kAsync && !info->failing) {
    rig.cluster.master().executor().Abort(info->pid, {"operator", "the sweep"}, [](const Status&) {});  // may be dead
  }
}

void Sweep(const Scenario& scenario) {
  const SweepResult result = SweepMaster(scenario);
  EXPECT_GT(result.commits, 0U);
  EXPECT_EQ(result.calm.find("VIOLATION"), std::string::npos);
  for (const std::string& failure : result.failures) ADD_FAILURE() << scenario.name << ", " << failure;
  std::printf("%s: %llu commits, ends as %s\n", scenario.name.c_str(), static_cast<unsigned long long>(result.commits),
              result.calm.c_str());
}

}  // namespace ratchet::crash
