/* Randomised response on one bit: the truth three times in four, so that epsilon is ln 3 = 1.0986.
 * C has no JSON; requests of this one kind are read by looking for their keys.
 * The generator (splitmix64) repeats itself from a seed, as an audit wants it; it is not secure. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number_after(const char *line, const char *key) {
  const char *found = strstr(line, key);
  if (found == NULL) {
    fprintf(stderr, "no %s in the request %s", key, line);
    exit(1);
  }
  return strtoull(found + strlen(key), NULL, 10);
}

static uint64_t bits(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int main(void) {
  static char line[4096];
  while (fgets(line, sizeof line, stdin) != NULL) {
    uint64_t bit = number_after(line, "\"dataset\": "), size = number_after(line, "\"size\": ");
    uint64_t state = number_after(line, "\"seed\": ");
    for (; size > 0; size--) {
      int lies = (bits(&state) & 3) == 0;
      puts((bit != 0) != lies ? "1" : "0");
    }
    fflush(stdout); /* without this the answer stays in a buffer, and the audit waits for ever */
  }
  return 0;
}
