#include "master/procedures/register.h"

#include "master/procedures/admin/drain_server.h"
#include "master/procedures/admin/init_meta.h"
#include "master/procedures/admin/namespace_procedures.h"
#include "master/procedures/admin/recommission_server.h"
#include "master/procedures/admin/register_server.h"
#include "master/procedures/admin/set_switches.h"
#include "master/procedures/assignment/region_orders.h"
#include "master/procedures/assignment/transit_region_state.h"
#include "master/procedures/core/build_regions.h"
#include "master/procedures/crash/server_crash.h"
#include "master/procedures/crash/split_wal.h"
#include "master/procedures/replication/peer_procedures.h"
#include "master/procedures/replication/refresh_peer.h"
#include "master/procedures/replication/replication_queue.h"
#include "master/procedures/reshape/gc_region.h"
#include "master/procedures/reshape/merge_table_regions.h"
#include "master/procedures/reshape/split_table_region.h"
#include "master/procedures/reshape/truncate_region.h"
#include "master/procedures/snapshot/clone_snapshot.h"
#include "master/procedures/snapshot/copy_region.h"
#include "master/procedures/snapshot/export_snapshot.h"
#include "master/procedures/snapshot/import_snapshot.h"
#include "master/procedures/snapshot/restore_snapshot.h"
#include "master/procedures/snapshot/snapshot.h"
#include "master/procedures/table/compact_table.h"
#include "master/procedures/table/create_table.h"
#include "master/procedures/table/delete_table.h"
#include "master/procedures/table/disable_table.h"
#include "master/procedures/table/enable_table.h"
#include "master/procedures/table/flush_table.h"
#include "master/procedures/table/mend_table.h"
#include "master/procedures/table/modify_table.h"
#include "master/procedures/table/reopen_table_regions.h"
#include "master/procedures/table/truncate_table.h"
#include "procedure/api/procedure_registry.h"

namespace ratchet::master {

void RegisterMasterProcedures(procedure::ProcedureRegistry& registry) {
  registry.Register<AddPeer>();
  registry.Register<BuildRegions>();
  registry.Register<ClaimReplicationQueues>();
  registry.Register<CloneRegion>();
  registry.Register<CloneSnapshot>();
  registry.Register<ExportSnapshot>();
  registry.Register<ImportSnapshot>();
  registry.Register<CloseRegion>();
  registry.Register<CreateNamespace>();
  registry.Register<CreateTable>();
  registry.Register<DeleteNamespace>();
  registry.Register<DeleteTable>();
  registry.Register<TruncateTable>();
  registry.Register<DisablePeer>();
  registry.Register<DisableTable>();
  registry.Register<DrainServer>();
  registry.Register<EnablePeer>();
  registry.Register<EnableTable>();
  registry.Register<CompactRegion>();
  registry.Register<CompactTable>();
  registry.Register<FlushRegion>();
  registry.Register<FlushTable>();
  registry.Register<GCMultipleMergedRegions>();
  registry.Register<GCRegion>();
  registry.Register<InitMeta>();
  registry.Register<MergeTableRegions>();
  registry.Register<SplitTableRegion>();
  registry.Register<MendTable>();
  registry.Register<ModifyNamespace>();
  registry.Register<ModifyTable>();
  registry.Register<OpenRegion>();
  registry.Register<RecommissionServer>();
  registry.Register<RefreshPeer>();
  registry.Register<RegisterServer>();
  registry.Register<RemovePeer>();
  registry.Register<ReopenTableRegions>();
  registry.Register<RestoreSnapshot>();
  registry.Register<RetireReplicationQueue>();
  registry.Register<ServerCrash>();
  registry.Register<SetSwitches>();
  registry.Register<Snapshot>();
  registry.Register<SnapshotRegion>();
  registry.Register<SplitWal>();
  registry.Register<SplitWalRemote>();
  registry.Register<TransitRegionState>();
  registry.Register<TruncateRegion>();
  registry.Register<UpdatePeerConfig>();
}

}  // namespace ratchet::master
