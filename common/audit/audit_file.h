// AuditFile: the files of an audit log, which grow by whole groups of lines.
//
// audit.<number of its first line>.jsonl, the newest one open. Each start, rotation and failed write begins a new file;
// number and chain of hashes continue. `reserve` holds space: when the disk is full, it becomes the next file. When it
// is used up too, writes fail until there is room.
//
// Threads: for one thread. An error leaves the object usable; the next write repairs what the failed one has left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::audit {

struct AuditLimits {
  std::uint64_t file_bytes = 64U << 20;
  std::size_t files = 16;
  std::uint64_t reserve_bytes = 4U << 20;
};

inline constexpr const char* kReserveName = "reserve";
// S153 (the log knows its first line): a file with the number of the first line that remains, as decimal digits. It is
// durable before older files are removed, so other missing files are noticed. Absent: 1.
inline constexpr const char* kHeadName = "first";
// nullopt: not the content of such a file.
[[nodiscard]] std::optional<std::uint64_t> ReadHead(std::string_view text);
inline constexpr std::uint64_t kLastLineBytes = 2'048;  // at the end of the reserve
[[nodiscard]] bool IsAuditFileName(const std::string& name);

class AuditFile {
 public:
  // Reads the newest file of the directory, cuts a line that was not finished, and continues after the last one.
  [[nodiscard]] static Result<std::unique_ptr<AuditFile>> Open(std::unique_ptr<io::Directory> directory,
                                                               AuditLimits limits);
  // kLastLine: the line may use the end of the reserve, which is kept for it.
  enum class Room : std::uint8_t { kUsual, kLastLine };
  // Ok: the lines are durable. After an error none of them counts.
  [[nodiscard]] Status Write(const std::vector<std::string>& bodies, Room room = Room::kUsual);
  // The next write begins a new file.
  void Roll() { roll_ = true; }
  // Makes the reserve again, once there is room for it. Call it from time to time.
  void Refill();

  // The reserve is in use, or does not exist.
  [[nodiscard]] bool on_reserve() const { return !has_reserve_; }
  [[nodiscard]] std::uint64_t lines() const { return number_; }  // number of the last durable line
  [[nodiscard]] const std::string& path() const { return directory_->path(); }
  // At the start, the last line reports lost lines without a count: its process could not write until its end.
  [[nodiscard]] bool ended_without_room() const { return ended_without_room_; }
  // Bytes of an unfinished line that the start has cut.
  [[nodiscard]] std::uint64_t cut_at_start() const { return cut_at_start_; }

 private:
  AuditFile(std::unique_ptr<io::Directory> directory, AuditLimits limits)
      : directory_(std::move(directory)), limits_(limits) {}
  [[nodiscard]] Status Recover();
  [[nodiscard]] Status RecoverFrom(const std::string& name);
  [[nodiscard]] Result<std::vector<std::string>> Names();
  [[nodiscard]] Status WriteOnce(const std::string& text, Room room);
  [[nodiscard]] Status Repair();
  [[nodiscard]] Status Begin();
  [[nodiscard]] Status BeginOnReserve();
  void End();
  void RemoveOldest();
  [[nodiscard]] Status WriteHead(std::uint64_t number);
  [[nodiscard]] std::string NextName() const;

  const std::unique_ptr<io::Directory> directory_;
  const AuditLimits limits_;
  std::unique_ptr<io::WritableFile> file_;  // null: the next write begins one
  std::string name_;                        // of the last file; its durable part:
  std::uint64_t durable_bytes_ = 0;
  bool broken_ = false;      // the file may have bytes after its durable part
  bool of_reserve_ = false;  // the file was the reserve
  bool has_reserve_ = false;
  bool roll_ = false;
  std::uint64_t number_ = 0;
  std::string hash_;
  std::uint64_t cut_at_start_ = 0;
  bool ended_without_room_ = false;
};

}  // namespace ratchet::audit
