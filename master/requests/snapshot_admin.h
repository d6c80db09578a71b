// SnapshotAdmin: checks the requests of administrators about snapshots and submits their procedures.
//
// As in TableAdmin, a nonce gives the same pid again, and the procedure repeats the checks made here. Work on the
// storage runs on the thread for slow work (MasterEnv::RunSlowWork), and `done` is called there; if too much work waits
// for that thread, `done` gets a RegionTooBusyException, after which clients retry. Errors are HBase's:
// SnapshotExistsException, SnapshotDoesNotExistException, SnapshotCreationException, UnknownSnapshotException,
// TableNotDisabledException, ... Thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/table_name.h"
#include "master/requests/submit_asked.h"

namespace ratchet::master {

class SnapshotAdmin {
 public:
  using Done = PidDone;
  using Listed = std::function<void(Result<std::vector<hbase::pb::SnapshotDescription>>)>;
  explicit SnapshotAdmin(MasterEnv& env) : env_(env) {}

  // Takes a snapshot of the table under the description's name. Uses the description's table, type and time to live,
  // and its creation time if it is set.
  void TakeSnapshot(hbase::pb::SnapshotDescription description, RequestContext context, Done done);
  // For which snapshot, and for a present or a new table, the caller may restore.
  struct Permitted {
    hbase::pb::SnapshotDescription snapshot;
    bool table_exists = false;
  };
  // Restores the snapshot into `table`: replaces a disabled table, or creates a table that does not exist. `permitted`:
  // another snapshot of the name, and a table that was made or dropped meanwhile, are refused; nullopt: neither is.
  // `restores_rights`: with the rights that the snapshot's table had.
  void PutBack(const std::string& name, const TableName& table, RequestContext context, Done done,
               const std::optional<Permitted>& permitted = std::nullopt, bool restores_rights = false);
  // The owner of the snapshot that a procedure is taking under this name; empty: none.
  [[nodiscard]] std::string OwnerOfUnfinished(const std::string& name) const;
  // Export copies a complete snapshot to the directory `place`; Import makes a snapshot of an export. An empty `name`
  // means the name at the export. Only below the directory of --snapshot-export-dir, and a few at a time.
  void Export(const std::string& name, const std::string& place, RequestContext context, Done done);
  void Import(const std::string& place, const std::string& name, RequestContext context, Done done);
  // Lists snapshots by name. Does not block the caller's thread.
  void List(Listed done);
  void Delete(const std::string& name, std::function<void(Status)> done);
  // `done` gets true if the snapshot is complete and no procedure is taking it: the next request about its name or its
  // table then finds it free. UnknownSnapshotException: it does not exist and no procedure is taking it.
  void IsDone(const std::string& name, std::function<void(Result<bool>)> done);
  // Archives snapshots whose time to live is over (unless Switch::kSnapshotCleanup is off), and incomplete snapshots of
  // ended procedures. Call periodically, on a thread that may block for the storage.
  void CleanUp();

 private:
  [[nodiscard]] Status CheckTransfer(const std::string& place) const;

  MasterEnv& env_;
};

}  // namespace ratchet::master
