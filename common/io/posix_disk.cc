// The operating system's files, through directory descriptors and the *at calls.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/fault_point.h"
#include "common/io/cluster_key.h"
#include "common/io/disk.h"
#include "common/io/fatal.h"
#include "common/io/file_descriptor.h"
#include "common/io/file_system_sync.h"
#include "common/io/light_directory.h"
#include "common/io/posix_readable_file.h"
#include "common/io/root_access.h"
#include "common/io/spare_descriptor.h"
#include "common/io/sync_watch.h"

namespace ratchet::io {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kPrivateMode = 0600;
constexpr mode_t kDirMode = 0755;

// How a file is found again: a directory's descriptor, which many share, and the path below it.
struct Home {
  std::shared_ptr<const FileDescriptor> base;
  std::string below;  // "", or "a/b/"
  std::string name;
};

Result<FileDescriptor> OpenBelow(const FileDescriptor& base, const std::string& at, int flags, const std::string& path,
                                 mode_t mode = kFileMode) {
  // Non-blocking: a pipe under the name would block the thread without end.
  const int fd = ::openat(base.get(), at.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
  if (fd < 0) return SystemError("opening", path, errno);
  return FileDescriptor(fd);
}

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(FileDescriptor fd, std::string path, std::optional<Home> home)
      : fd_(std::move(fd)), path_(std::move(path)), home_(std::move(home)) {}

  // Opens a light file that was closed while idle.
  Status OpenAgain() {
    if (fd_.get() >= 0 || !home_) return Ok();
    RATCHET_ASSIGN(fd_, OpenBelow(*home_->base, home_->below + home_->name, O_WRONLY, path_));
    return Ok();
  }
  void FollowName(const std::string& name) {
    if (home_) home_->name = name;
  }

  Status Append(std::string_view data) override {
    const SyncWatch::Operation operation(SyncWatch::OfThisThread(), data.size());
    RATCHET_TRY(HitFault("io.append", path_));
    RATCHET_TRY(WriteAt(data, size_));
    size_ += data.size();
    filled_ = std::max(filled_, size_);
    return Ok();
  }

  Status Sync() override {
    const std::uint64_t bytes = std::exchange(unsynced_, 0);
    SyncWatch::Operation operation(SyncWatch::OfThisThread(), bytes);
    RATCHET_TRY(HitFault("io.sync", path_));
    RATCHET_TRY(OpenAgain());
    if (::fdatasync(fd_.get()) != 0) return SystemError("sync of", path_, errno);
    if (bytes > 0) operation.Proves();
    RATCHET_TRY(HitFault("io.synced", path_));
    if (home_ && !fd_.Close()) return SystemError("closing", path_, errno);  // all of it is written now
    return Ok();
  }

  // The two halves of a sync by another call, which covers many files.
  Status BeforeSharedSync(std::uint64_t* bytes) {
    *bytes += std::exchange(unsynced_, 0);
    return HitFault("io.sync", path_);
  }
  Status AfterSharedSync() {
    RATCHET_TRY(HitFault("io.synced", path_));
    if (home_ && !fd_.Close()) return SystemError("closing", path_, errno);
    return Ok();
  }

  Status Preallocate(std::uint64_t bytes) override {
    RATCHET_TRY(HitFault("io.preallocate", path_));
    if (bytes <= filled_) return Ok();
    RATCHET_TRY(OpenAgain());
    const int error = ::posix_fallocate(fd_.get(), 0, static_cast<off_t>(bytes));
    if (error != 0) return SystemError("reserving space for", path_, error);
    RATCHET_TRY(WriteZeros(bytes));
    const Status synced = Sync();
    if (!DieOnFailedSync(synced, "sync of reserved space")) return synced.error();
    return Ok();
  }

  Status ZeroFill(std::uint64_t bytes) override {
    RATCHET_TRY(HitFault("io.preallocate", path_));
    return WriteZeros(bytes);
  }

  Status Trim() override {
    RATCHET_TRY(HitFault("io.cut", path_));
    RATCHET_TRY(OpenAgain());
    if (::ftruncate(fd_.get(), static_cast<off_t>(size_)) != 0) return SystemError("cutting", path_, errno);
    filled_ = size_;
    return Ok();
  }

  std::uint64_t size() const override { return size_; }

  Status Close() override {
    home_.reset();
    return fd_.Close() ? Ok() : SystemError("closing", path_, errno);
  }

 private:
  Status WriteZeros(std::uint64_t bytes) {
    const SyncWatch::Operation operation(SyncWatch::OfThisThread(), bytes);
    static const std::string zeros(std::size_t{1} << 20, '\0');
    while (filled_ < bytes) {
      const auto step = std::min<std::uint64_t>(zeros.size(), bytes - filled_);
      RATCHET_TRY(WriteAt(std::string_view(zeros).substr(0, step), filled_));
      filled_ += step;
    }
    return Ok();
  }

  Status WriteAt(std::string_view data, std::uint64_t offset) {
    RATCHET_TRY(OpenAgain());
    unsynced_ += data.size();
    while (!data.empty()) {
      const ssize_t written = ::pwrite(fd_.get(), data.data(), data.size(), static_cast<off_t>(offset));
      if (written < 0) {
        if (errno == EINTR) continue;
        return SystemError("writing", path_, errno);
      }
      data.remove_prefix(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
    return Ok();
  }

  FileDescriptor fd_;
  const std::string path_;
  std::optional<Home> home_;    // for a light file
  std::uint64_t size_ = 0;      // appended
  std::uint64_t filled_ = 0;    // appended or zero-filled by this handle
  std::uint64_t unsynced_ = 0;  // written since the last sync
};

class PosixDirectory final : public Directory {
 public:
  PosixDirectory(FileDescriptor fd, std::string path)
      : base_(std::make_shared<const FileDescriptor>(std::move(fd))), path_(std::move(path)) {}
  // A light directory: `below` is "a/b/".
  PosixDirectory(const PosixDirectory& base, const std::string& below)
      : base_(base.base_),
        below_(base.below_ + below),
        path_(below.empty() ? base.path_ : base.PathOf(below.substr(0, below.size() - 1))) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& name) override { return Create(name, kFileMode); }

  Result<std::unique_ptr<WritableFile>> Create(const std::string& name, mode_t mode) {
    RATCHET_TRY(HitFault("io.create", PathOf(name)));
    RATCHET_ASSIGN(FileDescriptor file, OpenAt(name, O_WRONLY | O_CREAT | O_EXCL, mode));
    return std::unique_ptr<WritableFile>(
        std::make_unique<PosixWritableFile>(std::move(file), PathOf(name), HomeOf(name)));
  }

  Result<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& name) override {
    RATCHET_ASSIGN(FileDescriptor file, OpenAt(name, O_WRONLY));
    return std::unique_ptr<WritableFile>(
        std::make_unique<PosixWritableFile>(std::move(file), PathOf(name), HomeOf(name)));
  }

  Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& name) override {
    RATCHET_ASSIGN(FileDescriptor file, OpenAt(name, O_RDONLY));
    RATCHET_TRY(CheckIsFile(file, PathOf(name)));
    return std::unique_ptr<ReadableFile>(std::make_unique<PosixReadableFile>(std::move(file), PathOf(name)));
  }

