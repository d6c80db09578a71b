// Shared by the scenarios of the crash sweep: a cluster with a table, victims, and the run.
#pragma once

#include <functional>
#include <string>

#include "common/base/check.h"
#include "master/requests/table_admin.h"
#include "tests/crash/master_sweep.h"

namespace ratchet::crash {

using Done = std::function<void(Result<ProcId>)>;
inline const TableName kTable("default", "t");

[[nodiscard]] TableDescriptor Descriptor(const std::string& name);
[[nodiscard]] master::TableAdmin& Admin(Rig& rig);
// Three servers and, unless `regions` is 0, an enabled table with written regions.
void Prepare(Rig& rig, int regions);
void PrepareDisabled(Rig& rig);
[[nodiscard]] std::string FirstRegion(Rig& rig);
// Null: no server has it.
[[nodiscard]] sim::SimServer* MetaHost(Rig& rig);
// A live server that carries neither meta nor the first region.
[[nodiscard]] sim::SimServer* Spare(Rig& rig);
// Kills one server, once the master is ready.
void KillOnce(Rig& rig, sim::SimServer* (*choose)(Rig&));
[[nodiscard]] bool CrashDealtWith(Rig& rig);
// A step that waits for a write of hbase:meta.
void AbortAt(Rig& rig, const std::string& type, const std::string& step);
// Runs the scenario with a death at each commit; a test of its own.
void Sweep(const Scenario& scenario);

}  // namespace ratchet::crash
