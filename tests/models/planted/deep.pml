// The violation is at the end of a path of 4,000 steps.
int n;
active proctype Count() {
  do
  :: n < 2000 -> n++
  :: else -> break
  od;
  assert(n < 2000)
}
