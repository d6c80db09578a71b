// TableAdmin: checks the requests of administrators about tables and regions, and submits their procedures.
//
// Each request names the user and the nonce that came with it; the same nonce gives the same pid, across masters.
// `done` gets the pid once it is durable, or an error; Error::remote_class() is HBase's exception class
// (TableExistsException, TableNotFoundException, TableNotEnabledException, TableNotDisabledException,
// DoNotRetryRegionException, UnknownRegionException, PleaseHoldException while hbase:meta is not loaded, ...). The
// procedure repeats the checks under its lock. Thread-safe; never blocks.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/server_name.h"
#include "common/model/table_descriptor.h"
#include "common/model/table_name.h"
#include "master/cluster/table_directory.h"
#include "master/procedures/table/schema_change.h"
#include "master/requests/submit_asked.h"
#include "procedure/api/executor.h"

namespace ratchet::master {

struct MasterEnv;

struct MoveTarget {
  std::optional<ServerName> server;  // nullopt: placement chooses, another server if possible
};

class TableAdmin {
 public:
  using Done = PidDone;
  explicit TableAdmin(MasterEnv& env) : env_(env) {}

  // `split_keys`: non-empty, rising, unique; n keys make n + 1 regions.
  void CreateTable(TableDescriptor descriptor, std::vector<std::string> split_keys, RequestContext context, Done done);
  // Disabling or deleting a table in ENABLING or DISABLING takes the table over (S70: take over a table in transition),
  // if it was in that state at the request.
  void EnableTable(const TableName& table, RequestContext context, Done done);
  void DisableTable(const TableName& table, RequestContext context, Done done);
  void DeleteTable(const TableName& table, RequestContext context, Done done);
  // Removes all rows of a disabled table, and enables it. `preserve_splits`: keeps the region boundaries; false: makes
  // one region.
  void TruncateTable(const TableName& table, bool preserve_splits, RequestContext context, Done done);

  // Changes the table's descriptor, in any state of the table. `reopen`: reopens its open regions with the new
  // descriptor. InvalidFamilyOperationException: the family is missing, exists already, or is the last one.
  void ModifyTable(SchemaChange change, bool reopen, RequestContext context, Done done);

  // Flushes every region of an enabled table. `families` must exist; the families of a region share one memory store
  // and are flushed together.
  void FlushTable(const TableName& table, std::vector<std::string> families, RequestContext context, Done done);
  // Compacts every region of an enabled table. `major`: all store files of a region become one.
  void CompactTable(const TableName& table, bool major, RequestContext context, Done done);
  // Returns true while a FlushTable of the table has not ended.
  [[nodiscard]] bool IsFlushing(const TableName& table) const;

  // `region`: region name or encoded name. Fails while a procedure owns the region.
  void MoveRegion(const std::string& region, MoveTarget target, RequestContext context, Done done);
  void AssignRegion(const std::string& region, RequestContext context, Done done);
  void UnassignRegion(const std::string& region, RequestContext context, Done done);
  void ReopenRegion(const std::string& region, RequestContext context, Done done);
  // Replaces an open region by two. `split_key`: first row of the second; empty: chosen from the data.
  void SplitRegion(const std::string& region, const std::string& split_key, RequestContext context, Done done);
  // Replaces an open region by an empty one: its rows are lost.
  void TruncateRegion(const std::string& region, RequestContext context, Done done);
  // Replaces two or more adjacent open regions by one.
  void MergeRegions(const std::vector<std::string>& regions, RequestContext context, Done done);
  // Moves the region's files to quarantine and makes an empty region for its keys (MendTable, S84: give up a region by
  // name); its rows are lost. Fails if a server has, or may have, the region.
  void GiveUpRegion(const std::string& region, RequestContext context, Done done);
  // Makes empty regions for keys that no region of the table covers.
  void FillHoles(const TableName& table, RequestContext context, Done done);

 private:
  [[nodiscard]] TableNode SeenNow(const TableName& table) const;  // only the name if the table does not exist
  void TransitRegion(const std::string& region, int type, MoveTarget target, RequestContext context, Done done);
  MasterEnv& env_;
};

}  // namespace ratchet::master
