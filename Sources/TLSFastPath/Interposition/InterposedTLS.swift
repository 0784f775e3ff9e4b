internal import COpenSSL
internal import Glibc
internal import Sockets

/// The OpenSSL functions that libwebsockets calls on an established connection, defined anew for the whole program.
///
/// Each call goes to the `InterposedConnection` attached to its `SSL`, or to OpenSSL if there is none. See README.md for the table of
/// interposed symbols.
enum InterposedTLS {
    static let slot = SSLAttachmentSlot<InterposedConnection>()

    fileprivate static func connection(of ssl: UnsafeMutableRawPointer?) -> Unmanaged<InterposedConnection>? {
        unsafe ssl.flatMap { unsafe slot.object(of: OpaquePointer($0)) }
    }

    /// As `connection(of:)`; a server's connection that has none yet gets a gate.
    fileprivate static func reader(of ssl: UnsafeMutableRawPointer?) -> Unmanaged<InterposedConnection>? {
        if let connection = unsafe connection(of: ssl) { return unsafe connection }
        return unsafe ssl.flatMap { unsafe GatedContexts.gate(for: OpaquePointer($0)) }
    }
}

/// OpenSSL's own functions.
enum OpenSSLFunction {
    typealias Read = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Write = @convention(c) (UnsafeMutableRawPointer?, UnsafeRawPointer?, Int32) -> Int32
    typealias Query = @convention(c) (UnsafeMutableRawPointer?) -> Int32
    typealias GetError = @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32

    static let read = unsafe DynamicSymbol.library("SSL_read").map { unsafe unsafeBitCast($0, to: Read.self) }
    static let write = unsafe DynamicSymbol.library("SSL_write").map { unsafe unsafeBitCast($0, to: Write.self) }
    static let pending = unsafe DynamicSymbol.library("SSL_pending").map { unsafe unsafeBitCast($0, to: Query.self) }
    static let want = unsafe DynamicSymbol.library("SSL_want").map { unsafe unsafeBitCast($0, to: Query.self) }
    static let shutdown = unsafe DynamicSymbol.library("SSL_shutdown").map { unsafe unsafeBitCast($0, to: Query.self) }
    static let getError = unsafe DynamicSymbol.library("SSL_get_error").map { unsafe unsafeBitCast($0, to: GetError.self) }
}

// Public, because an optimized program would otherwise not export the names to the libraries it loads.

@_cdecl("SSL_read")
public func interposedRead(_ ssl: UnsafeMutableRawPointer?, _ buffer: UnsafeMutableRawPointer?, _ count: Int32) -> Int32 {
    guard let connection = unsafe InterposedTLS.reader(of: ssl), let ssl = unsafe ssl, let buffer = unsafe buffer else {
        return unsafe OpenSSLFunction.read?(ssl, buffer, count) ?? -1
    }
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslRead(ssl, buffer, Int(count)) }
}

@_cdecl("SSL_write")
public func interposedWrite(_ ssl: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int32) -> Int32 {
    guard let connection = unsafe InterposedTLS.connection(of: ssl), let ssl = unsafe ssl else {
        return unsafe OpenSSLFunction.write?(ssl, bytes, count) ?? -1
    }
    let content = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(count))
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslWrite(ssl, content) }
}

@_cdecl("SSL_pending")
public func interposedPending(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe InterposedTLS.connection(of: ssl), let ssl = unsafe ssl else {
        return unsafe OpenSSLFunction.pending?(ssl) ?? 0
    }
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslPending(ssl) }
}

@_cdecl("SSL_want")
public func interposedWant(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe InterposedTLS.connection(of: ssl), let ssl = unsafe ssl else {
        return unsafe OpenSSLFunction.want?(ssl) ?? SSL_NOTHING
    }
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslWant(ssl) }
}

@_cdecl("SSL_shutdown")
public func interposedShutdown(_ ssl: UnsafeMutableRawPointer?) -> Int32 {
    guard let connection = unsafe InterposedTLS.connection(of: ssl), let ssl = unsafe ssl else {
        return unsafe OpenSSLFunction.shutdown?(ssl) ?? -1
    }
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslShutdown(ssl) }
}

@_cdecl("SSL_get_error")
public func interposedGetError(_ ssl: UnsafeMutableRawPointer?, _ result: Int32) -> Int32 {
    guard let connection = unsafe InterposedTLS.connection(of: ssl), let ssl = unsafe ssl else {
        return unsafe OpenSSLFunction.getError?(ssl, result) ?? SSL_ERROR_SSL
    }
    return unsafe connection._withUnsafeGuaranteedRef { unsafe $0.sslError(ssl, result) }
}

// MARK: Objects attached to an SSL

/// An object that an `SSL` retains.
protocol SSLAttachment: AnyObject {
    /// The `SSL` is being freed, or the object was replaced.
    func detached()
}

extension SSLAttachment {
    func detached() {}
}

/// A slot of OpenSSL's application data (`SSL_set_ex_data`) that holds one retained object per `SSL`.
@safe final class SSLAttachmentSlot<Object: SSLAttachment>: Sendable {
    /// -1 if OpenSSL has no slot left.
    private let index: Int32

    /// OpenSSL never frees a slot: create each only once per process.
    init() {
        index = unsafe CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL, 0, nil, nil, nil) { _, object, _, _, _, _ in
            guard let object = unsafe object else { return }
            let held = unsafe Unmanaged<AnyObject>.fromOpaque(object)
            (unsafe held.takeUnretainedValue() as? any SSLAttachment)?.detached()
            unsafe held.release()
        }
    }

    func object(of ssl: OpaquePointer) -> Unmanaged<Object>? {
        unsafe SSL_get_ex_data(ssl, index).map { unsafe Unmanaged<Object>.fromOpaque($0) }
    }

    /// - Returns: false if there is no slot or no memory.
    func retain(_ object: Object, for ssl: OpaquePointer) -> Bool {
        unsafe release(of: ssl)
        let held = unsafe Unmanaged.passRetained(object)
        guard index >= 0, unsafe SSL_set_ex_data(ssl, index, held.toOpaque()) == 1 else {
            unsafe held.release()
            return false
        }
        return true
    }

    func release(of ssl: OpaquePointer) {
        guard let held = unsafe object(of: ssl) else { return }
        unsafe SSL_set_ex_data(ssl, index, nil)
        unsafe held.takeUnretainedValue().detached()
        unsafe held.release()
    }
}

// MARK: Dynamic linking

/// How the dynamic linker resolves a name. ELF gives a program's own definition precedence over a library's ("interposition").
enum DynamicSymbol {
    /// The library's function of a name that this program defines too.
    static func library(_ name: String) -> UnsafeMutableRawPointer? {
        // RTLD_NEXT, which Swift does not import.
        unsafe dlsym(UnsafeMutableRawPointer(bitPattern: -1), name)
    }

    /// The function that the program's libraries call by this name.
    static func resolved(_ name: String) -> UnsafeMutableRawPointer? {
        // RTLD_DEFAULT.
        unsafe dlsym(nil, name)
    }
}
