#include "common/io/fenced_directory.h"

#include "common/base/mutant.h"

namespace ratchet::io {
namespace {

bool IsCode(const Status& status, Code code) { return !status.ok() && status.error().code() == code; }

// Renames ALIVE to FENCED, durably. A maker that has not created ALIVE yet finds FENCED and gives up.
Status Mark(Directory& directory) {
  Status renamed = directory.Rename(kAliveFile, kFencedFile);  // needs no space
  if (IsCode(renamed, Code::kNotFound)) {
    // The directory was marked before, or is incomplete. If it is incomplete, creates FENCED, which its maker will
    // find, and renames an ALIVE that the maker created meanwhile.
    auto created = directory.Create(kFencedFile);
    if (!created.ok() && created.error().code() != Code::kAlreadyExists) return std::move(created).error();
    renamed = directory.Rename(kAliveFile, kFencedFile);
    if (!renamed.ok() && !IsCode(renamed, Code::kNotFound)) return renamed;
  } else if (!renamed.ok()) {
    return renamed;
  }
  // Syncs even if the mark existed already: its maker may have died before this sync, S3 (durable fence mark).
  return RATCHET_MUTANT("fence.no_mark_sync") ? Ok() : directory.Sync();
}

}  // namespace

Result<std::unique_ptr<FencedDirectory>> FencedDirectory::Make(Directory& parent, const std::string& name) {
  RATCHET_ASSIGN(const bool fenced_before, parent.Exists(name + kSplittingSuffix));
  if (fenced_before)
    return Error(Code::kAlreadyExists, parent.path() + "/" + name + kSplittingSuffix + " exists: never reuse a name");
  RATCHET_TRY(parent.MakeDir(name));
  RATCHET_ASSIGN(auto directory, parent.OpenDir(name));
  RATCHET_ASSIGN(auto alive, directory->Create(kAliveFile));
  RATCHET_TRY(alive->Close());
  RATCHET_TRY(directory->Sync());
  RATCHET_TRY(parent.Sync());
  // A successor that came between mkdir and ALIVE has left FENCED; in either order one process sees the other's file.
  RATCHET_ASSIGN(const bool fenced, directory->Exists(kFencedFile));
  if (fenced) return Error(Code::kFenced, directory->path() + " was fenced while it was being made");
  auto held = directory->OpenForRead(kAliveFile);
  if (IsCode(held.ok() ? Ok() : Status(held.error()), Code::kNotFound))
    return Error(Code::kFenced, directory->path() + " was fenced while it was being made");
  if (!held.ok()) return held.error();
  auto made =
      std::unique_ptr<FencedDirectory>(new FencedDirectory(std::move(directory), std::move(held).value(), name));
  RATCHET_TRY(made->Check());
  return made;
}

Status FencedDirectory::Check() const {
  RATCHET_TRY(CheckAfterSync());
  return proof_.AfterLook();
}

Status FencedDirectory::CheckAfterSync() const {
  auto alive = directory_->Exists(kAliveFile);
  if (alive.ok() && (*alive || RATCHET_MUTANT("fence.negative_check"))) return Ok();
  if (alive.ok()) return Error(Code::kFenced, directory_->path() + " is fenced: ALIVE is gone");
  return Error(Code::kFenced, "cannot see ALIVE, which counts as fenced: " + alive.error().message());
}

Result<std::unique_ptr<Directory>> FencedDirectory::Fence(Directory& parent, const std::string& name) {
  const std::string splitting = name + kSplittingSuffix;
  // The plain name is looked up last: another fencer may rename between the two look-ups, but never back.
  RATCHET_ASSIGN(const bool splitting_there, parent.Exists(splitting));
  RATCHET_ASSIGN(const bool plain_there, parent.Exists(name));
  if (plain_there && splitting_there) {
    return Error(Code::kCorruption, parent.path() + ": both " + name + " and " + splitting +
                                        " exist, because a directory was made again: inspect both, and move one away");
  }
  auto opened = parent.OpenDir(plain_there ? name : splitting);
  if (!opened.ok() && opened.error().code() == Code::kNotFound) opened = parent.OpenDir(splitting);
  if (!opened.ok()) return opened.error().Annotate("cannot fence " + name);
  const std::unique_ptr<Directory> directory = std::move(opened).value();
  RATCHET_TRY(Mark(*directory));
  if (plain_there) {
    const Status renamed = parent.Rename(name, splitting);
    // Another fencer may have been faster; the handle is the same directory.
    if (!renamed.ok() && !IsCode(renamed, Code::kNotFound)) return renamed.error();
  }
  RATCHET_TRY(parent.Sync());
  return parent.OpenDir(splitting);
}

}  // namespace ratchet::io
