/// The bytes of one connection that have arrived, and are read one request at a time.
///
/// Bytes that arrive while a request is under way wait here, up to `bytesMax`; the rest stays in the kernel.
struct RequestInput {
    private var gate = RequestGate()
    /// Received and not read yet.
    private var waiting: ArraySlice<UInt8> = []
    /// Everything that is left, and that still arrives, is discarded: it is not a request.
    private(set) var isOver = false

    private static var bytesMax: Int { 1 << 15 }

    var isEmpty: Bool { waiting.isEmpty }
    /// Nothing more should be read from the socket for now.
    var isFull: Bool { waiting.count > Self.bytesMax }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        unsafe waiting += bytes
    }

    /// Takes the next event; nil if more bytes are needed, or nothing more is read.
    mutating func next() -> RequestGate.Event? {
        isOver ? nil : gate.next(in: &waiting)
    }

    /// Frees the memory of bytes that have been read.
    mutating func trim() {
        if waiting.isEmpty { waiting = [] }
    }

    mutating func end() {
        isOver = true
        waiting = []
    }
}

/// The bodies of HTTP requests that a loop receives or processes, limited so that clients cannot make it run out of memory.
struct BodyBudget {
    private var bytes = 0

    private static var bytesMax: Int { 64 << 20 }

    /// - Returns: false if bodies in progress already take up too much memory.
    mutating func take(_ count: Int) -> Bool {
        guard bytes + count <= Self.bytesMax else { return false }
        bytes += count
        return true
    }

    mutating func giveBack(_ count: Int) {
        bytes -= count
    }
}
