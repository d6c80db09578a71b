#include "procedure/core/record.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/check.h"
#include "common/base/varint.h"
#include "procedure/api/record.pb.h"

namespace ratchet::procedure {

// Writes the fields of a protocol buffer message one after the other, in the order of the calls. For records that are
// written with every step: a generated message takes several times as long to fill in and to measure. Not thread-safe.
class RecordWriter {
 public:
  // Starts empty; its memory is kept from one record to the next.
  static RecordWriter& OfThisThread() {
    thread_local RecordWriter writer;
    return writer;
  }

  // Inlined always, like the other small functions: the compiler then computes the tags.
  [[gnu::always_inline]] void Number(int field, std::uint64_t value) {
    MakeRoom(kFieldBytes);
    Varint(static_cast<std::uint64_t>(field) << 3);
    Varint(value);
  }
  void Number(int field, std::int64_t value) { Number(field, static_cast<std::uint64_t>(value)); }
  void Number(int field, std::uint32_t value) { Number(field, std::uint64_t{value}); }
  void True(int field) { Number(field, std::uint64_t{1}); }
  [[gnu::always_inline]] void Bytes(int field, std::string_view bytes) {
    MakeRoom(kFieldBytes + bytes.size());
    Varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    Varint(bytes.size());
    Append(bytes);
  }
  // Appends whole fields that were encoded before.
  void Encoded(std::string_view fields) {
    MakeRoom(fields.size());
    Append(fields);
  }
  // `fill(*this)` writes the fields of the message inside.
  template <class Fill>
  void Message(int field, Fill fill) {
    MakeRoom(kFieldBytes);
    Varint(static_cast<std::uint64_t>(field) << 3 | kLengthDelimited);
    const std::size_t length_at = size_++;  // one byte is enough nearly always
    fill(*this);
    const std::size_t length = size_ - length_at - 1;
    std::size_t more = 0;
    for (std::size_t rest = length >> 7; rest > 0; rest >>= 7) ++more;
    MakeRoom(more);
    if (more > 0) std::memmove(&bytes_[length_at + 1 + more], &bytes_[length_at + 1], length);
    size_ = length_at;
    Varint(length);
    size_ += length;
  }

