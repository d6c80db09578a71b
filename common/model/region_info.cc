#include "common/model/region_info.h"

#include <openssl/evp.h>

#include <charconv>
#include <memory>

#include "common/base/check.h"

namespace ratchet {
namespace {

// "T,startKey,regionId[_replica]": the input of the hash.
std::string NamePrefix(const RegionInfo& region) {
  std::string name = region.table.ToString();
  name += ',';
  name += region.start_key;
  name += ',';
  name += std::to_string(region.region_id);
  if (region.replica_id > 0) name += fmt::format("_{:04X}", region.replica_id);
  return name;
}

Error BadName(std::string_view region_name) {
  return Error(Code::kInvalidArgument, fmt::format("'{}' is not a region name", region_name));
}

constexpr std::size_t kHashLength = 32;

// OpenSSL looks an algorithm up by name, and makes a context, with each digest otherwise, which takes longer than the
// hash of a region's name. Both live as long as the process or the thread.
const EVP_MD* Md5() {
  static const EVP_MD* const kMd5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
  return kMd5;
}

EVP_MD_CTX* ContextOfThread() {
  struct Free {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  thread_local const std::unique_ptr<EVP_MD_CTX, Free> context(EVP_MD_CTX_new());
  return context.get();
}

}  // namespace

std::string Md5Hex(std::string_view data) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_MD_CTX* const context = ContextOfThread();
  const bool done = Md5() != nullptr && context != nullptr && EVP_DigestInit_ex2(context, Md5(), nullptr) == 1 &&
                    EVP_DigestUpdate(context, data.data(), data.size()) == 1 &&
                    EVP_DigestFinal_ex(context, digest, &length) == 1;
  RATCHET_CHECK(done && length == 16, "libcrypto offers no MD5");
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(kHashLength);
  for (unsigned int i = 0; i < length; ++i) {
    hex += kDigits[digest[i] >> 4];
    hex += kDigits[digest[i] & 15];
  }
  return hex;
}

std::string RegionInfo::name() const {
  std::string prefix = NamePrefix(*this);
  if (IsMeta() && start_key.empty() && replica_id == 0) return prefix;
  const std::string hash = Md5Hex(prefix);
  return prefix + "." + hash + ".";
}

std::string RegionInfo::encoded_name() const {
  if (IsMeta() && start_key.empty() && replica_id == 0) return std::string(kMetaEncodedName);
  return Md5Hex(NamePrefix(*this));
}

const RegionInfo& MetaRegionInfo() {
  static const RegionInfo* const kMeta = [] {
    auto* region = new RegionInfo;
    region->table = MetaTableName();
    region->region_id = 1;
    return region;
  }();
  return *kMeta;
}

Result<std::string> EncodedNameOf(std::string_view region_name) {
  if (region_name == "hbase:meta,,1") return std::string(kMetaEncodedName);
  if (region_name.size() < kHashLength + 2 || region_name.back() != '.') return BadName(region_name);
  const std::string_view hash = region_name.substr(region_name.size() - kHashLength - 1, kHashLength);
  if (region_name[region_name.size() - kHashLength - 2] != '.' ||
      hash.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return BadName(region_name);
  }
  return std::string(hash);
}

Result<RegionInfo> ParseRegionName(std::string_view region_name) {
  RATCHET_ASSIGN(const std::string encoded, EncodedNameOf(region_name));
  if (encoded == kMetaEncodedName) return MetaRegionInfo();
  std::string_view prefix = region_name.substr(0, region_name.size() - kHashLength - 2);
  const auto first = prefix.find(',');
  const auto last = prefix.rfind(',');
  if (first == std::string_view::npos || first == last) return BadName(region_name);
  RegionInfo region;
  RATCHET_ASSIGN(region.table, TableName::Parse(prefix.substr(0, first)));
  region.start_key = prefix.substr(first + 1, last - first - 1);
  const std::string_view id = prefix.substr(last + 1);
  const char* const id_end = id.data() + id.size();
  std::from_chars_result parsed = std::from_chars(id.data(), id_end, region.region_id);
  if (parsed.ec == std::errc() && parsed.ptr != id_end && *parsed.ptr == '_') {
    parsed = std::from_chars(parsed.ptr + 1, id_end, region.replica_id, 16);
  }
  if (parsed.ec != std::errc() || parsed.ptr != id_end || Md5Hex(prefix) != encoded) return BadName(region_name);
  return region;
}

}  // namespace ratchet