  Result<bool> Exists(const std::string& name) override {
    if (::faccessat(base_->get(), At(name).c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return true;
    if (errno == ENOENT) return false;
    return SystemError("looking for", PathOf(name), errno);
  }

  Result<std::vector<std::string>> List() override {
    // A separate descriptor, because the position of a directory stream belongs to the open file description.
    RATCHET_ASSIGN(FileDescriptor own, OpenAt(".", O_RDONLY | O_DIRECTORY));
    DIR* stream = ::fdopendir(own.get());
    if (stream == nullptr) return SystemError("listing", path_, errno);
    own.Release();
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* entry = ::readdir(stream)) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      errno = 0;
    }
    const int error = errno;
    ::closedir(stream);
    if (error != 0) return SystemError("listing", path_, error);
    std::sort(names.begin(), names.end());
    return names;
  }

  Status Rename(const std::string& from, const std::string& to) override { return RenameTo(from, *this, to); }

  Status RenameTo(const std::string& from, Directory& target, const std::string& to) override {
    auto* other = dynamic_cast<PosixDirectory*>(&target);
    RATCHET_CHECK(other != nullptr, "rename of {} to another kind of disk", PathOf(from));
    RATCHET_TRY(HitFault("io.rename", PathOf(from)));
    if (::renameat(base_->get(), At(from).c_str(), other->base_->get(), other->At(to).c_str()) == 0) return Ok();
    return SystemError("renaming", PathOf(from) + " to " + other->PathOf(to), errno);
  }

