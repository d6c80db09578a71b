#include "master/process/root_directory.h"

#include <sys/vfs.h>

#include <fmt/core.h>

#include "common/base/mutant.h"
#include "common/base/prng.h"
#include "common/io/cluster_id.h"
#include "common/io/fatal.h"
#include "common/io/root_history.h"
#include "common/tools/storage_check/trials.h"

namespace ratchet::master {
namespace {

constexpr long kNfsMagic = 0x6969;

}  // namespace

Status CheckFileSystem(const std::string& root) {
  struct statfs info {};
  if (::statfs(root.c_str(), &info) != 0) return Ok();  // the first use reports the error
  if (static_cast<long>(info.f_type) == kNfsMagic) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("{} is on NFS, whose caches hide one machine's marks from another; use a local disk or a "
                             "coherent file system such as CephFS",
                             root));
  }
  return Ok();
}

Result<std::unique_ptr<io::Directory>> OpenRoot(io::Disk& disk, const std::string& path) {
  RATCHET_TRY(CheckFileSystem(path));
  auto root = disk.Open(path);
  if (!root.ok() && root.error().code() == Code::kNotFound) {
    return Error(Code::kNotFound,
                 fmt::format("directory {} does not exist; create it first, if the name is right", path));
  }
  return root;
}

Result<RootState> ReadRootState(io::Directory& root) {
  RootState state;
  RATCHET_ASSIGN(state.history, io::HasHistory(root));
  RATCHET_ASSIGN(const bool there, root.Exists(io::kClusterIdFile));
  if (there) {
    RATCHET_ASSIGN(state.cluster_id, io::ReadClusterId(root));
  }
  return state;
}

namespace {

// S44 (own name for each file): a split makes hard links to the parent's files for the daughters.
Status ProbeLink(io::Directory& root, const std::string& name) {
  const std::string folder = name + ".d";
  RATCHET_TRY(root.MakeDir(folder));
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> other, root.OpenDir(folder));
  const Status linked = root.LinkTo(name, *other, name);
  if (linked.ok()) RATCHET_TRY(other->Unlink(name));
  RATCHET_TRY(root.RemoveDir(folder));
  if (linked.ok()) return Ok();
  return Error(Code::kFailedPrecondition,
               fmt::format("cannot make a hard link to a file below {} in another directory ({}): split regions share "
                           "files, so --root needs a file system with hard links",
                           root.path(), linked.error().message()));
}

}  // namespace

Status ProbeWritable(io::Directory& root, std::uint64_t seed, const Clock& clock) {
  const std::string name = fmt::format(".probe.{:016x}", seed);
  RATCHET_ASSIGN(const auto file, root.Create(name));
  const Status linked = RATCHET_MUTANT("root.no_link_probe") ? Ok() : ProbeLink(root, name);
  RATCHET_TRY(root.Unlink(name));
  RATCHET_TRY(linked);
  const std::string folder = name + ".t";
  RATCHET_TRY(root.MakeDir(folder));
  RATCHET_ASSIGN(const std::unique_ptr<io::Directory> trials, root.OpenDir(folder));
  const Status tried = io::TryStorageShortly(*trials, clock);
  const Status removed = root.RemoveDir(folder);  // on unfit storage, entries may be left
  return tried.ok() ? removed : tried;
}

std::string NewClusterId(std::uint64_t seed) {
  Prng prng(seed);
  const std::uint64_t high = (prng.Next() & ~0xf000ULL) | 0x4000ULL;       // version 4
  const std::uint64_t low = (prng.Next() & ~(3ULL << 62)) | (2ULL << 62);  // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffffULL);
}

Result<std::string> EnsureClusterId(io::Directory& root, const std::string& fresh) {
  RATCHET_ASSIGN(const bool there, root.Exists(io::kClusterIdFile));
  if (!there) {
    // Writes a complete file under a unique name, then publishes it by a link, which only one of several masters can
    // make.
    const std::string draft = fmt::format("{}.{}", io::kClusterIdFile, fresh);
    RATCHET_TRY(io::WriteFileAtomically(root, draft, fresh + "\n"));
    const Status linked = root.Link(draft, io::kClusterIdFile);
    if (!linked.ok() && linked.error().code() != Code::kAlreadyExists) return linked.error();
    IgnoreResult(root.Unlink(draft), "a draft that stays does no harm");
  }
  const Status synced = root.Sync();
  if (!io::DieOnFailedSync(synced, root.path())) return synced.error();
  return io::ReadClusterId(root);
}

}  // namespace ratchet::master
