#include "master/process/trace_file.h"

#include <cstdio>
#include <utility>

#include "common/base/log.h"
#include "common/base/thread_name.h"
#include "common/ops/trace/otlp.h"

namespace ratchet::master {

TraceFile::TraceFile(std::string path, std::string cluster_id, Live<std::uint64_t> bytes)
    : path_(std::move(path)),
      cluster_id_(std::move(cluster_id)),
      bytes_(std::move(bytes)),
      thread_([this] { Run(); }) {}

TraceFile::~TraceFile() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void TraceFile::Add(const ::ratchet::pb::EndedProcedure& ended) {
  const MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) {
    ++lost_;
    return;
  }
  waiting_.push_back(ended);
  changed_.NotifyAll();
}

void TraceFile::Write(const std::string& line) {
  if (!out_.is_open()) {
    out_.open(path_, std::ios::app | std::ios::binary);
    size_ = out_.is_open() ? static_cast<std::uint64_t>(out_.tellp()) : 0;
  }
  if (size_ > 0 && size_ + line.size() + 1 > bytes_) {
    out_.close();
    if (std::rename(path_.c_str(), (path_ + ".1").c_str()) == 0)
      RATCHET_LOG(kInfo, "trace file: {} is full; renamed to {}.1", path_, path_);
    out_.open(path_, std::ios::trunc | std::ios::binary);
    size_ = 0;
  }
  out_ << line << '\n';
  out_.flush();
  size_ += line.size() + 1;
  if (out_.good()) {
    failed_ = false;
    return;
  }
  out_.close();
  out_.clear();
  if (!std::exchange(failed_, true)) RATCHET_LOG(kWarn, "trace file: {} cannot be written; traces are lost", path_);
}

void TraceFile::Run() {
  SetThreadName("trace-file");
  const trace::Source source{cluster_id_};
  while (true) {
    std::deque<::ratchet::pb::EndedProcedure> taken;
    std::uint64_t lost = 0;
    {
      const MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
      if (waiting_.empty()) return;
      taken.swap(waiting_);
      lost = std::exchange(lost_, 0);
    }
    if (lost > 0) RATCHET_LOG(kWarn, "trace file: {} traces are lost, the disk is too slow", lost);
    for (const ::ratchet::pb::EndedProcedure& ended : taken) Write(trace::ToOtlp(source, {ended}));
  }
}

}  // namespace ratchet::master