  Status Link(const std::string& from, const std::string& to) override { return LinkTo(from, *this, to); }

  Status LinkTo(const std::string& from, Directory& target, const std::string& to) override {
    auto* const other = &dynamic_cast<PosixDirectory&>(target);
    RATCHET_TRY(HitFault("io.link", PathOf(from)));
    if (::linkat(base_->get(), At(from).c_str(), other->base_->get(), other->At(to).c_str(), 0) == 0) return Ok();
    if (errno == EMLINK) return Error(Code::kUnavailable, PathOf(from) + " has as many names as a file can have");
    return SystemError("linking", PathOf(from) + " as " + other->PathOf(to), errno);
  }

  Status Unlink(const std::string& name) override {
    RATCHET_TRY(HitFault("io.unlink", PathOf(name)));
    return ::unlinkat(base_->get(), At(name).c_str(), 0) == 0 ? Ok() : SystemError("removing", PathOf(name), errno);
  }

  Status Cut(const std::string& name, std::uint64_t bytes) override {
    RATCHET_TRY(HitFault("io.cut", PathOf(name)));
    RATCHET_ASSIGN(const FileDescriptor file, OpenAt(name, O_WRONLY));
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) return SystemError("size of", PathOf(name), errno);
    if (static_cast<std::uint64_t>(info.st_size) <= bytes) return Ok();
    if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return SystemError("cutting", PathOf(name), errno);
    return Ok();
  }

  Status MakeDir(const std::string& name) override {
    RATCHET_TRY(HitFault("io.create", PathOf(name)));
    return ::mkdirat(base_->get(), At(name).c_str(), kDirMode) == 0 ? Ok() : SystemError("making", PathOf(name), errno);
  }

  Result<std::unique_ptr<Directory>> OpenDir(const std::string& name) override {
    RATCHET_ASSIGN(FileDescriptor file, OpenAt(name, O_RDONLY | O_DIRECTORY));
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(file), PathOf(name)));
  }

  Status RemoveDir(const std::string& name) override {
    RATCHET_TRY(HitFault("io.unlink", PathOf(name)));
    return ::unlinkat(base_->get(), At(name).c_str(), AT_REMOVEDIR) == 0 ? Ok()
                                                                         : SystemError("removing", PathOf(name), errno);
  }

  Status SyncFile(const std::string& name) override {
    RATCHET_ASSIGN(auto file, OpenForRead(name));
    return file->Sync();
  }

  Status Sync() override {
    const SyncWatch::Operation operation(SyncWatch::OfThisThread(), 0);
    RATCHET_TRY(HitFault("io.sync_directory", path_));
    if (below_.empty()) return ::fsync(base_->get()) == 0 ? Ok() : SystemError("sync of directory", path_, errno);
    // A light directory. An error because no descriptor is free must not count as a failed sync, which ends the process
    // (S6: failed sync ends the process).
    const auto sync = [this](const Result<FileDescriptor>& own) -> Status {
      if (!own.ok()) return own.error();
      return ::fsync(own->get()) == 0 ? Ok() : SystemError("sync of directory", path_, errno);
    };
    const Result<FileDescriptor> own = OpenAt(".", O_RDONLY | O_DIRECTORY);
    if (own.ok() || own.error().code() != Code::kIo) return sync(own);
    return SpareDescriptor::OfProcess().While([&] { return sync(OpenAt(".", O_RDONLY | O_DIRECTORY)); });
  }

  // The device of the directory; nullopt when the system does not say.
  std::optional<std::uint64_t> Device() const {
    struct stat info {};
    if (::fstatat(base_->get(), At(".").c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
    return info.st_dev;
  }
  Result<FileDescriptor> OpenItself() const { return OpenAt(".", O_RDONLY | O_DIRECTORY); }

  Result<std::uint64_t> FreeBytes() override { return FreeBytesOf(*base_, path_); }

  Result<std::unique_ptr<Directory>> Reopen() override {
    if (!below_.empty()) return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(*this, ""));
    RATCHET_ASSIGN(FileDescriptor own, OpenAt(".", O_RDONLY | O_DIRECTORY));
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(std::move(own), path_));
  }

  const std::string& path() const override { return path_; }

  Result<FileMode> Mode(const std::string& name) const {
    struct stat info {};
    if (::fstatat(base_->get(), At(name).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      return FileMode{info.st_mode, info.st_uid};
    return SystemError("looking at the mode of", PathOf(name), errno);
  }
  Status ChangeMode(mode_t mode) const {
    if (::fchmodat(base_->get(), At(".").c_str(), mode, 0) == 0) return Ok();
    return SystemError("changing the mode of", path_, errno);
  }

 private:
  // The string has no spare capacity, because each open file keeps its path.
  std::string PathOf(const std::string& name) const {
    std::string path;
    path.reserve(path_.size() + 1 + name.size());
    path.append(path_).append(1, '/').append(name);
    return path;
  }

  Result<FileDescriptor> OpenAt(const std::string& name, int flags, mode_t mode = kFileMode) const {
    return OpenBelow(*base_, At(name), flags, PathOf(name), mode);
  }
  std::string At(const std::string& name) const { return below_ + name; }
  std::optional<Home> HomeOf(const std::string& name) const {
    return below_.empty() ? std::optional<Home>() : Home{base_, below_, name};
  }

  const std::shared_ptr<const FileDescriptor> base_;
  const std::string below_;  // "", or "a/b/" of a light one
  const std::string path_;
};

class Posix final : public Disk {
 public:
  Result<std::unique_ptr<Directory>> Open(const std::string& path) override {
    // An administrator's path may contain links; names below it may not.
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return SystemError("opening directory", path, errno);
    return std::unique_ptr<Directory>(std::make_unique<PosixDirectory>(FileDescriptor(fd), path));
  }

  Result<std::unique_ptr<Directory>> OpenOrMake(const std::string& path) override {
    auto there = Open(path);
    if (there.ok() || there.error().code() != Code::kNotFound) return there;
    const std::size_t slash = path.find_last_not_of('/') == std::string::npos
                                  ? std::string::npos
                                  : path.rfind('/', path.find_last_not_of('/'));
    const std::string parent = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    RATCHET_ASSIGN(auto above, OpenOrMake(parent));
    if (::mkdir(path.c_str(), kDirMode) != 0 && errno != EEXIST) return SystemError("making directory", path, errno);
    RATCHET_TRY(above->Sync());
    return Open(path);
  }
};

}  // namespace

