# A total with two-sided geometric noise: the difference of two geometric numbers, each 0 with probability 1 - a.
# awk has no JSON; requests of this one kind are read by looking for their keys. Seeds are cut to what srand() takes;
# the generator behind it is not secure.
function after(key) { return substr($0, index($0, key) + length(key)) + 0 }
function geometric() { return int(log(1 - rand()) / log(a)) }
{
  total = after("\"dataset\": "); size = after("\"size\": "); a = exp(-after("\"epsilon\": "))
  srand(after("\"seed\": ") % 2147483647)
  for (i = 0; i < size; i++) print total + geometric() - geometric()
  fflush()
}
