// Handles of the disk double: a process's references to SimDisk's inodes.
#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "tests/support/sim_state.h"

namespace ratchet::io::sim {
namespace {

std::string Joined(const std::string& path, const std::string& name) {
  return path.ends_with('/') ? path + name : path + "/" + name;
}

// Declares to the analysis that Perform runs its actions under the state's mutex.
void Held([[maybe_unused]] Mutex& mutex) ASSERT_CAPABILITY(mutex) {}

SimEvent Event(SimOp op, std::string path, std::string to = {}, std::uint64_t bytes = 0) {
  SimEvent event;
  event.op = op;
  event.path = std::move(path);
  event.to = std::move(to);
  event.bytes = bytes;
  return event;
}

// Runs `action` if the hook allows it, under the state's mutex, and dies afterwards if the hook requested that.
template <class Action>
Status Perform(Process& process, SimEvent event, Action action) {
  bool die_after = false;
  RATCHET_ASSIGN(const bool proceed, process.Before(std::move(event), nullptr, &die_after));
  Status status;
  if (proceed) {
    MutexLock lock(process.state->mutex);
    status = action();
  }
  if (!die_after) return status;
  process.Die();
  return Error(Code::kIo, "disk double: process " + process.name + " died");
}

// A sync that fails also marks the pages clean, as kernels do: a second one would report a false success, S6 (failed
// sync ends the process).
Status SyncInode(Process& process, Inode& inode, const std::string& path) {
  const Status synced = Perform(process, Event(SimOp::kSyncFile, path), [&] { return inode.Sync(), Ok(); });
  if (!synced.ok()) {
    MutexLock lock(process.state->mutex);
    inode.dirty.clear();
  }
  return synced;
}

class SimWritable final : public WritableFile {
 public:
  SimWritable(std::shared_ptr<Process> process, std::shared_ptr<Inode> inode, std::string path)
      : process_(std::move(process)), inode_(std::move(inode)), path_(std::move(path)) {}

  Status Append(std::string_view data) override {
    if (inode_ == nullptr) return Error(Code::kIo, path_ + " is closed");
    bool die_after = false;
    std::optional<std::uint64_t> tear;
    RATCHET_ASSIGN(const bool proceed,
                   process_->Before(Event(SimOp::kAppend, path_, {}, data.size()), &tear, &die_after));
    if (proceed) {
      MutexLock lock(process_->state->mutex);
      const std::uint64_t end = size_ + data.size();
      RATCHET_TRY(process_->state->Reserve(end > inode_->bytes.size() ? end - inode_->bytes.size() : 0));
      inode_->Write(size_, tear ? data.substr(0, *tear) : data);
    }
    size_ += data.size();
    if (!die_after) return Ok();
    process_->Die();
    return Error(Code::kIo, "disk double: process " + process_->name + " died");
  }

  Status Sync() override {
    if (inode_ == nullptr) return Error(Code::kIo, path_ + " is closed");
    return SyncInode(*process_, *inode_, path_);
  }

  Status Preallocate(std::uint64_t bytes) override { return ZeroFill(bytes); }

  Status ZeroFill(std::uint64_t bytes) override {
    if (inode_ == nullptr) return Error(Code::kIo, path_ + " is closed");
    return Perform(*process_, Event(SimOp::kReserve, path_, {}, bytes), [&] {
      Held(process_->state->mutex);
      return Fill(bytes);
    });
  }

  Status Trim() override {
    if (inode_ == nullptr) return Error(Code::kIo, path_ + " is closed");
    return Perform(*process_, Event(SimOp::kCut, path_, {}, size_), [&] { return inode_->Cut(size_), Ok(); });
  }

  std::uint64_t size() const override { return size_; }

  Status Close() override {
    inode_ = nullptr;
    return Ok();
  }

 private:
  Status Fill(std::uint64_t bytes) REQUIRES(process_->state->mutex) {
    const std::uint64_t now = inode_->bytes.size();
    if (bytes <= now) return Ok();
    RATCHET_TRY(process_->state->Reserve(bytes - now));
    inode_->Write(now, std::string(bytes - now, '\0'));
    return Ok();
  }

