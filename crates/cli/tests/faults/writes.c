/* A disk that fails: after FAULT_AFTER calls of write, fsync or rename, each of them fails with FAULT_ERRNO, or kills the process where FAULT_KILL is
 * set. Preloaded by a test. Only files in the folder that FAULT_IN names count, so that the terminal still works. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;

static int concerns(int fd) {
    const char *folder = getenv("FAULT_IN");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!folder || length < 0) return 0;
    path[length] = 0;
    return strstr(path, folder) != NULL;
}

static int fails(void) {
    const char *after = getenv("FAULT_AFTER");
    if (!after || atomic_fetch_add(&calls, 1) < atol(after)) return 0;
    if (getenv("FAULT_KILL")) raise(SIGKILL);
    const char *number = getenv("FAULT_ERRNO");
    errno = number ? atoi(number) : EIO;
    return 1;
}

ssize_t write(int fd, const void *buffer, size_t count) {
    ssize_t (*real)(int, const void *, size_t) = dlsym(RTLD_NEXT, "write");
    if (concerns(fd) && fails()) return -1;
    return real(fd, buffer, count);
}

int fsync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fsync");
    if (concerns(fd) && fails()) return -1;
    return real(fd);
}

int rename(const char *from, const char *to) {
    int (*real)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
    const char *folder = getenv("FAULT_IN");
    if (folder && strstr(to, folder) && fails()) return -1;
    return real(from, to);
}
