#include "regionserver/store/directory_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <string>
#include <utility>

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
  rocksdb::IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return rocksdb::IOStatus::OK(); }
  rocksdb::IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return ToRocks(file_->Sync()); }
  rocksdb::IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return ToRocks(file_->Close()); }
  std::uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return file_->size(); }

 private:
  const std::unique_ptr<io::WritableFile> file_;
};

class TableInput final : public rocksdb::FSRandomAccessFile {
 public:
  explicit TableInput(std::unique_ptr<io::ReadableFile> file) : file_(std::move(file)) {}
  rocksdb::IOStatus Read(std::uint64_t offset, std::size_t n, const rocksdb::IOOptions&, rocksdb::Slice* result,
                         char* scratch, rocksdb::IODebugContext*) const override {
    const Result<std::size_t> read = file_->ReadAt(offset, scratch, n);
    if (!read.ok()) return ToRocks(read.error());
    *result = rocksdb::Slice(scratch, *read);
    return rocksdb::IOStatus::OK();
  }

 private:
  const std::unique_ptr<io::ReadableFile> file_;
};

// The base class keeps the paths of the default file system for whatever is not overridden; none of it is reached.
class DirectoryFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit DirectoryFileSystem(std::shared_ptr<io::Directory> directory)
      : rocksdb::FileSystemWrapper(rocksdb::FileSystem::Default()), directory_(std::move(directory)) {}

  const char* Name() const override { return "ratchet.DirectoryFileSystem"; }

  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result, rocksdb::IODebugContext*) override {
    auto file = directory_->Create(NameOnly(path));
    if (!file.ok()) return ToRocks(file.error());
    *result = std::make_unique<TableOutput>(std::move(file).value());
    return rocksdb::IOStatus::OK();
  }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext*) override {
    auto file = directory_->OpenForRead(NameOnly(path));
    if (!file.ok()) return ToRocks(file.error());
    *result = std::make_unique<TableInput>(std::move(file).value());
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

 private:
  const std::shared_ptr<io::Directory> directory_;
};

}  // namespace

std::shared_ptr<rocksdb::Env> MakeDirectoryEnv(std::shared_ptr<io::Directory> directory) {
  return rocksdb::NewCompositeEnv(std::make_shared<DirectoryFileSystem>(std::move(directory)));
}

}  // namespace ratchet::regionserver
