#include "tests/support/sim_client.h"

#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/io/storage_proof.h"

namespace ratchet::io {

struct SimClient::State {
  // An error once the client was evicted.
  Status Reach() const {
    MutexLock lock(mutex);
    return evicted ? Status(Error(Code::kIo, "client double: this client was evicted")) : Ok();
  }

  mutable Mutex mutex;
  bool evicted GUARDED_BY(mutex) = false;
  std::uint64_t round_trips GUARDED_BY(mutex) = 0;
  std::function<void()> on_round_trip GUARDED_BY(mutex);
  std::map<std::string, bool> names GUARDED_BY(mutex);  // by path; as last seen
};

namespace {

using ClientState = std::shared_ptr<SimClient::State>;

class ClientWritable final : public WritableFile {
 public:
  ClientWritable(ClientState state, std::unique_ptr<WritableFile> file)
      : state_(std::move(state)), file_(std::move(file)) {}
  Status Append(std::string_view data) override {
    return Reached([&] { return file_->Append(data); });
  }
  Status Sync() override {
    return Reached([&] { return file_->Sync(); });
  }
  Status Preallocate(std::uint64_t bytes) override {
    return Reached([&] { return file_->Preallocate(bytes); });
  }
  Status ZeroFill(std::uint64_t bytes) override {
    return Reached([&] { return file_->ZeroFill(bytes); });
  }
  Status Trim() override {
    return Reached([&] { return file_->Trim(); });
  }
  std::uint64_t size() const override { return file_->size(); }
  Status Close() override { return file_->Close(); }

 private:
  template <class Operation>
  Status Reached(Operation operation) {
    RATCHET_TRY(state_->Reach());
    return operation();
  }

  const ClientState state_;
  const std::unique_ptr<WritableFile> file_;
};

class ClientReadable final : public ReadableFile, public ProvableFile {
 public:
  ClientReadable(ClientState state, std::unique_ptr<ReadableFile> file)
      : state_(std::move(state)), file_(std::move(file)) {}
  Result<std::size_t> ReadAt(std::uint64_t offset, char* out, std::size_t length) const override {
    RATCHET_TRY(state_->Reach());
    return file_->ReadAt(offset, out, length);
  }
  [[nodiscard]] Result<std::uint64_t> size() const override {
    RATCHET_TRY(state_->Reach());
    return file_->size();
  }
  Status Sync() override {
    RATCHET_TRY(state_->Reach());
    return file_->Sync();
  }
  [[nodiscard]] bool NamesAreCached() const override { return true; }
  [[nodiscard]] Status RoundTrip() const override {
    const Status passed = state_->Reach();
    std::function<void()> hook;
    {
      MutexLock lock(state_->mutex);
      ++state_->round_trips;
      hook = state_->on_round_trip;
    }
    if (hook) hook();
    return passed;
  }

 private:
  const ClientState state_;
  const std::unique_ptr<ReadableFile> file_;
};

class ClientDirectory final : public Directory {
 public:
  ClientDirectory(ClientState state, std::unique_ptr<Directory> directory, std::string path)
      : state_(std::move(state)), directory_(std::move(directory)), path_(std::move(path)) {}

