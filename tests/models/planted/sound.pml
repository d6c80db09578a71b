// Two processes add one each: every order ends with two.
int n;
active [2] proctype Add() { atomic { n++ } (n == 2); assert(n == 2) }
