#include "common/base/thread_name.h"

#include <pthread.h>

namespace ratchet {
namespace {

std::string& CurrentName() {
  thread_local std::string name = "main";
  return name;
}

}  // namespace

void SetThreadName(const std::string& name) {
  CurrentName() = name;
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

const std::string& ThreadName() { return CurrentName(); }

}  // namespace ratchet
