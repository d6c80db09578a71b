#include "master/process/owner_parts.h"

#include <utility>

#include "common/io/root_history.h"
#include "master/history/history_files.h"
#include "master/storage/directory_tools.h"

namespace ratchet::master {

// Every folder is made before the claim.
Result<OwnerParts> MakeOwnerParts(io::Disk& disk, const std::string& root, const Clock& clock,
                                  procedure::WalStoreOptions options, const BeforeClaim& before) {
  OwnerParts parts;
  RATCHET_ASSIGN(parts.root, disk.OpenOrMake(root));
  if (before.first) RATCHET_TRY(before.first(*parts.root));
  RATCHET_TRY(io::CheckRootPast(*parts.root));  // S114 (no start without the past): before any file is made
  RATCHET_ASSIGN(DirectoryPtr own_root, disk.OpenOrMake(root));
  RATCHET_ASSIGN(auto guard, procedure::OpenRootGuard(std::move(own_root)));
  RATCHET_ASSIGN(DirectoryPtr procedures, OpenOrMakeDirectory(*parts.root, kProceduresFolder));
  RATCHET_ASSIGN(DirectoryPtr quarantine, OpenOrMakeDirectory(*parts.root, kQuarantineFolder));
  if (before.last) RATCHET_TRY(before.last(*parts.root, *procedures));
  parts.store = procedure::MakeWalStore(std::move(procedures), std::move(quarantine), clock, std::move(options),
                                        std::move(guard));
  RATCHET_ASSIGN(parts.files, PosixClusterFiles::Open(disk, root, [raw = parts.store.get()] { return raw->Check(); }));
  RATCHET_ASSIGN(parts.history, OpenOrMakeDirectory(*parts.root, kHistoryFolder));
  return parts;
}

}  // namespace ratchet::master
