#include "master/procedures/register.h"

#include "master/procedures/build_regions.h"
#include "master/procedures/clone_snapshot.h"
#include "master/procedures/close_region.h"
#include "master/procedures/compact_table.h"
#include "master/procedures/copy_region.h"
#include "master/procedures/create_table.h"
#include "master/procedures/delete_table.h"
#include "master/procedures/disable_table.h"
#include "master/procedures/drain_server.h"
#include "master/procedures/enable_table.h"
#include "master/procedures/export_snapshot.h"
#include "master/procedures/flush_table.h"
#include "master/procedures/gc_region.h"
#include "master/procedures/import_snapshot.h"
#include "master/procedures/init_meta.h"
#include "master/procedures/mend_table.h"
#include "master/procedures/merge_table_regions.h"
#include "master/procedures/modify_table.h"
#include "master/procedures/namespace_procedures.h"
#include "master/procedures/open_region.h"
#include "master/procedures/peer_procedures.h"
#include "master/procedures/recommission_server.h"
#include "master/procedures/refresh_peer.h"
#include "master/procedures/register_server.h"
#include "master/procedures/reopen_table_regions.h"
#include "master/procedures/replication_queue.h"
#include "master/procedures/restore_snapshot.h"
#include "master/procedures/server_crash.h"
#include "master/procedures/set_switches.h"
#include "master/procedures/snapshot.h"
#include "master/procedures/split_table_region.h"
#include "master/procedures/split_wal.h"
#include "master/procedures/transit_region_state.h"
#include "master/procedures/truncate_region.h"
#include "master/procedures/truncate_table.h"
#include "procedure/author/procedure_registry.h"

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
