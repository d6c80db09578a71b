#include "common/model/peer_secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "common/base/exception_names.h"

namespace ratchet {
namespace {

using hbase::pb::ReplicationPeer;

const std::string& KeyOf(const hbase::pb::BytesBytesPair& pair) { return pair.first(); }
const std::string& KeyOf(const hbase::pb::NameStringPair& pair) { return pair.name(); }
const std::string& ValueOf(const hbase::pb::BytesBytesPair& pair) { return pair.second(); }
const std::string& ValueOf(const hbase::pb::NameStringPair& pair) { return pair.value(); }
void SetValue(hbase::pb::BytesBytesPair& pair, std::string value) { pair.set_second(std::move(value)); }
void SetValue(hbase::pb::NameStringPair& pair, std::string value) { pair.set_value(std::move(value)); }

template <class Pair>
bool IsHidden(const Pair& pair) {
  return ValueOf(pair) == kHiddenValue && NamesASecret(KeyOf(pair));
}

template <class Pairs>
auto FindKey(const Pairs& pairs, const std::string& key) {
  return std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return KeyOf(pair) == key; });
}

template <class Pairs>
void Hide(Pairs& pairs) {
  for (auto& pair : pairs)
    if (NamesASecret(KeyOf(pair))) SetValue(pair, std::string(kHiddenValue));
}

template <class Pairs>
void FillIn(const Pairs& present, Pairs& wanted) {
  for (int i = 0; i < wanted.size();) {
    auto& pair = wanted[i];
    const auto stored = IsHidden(pair) ? FindKey(present, KeyOf(pair)) : present.end();
    if (stored != present.end()) SetValue(pair, ValueOf(*stored));
    if (stored == present.end() && IsHidden(pair)) {
      wanted.DeleteSubrange(i, 1);
    } else {
      ++i;
    }
  }
}

template <class Pairs>
Status CheckHidden(const Pairs& present, const Pairs& wanted) {
  for (const auto& pair : wanted) {
    if (!IsHidden(pair) || FindKey(present, KeyOf(pair)) != present.end()) continue;
    return Error(
        Code::kInvalidArgument,
        fmt::format("the value of {} is {}, which means the stored value, but none is stored: give the value itself",
                    KeyOf(pair), kHiddenValue),
        std::string(exception::kDoNotRetryIo));
  }
  return Ok();
}

}  // namespace

bool NamesASecret(std::string_view key) {
  static constexpr std::array<std::string_view, 7> kParts = {"secret",     "password", "passwd",     "passphrase",
                                                             "credential", "token",    "account.key"};
  static constexpr std::array<std::string_view, 2> kEnds = {".pass", ".key"};
  std::string lower(key);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::any_of(kParts.begin(), kParts.end(), [&](auto part) { return lower.find(part) != std::string::npos; }) ||
         std::any_of(kEnds.begin(), kEnds.end(), [&](auto end) { return lower.ends_with(end); });
}

void HideSecrets(ReplicationPeer& config) {
  Hide(*config.mutable_configuration());
  Hide(*config.mutable_data());
}

void FillInSecrets(const ReplicationPeer& present, ReplicationPeer& wanted) {
  FillIn(present.configuration(), *wanted.mutable_configuration());
  FillIn(present.data(), *wanted.mutable_data());
}

Status CheckHiddenValues(const ReplicationPeer& present, const ReplicationPeer& wanted) {
  RATCHET_TRY(CheckHidden(present.configuration(), wanted.configuration()));
  return CheckHidden(present.data(), wanted.data());
}

}  // namespace ratchet
