internal import COpenSSL
internal import Glibc
internal import Synchronization

/// Memory for OpenSSL that keeps the buffers of TLS records at hand.
///
/// A connection that waits holds no buffers (`SSL_MODE_RELEASE_BUFFERS`, which lws sets; two times 17 KiB each would be the most of its
/// memory). So OpenSSL takes one and gives it back for every record, in sizes for which the C library's allocator has no quick way.
/// Here each thread finds the one it has just given back.
@safe package enum RecordBuffers {
    /// Sizes that are kept: a record's 16 KiB with its header, padding and alignment.
    private static var sizes: ClosedRange<Int> { 16_384...18_432 }
    /// Places are dealt out to threads by where their stacks are; two threads that share one find it empty more often.
    private static var placesMax: Int { 64 }
    /// A processor does not share a place's cache line with another.
    private static var stride: Int { 8 }

    private static let places: Places = {
        let places = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: placesMax * stride)
        for index in 0..<placesMax * stride { unsafe (places + index).initialize(to: Atomic(0)) }
        return unsafe Places(pointer: places)
    }()

    /// `@unchecked Sendable`: never freed, and only ever changed atomically.
    @safe private struct Places: @unchecked Sendable {
        let pointer: UnsafeMutablePointer<Atomic<UInt>>
    }

    /// Has OpenSSL use this memory, for the whole process. To be called before OpenSSL is used for anything: it declines later on, and
    /// all goes on as without.
    package static func install() {
        _ = unsafe CRYPTO_set_mem_functions(
            { size, _, _ in unsafe RecordBuffers.take(Int(size)) },
            { block, size, _, _ in unsafe realloc(block, Int(size)) },
            { block, _, _ in unsafe RecordBuffers.giveBack(block) })
    }

    private static func take(_ size: Int) -> UnsafeMutableRawPointer? {
        guard sizes.contains(size) else { return unsafe malloc(size) }
        let first = firstPlace
        for place in first..<first + 2 {
            let block = unsafe places.pointer[place * stride].exchange(0, ordering: .acquiring)
            if block != 0 { return unsafe UnsafeMutableRawPointer(bitPattern: block) }
        }
        return unsafe malloc(sizes.upperBound)
    }

    private static func giveBack(_ block: UnsafeMutableRawPointer?) {
        guard let block = unsafe block else { return }
        // Ours are of the upper bound, whatever was asked for; the allocator may have added a few bytes.
        if unsafe sizes.upperBound...sizes.upperBound + 64 ~= malloc_usable_size(block) {
            let first = firstPlace
            for place in first..<first + 2 {
                let isKept = unsafe places.pointer[place * stride].compareExchange(
                    expected: 0, desired: UInt(bitPattern: block), ordering: .releasing
                ).exchanged
                if isKept { return }
            }
        }
        unsafe free(block)
    }

    /// Two places for each thread: a buffer to read and one to write.
    private static var firstPlace: Int {
        var here = 0
        // Stacks are megabytes apart.
        let address = unsafe withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        return Int(truncatingIfNeeded: ((address >> 20) &* 0x9E37_79B9_7F4A_7C15) >> 59) * 2
    }
}
