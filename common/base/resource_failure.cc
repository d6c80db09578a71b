#include "common/base/resource_failure.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "common/base/exit_codes.h"
#include "common/base/mutant.h"

namespace ratchet {
namespace {

const char* program_name = "ratchet";
int code_of_tool = 0;
std::terminate_handler before = nullptr;

// Never freed: a thread may end the process while its static objects are destroyed.
std::function<void(const ExitReason&)>& FailureHandler() {
  static auto* const act = new std::function<void(const ExitReason&)>;
  return *act;
}

void Say(const char* text) {
  // If this line cannot be written, nothing else can be done.
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

int CodeOr(int code) { return code_of_tool != 0 ? code_of_tool : code; }

[[noreturn]] void NoMemory() {
  Say(program_name);
  Say(": out of memory; this process ends\n");
  ::_exit(CodeOr(exit_code::kOutOfMemory));
}

ExitReason ReasonOf(const std::system_error& error) {
  // Compares by number: asio has its own error category for the system's errors, which compares equal to no std::errc.
  const int code = error.code().value();
  if (code == EMFILE || code == ENFILE) {
    return {exit_code::kNoDescriptors, std::string("no descriptor is available: ") + error.what()};
  }
  // std::thread: the system has no memory, no address space or no number for another thread.
  if (code == EAGAIN || code == ENOMEM || code == ENOBUFS) {
    return {exit_code::kOutOfMemory, std::string("no memory or no thread is available: ") + error.what()};
  }
  return {exit_code::kInternal, std::string("a system call failed: ") + error.what()};
}

[[noreturn]] void End(const ExitReason& reason) {
  Say((std::string(program_name) + ": " + reason.why + "; this process ends\n").c_str());
  if (FailureHandler()) FailureHandler()(reason);
  ::_exit(CodeOr(reason.code));
}

[[noreturn]] void Terminated() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
      NoMemory();
    } catch (const std::system_error& error) {
      End(ReasonOf(error));
    } catch (...) {
    }
  }
  if (before != nullptr) before();
  std::abort();
}

}  // namespace

void HandleResourceFailure(const char* program, int tool_code) {
  program_name = program;
  code_of_tool = tool_code;
  std::set_new_handler(NoMemory);
  before = std::set_terminate(Terminated);
}

void SetResourceFailureHandler(std::function<void(const ExitReason&)> handler) {
  FailureHandler() = std::move(handler);
}

int CodeOfEnd(const ExitReason& reason) {
  if (reason.code == exit_code::kOk) return reason.code;
  for (const int refused : {EMFILE, ENFILE}) {
    if (reason.why.find(std::strerror(refused)) != std::string::npos) return exit_code::kNoDescriptors;
  }
  if (reason.code != exit_code::kRootUnusable || RATCHET_MUTANT("restart.full_disk_is_final")) return reason.code;
  for (const int refused : {ENOSPC, EDQUOT}) {
    if (reason.why.find(std::strerror(refused)) != std::string::npos) return exit_code::kNoRoom;
  }
  // A network file system whose servers are unreachable: the root is the right one, and may answer again.
  for (const int away : {ESTALE, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH}) {
    if (reason.why.find(std::strerror(away)) != std::string::npos) return exit_code::kStorageHangs;
  }
  return reason.code;
}

}  // namespace ratchet
