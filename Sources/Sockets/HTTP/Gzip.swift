internal import CZlib

/// The gzip format (RFC 1952), for HTTP bodies.
package enum Gzip {
    /// - Returns: nil if that is not shorter.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = unsafe z_stream()
        guard unsafe patchbay_gzip_init(&stream, 6) == Z_OK else { return nil }
        defer { unsafe deflateEnd(&stream) }
        var bytes = bytes
        var isWhole = false
        let compressed = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count) { room, count in
            unsafe bytes.withUnsafeMutableBufferPointer { bytes in
                unsafe stream.next_in = bytes.baseAddress
                unsafe stream.avail_in = UInt32(bytes.count)
                unsafe stream.next_out = room.baseAddress
                unsafe stream.avail_out = UInt32(room.count)
                isWhole = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
                count = unsafe room.count - Int(stream.avail_out)
            }
        }
        return isWhole ? compressed : nil
    }
}
