internal import CLibwebsockets

/// Memory that the next frame from a connection will look at: the same as the one before.
///
/// With a thousand connections in turn nothing of any of them is at hand when it is needed, and waiting for that is most of what a frame
/// costs beside the kernel and the cipher. So it is asked for before the kernel is asked for the frame, and comes meanwhile. The
/// addresses are never followed, so they may be old.
///
/// Of a frame for many listeners, what the next ones will have us look at comes while the kernel takes it for one (`Step`).
package struct Foresight {
    /// What a message to a connection looks at, in the order in which one leads to the next.
    package enum Step {
        case itself, records, cipher
    }

    /// - Parameter lines: of 64 bytes each.
    package static func fetch(_ address: UInt, lines: Int32) {
        unsafe patchbay_prefetch(UnsafeRawPointer(bitPattern: address), lines)
    }

    private var places: InlineArray<6, UInt> = .init(repeating: 0)

    /// How many cache lines (64 bytes) of each are looked at.
    private static var lines: InlineArray<6, Int32> { [5, 4, 5, 2, 4, RecordCipher.cacheLines] }

    package init() {}

    init(sender: UInt, track: UInt, listener: UInt, connection: UInt, records: UInt, cipher: UInt) {
        places = [sender, track, listener, connection, records, cipher]
    }

    package func fetch() {
        for index in 0..<6 { Self.fetch(places[index], lines: Self.lines[index]) }
    }
}
