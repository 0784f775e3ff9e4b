#pragma once
// Who holds how much of the heap, in bytes with the allocator's own 8 for each block.

enum call_counter_owner {
    call_counter_openssl,
    // libwebsockets and libuv.
    call_counter_lws,
    // What Swift allocates: all of ours.
    call_counter_ours,
    call_counter_others_bytes,
    call_counter_owners
};

// From here on blocks are counted; those that were taken before are nobody's.
void call_counter_start_bytes(void);
long call_counter_bytes(enum call_counter_owner owner);

// For the allocator's functions.
void call_counter_took(void *block, void *asker);
void call_counter_gave_back(void *block);
