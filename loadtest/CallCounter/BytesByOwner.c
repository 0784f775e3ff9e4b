#define _GNU_SOURCE
#include "BytesByOwner.h"
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

// Where each library's code lies: an allocation belongs to whose code asked for it.
static struct { uintptr_t start, end; enum call_counter_owner owner; } ranges[64];
static int range_count;

// Blocks that are held, by address; open addressing, one writer at a time.
enum { slots = 1 << 21 };
static struct { void *block; uint32_t bytes; uint32_t owner; } held[slots];
static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic long bytes_of[call_counter_owners];
static atomic_int is_counting;

static enum call_counter_owner owner_named(const char *name) {
    if (strstr(name, "libssl") || strstr(name, "libcrypto")) return call_counter_openssl;
    if (strstr(name, "libwebsockets") || strstr(name, "libuv")) return call_counter_lws;
    if (strstr(name, "libswift")) return call_counter_ours;
    // The program itself asks for memory in C's way only for OpenSSL (`RecordBuffers`).
    return name[0] == 0 ? call_counter_openssl : call_counter_others_bytes;
}

static int note_library(struct dl_phdr_info *library, size_t size, void *data) {
    (void)size, (void)data;
    for (int i = 0; i < library->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X) || range_count == 64) continue;
        ranges[range_count].start = library->dlpi_addr + part->p_vaddr;
        ranges[range_count].end = ranges[range_count].start + part->p_memsz;
        ranges[range_count++].owner = owner_named(library->dlpi_name);
    }
    return 0;
}

void call_counter_start_bytes(void) {
    dl_iterate_phdr(note_library, NULL);
    atomic_store(&is_counting, 1);
}

long call_counter_bytes(enum call_counter_owner owner) { return bytes_of[owner]; }

static unsigned place_of(void *block) { return (unsigned)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 43); }

static void lock(void) { while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)); }
static void unlock(void) { atomic_flag_clear_explicit(&busy, memory_order_release); }

void call_counter_took(void *block, void *asker) {
    if (!block || !is_counting) return;
    enum call_counter_owner owner = call_counter_others_bytes;
    for (int i = 0; i < range_count; i++)
        if ((uintptr_t)asker >= ranges[i].start && (uintptr_t)asker < ranges[i].end) { owner = ranges[i].owner; break; }
    uint32_t bytes = (uint32_t)malloc_usable_size(block) + 8;
    lock();
    for (unsigned i = place_of(block), tried = 0; tried < 4096; i = (i + 1) & (slots - 1), tried++) {
        if (held[i].block && held[i].block != (void *)1) continue;
        held[i].block = block, held[i].bytes = bytes, held[i].owner = owner;
        bytes_of[owner] += bytes;
        break;
    }
    unlock();
}

void call_counter_gave_back(void *block) {
    if (!block || !is_counting) return;
    lock();
    for (unsigned i = place_of(block), tried = 0; tried < 4096 && held[i].block; i = (i + 1) & (slots - 1), tried++) {
        if (held[i].block != block) continue;
        bytes_of[held[i].owner] -= held[i].bytes;
        held[i].block = (void *)1;
        break;
    }
    unlock();
}
