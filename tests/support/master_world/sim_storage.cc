#include "tests/support/master_world/sim_storage.h"

#include <functional>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "common/base/mutant.h"
#include "master/storage/drop_marks.h"

namespace ratchet::sim {

std::string UserLogName(std::size_t index) { return fmt::format("log.{:010}", index + 1); }

std::size_t UserLogOf(const ServerLogs& logs, const std::string& encoded) {
  return std::hash<std::string>{}(encoded) % logs.user_logs;
}

Status SimFiles::CreateTableLayout(const std::string& directory, ProcId descriptor_id,
                                   const TableDescriptor& descriptor, const std::vector<std::string>& encoded_regions) {
  point_();
  if (storage_.on_create_layout) std::exchange(storage_.on_create_layout, {})();
  if (!storage_.next_layout_error.ok()) {
    Status error = storage_.next_layout_error;
    storage_.next_layout_error = Ok();
    return error;
  }
  if (storage_.archived.contains(directory)) storage_.violations.push_back("the name " + directory + " came back");
  TableFiles& table = storage_.tables[directory];
  if (table.descriptors.empty()) table.marks.push_back(master::DroppedName(descriptor_id.value()));
  table.descriptors[descriptor_id.value()] = descriptor;
  table.regions.insert(encoded_regions.begin(), encoded_regions.end());
  return Ok();
}

Status SimFiles::MarkDropped(const std::string& directory, ProcId pid) {
  point_();
  const auto it = storage_.tables.find(directory);
  if (it == storage_.tables.end()) return Ok();
  if (const auto name = master::NameToDrop(master::DropMarksIn(it->second.marks), pid.value()))
    it->second.marks.push_back(*name);
  return Ok();
}

Status SimFiles::MarkKept(const std::string& directory, ProcId pid) {
  point_();
  const auto it = storage_.tables.find(directory);
  if (it == storage_.tables.end()) return Ok();
  if (const auto name = master::NameToKeep(master::DropMarksIn(it->second.marks), pid.value()))
    it->second.marks.push_back(*name);
  return Ok();
}

Result<bool> SimFiles::MayGo(const std::string& directory) {
  const auto it = storage_.tables.find(directory);
  if (it == storage_.tables.end()) return Error(Code::kNotFound, directory);
  const TableFiles& table = it->second;
  const bool empty = table.descriptors.empty() && table.regions.empty() && table.marks.empty();
  return empty || master::DropMarksIn(table.marks).may_go();
}

Status SimFiles::ArchiveTableLayout(const std::string& directory, Epoch /*epoch*/) {
  point_();
  const auto may_go = MayGo(directory);
  if (may_go.ok() && !*may_go) {
    storage_.violations.push_back(directory + " was to go to the archive, and no mark allows it (S115)");
    if (!RATCHET_MUTANT("reconciler.rows_decide")) return Error(Code::kFailedPrecondition, directory);
  }
  if (storage_.tables.erase(directory) > 0) storage_.archived.insert(directory);
  return Ok();
}

Status SimFiles::ArchiveRegion(const std::string& table_directory, const std::string& encoded, Epoch /*epoch*/) {
  point_();
  const auto table = storage_.tables.find(table_directory);
  if (table != storage_.tables.end()) table->second.regions.erase(encoded);
  return Ok();
}

Result<master::StoredDescriptor> SimFiles::ReadDescriptor(const std::string& directory,
                                                          std::optional<std::uint64_t> number) {
  point_();
  const auto it = storage_.tables.find(directory);
  if (it == storage_.tables.end() || it->second.descriptors.empty()) return Error(Code::kNotFound, directory);
  if (it->second.descriptor_withheld) return Error(Code::kIo, directory + ": too many open files");
  if (it->second.descriptor_damaged) return Error(Code::kCorruption, directory + ": the checksum is wrong");
  const auto found = number ? it->second.descriptors.find(*number) : std::prev(it->second.descriptors.end());
  if (found == it->second.descriptors.end())
    return Error(Code::kNotFound, fmt::format("{}: no {}", directory, *number));
  return master::StoredDescriptor{found->first, found->second};
}

Status SimFiles::WriteDescriptor(const std::string& directory, std::uint64_t number, ProcId /*writer*/,
                                 const TableDescriptor& descriptor) {
  point_();
  const auto it = storage_.tables.find(directory);
  if (it == storage_.tables.end()) return Error(Code::kNotFound, directory);
  const auto [at, made] = it->second.descriptors.emplace(number, descriptor);
  if (!made && at->second != descriptor) {
    storage_.violations.push_back(fmt::format("{}: descriptor {} was written twice", directory, number));
  }
  return Ok();
}

Result<std::vector<std::string>> SimFiles::ListTableDirectories() {
  point_();
  std::vector<std::string> all;
  for (const auto& [directory, files] : storage_.tables) all.push_back(directory);
  return all;
}

Result<std::vector<std::string>> SimFiles::ListRegionDirectories(const std::string& table_directory) {
  const auto it = storage_.tables.find(table_directory);
  if (it == storage_.tables.end()) return Error(Code::kNotFound, table_directory);
  return std::vector<std::string>(it->second.regions.begin(), it->second.regions.end());
}

Status SimFiles::MakeRegionDirectories(const std::string& table_directory,
                                       const std::vector<std::string>& encoded_regions) {
  const auto it = storage_.tables.find(table_directory);
  if (it == storage_.tables.end()) return Error(Code::kNotFound, table_directory);
  for (const std::string& encoded : encoded_regions) {
    it->second.regions.insert(encoded);
  }
  return Ok();
}

// Its content is not read again: neither files nor acknowledged data.
Result<std::string> SimFiles::QuarantineRegion(const std::string& table_directory, const std::string& encoded,
                                               const std::string& mark) {
  const std::string to = fmt::format("{}/{}.{}", table_directory, encoded, mark);
  const auto it = storage_.tables.find(table_directory);
  if (it != storage_.tables.end() && it->second.regions.erase(encoded) > 0) {
    storage_.quarantined.insert(to);
    storage_.acknowledged.erase(encoded);
  }
  return storage_.quarantined.contains(to) ? "quarantine/data/" + to : std::string();
}

Status SimFiles::CreateSnapshotLayout(const std::string& snapshot, const std::vector<std::string>& encoded_regions) {
  point_();
  if (storage_.archived.contains("snapshots/" + snapshot))
    storage_.violations.push_back("the name of snapshot " + snapshot + " came back");
  storage_.snapshots[snapshot].regions.insert(encoded_regions.begin(), encoded_regions.end());
  return Ok();
}

Status SimFiles::PutSnapshotFile(const std::string& snapshot, const std::string& name, const std::string& content) {
  point_();
  const auto it = storage_.snapshots.find(snapshot);
  if (it == storage_.snapshots.end()) return Error(Code::kNotFound, snapshot);
  it->second.files[name] = content;
  return Ok();
}

Result<std::string> SimFiles::ReadSnapshotFile(const std::string& snapshot, const std::string& name) {
  point_();
  const auto it = storage_.snapshots.find(snapshot);
  if (it == storage_.snapshots.end() || !it->second.files.contains(name))
    return Error(Code::kNotFound, snapshot + "/" + name);
  return it->second.files.at(name);
}

Result<std::vector<std::string>> SimFiles::ListSnapshots() {
  point_();
  std::vector<std::string> all;
  for (const auto& [snapshot, files] : storage_.snapshots) all.push_back(snapshot);
  return all;
}

Status SimFiles::ArchiveSnapshot(const std::string& snapshot, Epoch /*epoch*/) {
  point_();
  if (storage_.snapshots.erase(snapshot) > 0) storage_.archived.insert("snapshots/" + snapshot);
  return Ok();
}

void SimFiles::CopyRegions(const SnapshotFiles* from, SnapshotFiles* to,
                           const std::vector<std::string>& encoded_regions,
                           std::function<void(Result<master::CopiedFiles>)> done) {
  Result<master::CopiedFiles> answer = master::CopiedFiles{};
  if (storage_.failing_copies > 0) {
    --storage_.failing_copies;
    answer = Error(Code::kIo, "the copy has failed");
  } else if (from == nullptr || to == nullptr) {
    answer = Error(Code::kNotFound, "the directory is gone");
  } else {
    for (const std::string& encoded : encoded_regions) {
      to->regions.insert(encoded);
      for (const auto& [copy, value] : from->copies) {
        if (copy.first != encoded) continue;
        to->copies[copy] = value;
        ++answer->files;
      }
    }
  }
  timers_.After(Millis(1), [done = std::move(done), answer] { done(answer); });
}

void SimFiles::ExportRegions(const std::string& snapshot, const std::vector<std::string>& encoded_regions,
                             const std::string& place, std::function<void(Result<master::CopiedFiles>)> done) {
  point_();
  const auto from = storage_.snapshots.find(snapshot);
  CopyRegions(from == storage_.snapshots.end() ? nullptr : &from->second, &storage_.exports[place], encoded_regions,
              std::move(done));
}

void SimFiles::ImportRegions(const std::string& place, const std::vector<std::string>& encoded_regions,
                             const std::string& snapshot, std::function<void(Result<master::CopiedFiles>)> done) {
  point_();
  const auto from = storage_.exports.find(place);
  const auto to = storage_.snapshots.find(snapshot);
  CopyRegions(from == storage_.exports.end() ? nullptr : &from->second,
              to == storage_.snapshots.end() ? nullptr : &to->second, encoded_regions, std::move(done));
}

Status SimFiles::PutExportFile(const std::string& place, const std::string& name, const std::string& content) {
  point_();
  storage_.exports[place].files[name] = content;
  return Ok();
}

Result<std::string> SimFiles::ReadExportFile(const std::string& place, const std::string& name) {
  point_();
  const auto it = storage_.exports.find(place);
  if (it == storage_.exports.end() || !it->second.files.contains(name))
    return Error(Code::kNotFound, place + "/" + name);
  return it->second.files.at(name);
}

Result<std::vector<master::LogDirectory>> SimFiles::ListLogDirectories() {
  point_();
  if (storage_.on_list_logs) std::exchange(storage_.on_list_logs, nullptr)();
  std::vector<master::LogDirectory> all;
  for (const auto& [server, logs] : storage_.logs) all.push_back({server, logs.fenced});
  return all;
}

void SimFiles::FenceLogs(const ServerName& server, bool /*urgent*/, std::function<void(Status)> done) {
  point_();
  const auto it = storage_.logs.find(server);
  if (it != storage_.logs.end() && it->second.directory_lost)
    return done(Error(Code::kNotFound, "wals/ has no such directory"));
  if (it != storage_.logs.end()) it->second.fenced = true;
  done(Ok());
}

void SimFiles::SealLogs(const ServerName& server, master::LogOwner /*owner*/,
                        std::function<void(Result<std::vector<master::SealedLog>>)> done) {
  point_();
  std::vector<master::SealedLog> sealed;
  if (const auto it = storage_.logs.find(server); it != storage_.logs.end()) {
    if (!it->second.fenced) {
      storage_.violations.push_back("logs of " + server.ToString() + " sealed before they were fenced");
    }
    if (!it->second.unreadable.empty()) {
      return (void)timers_.After(
          Millis(1), [done = std::move(done), why = it->second.unreadable] { done(Error(Code::kIo, why)); });
    }
    it->second.sealed = true;
    for (std::size_t i = 0; i < it->second.user_logs; ++i) sealed.push_back({UserLogName(i), 100, 1, 1, false});
    const bool known = !it->second.unindexed && !it->second.log_lost;
    for (std::size_t i = 0; known && i < sealed.size(); ++i) sealed[i].regions.emplace();
    for (const auto& [encoded, value] : it->second.edits)
      if (known && encoded != kMetaEncodedName) sealed[UserLogOf(it->second, encoded)].regions->insert(encoded);
    if (it->second.meta) sealed.push_back({kMetaLog, 100, 1, 1, true});
    if (it->second.log_lost) {
      master::SealedLog& lost = sealed.front();
      lost = {lost.name, 0, 0, 0, lost.meta, true};
      if (it->second.log_accepted) sealed.erase(sealed.begin());
    }
  }
  timers_.After(Millis(1), [done = std::move(done), sealed = std::move(sealed)] { done(sealed); });
}

Status SimFiles::RetireLogs(const ServerName& server, const std::vector<master::SealedLog>& /*sealed*/,
                            Epoch /*epoch*/) {
  point_();
  if (storage_.logs.erase(server) > 0) storage_.archived.insert("wals/" + server.ToString());
  return Ok();
}

Status SimFiles::KeepLogs(const ServerName& server, const std::vector<master::SealedLog>& /*sealed*/) {
  point_();
  if (storage_.logs.erase(server) > 0) storage_.archived.insert("oldWALs/" + server.ToString());
  return Ok();
}

Status SimFiles::ArchiveKeptLogs(const ServerName& server, Epoch /*epoch*/) {
  point_();
  if (storage_.archived.erase("oldWALs/" + server.ToString()) > 0)
    storage_.archived.insert("wals/" + server.ToString());
  return Ok();
}

}  // namespace ratchet::sim
