// One file of recovered edits while it is written: a temporary name until it is whole, then its final one (S26: split
// up to the seal).
//
// Holds two descriptors, the region's directory and the file, and after Finish only the directory. A file that is not
// published is removed again, so that failed splits leave no files. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/io/disk.h"
#include "common/io/record_log.h"

namespace ratchet::regionserver {

class EditsFile {
 public:
  struct Name {
    std::string region;
    std::string final_name;  // "edits.<server>.<log>"
    std::string temporary;   // unique per attempt
  };
  [[nodiscard]] static Result<std::unique_ptr<EditsFile>> Create(std::unique_ptr<io::Directory> directory, Name name);
  ~EditsFile();
  EditsFile(const EditsFile&) = delete;
  EditsFile& operator=(const EditsFile&) = delete;

  // Adds a record. Records are numbered in the order of these calls, whatever the region's sequences are.
  [[nodiscard]] Status Add(std::uint8_t type, std::string_view payload);
  // Makes the file durable, then its name; the final name appears with its whole content or not at all.
  // `keep_what_is_there`: an existing file of that name came from a better copy of the log and is kept.
  [[nodiscard]] Status Publish(bool keep_what_is_there);

  // Publish in steps, for a splitter that makes many files durable together (S142: shared syncs of a split): between
  // the two steps the bytes become durable, and after Show the names in the directory.
  [[nodiscard]] Status Finish();
  [[nodiscard]] Status Show(bool keep_what_is_there);
  [[nodiscard]] io::Directory& directory() const { return *directory_; }
  [[nodiscard]] const std::string& temporary() const { return name_.temporary; }

 private:
  EditsFile(std::unique_ptr<io::Directory> directory, Name name, std::unique_ptr<io::WritableFile> file);

  const std::unique_ptr<io::Directory> directory_;
  const Name name_;
  io::RecordWriter writer_;
  std::uint64_t next_record_ = 1;
  std::uint64_t written_ = 0;  // bytes passed to the file
  bool published_ = false;
};

}  // namespace ratchet::regionserver
