#include "master/storage/directory_tools.h"

#include <fmt/core.h>

#include "common/base/log.h"
#include "common/io/fatal.h"

namespace ratchet::master {

bool SkipsFile(const Result<DirectoryPtr>& opened, const io::Directory& parent, const std::string& name) {
  if (opened.ok() || opened.error().code() != Code::kFailedPrecondition) return false;
  RATCHET_LOG(kWarn, "Skipping {}/{}: it is a file, expected a directory", parent.path(), name);
  return true;
}

Status SyncOrDie(io::Directory& directory) {
  const Status synced = directory.Sync();
  if (!io::DieOnFailedSync(synced, directory.path())) return synced;
  return Ok();
}

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t slash = std::min(path.find('/', begin), path.size());
    if (slash > begin) parts.push_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return parts;
}

namespace {

Status MakeIfMissing(io::Directory& parent, const std::string& name) {
  Status made = parent.MakeDir(name);
  return made.ok() || made.error().code() == Code::kAlreadyExists ? Ok() : made;
}

}  // namespace

Result<DirectoryPtr> OpenOrMakeDirectory(io::Directory& parent, const std::string& name) {
  RATCHET_TRY(MakeIfMissing(parent, name));
  return parent.OpenDir(name);
}

Result<DirectoryPtr> EnsureDirectory(io::Directory& parent, const std::string& name) {
  RATCHET_TRY(MakeIfMissing(parent, name));
  RATCHET_TRY(SyncOrDie(parent));
  return parent.OpenDir(name);
}

Result<DirectoryPtr> EnsurePath(io::Directory& parent, const std::string& path) {
  RATCHET_ASSIGN(DirectoryPtr at, parent.Reopen());
  for (const std::string& part : SplitPath(path)) {
    RATCHET_ASSIGN(at, EnsureDirectory(*at, part));
  }
  return at;
}

Result<DirectoryPtr> OpenPath(io::Directory& parent, const std::string& path) {
  RATCHET_ASSIGN(DirectoryPtr at, parent.Reopen());
  for (const std::string& part : SplitPath(path)) {
    RATCHET_ASSIGN(at, at->OpenDir(part));
  }
  return at;
}

Result<std::vector<std::string>> NamesBelow(io::Directory& parent, const std::string& path) {
  const auto directory = OpenPath(parent, path);
  if (directory.ok()) return (*directory)->List();
  const Code code = directory.error().code();
  if (code == Code::kNotFound || code == Code::kFailedPrecondition) return std::vector<std::string>{};
  return directory.error();
}

Status MoveDirectory(io::Directory& source, const std::string& name, io::Directory& target, const std::string& to) {
  RATCHET_ASSIGN(const bool here, source.Exists(name));
  RATCHET_ASSIGN(const bool there, target.Exists(to));
  if (here && there) {
    return Error(Code::kFailedPrecondition,
                 fmt::format("both {}/{} and {}/{} exist", source.path(), name, target.path(), to));
  }
  if (here) {
    const Status moved = source.RenameTo(name, target, to);
    if (!moved.ok() && moved.error().code() != Code::kNotFound) return moved;
  }
  RATCHET_TRY(SyncOrDie(target));
  return SyncOrDie(source);
}

Status RemoveTree(io::Directory& parent, const std::string& name, const std::function<Status()>& check) {
  auto opened = parent.OpenDir(name);
  if (!opened.ok()) {
    if (opened.error().code() == Code::kNotFound) return Ok();
    RATCHET_TRY(check());
    return parent.Unlink(name);  // a file
  }
  RATCHET_ASSIGN(const std::vector<std::string> names, (*opened)->List());
  for (const std::string& inner : names) RATCHET_TRY(RemoveTree(**opened, inner, check));
  RATCHET_TRY(check());
  const Status removed = parent.RemoveDir(name);
  if (!removed.ok() && removed.error().code() != Code::kNotFound) return removed;
  return Ok();
}

}  // namespace ratchet::master
