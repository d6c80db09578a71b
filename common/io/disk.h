// Files and directories, with the operations that logs, the procedure store and manifests need.
//
// Everything is relative to a directory HANDLE that stays valid when the directory is renamed: a fenced server keeps
// writing into its renamed directory, never into a new one that took its old name, S4 (directory made once). No change
// is durable before it is synced: bytes by Sync() of the file, names (created, renamed, removed) by Sync() of the
// directory that holds them. PosixDisk is the real implementation; SimDisk (sim_disk.h) forgets what was not synced.
//
// Errors: kNotFound, kAlreadyExists, kNoSpace, kIo; messages carry the path and the system's reason. Opening never
// waits, whatever kind of file a name has, S91 (lengths are checked).
// Threads: a Directory and a ReadableFile may be used by many threads at once; a WritableFile by one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace ratchet::io {

// A file that is written once from its beginning. Bytes that were preallocated but not yet appended read as zeros.
class WritableFile {
 public:
  virtual ~WritableFile() = default;  // closes, without a sync
  // Writes `data` after the bytes appended before. After an error the content beyond size() is unknown.
  virtual Status Append(std::string_view data) = 0;
  // Calls fdatasync. An error means that durability is permanently unknown: never call again, see DieOnFailedSync (S6:
  // failed sync ends the process).
  virtual Status Sync() = 0;
  // Reserves disk space for the first `bytes` bytes of the file, durably and as zeros: a sync of data appended there
  // does not use the journal. While ext4 is being shut down, a sync that has extents to convert can report success for
  // data that the next mount does not show. kNoSpace leaves the file usable as it was.
  virtual Status Preallocate(std::uint64_t bytes) = 0;
  // Fills the file with zeros up to `bytes`: later appends into them need neither space nor a journal commit at the
  // sync.
  virtual Status ZeroFill(std::uint64_t bytes) = 0;
  // Frees space that was preallocated or zero-filled beyond size(). Not durable by itself: after a power failure the
  // zeros may exist again.
  virtual Status Trim() = 0;
  // Bytes appended (without bytes that are only preallocated).
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Closes; later calls fail.
  virtual Status Close() = 0;
};

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  // Reads up to `length` bytes at `offset`; the result is shorter only at the end of the file.
  virtual Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const = 0;
  // The size of the file now, preallocated zeros included.
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  // Returns the next allocated offset at or after `offset` (SEEK_DATA). The bytes of the hole before it are known to be
  // zeros. Returns `offset` if that is unknown, the file's size if no data follows.
  [[nodiscard]] virtual std::uint64_t SkipHole(std::uint64_t offset) const { return offset; }
  // Makes durable what any process has written to the file so far (fdatasync).
  virtual Status Sync() = 0;
};

// Maximum size of files that are read as a whole: an id, a key, a descriptor.
inline constexpr std::uint64_t kMostReadWhole = 64U << 20;

class Directory {
 public:
  virtual ~Directory() = default;

  // Creates `name` exclusively: kAlreadyExists when it exists.
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& name) = 0;
  // Opens an existing file to write it from its beginning (a zero-filled spare that is taken into use).
  virtual Result<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& name) = 0;
  virtual Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& name) = 0;
  // The content of a small file. kCorruption: it has more than `most` bytes, and none was read (S91).
  Result<std::string> ReadAll(const std::string& name, std::uint64_t most = kMostReadWhole);
  virtual Result<bool> Exists(const std::string& name) = 0;
  // Names, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> List() = 0;
  // Replaces `to` when it is a file that exists.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // Renames into another directory of the same disk; sync `target` first, then this one.
  virtual Status RenameTo(const std::string& from, Directory& target, const std::string& to) = 0;
  // Makes a second name for the same file; kAlreadyExists when `to` exists.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Makes a second name in another directory of the same disk; sync `target`. kUnavailable: the file has the maximum
  // number of names.
  virtual Status LinkTo(const std::string& from, Directory& target, const std::string& to) = 0;
  virtual Status Unlink(const std::string& name) = 0;
  // Shortens a file to `bytes`; one that is not longer is not changed. Durable like Trim.
  virtual Status Cut(const std::string& name, std::uint64_t bytes) = 0;
  // Exclusive: kAlreadyExists when it exists.
  virtual Status MakeDir(const std::string& name) = 0;
  // kFailedPrecondition: the name is a file.
  virtual Result<std::unique_ptr<Directory>> OpenDir(const std::string& name) = 0;
  virtual Status RemoveDir(const std::string& name) = 0;  // an empty one
  // Makes the bytes of a file durable, whichever process wrote them.
  virtual Status SyncFile(const std::string& name) = 0;
  // Makes the names in this directory durable, whichever process made them.
  virtual Status Sync() = 0;
  // Bytes that may still be written on this disk, by all processes together.
  [[nodiscard]] virtual Result<std::uint64_t> FreeBytes() = 0;
  // Another handle for the same directory.
  virtual Result<std::unique_ptr<Directory>> Reopen() = 0;
  // The path when the handle was opened: for messages, and for libraries that need paths.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

class Disk {
 public:
  virtual ~Disk() = default;
  virtual Result<std::unique_ptr<Directory>> Open(const std::string& path) = 0;
  // Makes `path` and its missing parents, durably. For the roots that an administrator names; no other directory is
  // made on demand.
  virtual Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) = 0;
};

// The operating system's files. Stateless, thread-safe, never freed.
[[nodiscard]] Disk& PosixDisk();

// Writes a whole small file durably under its final name: temporary name, sync, rename, directory sync.
Status WriteFileAtomically(Directory& directory, const std::string& name, std::string_view content);

}  // namespace ratchet::io
