// TableAdmin: what administrators may ask for, checked and turned into procedures.
//
// Each request names the user and the nonce that came with it; the same nonce gives the same pid, across masters.
// `done` gets the pid once it is durable, or why the request was refused; Error::remote_class() is HBase's exception
// class (TableExistsException, TableNotFoundException, TableNotEnabledException, TableNotDisabledException,
// DoNotRetryRegionException, UnknownRegionException, PleaseHoldException while hbase:meta is not loaded, ...).
// What is checked here is checked again by the procedure under its lock.
// Thread-safe; never blocks.
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
#include "master/control/submit_asked.h"
#include "master/procedures/schema_change.h"
#include "master/state/table_directory.h"
#include "procedure/executor.h"

namespace ratchet::master {

struct MasterEnv;

struct MoveTarget {
  std::optional<ServerName> server;  // none: placement decides, somewhere else if it can
};

class TableAdmin {
 public:
  using Done = PidDone;
  explicit TableAdmin(MasterEnv& env) : env_(env) {}

  // `split_keys`: non-empty, rising, unique; n keys make n + 1 regions.
  void CreateTable(TableDescriptor descriptor, std::vector<std::string> split_keys, RequestContext context, Done done);
  // Disabling and deleting from ENABLING and DISABLING takes the table over (S70), if it was seen so when it was asked
  // for.
  void EnableTable(const TableName& table, RequestContext context, Done done);
  void DisableTable(const TableName& table, RequestContext context, Done done);
  void DeleteTable(const TableName& table, RequestContext context, Done done);
  // Takes all rows of a disabled table away, and enables it. `preserve_splits`: with regions of the same keys; false:
  // with one region.
  void TruncateTable(const TableName& table, bool preserve_splits, RequestContext context, Done done);

  // Gives the table another descriptor; `reopen`: and has its open regions opened with it. In every state of the table.
  // InvalidFamilyOperationException: the family is missing, there already, or the last one.
  void ModifyTable(SchemaChange change, bool reopen, RequestContext context, Done done);

  // Every region of an enabled table writes to files what was acknowledged before. `families`: must be the table's;
  // those of a region share one memory store and are flushed together.
  void FlushTable(const TableName& table, std::vector<std::string> families, RequestContext context, Done done);
  // The store files of every region of an enabled table are merged; `major`: all of a region become one.
  void CompactTable(const TableName& table, bool major, RequestContext context, Done done);
  // A FlushTable of the table has not ended.
  [[nodiscard]] bool IsFlushing(const TableName& table) const;

  // `region`: region name or encoded name. Refused while a procedure owns the region's transition.
  void MoveRegion(const std::string& region, MoveTarget target, RequestContext context, Done done);
  void AssignRegion(const std::string& region, RequestContext context, Done done);
  void UnassignRegion(const std::string& region, RequestContext context, Done done);
  void ReopenRegion(const std::string& region, RequestContext context, Done done);
  // Two regions take the place of an open one. `split_key`: the first row of the second; empty: taken from the data.
  void SplitRegion(const std::string& region, const std::string& split_key, RequestContext context, Done done);
  // An empty region takes the place of an open one: its rows are lost.
  void TruncateRegion(const std::string& region, RequestContext context, Done done);
  // One region takes the place of two or more neighbours, all of them open.
  void MergeRegions(const std::vector<std::string>& regions, RequestContext context, Done done);
  // The region's files go to quarantine, its rows are lost, and an empty region has its keys (MendTable, S84). Refused
  // where a server has it, or may have it.
  void GiveUpRegion(const std::string& region, RequestContext context, Done done);
  // Makes empty regions for the rows that no region of the table has.
  void FillHoles(const TableName& table, RequestContext context, Done done);

 private:
  [[nodiscard]] TableNode SeenNow(const TableName& table) const;  // only its name, if it is not there
  void TransitRegion(const std::string& region, int type, MoveTarget target, RequestContext context, Done done);
  MasterEnv& env_;
};

}  // namespace ratchet::master
