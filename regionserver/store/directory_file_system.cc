#include "regionserver/store/directory_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/io/unneeded_files.h"
#include "regionserver/store/open_files.h"

namespace ratchet::regionserver {
namespace {

rocksdb::IOStatus ToRocks(const Status& status) {
  if (status.ok()) return rocksdb::IOStatus::OK();
  switch (status.error().code()) {
    case Code::kNotFound: return rocksdb::IOStatus::NotFound(status.error().message());
    case Code::kNoSpace: return rocksdb::IOStatus::NoSpace(status.error().message());
    default: return rocksdb::IOStatus::IOError(status.error().message());
  }
}

std::string NameOnly(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class TableOutput final : public rocksdb::FSWritableFile {
 public:
  explicit TableOutput(std::unique_ptr<io::WritableFile> file) : file_(std::move(file)) {}
  using rocksdb::FSWritableFile::Append;
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return ToRocks(file_->Append({data.data(), data.size()}));
  }
  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return ToRocks(file_->Sync());
  }
  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return ToRocks(file_->Close());
  }
  std::uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return file_->size(); }

 private:
  const std::unique_ptr<io::WritableFile> file_;
};

// Numbers of the files that are being read, by name.
class Inputs {
 public:
  void Add(const std::string& name, std::uint64_t number) {
    MutexLock lock(mutex_);
    numbers_.emplace(name, number);
  }
  void Remove(const std::string& name, std::uint64_t number) {
    MutexLock lock(mutex_);
    const auto [begin, end] = numbers_.equal_range(name);
    for (auto at = begin; at != end; ++at) {
      if (at->second != number) continue;
      numbers_.erase(at);
      return;
    }
  }
  [[nodiscard]] std::vector<std::uint64_t> Of(const std::string& name) const {
    MutexLock lock(mutex_);
    std::vector<std::uint64_t> numbers;
    const auto [begin, end] = numbers_.equal_range(name);
    for (auto at = begin; at != end; ++at) numbers.push_back(at->second);
    return numbers;
  }

 private:
  mutable Mutex mutex_;
  std::multimap<std::string, std::uint64_t> numbers_ GUARDED_BY(mutex_);
};

// Works also when the file has got its owner's mark meanwhile.
Result<std::unique_ptr<io::ReadableFile>> OpenInput(io::Directory& directory, const std::string& name) {
  auto file = directory.OpenForRead(name);
  return file.ok() || file.error().code() != Code::kNotFound ? std::move(file)
                                                             : directory.OpenForRead(io::UnneededName(name));
}

class TableInput final : public rocksdb::FSRandomAccessFile {
 public:
  TableInput(std::shared_ptr<io::Directory> directory, std::shared_ptr<Inputs> inputs, std::string name)
      : directory_(std::move(directory)),
        inputs_(std::move(inputs)),
        name_(std::move(name)),
        number_(OpenFiles::OfProcess().NewNumber()) {
    inputs_->Add(name_, number_);
  }
  TableInput(const TableInput&) = delete;
  TableInput& operator=(const TableInput&) = delete;
  ~TableInput() override {
    inputs_->Remove(name_, number_);
    OpenFiles::OfProcess().Forget(number_);
  }
  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t n, const rocksdb::IOOptions&, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext*) const override {
    const auto file = OpenFiles::OfProcess().Get(number_, [this] { return OpenInput(*directory_, name_); });
    if (!file.ok()) return ToRocks(file.error());
    const TimePoint begun = SystemClock().Now();
    const Result<std::size_t> read = (*file)->ReadAt(offset, scratch, n);
    FileReadTimeOfThread() += SystemClock().Now() - begun;
    if (!read.ok()) return ToRocks(read.error());
    *result = rocksdb::Slice(scratch, *read);
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::shared_ptr<io::Directory> directory_;
  const std::shared_ptr<Inputs> inputs_;
  const std::string name_;
  const std::uint64_t number_;
};

// The base class has the default file system for methods that are not overridden; no call reaches it.
class DirectoryFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit DirectoryFileSystem(std::shared_ptr<io::Directory> directory)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), directory_(std::move(directory)) {}

  const char* Name() const override { return "ratchet.DirectoryFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result,
                                    rocksdb::IODebugContext*) override {
    auto file = directory_->Create(NameOnly(path));
    if (!file.ok()) return ToRocks(file.error());
    *result = std::make_unique<TableOutput>(std::move(file).value());
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext*) override {
    const std::string name = NameOnly(path);
    const Result<bool> there = directory_->Exists(name);
    if (!there.ok()) return ToRocks(there.error());
    if (!*there) return rocksdb::IOStatus::NotFound(path);
    *result = std::make_unique<TableInput>(directory_, inputs_, name);
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus GetFileSize(const std::string& path, const rocksdb::IOOptions&, std::uint64_t* size,
                                rocksdb::IODebugContext*) override {
    auto file = directory_->OpenForRead(NameOnly(path));
    if (!file.ok()) return ToRocks(file.error());
    const Result<std::uint64_t> found = (*file)->size();
    if (!found.ok()) return ToRocks(found.error());
    *size = *found;
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus FileExists(const std::string& path, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    const Result<bool> there = directory_->Exists(NameOnly(path));
    if (!there.ok()) return ToRocks(there.error());
    return *there ? rocksdb::IOStatus::OK() : rocksdb::IOStatus::NotFound(path);
  }
  Status HoldInput(const std::string& name) const {
    for (const std::uint64_t number : inputs_->Of(name))
      RATCHET_TRY(OpenFiles::OfProcess().Hold(number, [&] { return OpenInput(*directory_, name); }));
    return Ok();
  }

 private:
  const std::shared_ptr<io::Directory> directory_;
  const std::shared_ptr<Inputs> inputs_ = std::make_shared<Inputs>();
};

}  // namespace

Status HoldOpen(rocksdb::Env& env, const std::string& name) {
  const auto* const files = dynamic_cast<const DirectoryFileSystem*>(env.GetFileSystem().get());
  return files == nullptr ? Ok() : files->HoldInput(name);
}

std::shared_ptr<rocksdb::Env> MakeDirectoryEnv(std::shared_ptr<io::Directory> directory) {
  return rocksdb::NewCompositeEnv(std::make_shared<DirectoryFileSystem>(std::move(directory)));
}

}  // namespace ratchet::regionserver
