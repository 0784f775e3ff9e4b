internal import COpenSSL
internal import Glibc
internal import Synchronization

/// Memory for OpenSSL that keeps the buffers of TLS records at hand.
///
/// A connection that waits holds no buffers (`SSL_MODE_RELEASE_BUFFERS`, which lws sets; two times 17 KiB each would be the most of its
/// memory). So OpenSSL takes one and gives it back for every record, in sizes for which the C library's allocator has no quick way.
/// Here each thread finds the one it has just given back, and so it does with the little notes that OpenSSL makes while it puts a record
/// together. With that a frame's way takes nothing from the allocator at all.
@safe package enum RecordBuffers {
    /// A size that is kept: what is asked for within the range is given in full.
    private struct Kept {
        let sizes: ClosedRange<Int>
        /// Its places among a thread's.
        let places: Range<Int>
    }

    /// A record's 16 KiB with its header, padding and alignment: one to read and one to write.
    private static var record: Kept { Kept(sizes: 16_384...18_432, places: 0..<2) }
    /// OpenSSL's `WPACKET_SUB`, on a 64-bit machine: up to three, one within the other.
    private static var note: Kept { Kept(sizes: 33...40, places: 2..<6) }
    private static var placesOfThread: Int { 8 }
    private static var threadsMax: Int { 32 }
    private static var placesMax: Int { threadsMax * placesOfThread }
    /// A processor does not share a thread's cache lines with another.
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

    private static func kept(_ size: Int) -> Kept? {
        if size <= note.sizes.upperBound { return size >= note.sizes.lowerBound ? note : nil }
        return record.sizes.contains(size) ? record : nil
    }

    private static func take(_ size: Int) -> UnsafeMutableRawPointer? {
        guard let kind = kept(size) else { return unsafe malloc(size) }
        let first = placeOfThread
        for place in kind.places {
            let block = unsafe places.pointer[(first + place) * stride].exchange(0, ordering: .acquiring)
            if block != 0 { return unsafe UnsafeMutableRawPointer(bitPattern: block) }
        }
        return unsafe malloc(kind.sizes.upperBound)
    }

    private static func giveBack(_ block: UnsafeMutableRawPointer?) {
        guard let block = unsafe block else { return }
        // Those of ours are of the upper bound, whatever was asked for; the allocator may have added a few bytes.
        let size = unsafe malloc_usable_size(block)
        let kind = size <= note.sizes.upperBound + 16 ? (size >= note.sizes.upperBound ? note : nil) : kept(size - size % 64)
        if let kind, size >= kind.sizes.upperBound {
            let first = placeOfThread
            for place in kind.places {
                let isKept = unsafe places.pointer[(first + place) * stride].compareExchange(
                    expected: 0, desired: UInt(bitPattern: block), ordering: .releasing
                ).exchanged
                if isKept { return }
            }
        }
        unsafe free(block)
    }

    /// Threads are told apart by where their stacks are; two that share places find them empty more often.
    private static var placeOfThread: Int {
        var here = 0
        // Stacks are megabytes apart.
        let address = unsafe withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        return Int(truncatingIfNeeded: ((address >> 20) &* 0x9E37_79B9_7F4A_7C15) >> 59) * placesOfThread
    }
}
