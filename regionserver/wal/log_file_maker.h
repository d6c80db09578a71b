// Makes the numbered files of one server log, one ahead of need, so that a roll neither waits for the disk nor needs
// space.
//
// A prepared file is zero-filled (appends into it need no journal commit) and its name is durable. A crash leaves it
// behind as a legal empty log. Threads: Take by one thread; preparing happens on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/io/fenced_directory.h"

namespace ratchet::regionserver {

class LogFileMaker {
 public:
  struct File {
    std::string name;  // "log.0000000001"
    std::uint64_t number = 0;
    std::uint64_t file_id = 0;
    std::unique_ptr<io::WritableFile> file;
    std::uint64_t reserved = 0;  // bytes that are already allocated
  };

  // `bytes` is the length to which a prepared file is filled with zeros.
  LogFileMaker(io::FencedDirectory& directory, std::string prefix, std::uint64_t bytes, bool prepare_next);
  ~LogFileMaker();
  LogFileMaker(const LogFileMaker&) = delete;
  LogFileMaker& operator=(const LogFileMaker&) = delete;

  // Returns the next file, whose name is durable (S4: directory made once).
  [[nodiscard]] Result<File> Take();
  // Ends the use of the maker: frees the space of the prepared file.
  void Stop();

 private:
  Result<File> Make(std::uint64_t number, bool fill);
  Status Fill(File& made) const;
  Status MarkMade(std::uint64_t number);
  void Prepare();

  io::FencedDirectory& directory_;
  const std::string prefix_;
  const std::uint64_t bytes_;
  const bool prepare_next_;
  std::uint64_t marked_made_ = 0;  // written by Make, which runs once at a time

  Mutex mutex_;
  CondVar wanted_or_ready_;
  std::uint64_t next_number_ GUARDED_BY(mutex_) = 1;
  bool want_ GUARDED_BY(mutex_) = false;  // the preparing thread has work to do, or does it
  bool stop_ GUARDED_BY(mutex_) = false;
  std::optional<File> ready_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace ratchet::regionserver
