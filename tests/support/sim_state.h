// The inodes behind SimDisk. All of it is guarded by State::mutex.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/prng.h"
#include "common/io/disk.h"
#include "tests/support/sim_event.h"

namespace ratchet::io::sim {

struct Inode {
  std::string bytes;                                           // as processes see it
  std::string durable;                                         // as a power failure leaves it
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dirty;  // {offset, length} written since the last sync

  void Write(std::uint64_t offset, std::string_view data);
  void Cut(std::uint64_t size);
  void Sync();
  void LosePower(SimLoss loss, Prng& prng);
};

struct Folder;
struct Node {
  std::shared_ptr<Inode> file;
  std::shared_ptr<Folder> folder;
  [[nodiscard]] bool there() const { return file != nullptr || folder != nullptr; }
};

struct Folder {
  // One change of names that survives or is lost as a whole (a rename inside one folder is atomic).
  using Change = std::vector<std::pair<std::string, Node>>;  // a missing Node: the name is removed

  std::map<std::string, Node> names;
  std::map<std::string, Node> durable;
  std::vector<Change> unsynced;

  void Apply(Change change);
  void Sync();
  void LosePower(SimLoss loss, Prng& prng);
};

struct Process;

struct State {
  mutable Mutex mutex;
  std::shared_ptr<Folder> root GUARDED_BY(mutex) = std::make_shared<Folder>();
  std::vector<std::weak_ptr<Inode>> inodes GUARDED_BY(mutex);
  std::vector<std::weak_ptr<Folder>> folders GUARDED_BY(mutex){root};
  std::vector<std::weak_ptr<Process>> processes GUARDED_BY(mutex);
  std::uint64_t capacity GUARDED_BY(mutex) = UINT64_MAX;

  [[nodiscard]] std::uint64_t Used() const REQUIRES(mutex);
  Status Reserve(std::uint64_t more) const REQUIRES(mutex);
  [[nodiscard]] Result<std::shared_ptr<Folder>> FindFolder(const std::string& path) const REQUIRES(mutex);
  [[nodiscard]] Result<std::shared_ptr<Inode>> FindFile(const std::string& path) const REQUIRES(mutex);
};

struct Process : std::enable_shared_from_this<Process> {
  Process(std::shared_ptr<State> shared, std::string process_name)
      : state(std::move(shared)), name(std::move(process_name)) {}

  // Asks the hook. OK with true: do it. OK with false: pretend. *tear is set when only that many bytes may be written;
  // the caller that obeys calls Die afterwards.
  Result<bool> Before(SimEvent event, std::optional<std::uint64_t>* tear, bool* die_after) EXCLUDES(mutex);
  void Die() EXCLUDES(mutex);

  const std::shared_ptr<State> state;
  const std::string name;
  mutable Mutex mutex;
  SimHook hook GUARDED_BY(mutex);
  bool dead GUARDED_BY(mutex) = false;
  bool tracing GUARDED_BY(mutex) = false;
  std::uint64_t operations GUARDED_BY(mutex) = 0;
  std::vector<SimEvent> trace GUARDED_BY(mutex);
};

[[nodiscard]] std::unique_ptr<Directory> MakeDirectoryHandle(std::shared_ptr<Process> process,
                                                             std::shared_ptr<Folder> folder, std::string path);

}  // namespace ratchet::io::sim
