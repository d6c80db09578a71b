// Not a model.
active proctype Open() { assert(true)
