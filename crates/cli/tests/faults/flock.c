/* A file system without locks: every flock is answered with ENOLCK. Preloaded by a test. */
#include <errno.h>

int flock(int fd, int operation) {
    (void)fd;
    (void)operation;
    errno = ENOLCK;
    return -1;
}
