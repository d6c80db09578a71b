// --trace-file: writes a line of OTLP/JSON for each procedure that ends (common/ops/trace/otlp.h).
//
// Bounded: at `bytes` the file is renamed to <path>.1, replacing an older one, and a new file is begun, so both
// together have at most twice this size. The queue for the disk is bounded too; further entries are dropped and this is
// logged.
//
// Owner: the master's process. Thread-safe; a separate thread writes.
#pragma once

#include <cstdint>
#include <deque>
#include <fstream>
#include <string>
#include <thread>

#include "common/base/live.h"
#include "common/base/mutex.h"
#include "common/model/proto/history.pb.h"

namespace ratchet::master {

struct TraceFileOptions {
  std::string path;  // empty: no trace file
  Live<std::uint64_t> bytes{64u << 20};

  template <class Settings>
  void Bind(Settings& settings) {
    settings.AddText(
        {"trace-file",
         "File to which a line of OpenTelemetry's JSON (OTLP) is written for each procedure that ends; empty: none.",
         {}},
        &path);
    settings.AddBytes(
        {"trace-file-bytes", "Size at which the trace file is renamed to <trace-file>.1 and a new one is started.", {}},
        &bytes, 64u << 10, 1ull << 40);
  }
};

class TraceFile {
 public:
  // Appends to an existing file.
  TraceFile(std::string path, std::string cluster_id, Live<std::uint64_t> bytes);
  ~TraceFile();  // writes the queue
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Does not block; call from any thread.
  void Add(const ::ratchet::pb::EndedProcedure& ended);

  static constexpr std::size_t kMostWaiting = 10'000;

 private:
  void Run();
  void Write(const std::string& line);

  const std::string path_;
  const std::string cluster_id_;
  const Live<std::uint64_t> bytes_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<::ratchet::pb::EndedProcedure> waiting_ GUARDED_BY(mutex_);
  std::uint64_t lost_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::ofstream out_;       // of the thread
  std::uint64_t size_ = 0;  // of the thread
  bool failed_ = false;     // used by the thread: an error is logged once, until a write succeeds
  std::thread thread_;      // last member, because the thread uses the others
};

}  // namespace ratchet::master
