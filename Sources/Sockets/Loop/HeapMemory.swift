internal import CLibwebsockets

/// The heap of `malloc`, of which glibc keeps freed memory for reuse (malloc_trim(3), mallinfo2(3)).
///
/// Both calls lock one arena after the other and walk its free chunks; never call them on a shard's thread.
package enum HeapMemory {
    /// Bytes that are allocated and not freed.
    package static var usedBytes: Int { Int(patchbay_heap_used()) }

    /// Returns free pages to the system, also those between allocations.
    package static func trim() { _ = patchbay_heap_trim() }
}
