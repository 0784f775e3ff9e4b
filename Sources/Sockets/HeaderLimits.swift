internal import CLibwebsockets

/// How long each header may be that lws finds by its name, for as long as a context lives that is told of it.
///
/// For lws the HTTP version is a header among others, named `http/1.1 `. After a path it finds the version by its place, and this limit does
/// not count. After a line end it finds it by its name: an encoded line end and `http/1.1` at the end of a path would look like the end
/// of the request line. Cut off here, that is no version, and the request is refused like any other whose path has a line end.
@safe final class HeaderLimits {
    let pointer: UnsafeMutablePointer<lws_token_limits>

    /// In bytes. A client's loop finds a response's status under the same name, and needs its three digits.
    private static let versionBytesMax: UInt16 = 4

    init() {
        unsafe pointer = .allocate(capacity: 1)
        // Zero is no limit but that on the whole head.
        unsafe pointer.initialize(to: lws_token_limits())
        let place = Int(WSI_TOKEN_HTTP.rawValue) * MemoryLayout<UInt16>.size
        unsafe UnsafeMutableRawPointer(pointer).storeBytes(of: Self.versionBytesMax, toByteOffset: place, as: UInt16.self)
    }

    deinit {
        unsafe pointer.deallocate()
    }
}
