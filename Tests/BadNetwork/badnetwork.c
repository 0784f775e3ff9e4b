// Connects two network namespaces through an impaired link.
//
//     badnetwork NAME [SEED]
//
// Creates the namespaces NAME-a (10.77.0.1) and NAME-b (10.77.0.2), each with a TUN device, forwards packets between them until
// standard input ends, and removes them. Run programs in a namespace with `ip netns exec NAME-a …`. Requires /dev/net/tun,
// CAP_NET_ADMIN and iproute2, but neither netem nor kernel modules.
//
// Prints `ready` when packets pass, or `impossible: …` and exits with 77 if the system does not permit it. Lines on standard input
// change the link; each is answered with `ok`, or `what? …`:
//
//     delay MS      one-way delay                    loss PERCENT   of packets in each direction, random
//     jitter MS     additional delay of 0 to MS;     rate KBIT      per direction; 0 is unlimited. Queue of 64 KiB
//                   packets stay in order            down, up       drops all packets, or forwards again
//     count         prints `passed N dropped N`
//
// The seed determines the random sequence; which packet uses which number depends on the programs.

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { PACKET_BYTES = 1600, PACKETS_MAX = 4096, RATE_BYTES_MAX = 65536, IMPOSSIBLE = 77 };

// One direction: a queue of packets until they are due.
struct lane {
    int from, to;
    uint64_t random, free_at, last_due;
    unsigned head, count;
    struct { uint64_t due; int length; unsigned char bytes[PACKET_BYTES]; } waiting[PACKETS_MAX];
};

static struct lane lanes[2];
static struct { double delay_ms, jitter_ms, loss_percent, rate_kbit; int is_down; } wire;
static unsigned long passed, dropped;
static const char *name;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// SplitMix64, scaled to 0 to 1.
static double draw(struct lane *lane) {
    uint64_t mixed = lane->random += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EBu;
    return (double)((mixed ^ mixed >> 31) >> 11) / 9007199254740992.0;
}

static void take(struct lane *lane) {
    unsigned char bytes[PACKET_BYTES];
    int length;
    while ((length = (int)read(lane->from, bytes, sizeof bytes)) > 0) {
        uint64_t arrival = now(), due = arrival;
        int is_lost = draw(lane) * 100 < wire.loss_percent;
        double jitter_ms = draw(lane) * wire.jitter_ms;
        if (wire.rate_kbit > 0) {
            // At RATE kbit/s, one byte takes 8,000,000 / RATE nanoseconds.
            double byte_ns = 8e6 / wire.rate_kbit;
            uint64_t start = lane->free_at > arrival ? lane->free_at : arrival;
            if ((double)(start - arrival) / byte_ns > RATE_BYTES_MAX) is_lost = 1;
            else due = lane->free_at = start + (uint64_t)(length * byte_ns);
        }
        if (wire.is_down || is_lost || lane->count == PACKETS_MAX) {
            dropped++;
            continue;
        }
        due += (uint64_t)((wire.delay_ms + jitter_ms) * 1e6);
        if (due < lane->last_due) due = lane->last_due;
        lane->last_due = due;
        unsigned place = (lane->head + lane->count++) % PACKETS_MAX;
        lane->waiting[place].due = due;
        lane->waiting[place].length = length;
        memcpy(lane->waiting[place].bytes, bytes, (size_t)length);
    }
}

static void give(struct lane *lane) {
    uint64_t time = now();
    while (lane->count > 0 && lane->waiting[lane->head].due <= time) {
        // Packets in transit when the link goes down are lost.
        if (wire.is_down || write(lane->to, lane->waiting[lane->head].bytes, (size_t)lane->waiting[lane->head].length) < 0) dropped++;
        else passed++;
        lane->head = (lane->head + 1) % PACKETS_MAX;
        lane->count--;
    }
}

