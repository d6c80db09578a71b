#include "common/model/descriptor_size.h"

namespace ratchet {
namespace {

constexpr std::size_t kOfOne = 16;  // overhead of an attribute, and of a family

std::size_t SizeOf(const Attributes& attributes) {
  std::size_t size = 0;
  for (const auto& [key, value] : attributes) size += key.size() + value.size() + kOfOne;
  return size;
}

}  // namespace

std::size_t RoughSize(const TableDescriptor& descriptor) {
  std::size_t size = SizeOf(descriptor.attributes) + SizeOf(descriptor.configuration);
  for (const FamilyDescriptor& family : descriptor.families) {
    size += family.name.size() + kOfOne + SizeOf(family.attributes) + SizeOf(family.configuration);
  }
  return size;
}

}  // namespace ratchet
