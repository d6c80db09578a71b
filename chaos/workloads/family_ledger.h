// What the cells of a table may be whose families come and go. Pure apart from its mutex.
//
// Each row has one writer, whose numbers rise; a cell holds the number of its write and has it as its timestamp, so
// that a late write hides no newer one. The first family stays for ever: whenever it is read, it holds at least what
// had been acknowledged before, and at most what had been asked for. The same holds for another family while it is
// there. What was acknowledged before a family was dropped never comes back when a family of its name is added (S49),
// and while no family of the name is there, no cell of it is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/workloads/load.h"
#include "common/base/mutex.h"
#include "common/client/operations.h"

namespace ratchet::chaos {

// Thread-safe.
class FamilyLedger {
 public:
  static constexpr const char* kColumn = "n";

  // `others`: families that are not there yet.
  FamilyLedger(std::vector<std::string> keys, const std::vector<std::string>& others);
  [[nodiscard]] std::size_t rows() const { return keys_.size(); }
  [[nodiscard]] const std::string& key(std::size_t row) const { return keys_[row]; }

  // One write of a row: of the first family, and of those others that are there now.
  struct Write {
    std::size_t row = 0;
    std::uint64_t number = 0;
    std::map<std::string, std::uint64_t> changes;  // by family: how often it had come or gone
    client::Mutation put;
  };
  [[nodiscard]] Write Begin(std::size_t row);
  void Acknowledge(const Write& write);
  // It was refused because a family is not there. What is wrong with that: all of them were, all the time.
  [[nodiscard]] std::optional<std::string> RefusedForFamily(const Write& write) const;

  // Around a change of the other families: their cells are not judged in between.
  void BeginChange(const std::string& family);
  enum class Now : std::uint8_t { kThere, kGone };
  void EndChange(const std::string& family, Now now);  // its outcome is known

  // Around a read of a row, asked before it is sent.
  struct Read {
    std::size_t row = 0;
    std::map<std::string, std::uint64_t> changes;
    std::map<std::string, std::uint64_t> least;
  };
  [[nodiscard]] Read BeginRead(std::size_t row) const;
  // What is wrong with what was read; nothing when all is well.
  [[nodiscard]] std::optional<std::string> Observe(const Read& read, const client::Row& found) const;

  // "<row> <asked>, <family> <acknowledged>, ...", one a line.
  [[nodiscard]] std::string ToText() const;

 private:
  enum class Stage : std::uint8_t { kThere, kChanging, kGone };
  struct Cells {
    std::uint64_t acknowledged = 0;  // since the family has been there
    std::uint64_t dead = 0;          // the last one that was acknowledged before it was dropped
  };
  struct Family {
    Stage stage = Stage::kGone;
    bool was_there = false;     // before the change that goes on
    std::uint64_t changes = 0;  // begun or ended
    std::vector<Cells> cells;   // by row
  };
  [[nodiscard]] std::string Judge(const Read& read, const std::string& name, const Family& family,
                                  std::optional<std::string_view> value) const REQUIRES(mutex_);
  const std::vector<std::string> keys_;
  mutable Mutex mutex_;
  std::vector<std::uint64_t> asked_ GUARDED_BY(mutex_);  // by row
  std::map<std::string, Family> families_ GUARDED_BY(mutex_);
};

}  // namespace ratchet::chaos