static void obey(char *line) {
    char word[16] = "";
    double value = 0;
    int fields = sscanf(line, "%15s %lf", word, &value);
    if (fields == 2 && value >= 0 && !strcmp(word, "delay")) wire.delay_ms = value;
    else if (fields == 2 && value >= 0 && !strcmp(word, "jitter")) wire.jitter_ms = value;
    else if (fields == 2 && value >= 0 && value <= 100 && !strcmp(word, "loss")) wire.loss_percent = value;
    else if (fields == 2 && value >= 0 && !strcmp(word, "rate")) wire.rate_kbit = value;
    else if (!strcmp(word, "down")) wire.is_down = 1;
    else if (!strcmp(word, "up")) wire.is_down = 0;
    else if (!strcmp(word, "count")) {
        printf("passed %lu dropped %lu\n", passed, dropped);
        fflush(stdout);
        return;
    } else {
        printf("what? %s\n", line);
        fflush(stdout);
        return;
    }
    printf("ok\n");
    fflush(stdout);
}

static int run(const char *format, ...) {
    char command[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return system(command);
}

static void clean_up(void) {
    run("ip netns del %s-a 2>/dev/null; ip netns del %s-b 2>/dev/null", name, name);
}

static void impossible(const char *what) {
    printf("impossible: %s: %s\n", what, strerror(errno));
    fflush(stdout);
    clean_up();
    exit(IMPOSSIBLE);
}

static void stop(int signal) {
    (void)signal;
    // Async-signal-safe: the main loop sees the end of its input.
    close(STDIN_FILENO);
}

// Creates a TUN device in a new namespace and returns its descriptor.
static int make_end(char side, int host) {
    int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device < 0) impossible("/dev/net/tun");
    struct ifreq request = {.ifr_flags = IFF_TUN | IFF_NO_PI};
    snprintf(request.ifr_name, IFNAMSIZ, "pb%d%c", (int)getpid() % 1000000, side);
    if (ioctl(device, TUNSETIFF, &request) < 0) impossible("a TUN device");
    errno = 0;
    if (run("ip netns add %s-%c 2>/dev/null && ip link set %s netns %s-%c && cd / && ip -n %s-%c addr add 10.77.0.%d/24 dev %s "
            "&& ip -n %s-%c link set lo up && ip -n %s-%c link set %s up mtu 1500",
            name, side, request.ifr_name, name, side, name, side, host, request.ifr_name, name, side, name, side, request.ifr_name))
        impossible("a network namespace");
    return device;
}

int main(int count, char **arguments) {
    if (count < 2 || strlen(arguments[1]) > 32 || strspn(arguments[1], "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(arguments[1])) {
        fprintf(stderr, "usage: badnetwork NAME [SEED]   (NAME: up to 32 of a-z, 0-9 and -)\n");
        return 2;
    }
    name = arguments[1];
    uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    signal(SIGPIPE, SIG_IGN);
    struct sigaction ending = {.sa_handler = stop};
    sigaction(SIGTERM, &ending, NULL);
    sigaction(SIGINT, &ending, NULL);

    int a = make_end('a', 1), b = make_end('b', 2);
    lanes[0] = (struct lane){.from = a, .to = b, .random = seed};
    lanes[1] = (struct lane){.from = b, .to = a, .random = ~seed};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    printf("ready\n");
    fflush(stdout);

    char line[128];
    size_t filled = 0;
    for (;;) {
        uint64_t due = 0;
        for (int side = 0; side < 2; side++) {
            struct lane *lane = &lanes[side];
            if (lane->count > 0 && (due == 0 || lane->waiting[lane->head].due < due)) due = lane->waiting[lane->head].due;
        }
        struct itimerspec alarm = {.it_value = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)}};
        timerfd_settime(timer, TFD_TIMER_ABSTIME, &alarm, NULL);
        struct pollfd ready[] = {{STDIN_FILENO, POLLIN, 0}, {a, POLLIN, 0}, {b, POLLIN, 0}, {timer, POLLIN, 0}};
        if (poll(ready, 4, -1) < 0 && errno != EINTR) break;
        if (ready[0].revents) {
            long got = read(STDIN_FILENO, line + filled, sizeof line - 1 - filled);
            if (got <= 0) break;
            filled += (size_t)got;
            line[filled] = 0;
            char *start = line, *end;
            while ((end = strchr(start, '\n'))) {
                *end = 0;
                obey(start);
                start = end + 1;
            }
            filled = strlen(start);
            memmove(line, start, filled + 1);
            if (filled == sizeof line - 1) filled = 0;
        }
        take(&lanes[0]);
        take(&lanes[1]);
        give(&lanes[0]);
        give(&lanes[1]);
    }
    clean_up();
    return 0;
}
