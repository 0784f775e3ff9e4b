internal import COpenSSL

/// The buffers that the streams of one loop share, because only one socket is served at a time.
@safe final class StreamBuffers {
    /// Bytes of `received`: any TLS record fits. A socket with more gets its next turn after all others.
    static var receivedMax: Int { 16_896 }
    /// The largest content of a TLS record.
    static var contentMax: Int { 1 << 14 }

    let received = UnsafeMutableRawPointer.allocate(byteCount: StreamBuffers.receivedMax, alignment: 64)
    /// Plaintext from OpenSSL.
    let opened = UnsafeMutableRawPointer.allocate(byteCount: StreamBuffers.contentMax, alignment: 64)
    /// Records that are being sealed.
    let sealed = UnsafeMutableRawPointer.allocate(byteCount: StreamBuffers.receivedMax, alignment: 64)

    deinit {
        unsafe received.deallocate()
        unsafe opened.deallocate()
        unsafe sealed.deallocate()
    }
}

/// Memory for messages without headroom, and masks for clients.
@safe struct Scratch: ~Copyable {
    private var room = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    private var masks: [UInt32] = []

    deinit { unsafe room.deallocate() }

    /// - Returns: a copy with `Connection.headroom` writable bytes before it, valid until the next call.
    mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutableRawPointer {
        let needed = bytes.count + Connection.headroom
        if unsafe room.count < needed {
            unsafe room.deallocate()
            unsafe room = .allocate(byteCount: needed * 2, alignment: 16)
        }
        let start = unsafe room.baseAddress! + Connection.headroom
        if let base = bytes.baseAddress { unsafe start.copyMemory(from: base, byteCount: bytes.count) }
        return unsafe start
    }

    mutating func nextMask() -> UInt32 {
        if masks.isEmpty {
            masks = [UInt32](repeating: 0, count: 1_024)
            _ = unsafe masks.withUnsafeMutableBytes { unsafe RAND_bytes($0.baseAddress, Int32($0.count)) }
        }
        return masks.removeLast()
    }
}