Result<std::unique_ptr<Directory>> OpenLightDirectory(Directory& base, const std::string& path) {
  const auto* posix = dynamic_cast<const PosixDirectory*>(&base);
  if (posix == nullptr) {
    RATCHET_ASSIGN(std::unique_ptr<Directory> at, base.Reopen());
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t slash = std::min(path.find('/', begin), path.size());
      RATCHET_ASSIGN(at, at->OpenDir(path.substr(begin, slash - begin)));
      begin = slash + 1;
    }
    return at;
  }
  SpareDescriptor::OfProcess();  // reserved while descriptors are free
  auto light = std::make_unique<PosixDirectory>(*posix, path + "/");
  RATCHET_ASSIGN(const bool there, light->Exists("."));
  if (!there) return Error(Code::kNotFound, fmt::format("opening {}: there is no such directory", light->path()));
  return std::unique_ptr<Directory>(std::move(light));
}

Status OpenAgain(WritableFile& file) {
  auto* const posix = dynamic_cast<PosixWritableFile*>(&file);
  return posix == nullptr ? Ok() : posix->OpenAgain();
}

void FollowName(WritableFile& file, const std::string& name) {
  if (auto* const posix = dynamic_cast<PosixWritableFile*>(&file); posix != nullptr) posix->FollowName(name);
}

