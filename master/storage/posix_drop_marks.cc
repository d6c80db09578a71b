// The part of PosixClusterFiles that handles the marks of S115 (missing row is not evidence) in tables' directories.
#include <fmt/core.h>

#include "common/base/mutant.h"
#include "master/storage/directory_tools.h"
#include "master/storage/drop_marks.h"
#include "master/storage/posix_cluster_files.h"

namespace ratchet::master {

Status PosixClusterFiles::AddMark(io::Directory& table, const std::string& name) {
  RATCHET_TRY(check_());
  auto made = table.Create(name);  // empty: needs no space
  if (!made.ok() && made.error().code() != Code::kAlreadyExists) return made.error();
  if (made.ok()) RATCHET_TRY((*made)->Close());
  return SyncOrDie(table);
}

Status PosixClusterFiles::MarkDropped(const std::string& directory, ProcId pid) {
  return Mark(directory, [pid](const DropMarks& marks) { return NameToDrop(marks, pid.value()); });
}

Status PosixClusterFiles::MarkKept(const std::string& directory, ProcId pid) {
  return Mark(directory, [pid](const DropMarks& marks) { return NameToKeep(marks, pid.value()); });
}

Status PosixClusterFiles::Mark(const std::string& directory,
                               const std::function<std::optional<std::string>(const DropMarks&)>& choose) {
  const auto table = OpenPath(*data_, directory);
  if (!table.ok()) return IsNotThere(table.error().code()) ? Ok() : Status(table.error());
  RATCHET_ASSIGN(const std::vector<std::string> names, (*table)->List());
  if (const auto name = choose(DropMarksIn(names))) return AddMark(**table, *name);
  return SyncOrDie(**table);  // an earlier call may have ended before its sync
}

Result<bool> PosixClusterFiles::MayGo(const std::string& directory) {
  RATCHET_ASSIGN(const DirectoryPtr table, OpenPath(*data_, directory));
  RATCHET_ASSIGN(const std::vector<std::string> names, table->List());
  return names.empty() || DropMarksIn(names).may_go();
}

}  // namespace ratchet::master
