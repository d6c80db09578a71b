// The second stage of deletion (rule S32: two-stage cleaner): entries of archive/<epoch>/ are deleted only after an
// earlier decision of the same epoch has named them. So one observation never deletes data, and a late deletion of a
// deposed master affects only entries that this epoch's owner has decided to delete.
//
// Not thread-safe: one chore runs it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/live.h"
#include "common/base/result.h"
#include "common/io/disk.h"

namespace ratchet::master {

class ArchiveCleaner {
 public:
  struct Options {
    Live<Millis> ttl{Millis{600'000}};      // between decision and deletion
    Live<Millis> interval{Millis{60'000}};  // between two runs, for the process

    template <class Settings>
    void Bind(Settings& settings) {
      settings.AddMillis({"cleaner-interval-ms", "Interval of the archive cleaner.", {"hbase.master.cleaner.interval"}},
                         &interval, Millis(100), Millis(86'400'000));
      settings.AddMillis({"archive-ttl-ms",
                          "How long archived directories are kept before the cleaner deletes them.",
                          {"hbase.master.hfilecleaner.ttl"}},
                         &ttl, Millis(0), Millis(86'400'000));
    }
  };
  // `check`: the epoch CHECK, before every single removal (S31: names are never reused). `archive` and `clock` must
  // outlive the cleaner.
  ArchiveCleaner(io::Directory& archive, const Clock& clock, std::function<Status()> check, Options options)
      : archive_(archive), clock_(clock), check_(std::move(check)), options_(options) {}

  // Deletes the entries that an earlier run decided to delete, then decides about the current ones. Returns the deleted
  // entries ("<epoch>/wals/<server>-splitting", "<epoch>/data/<ns>/<table>.<pid>",
  // "<epoch>/regions/<ns>/<table>.<pid>/<region>", "<epoch>/files/<path below root>").
  Result<std::vector<std::string>> RunOnce();

 private:
  struct Unit {
    std::string path;     // below archive/
    bool folder = false;  // an empty directory of former single files: removed only if still empty
  };
  Status Find(const std::string& epoch, std::vector<Unit>* found);
  Status FindRegions(const std::string& path, std::vector<Unit>* found);
  Status FindFiles(const std::string& path, std::vector<Unit>* found);
  Status Delete(const Unit& unit);

  io::Directory& archive_;
  const Clock& clock_;
  const std::function<Status()> check_;
  const Options options_;
  std::map<std::string, TimePoint> decided_;  // path below archive/ -> when
};

}  // namespace ratchet::master