  Result<std::unique_ptr<WritableFile>> Create(const std::string& name) override {
    return Wrap<WritableFile, ClientWritable>([&] { return directory_->Create(name); });
  }
  Result<std::unique_ptr<WritableFile>> OpenForWrite(const std::string& name) override {
    return Wrap<WritableFile, ClientWritable>([&] { return directory_->OpenForWrite(name); });
  }
  Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& name) override {
    return Wrap<ReadableFile, ClientReadable>([&] { return directory_->OpenForRead(name); });
  }
  Result<bool> Exists(const std::string& name) override {
    const Status reach = state_->Reach();
    if (reach.ok()) {
      RATCHET_ASSIGN(const bool there, directory_->Exists(name));
      MutexLock lock(state_->mutex);
      state_->names[Key(name)] = there;
      return there;
    }
    MutexLock lock(state_->mutex);
    const auto known = state_->names.find(Key(name));
    if (known == state_->names.end()) return reach.error();
    return known->second;
  }
  Result<std::vector<std::string>> List() override {
    RATCHET_TRY(state_->Reach());
    return directory_->List();
  }
  Status Rename(const std::string& from, const std::string& to) override { return RenameTo(from, *this, to); }
  Status RenameTo(const std::string& from, Directory& target, const std::string& to) override {
    return Reached([&] { return directory_->RenameTo(from, Inner(target), to); });
  }
  Status Link(const std::string& from, const std::string& to) override { return LinkTo(from, *this, to); }
  Status LinkTo(const std::string& from, Directory& target, const std::string& to) override {
    return Reached([&] { return directory_->LinkTo(from, Inner(target), to); });
  }
  Status Unlink(const std::string& name) override {
    return Reached([&] { return directory_->Unlink(name); });
  }
  Status Cut(const std::string& name, std::uint64_t bytes) override {
    return Reached([&] { return directory_->Cut(name, bytes); });
  }
  Status MakeDir(const std::string& name) override {
    return Reached([&] { return directory_->MakeDir(name); });
  }
  Result<std::unique_ptr<Directory>> OpenDir(const std::string& name) override {
    RATCHET_TRY(state_->Reach());
    RATCHET_ASSIGN(auto opened, directory_->OpenDir(name));
    return std::unique_ptr<Directory>(std::make_unique<ClientDirectory>(state_, std::move(opened), Key(name)));
  }
  Status RemoveDir(const std::string& name) override {
    return Reached([&] { return directory_->RemoveDir(name); });
  }
  Status SyncFile(const std::string& name) override {
    return Reached([&] { return directory_->SyncFile(name); });
  }
  Status Sync() override {
    return Reached([&] { return directory_->Sync(); });
  }
  Result<std::uint64_t> FreeBytes() override {
    RATCHET_TRY(state_->Reach());
    return directory_->FreeBytes();
  }
  Result<std::unique_ptr<Directory>> Reopen() override {
    RATCHET_TRY(state_->Reach());
    RATCHET_ASSIGN(auto opened, directory_->Reopen());
    return std::unique_ptr<Directory>(std::make_unique<ClientDirectory>(state_, std::move(opened), path_));
  }
  const std::string& path() const override { return path_; }

 private:
  std::string Key(const std::string& name) const { return path_ + "/" + name; }

  static Directory& Inner(Directory& other) {
    auto* const same = dynamic_cast<ClientDirectory*>(&other);
    RATCHET_CHECK(same != nullptr, "a directory of another kind of disk: {}", other.path());
    return *same->directory_;
  }

  template <class Operation>
  Status Reached(Operation operation) {
    RATCHET_TRY(state_->Reach());
    return operation();
  }

  template <class Kind, class Wrapper, class Operation>
  Result<std::unique_ptr<Kind>> Wrap(Operation operation) {
    RATCHET_TRY(state_->Reach());
    RATCHET_ASSIGN(auto file, operation());
    return std::unique_ptr<Kind>(std::make_unique<Wrapper>(state_, std::move(file)));
  }

  const ClientState state_;
  const std::unique_ptr<Directory> directory_;
  const std::string path_;
};

}  // namespace

SimClient::SimClient(Disk& storage) : storage_(storage), state_(std::make_shared<State>()) {}
SimClient::~SimClient() = default;

Result<std::unique_ptr<Directory>> SimClient::Open(const std::string& path) {
  RATCHET_TRY(state_->Reach());
  RATCHET_ASSIGN(auto opened, storage_.Open(path));
  return std::unique_ptr<Directory>(std::make_unique<ClientDirectory>(state_, std::move(opened), path));
}

Result<std::unique_ptr<Directory>> SimClient::OpenOrMake(const std::string& path) {
  RATCHET_TRY(state_->Reach());
  RATCHET_ASSIGN(auto opened, storage_.OpenOrMake(path));
  return std::unique_ptr<Directory>(std::make_unique<ClientDirectory>(state_, std::move(opened), path));
}

void SimClient::Evict() {
  MutexLock lock(state_->mutex);
  state_->evicted = true;
}

std::uint64_t SimClient::round_trips() const {
  MutexLock lock(state_->mutex);
  return state_->round_trips;
}

void SimClient::OnRoundTrip(std::function<void()> hook) {
  MutexLock lock(state_->mutex);
  state_->on_round_trip = std::move(hook);
}

}  // namespace ratchet::io
