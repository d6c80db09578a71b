// An index is out of range: an error of the model, no violated rule.
int n[2];
int i = 2;
active proctype Index() { n[i] = 1 }