  const std::shared_ptr<Process> process_;
  std::shared_ptr<Inode> inode_;
  const std::string path_;
  std::uint64_t size_ = 0;
};

class SimReadable final : public ReadableFile {
 public:
  SimReadable(std::shared_ptr<Process> process, std::shared_ptr<Inode> inode, std::string path)
      : process_(std::move(process)), inode_(std::move(inode)), path_(std::move(path)) {}

  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override {
    std::size_t got = 0;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kRead, path_), [&] {
      if (offset < inode_->bytes.size()) got = inode_->bytes.copy(out, length, offset);
      return Ok();
    }));
    return got;
  }

  Result<std::uint64_t> size() const override {
    MutexLock lock(process_->state->mutex);
    return inode_->bytes.size();
  }

  Status Sync() override { return SyncInode(*process_, *inode_, path_); }

 private:
  const std::shared_ptr<Process> process_;
  const std::shared_ptr<Inode> inode_;
  const std::string path_;
};

class SimDirectory final : public Directory {
 public:
  SimDirectory(std::shared_ptr<Process> process, std::shared_ptr<Folder> folder, std::string path)
      : process_(std::move(process)), folder_(std::move(folder)), path_(std::move(path)) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& name) override {
    auto inode = std::make_shared<Inode>();
    RATCHET_TRY(Perform(*process_, Event(SimOp::kCreate, Joined(path_, name)), [&]() -> Status {
      if (folder_->names.contains(name)) return Wrong(Joined(path_, name), true);
      Held(process_->state->mutex);
      process_->state->inodes.push_back(inode);
      folder_->Apply({{name, Node{inode, nullptr}}});
      return Ok();
    }));
    return std::unique_ptr<WritableFile>(
        std::make_unique<SimWritable>(process_, std::move(inode), Joined(path_, name)));
  }

  Result<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& name) override {
    RATCHET_ASSIGN(auto inode, OpenFile(name));
    return std::unique_ptr<WritableFile>(
        std::make_unique<SimWritable>(process_, std::move(inode), Joined(path_, name)));
  }

  Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& name) override {
    RATCHET_ASSIGN(auto inode, OpenFile(name));
    return std::unique_ptr<ReadableFile>(
        std::make_unique<SimReadable>(process_, std::move(inode), Joined(path_, name)));
  }

  Result<bool> Exists(const std::string& name) override {
    bool there = false;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kLookUp, Joined(path_, name)), [&] {
      // "a/b" is looked up along the names, as the operating system does.
      std::shared_ptr<Folder> folder = folder_;
      std::string rest = name;
      for (auto slash = rest.find('/'); slash != std::string::npos && folder != nullptr; slash = rest.find('/')) {
        const auto found = folder->names.find(rest.substr(0, slash));
        folder = found == folder->names.end() ? nullptr : found->second.folder;
        rest.erase(0, slash + 1);
      }
      there = folder != nullptr && folder->names.contains(rest);
      return Ok();
    }));
    return there;
  }

  Result<std::vector<std::string>> List() override {
    std::vector<std::string> names;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kList, path_), [&] {
      for (const auto& entry : folder_->names) names.push_back(entry.first);
      return Ok();
    }));
    return names;
  }

  Status Rename(const std::string& from, const std::string& to) override { return RenameTo(from, *this, to); }

  Status RenameTo(const std::string& from, Directory& target, const std::string& to) override {
    auto* other = dynamic_cast<SimDirectory*>(&target);
    RATCHET_CHECK(other != nullptr, "rename of {} to another kind of disk", from);
    return Perform(*process_, Event(SimOp::kRename, Joined(path_, from), Joined(other->path_, to)), [&]() -> Status {
      const auto found = folder_->names.find(from);
      if (found == folder_->names.end()) return Wrong(Joined(path_, from), false);
      const auto taken = other->folder_->names.find(to);
      if (taken != other->folder_->names.end() && !Replaceable(found->second, taken->second)) {
        return Wrong(Joined(other->path_, to), true);
      }
      const Node node = found->second;
      if (other->folder_ == folder_) {
        folder_->Apply({{from, Node{}}, {to, node}});
      } else {
        other->folder_->Apply({{to, node}});
        folder_->Apply({{from, Node{}}});
      }
      return Ok();
    });
  }

  Status Link(const std::string& from, const std::string& to) override { return LinkTo(from, *this, to); }

  Status LinkTo(const std::string& from, Directory& target, const std::string& to) override {
    auto* other = dynamic_cast<SimDirectory*>(&target);
    RATCHET_CHECK(other != nullptr, "link of {} on another kind of disk", from);
    return Perform(*process_, Event(SimOp::kLink, Joined(path_, from), Joined(other->path_, to)), [&]() -> Status {
      const auto found = folder_->names.find(from);
      if (found == folder_->names.end() || found->second.file == nullptr) return Wrong(Joined(path_, from), false);
      if (other->folder_->names.contains(to)) return Wrong(Joined(other->path_, to), true);
      const Node node = found->second;
      other->folder_->Apply({{to, node}});
      return Ok();
    });
  }

  Status Unlink(const std::string& name) override {
    return Perform(*process_, Event(SimOp::kUnlink, Joined(path_, name)), [&]() -> Status {
      const auto found = folder_->names.find(name);
      if (found == folder_->names.end() || found->second.file == nullptr) return Wrong(Joined(path_, name), false);
      folder_->Apply({{name, Node{}}});
      return Ok();
    });
  }

  Status Cut(const std::string& name, std::uint64_t bytes) override {
    RATCHET_ASSIGN(const auto inode, OpenFile(name));
    return Perform(*process_, Event(SimOp::kCut, Joined(path_, name), {}, bytes),
                   [&] { return inode->Cut(bytes), Ok(); });
  }

  Status MakeDir(const std::string& name) override {
    return Perform(*process_, Event(SimOp::kMakeDir, Joined(path_, name)), [&]() -> Status {
      if (folder_->names.contains(name)) return Wrong(Joined(path_, name), true);
      Held(process_->state->mutex);
      auto folder = std::make_shared<Folder>();
      process_->state->folders.push_back(folder);
      folder_->Apply({{name, Node{nullptr, std::move(folder)}}});
      return Ok();
    });
  }

  Result<std::unique_ptr<Directory>> OpenDir(const std::string& name) override {
    std::shared_ptr<Folder> folder;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kOpen, Joined(path_, name)), [&]() -> Status {
      const auto found = folder_->names.find(name);
      if (found == folder_->names.end()) return Wrong(Joined(path_, name), false);
      if (found->second.folder == nullptr) return Error(Code::kFailedPrecondition, Joined(path_, name) + " is a file");
      folder = found->second.folder;
      return Ok();
    }));
    return MakeDirectoryHandle(process_, std::move(folder), Joined(path_, name));
  }

  Status RemoveDir(const std::string& name) override {
    return Perform(*process_, Event(SimOp::kRemoveDir, Joined(path_, name)), [&]() -> Status {
      const auto found = folder_->names.find(name);
      if (found == folder_->names.end() || found->second.folder == nullptr) return Wrong(Joined(path_, name), false);
      if (!found->second.folder->names.empty())
        return Error(Code::kAlreadyExists, Joined(path_, name) + " is not empty");
      folder_->Apply({{name, Node{}}});
      return Ok();
    });
  }

  Status SyncFile(const std::string& name) override {
    RATCHET_ASSIGN(const auto inode, OpenFile(name));
    return SyncInode(*process_, *inode, Joined(path_, name));
  }

  Status Sync() override {
    return Perform(*process_, Event(SimOp::kSyncDirectory, path_), [&] { return folder_->Sync(), Ok(); });
  }

  Result<std::uint64_t> FreeBytes() override {
    std::uint64_t free = 0;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kLookUp, path_), [&] {
      Held(process_->state->mutex);
      const std::uint64_t used = process_->state->Used();
      free = process_->state->capacity > used ? process_->state->capacity - used : 0;
      return Ok();
    }));
    return free;
  }

  Result<std::unique_ptr<Directory>> Reopen() override { return MakeDirectoryHandle(process_, folder_, path_); }

  const std::string& path() const override { return path_; }

 private:
  static Error Wrong(const std::string& path, bool there) {
    return there ? Error(Code::kAlreadyExists, path + " exists") : Error(Code::kNotFound, path + " does not exist");
  }

  // As rename(2): a file replaces a file, a directory an empty directory.
  static bool Replaceable(const Node& from, const Node& taken) {
    if (from.file != nullptr) return taken.file != nullptr;
    return taken.folder != nullptr && taken.folder->names.empty();
  }

  Result<std::shared_ptr<Inode>> OpenFile(const std::string& name) {
    std::shared_ptr<Inode> inode;
    RATCHET_TRY(Perform(*process_, Event(SimOp::kOpen, Joined(path_, name)), [&]() -> Status {
      const auto found = folder_->names.find(name);
      if (found == folder_->names.end() || found->second.file == nullptr) return Wrong(Joined(path_, name), false);
      inode = found->second.file;
      return Ok();
    }));
    return inode;
  }

  const std::shared_ptr<Process> process_;
  const std::shared_ptr<Folder> folder_;
  const std::string path_;
};

}  // namespace

std::unique_ptr<Directory> MakeDirectoryHandle(std::shared_ptr<Process> process, std::shared_ptr<Folder> folder,
                                               std::string path) {
  return std::make_unique<SimDirectory>(std::move(process), std::move(folder), std::move(path));
}

}  // namespace ratchet::io::sim