  // Returns the bytes written; the writer is empty then.
  [[nodiscard]] std::string Take() {
    std::string record;
    MoveTo(record);
    return record;
  }
  // Appends the bytes written to the end of `out`.
  void MoveTo(std::string& out) {
    out.append(bytes_.get(), size_);
    size_ = 0;
    if (capacity_ <= kWorthKeeping) return;
    bytes_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr std::size_t kFieldBytes = 20;  // a tag and a number take at most this
  static constexpr std::size_t kWorthKeeping = 64 << 10;
  static constexpr std::uint64_t kLengthDelimited = 2;

  [[gnu::always_inline]] void MakeRoom(std::size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
  }
  void Grow(std::size_t bytes) {
    const std::size_t capacity = 2 * (size_ + bytes) + 1024;
    auto more = std::make_unique<char[]>(capacity);
    if (size_ > 0) std::memcpy(more.get(), bytes_.get(), size_);
    bytes_ = std::move(more);
    capacity_ = capacity;
  }
  void Append(std::string_view bytes) {
    if (!bytes.empty()) std::memcpy(&bytes_[size_], bytes.data(), bytes.size());
    size_ += bytes.size();
  }
  [[gnu::always_inline]] void Varint(std::uint64_t value) {
    char* at = bytes_.get() + size_;
    for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
    *at++ = static_cast<char>(value);
    size_ = static_cast<std::size_t>(at - bytes_.get());
  }

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

namespace {

using Record = pb::ProcedureRecord;

constexpr std::size_t kTagBytes = 2;  // of a field with a number from 16 to 2047
static_assert(Record::kHistoryFieldNumber >= 16);

void Write(RecordWriter& out, const Error& error) {
  out.Number(pb::ErrorRecord::kCodeFieldNumber, static_cast<std::uint32_t>(error.code()));
  out.Bytes(pb::ErrorRecord::kMessageFieldNumber, error.message());
  if (!error.remote_class().empty()) out.Bytes(pb::ErrorRecord::kRemoteClassFieldNumber, error.remote_class());
}

void Write(RecordWriter& out, const LockRequest& lock) {
  out.Number(pb::LockRecord::kKindFieldNumber, static_cast<std::uint32_t>(lock.key.kind));
  out.Bytes(pb::LockRecord::kNameFieldNumber, lock.key.name);
  if (lock.mode == LockMode::kExclusive) out.True(pb::LockRecord::kExclusiveFieldNumber);
}

void Write(RecordWriter& out, const UndoEntry& entry) {
  out.Number(pb::UndoRecord::kStepFieldNumber, entry.step);
  out.Number(pb::UndoRecord::kOrderFieldNumber, entry.order);
}

void Write(RecordWriter& out, const VerbEntry& entry) {
  out.Bytes(pb::VerbRecord::kVerbFieldNumber, entry.verb);
  out.Bytes(pb::VerbRecord::kWhoFieldNumber, entry.who);
  out.Bytes(pb::VerbRecord::kWhyFieldNumber, entry.why);
  out.Number(pb::VerbRecord::kAtMsFieldNumber, entry.at_ms);
}

void Write(RecordWriter& out, const StepHistoryEntry& entry) {
  using Step = pb::StepHistoryRecord;
  out.Number(Step::kStepFieldNumber, entry.step);
  out.Number(Step::kEpochFieldNumber, entry.epoch.value());
  out.Number(Step::kWorkerFieldNumber, entry.worker);
  out.Number(Step::kBeginMsFieldNumber, entry.begin_ms);
  out.Number(Step::kDurationUsFieldNumber, entry.duration_us);
  out.Number(Step::kOutcomeFieldNumber, static_cast<std::uint32_t>(entry.outcome));
  if (!entry.error.empty()) out.Bytes(Step::kErrorFieldNumber, entry.error);
  if (entry.attempts != 1) out.Number(Step::kAttemptsFieldNumber, entry.attempts);
}

template <class T>
void WriteEach(RecordWriter& out, int field, const std::vector<T>& entries) {
  for (const T& entry : entries) out.Message(field, [&entry](RecordWriter& inner) { Write(inner, entry); });
}

// In the order of the fields' numbers.
void Write(RecordWriter& out, const Identity& identity, const Durable& durable) {
  out.Number(Record::kPidFieldNumber, identity.pid.value());
  if (identity.parent.valid()) out.Number(Record::kParentFieldNumber, identity.parent.value());
  out.Number(Record::kRootFieldNumber, identity.root.value());
  out.Bytes(Record::kTypeFieldNumber, identity.type);
  out.Number(Record::kDataVersionFieldNumber, identity.data_version);
  out.Number(Record::kStateFieldNumber, static_cast<std::uint32_t>(durable.state));
  out.Number(Record::kStepFieldNumber, durable.step);
  out.Bytes(Record::kDataFieldNumber, durable.data);
  WriteEach(out, Record::kLocksFieldNumber, durable.locks);
  WriteEach(out, Record::kUndoFieldNumber, durable.undo);
  if (identity.nonce_group != 0) out.Number(Record::kNonceGroupFieldNumber, identity.nonce_group);
  if (identity.nonce != 0) out.Number(Record::kNonceFieldNumber, identity.nonce);
  if (!identity.owner.empty()) out.Bytes(Record::kOwnerFieldNumber, identity.owner);
  out.Number(Record::kSubmittedMsFieldNumber, identity.submitted_ms);
  out.Number(Record::kUpdatedMsFieldNumber, durable.updated_ms);
  if (durable.error) {
    out.Message(Record::kErrorFieldNumber, [&durable](RecordWriter& inner) { Write(inner, *durable.error); });
  }
  if (!durable.result.empty()) out.Bytes(Record::kResultFieldNumber, durable.result);
  out.Number(Record::kVersionFieldNumber, durable.version);
  out.Encoded(durable.history.encoded());
  if (durable.history_dropped != 0) out.Number(Record::kHistoryDroppedFieldNumber, durable.history_dropped);
  if (durable.past_no_return) out.True(Record::kPastNoReturnFieldNumber);
  if (!durable.parked.empty()) out.Bytes(Record::kParkedFieldNumber, durable.parked);
  if (durable.bypassed) out.True(Record::kBypassedFieldNumber);
  WriteEach(out, Record::kVerbsFieldNumber, durable.verbs);
  if (durable.spawn_round != 0) out.Number(Record::kSpawnRoundFieldNumber, durable.spawn_round);
  if (durable.resumed_round != 0) out.Number(Record::kResumedRoundFieldNumber, durable.resumed_round);
  if (identity.child_round != 0) out.Number(Record::kChildRoundFieldNumber, identity.child_round);
  if (durable.spawn_round != 0 && durable.children) out.Number(Record::kChildrenFieldNumber, *durable.children);
  if (durable.history_first != 0) out.Number(Record::kHistoryFirstFieldNumber, durable.history_first);
  if (identity.deadline_ms != 0) out.Number(Record::kDeadlineMsFieldNumber, identity.deadline_ms);
  if (!identity.peer.empty()) out.Bytes(Record::kPeerFieldNumber, identity.peer);
  if (!identity.method.empty()) out.Bytes(Record::kMethodFieldNumber, identity.method);
}

StepHistoryEntry EntryOf(const pb::StepHistoryRecord& entry) {
  StepHistoryEntry out;
  out.step = entry.step();
  out.epoch = Epoch(entry.epoch());
  out.worker = entry.worker();
  out.begin_ms = entry.begin_ms();
  out.duration_us = entry.duration_us();
  out.outcome = static_cast<OutcomeKind>(entry.outcome());
  out.error = entry.error();
  out.attempts = entry.has_attempts() ? entry.attempts() : 1;
  return out;
}

Status DecodeLists(const pb::ProcedureRecord& record, Durable& durable) {
  for (const pb::LockRecord& lock : record.locks()) {
    if (lock.kind() < 1 || lock.kind() > 7) return Error(Code::kCorruption, "lock on an unknown kind of resource");
    durable.locks.push_back({{static_cast<ResourceKind>(lock.kind()), lock.name()},
                             lock.exclusive() ? LockMode::kExclusive : LockMode::kShared});
  }
  for (const pb::UndoRecord& undo : record.undo()) durable.undo.push_back({undo.step(), undo.order()});
  for (const pb::StepHistoryRecord& entry : record.history()) durable.history.Add(EntryOf(entry), SIZE_MAX);
  for (const pb::VerbRecord& verb : record.verbs()) {
    durable.verbs.push_back({verb.verb(), verb.who(), verb.why(), verb.at_ms()});
  }
  return Ok();
}

}  // namespace

std::string EncodeRecord(const Identity& identity, const Durable& durable) {
  RecordWriter& out = RecordWriter::OfThisThread();
  Write(out, identity, durable);
  return out.Take();
}

Result<DecodedRecord> DecodeRecord(std::string_view bytes) {
  pb::ProcedureRecord record;
  if (!record.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Error(Code::kCorruption, "not a procedure record");
  }
  if (record.pid() == 0 || record.type().empty() || record.state() < 1 || record.state() > 7) {
    return Error(Code::kCorruption, "a procedure record without pid, type or known state");
  }
  DecodedRecord out;
  Identity& identity = out.identity;
  identity.pid = ProcId(record.pid());
  identity.parent = ProcId(record.parent());
  identity.root = ProcId(record.root());
  identity.type = record.type();
  identity.data_version = record.data_version();
  identity.owner = record.owner();
  identity.peer = record.peer();
  identity.method = record.method();
  identity.nonce_group = record.nonce_group();
  identity.nonce = record.nonce();
  identity.submitted_ms = std::max<std::int64_t>(0, record.submitted_ms());  // ages are computed from it
  identity.child_round = record.child_round();
  constexpr std::uint64_t kLongestDeadline = 1'000ULL * 86'400'000;  // a thousand days
  identity.deadline_ms = std::min<std::uint64_t>(record.deadline_ms(), kLongestDeadline);
  Durable& durable = out.durable;
  durable.state = static_cast<ProcState>(record.state());
  durable.step = record.step();
  durable.data = record.data();
  durable.version = record.version();
  durable.updated_ms = std::max<std::int64_t>(0, record.updated_ms());
  if (record.has_error()) {
    durable.error =
        Error(static_cast<Code>(record.error().code()), record.error().message(), record.error().remote_class());
  }
  durable.result = record.result();
  durable.history_dropped = record.history_dropped();
  durable.history_first = record.history_first();
  durable.past_no_return = record.past_no_return();
  durable.parked = record.parked();
  durable.bypassed = record.bypassed();
  durable.spawn_round = record.spawn_round();
  durable.resumed_round = record.resumed_round();
  if (record.has_children()) {
    durable.children = record.children();
  } else if (durable.spawn_round != 0) {
    durable.children.reset();
  }
  RATCHET_TRY(DecodeLists(record, durable));
  return out;
}

std::size_t StepHistory::Add(const StepHistoryEntry& entry, std::size_t bound, std::size_t first) {
  if (bound == 0) return 0;
  RecordWriter& out = RecordWriter::OfThisThread();
  out.Message(Record::kHistoryFieldNumber, [&entry](RecordWriter& inner) { Write(inner, entry); });
  out.MoveTo(encoded_);
  std::size_t gone = 0;
  for (++size_; size_ > bound; --size_, ++gone) {
    const std::size_t begin = OffsetOf(std::min(first, size_ - 1));
    encoded_.erase(begin, EndOf(begin) - begin);
  }
  return gone;
}

// Returns the end of the entry that begins at `begin`.
std::size_t StepHistory::EndOf(std::size_t begin) const {
  std::string_view rest = std::string_view(encoded_).substr(begin + kTagBytes);
  std::string_view entry;
  RATCHET_CHECK(GetBytes(rest, &entry), "a history that was written here");
  return encoded_.size() - rest.size();
}

std::size_t StepHistory::OffsetOf(std::size_t index) const {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < index; ++i) offset = EndOf(offset);
  return offset;
}

std::vector<StepHistoryEntry> StepHistory::Entries() const {
  Record record;
  RATCHET_CHECK(record.ParseFromString(encoded_), "a history that was written here");
  std::vector<StepHistoryEntry> entries;
  for (const pb::StepHistoryRecord& entry : record.history()) entries.push_back(EntryOf(entry));
  return entries;
}

void AddHistory(Durable& durable, const StepHistoryEntry& entry, std::size_t bound) {
  // Half of them are the first entries, which show how the procedure began. Records of earlier versions have only the
  // newest ones.
  if (durable.history_dropped == 0) durable.history_first = static_cast<std::uint32_t>(bound / 2);
  const auto dropped = static_cast<std::uint32_t>(durable.history.Add(entry, bound, durable.history_first));
  durable.history_dropped += dropped;
  if (durable.history_dropped == 0) durable.history_first = 0;
}

void AddVerb(Durable& durable, VerbEntry entry) {
  constexpr std::size_t kKept = 64;
  durable.verbs.push_back(std::move(entry));
  if (durable.verbs.size() > kKept) durable.verbs.erase(durable.verbs.begin());
}

}  // namespace ratchet::procedure
