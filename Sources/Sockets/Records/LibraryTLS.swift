internal import COpenSSL

/// What lws asks OpenSSL for on a connection whose records are ours.
///
/// These functions are defined anew for the whole program, as `EventEnd` does with libuv's, and go on to OpenSSL's own for every other
/// connection. Where that does not take effect (`isInEffect`) no connection's records are taken over.
enum LibraryTLS {
    static let place = SSLPlace<RecordSocket>()

    /// Whether lws finds ours, and OpenSSL is as we know it.
    static let isInEffect = unsafe foundFunction(named: "SSL_read") != libraryFunction(named: "SSL_read") && TakeoverTrial.isPassed

    fileprivate static func records(of ssl: UnsafeMutableRawPointer?) -> Unmanaged<RecordSocket>? {
        unsafe ssl.flatMap { unsafe place.object(of: OpaquePointer($0)) }
    }
}

/// OpenSSL's own.
private enum OpenSSLFunction {
    typealias Read = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Write = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32) -> Int32
    typealias Ask = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    typealias Explain = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    static let read = unsafe libraryFunction(named: "SSL_read").map { unsafe unsafeBitCast($0, to: Read.self) }
    static let write = unsafe libraryFunction(named: "SSL_write").map { unsafe unsafeBitCast($0, to: Write.self) }
    static let pending = unsafe libraryFunction(named: "SSL_pending").map { unsafe unsafeBitCast($0, to: Ask.self) }
    static let want = unsafe libraryFunction(named: "SSL_want").map { unsafe unsafeBitCast($0, to: Ask.self) }
    static let shutDown = unsafe libraryFunction(named: "SSL_shutdown").map { unsafe unsafeBitCast($0, to: Ask.self) }
    static let error = unsafe libraryFunction(named: "SSL_get_error").map { unsafe unsafeBitCast($0, to: Explain.self) }
}

// Public for the reason that `startIdleAtTurnEnd` is.

@_cdecl("SSL_read")
public func readRecords(_ ssl: UnsafeMutableRawPointer?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl), let buffer = unsafe buffer else {
        return unsafe OpenSSLFunction.read?(ssl, buffer, count) ?? -1
    }
    return unsafe records._withUnsafeGuaranteedRef { unsafe $0.read(buffer, Int(count)) }
}

@_cdecl("SSL_write")
public func writeRecords(_ ssl: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int32) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl) else { return unsafe OpenSSLFunction.write?(ssl, bytes, count) ?? -1 }
    let content = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
    return unsafe records._withUnsafeGuaranteedRef { unsafe $0.write(content, .now) } ? count : -1
}

@_cdecl("SSL_pending")
public func pendingOfRecords(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl) else { return unsafe OpenSSLFunction.pending?(ssl) ?? 0 }
    return unsafe records._withUnsafeGuaranteedRef { Int32($0.pending) }
}

@_cdecl("SSL_want")
public func wantOfRecords(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl) else { return unsafe OpenSSLFunction.want?(ssl) ?? SSL_NOTHING }
    // A write never waits.
    return unsafe records._withUnsafeGuaranteedRef { unsafe $0.ending == nil ? SSL_READING : SSL_NOTHING }
}

@_cdecl("SSL_shutdown")
public func shutDownRecords(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl) else { return unsafe OpenSSLFunction.shutDown?(ssl) ?? -1 }
    return unsafe records._withUnsafeGuaranteedRef { $0.shutDown() }
}

@_cdecl("SSL_get_error")
public func errorOfRecords(_ ssl: UnsafeMutableRawPointer?, _ result: Int32) -> Int32 {
    guard let records = unsafe LibraryTLS.records(of: ssl) else { return unsafe OpenSSLFunction.error?(ssl, result) ?? SSL_ERROR_SSL }
    guard result <= 0 else { return SSL_ERROR_NONE }
    return unsafe records._withUnsafeGuaranteedRef { $0.error }
}
