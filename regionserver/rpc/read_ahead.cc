#include "regionserver/rpc/read_ahead.h"

namespace ratchet::regionserver {

bool AheadBudget::Begin(std::uint64_t bytes) {
  if (threads_.fetch_add(1) >= most_threads_) {
    --threads_;
    return false;
  }
  if (bytes_.fetch_add(bytes) + bytes > most_bytes_.Get()) {
    bytes_ -= bytes;
    --threads_;
    return false;
  }
  return true;
}

void AheadBudget::Read(std::uint64_t reserved, std::uint64_t bytes) {
  bytes_ += bytes;
  bytes_ -= reserved;
  --threads_;
}

bool ReadFor::Answers(const ReadFor& other, const ReadReply& reply) const {
  const auto within = [](std::uint32_t count, std::uint32_t limit) { return limit == 0 || count <= limit; };
  const bool few = !reply.chunk.ok() || (within(reply.chunk->results, other.limits.max_results) &&
                                         within(reply.chunk->finished_rows, other.limits.max_rows));
  return few && limits.max_bytes == other.limits.max_bytes && limits.allow_partial == other.limits.allow_partial &&
         limits.allow_heartbeat == other.limits.allow_heartbeat && tags == other.tags;
}

// No read can run now, because a reader holds the session.
ReadAhead::~ReadAhead() {
  const MutexLock lock(mutex_);
  if (state_ == State::kReady) budget_->Free(reply_.block.size());
}

bool ReadAhead::Begin(const ReadFor& what) {
  const MutexLock lock(mutex_);
  if (state_ != State::kNone || budget_ == nullptr || !budget_->Begin(what.limits.max_bytes)) return false;
  for_ = what;
  state_ = State::kReading;
  return true;
}

void ReadAhead::End(ReadReply reply) {
  const MutexLock lock(mutex_);
  budget_->Read(for_.limits.max_bytes, reply.block.size());
  reply_ = std::move(reply);
  state_ = State::kReady;
  ended_.NotifyAll();
}

std::optional<std::pair<ReadFor, ReadReply>> ReadAhead::Take() {
  const MutexLock lock(mutex_);
  while (state_ == State::kReading) ended_.Wait(mutex_);
  if (state_ == State::kNone) return std::nullopt;
  state_ = State::kNone;
  budget_->Free(reply_.block.size());
  return std::pair(for_, std::exchange(reply_, ReadReply()));
}

}  // namespace ratchet::regionserver
