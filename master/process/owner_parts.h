// The parts of the active master that are directories and files of the root: the procedure store and the cluster's
// files.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/io/disk.h"
#include "master/storage/posix_cluster_files.h"
#include "procedure/api/store.h"
#include "procedure/api/wal_store.h"

namespace ratchet::master {

struct OwnerParts {
  std::unique_ptr<io::Directory> root;
  std::unique_ptr<procedure::ProcedureStore> store;  // not claimed yet
  std::unique_ptr<PosixClusterFiles> files;          // its CheckOwner is the store's
  std::unique_ptr<io::Directory> history;
};

// Steps of the caller in between; each may be empty.
struct BeforeClaim {
  std::function<Status(io::Directory& root)> first;  // before any access to the root other than its listing
  std::function<Status(io::Directory& root, io::Directory& procedures)> last;
};

// Opens the folders of the root, and makes those that are missing. Syncs nothing in a root that has a claim: the claim
// of the store syncs the root, so all folders are durable before this master acts, S9' (claim in root and store).
// WentBack: S114 (no start without the past). `clock` must outlive the store.
[[nodiscard]] Result<OwnerParts> MakeOwnerParts(io::Disk& disk, const std::string& root, const Clock& clock,
                                                procedure::WalStoreOptions options, const BeforeClaim& before);

}  // namespace ratchet::master
