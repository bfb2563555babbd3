/* Preloaded into a node: while the file WEIR_FAULTS_WHILE is there, every WEIR_FAULTS_EVERY-th write or sync of a file below
 * WEIR_FAULTS_BELOW fails with the error WEIR_FAULTS_ERRNO. A write that fails may have written the first half. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long calls;

static int fails(int fd) {
  const char *flag = getenv("WEIR_FAULTS_WHILE"), *below = getenv("WEIR_FAULTS_BELOW"), *every = getenv("WEIR_FAULTS_EVERY");
  if (!flag || !below || !every || access(flag, F_OK) != 0) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strncmp(path, below, strlen(below)) != 0) return 0;
  if (atomic_fetch_add(&calls, 1) % atol(every) != atol(every) - 1) return 0;
  errno = atoi(getenv("WEIR_FAULTS_ERRNO"));
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t n) {
  if (!fails(fd)) return REAL(write)(fd, bytes, n);
  int error = errno;
  REAL(write)(fd, bytes, n / 2);
  errno = error;
  return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
  if (!fails(fd)) return REAL(pwrite64)(fd, bytes, n, at);
  int error = errno;
  REAL(pwrite64)(fd, bytes, n / 2, at);
  errno = error;
  return -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) { return pwrite64(fd, bytes, n, at); }

int fsync(int fd) { return fails(fd) ? -1 : REAL(fsync)(fd); }

int fdatasync(int fd) { return fails(fd) ? -1 : REAL(fdatasync)(fd); }

int ftruncate64(int fd, off64_t length) { return fails(fd) ? -1 : REAL(ftruncate64)(fd, length); }