std::shared_ptr<FileSystemSync> FileSystemSync::Of(Directory& below) {
  const auto* const posix = dynamic_cast<const PosixDirectory*>(&below);
  if (posix == nullptr) return nullptr;
  utsname kernel{};
  if (::uname(&kernel) != 0 || !ReportsErrors(kernel.release)) return nullptr;
  const std::optional<std::uint64_t> device = posix->Device();
  Result<FileDescriptor> fd = posix->OpenItself();
  struct statfs info {};
  if (!device || !fd.ok() || ::fstatfs(fd->get(), &info) != 0 || !IsTrusted(static_cast<std::uint32_t>(info.f_type)))
    return nullptr;
  return std::shared_ptr<FileSystemSync>(new FileSystemSync(std::move(fd).value(), below.path(), *device));
}

bool FileSystemSync::Covers(Directory& directory) const {
  const auto* const posix = dynamic_cast<const PosixDirectory*>(&directory);
  return posix != nullptr && posix->Device() == device_;
}

bool FileSystemSync::IsTrusted(std::uint32_t magic) {
  constexpr std::uint32_t kExt4 = 0xEF53;
  constexpr std::uint32_t kXfs = 0x58465342;
  constexpr std::uint32_t kBtrfs = 0x9123683E;
  return magic == kExt4 || magic == kXfs || magic == kBtrfs;
}

bool FileSystemSync::ReportsErrors(const std::string& release) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2) return false;  // NOLINT(cert-err34-c)
  return major > 5 || (major == 5 && minor >= 8);
}

Status FileSystemSync::Sync(const std::vector<Directory*>& directories, const std::vector<WritableFile*>& files) const {
  for (const Directory* const directory : directories) RATCHET_TRY(HitFault("io.sync_directory", directory->path()));
  std::uint64_t bytes = 0;
  for (WritableFile* const file : files) RATCHET_TRY(dynamic_cast<PosixWritableFile&>(*file).BeforeSharedSync(&bytes));
  // The call also writes the data of other files and processes, which takes its time.
  constexpr std::uint64_t kOfOthers = std::uint64_t{64} << 20;
  SyncWatch::Operation operation(SyncWatch::OfProcess(), bytes + kOfOthers);
  if (::syncfs(fd_.get()) != 0) return SystemError("sync of the file system of", path_, errno);
  if (bytes > 0) operation.Proves();
  for (WritableFile* const file : files) RATCHET_TRY(dynamic_cast<PosixWritableFile&>(*file).AfterSharedSync());
  return Ok();
}

Disk& PosixDisk() {
  static Posix* const disk = new Posix;  // never freed: threads may use it during exit
  return *disk;
}

Result<std::unique_ptr<WritableFile>> CreatePrivate(Directory& directory, const std::string& name) {
  auto* const posix = dynamic_cast<PosixDirectory*>(&directory);
  return posix != nullptr ? posix->Create(name, kPrivateMode) : directory.Create(name);
}

Result<std::optional<FileMode>> ReadMode(Directory& directory, const std::string& name) {
  const auto* const posix = dynamic_cast<PosixDirectory*>(&directory);
  if (posix == nullptr) return std::optional<FileMode>();
  RATCHET_ASSIGN(const FileMode mode, posix->Mode(name));
  return std::optional<FileMode>(mode);
}

Status ChangeMode(Directory& directory, std::uint32_t mode) {
  const auto* const posix = dynamic_cast<PosixDirectory*>(&directory);
  return posix != nullptr ? posix->ChangeMode(mode) : Ok();
}

}  // namespace ratchet::io
