// The C client of ZooKeeper can lose the record of a request when its closing overtakes the answer: 352 bytes that the
// library itself has allocated, seen once on a busy machine. LeakSanitizer asks this function what to leave out.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt\n"; }
#endif
