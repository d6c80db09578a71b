// SnapshotAdmin: what administrators may ask for about snapshots, checked and turned into procedures.
//
// As TableAdmin: a nonce gives the same pid again, and what is checked here is checked again by the procedure. What
// reads or changes the storage runs on the thread for slow work (MasterEnv::RunSlowWork), and `done` is called there;
// where too much waits for that thread, `done` gets a RegionTooBusyException, which clients try again after.
// Errors are HBase's: SnapshotExistsException, SnapshotDoesNotExistException, SnapshotCreationException,
// UnknownSnapshotException, TableNotDisabledException, ... Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/strong_id.h"
#include "common/model/proto/snapshot.pb.h"
#include "common/model/table_name.h"
#include "master/control/submit_asked.h"

namespace ratchet::master {

class SnapshotAdmin {
 public:
  using Done = PidDone;
  using Listed = std::function<void(Result<std::vector<hbase::pb::SnapshotDescription>>)>;
  explicit SnapshotAdmin(MasterEnv& env) : env_(env) {}

  // Keeps what the table holds under the description's name. The description's table, type and time to live count; its
  // creation time does where it is set.
  void TakeSnapshot(hbase::pb::SnapshotDescription description, RequestContext context, Done done);
  // Puts what the snapshot holds into `table`: a disabled one is replaced, one that is not there is made.
  void PutBack(const std::string& name, const TableName& table, RequestContext context, Done done);
  // Copies a complete snapshot to the directory `place`, and makes one of what is there; `name` empty: the one that it
  // was exported with. Only below the directory of the setting --snapshot-export-dir, and a few at a time.
  void Export(const std::string& name, const std::string& place, RequestContext context, Done done);
  void Import(const std::string& place, const std::string& name, RequestContext context, Done done);
  // By name. Blocks for the storage no caller's thread.
  void List(Listed done);
  void Delete(const std::string& name, std::function<void(Status)> done);
  // True: it is complete. UnknownSnapshotException: nothing is taking it, either.
  void IsDone(const std::string& name, std::function<void(Result<bool>)> done);
  // Archives snapshots whose time to live is over, unless Switch::kSnapshotCleanup is off, and what ended ones have
  // left that are not complete. Called now and then, on a thread that may wait for the storage.
  void CleanUp();

 private:
  [[nodiscard]] Status CheckTransfer(const std::string& place) const;

  MasterEnv& env_;
};

}  // namespace ratchet::master
