// ratchet-frames CAPTURE.c2s [CAPTURE.s2c]: prints the frames of a connection that RATCHET_DUMP_FRAMES captured.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "common/base/private_files.h"
#include "common/rpc/frame_dump.h"

namespace {

bool ReadWhole(const char* path, std::string& out) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "ratchet-frames: cannot read %s\n", path);
    return false;
  }
  out.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  ratchet::KeepFilesPrivate();
  if (argc < 2 || argc > 3 || std::string(argv[1]) == "--help") {
    std::fputs(
        "usage: ratchet-frames CAPTURE.c2s [CAPTURE.s2c]\n"
        "Prints the frames of a connection. Captures are written by any Ratchet program that runs with\n"
        "RATCHET_DUMP_FRAMES=<directory> in its environment, two files for each connection.\n",
        argc == 2 ? stdout : stderr);
    return argc == 2 ? 0 : 2;
  }
  std::string to_server;
  std::string to_client;
  if (!ReadWhole(argv[1], to_server) || (argc == 3 && !ReadWhole(argv[2], to_client))) return 1;
  std::fputs(ratchet::rpc::DumpFrames(to_server, to_client).c_str(), stdout);
  return 0;
}
