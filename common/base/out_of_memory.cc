#include "common/base/out_of_memory.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

#include <unistd.h>

#include "common/base/exit_codes.h"

namespace ratchet {
namespace {

const char* program_name = "ratchet";
std::terminate_handler before = nullptr;

void Say(const char* text) {
  // Nothing can be done about a line that cannot be written.
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

[[noreturn]] void End(const char* why) {
  Say(program_name);
  Say(why);
  ::_exit(exit_code::kOutOfMemory);
}

[[noreturn]] void NoMemory() { End(": out of memory; this process ends and its log is taken into account\n"); }

[[noreturn]] void Terminated() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      NoMemory();
    } catch (const std::system_error& error) {
      // std::thread: the system has no memory, no address space or no number for another thread.
      if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory) {
        End(": no resources for another thread; this process ends\n");
      }
    } catch (...) {
    }
  }
  if (before != nullptr) before();
  std::abort();
}

}  // namespace

void EndWhenOutOfMemory(const char* program) {
  program_name = program;
  std::set_new_handler(NoMemory);
  before = std::set_terminate(Terminated);
}

}  // namespace ratchet
