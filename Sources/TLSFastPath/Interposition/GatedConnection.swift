internal import COpenSSL
internal import Glibc
internal import Sockets

/// A client's connection before its upgrade: libwebsockets reads only what `RequestGate` has admitted.
///
/// Attached to an `SSL` when libwebsockets first reads from it, and replaced at the upgrade. Records are OpenSSL's.
@safe final class GatedConnection: InterposedConnection {
    private var gate = RequestGate()
    /// Read behind a request that is being answered: at most a record.
    private var kept: ArraySlice<UInt8> = []
    private var output: [UInt8] = []
    private var hasEnded = false
    /// The `SSL` is freed, or its connection has been upgraded.
    private(set) var isDetached = false

    /// Whether bytes wait here that the socket will not report any more.
    var keepsRequests: Bool { !kept.isEmpty }

    override func detached() {
        isDetached = true
        super.detached()
    }

    /// Passes on part of a request or a whole one, from what is kept or from the socket.
    ///
    /// libwebsockets' buffer (`pt_serv_buf_size`) has room for the longest incomplete head and a whole record behind it, so OpenSSL never
    /// keeps part of a record: libwebsockets looks for that only after a read that filled its buffer.
    override func sslRead(_ ssl: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
        unsafe isWithheld = false
        for _ in 0..<Self.readsMax where !hasEnded {
            if kept.isEmpty {
                let room = count - gate.heldBytes - RequestGate.refusalBytesMax
                guard room > 0 else { return end() }
                let received = unsafe OpenSSLFunction.read?(ssl, buffer, Int32(room)) ?? -1
                guard received > 0 else { return received }
                kept = unsafe Array(UnsafeRawBufferPointer(start: buffer, count: Int(received)))[...]
            }
            output.removeAll(keepingCapacity: true)
            gate.admit(&kept, to: &output)
            // Frees the memory.
            if kept.isEmpty { kept = [] }
            if gate.isHeadTooLong { return end() }
            guard !output.isEmpty else { continue }
            unsafe output.withUnsafeBytes { unsafe buffer.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
            return Int32(output.count)
        }
        if hasEnded { return 0 }
        unsafe isWithheld = true
        return -1
    }

    /// Before the upgrade libwebsockets writes HTTP, not frames.
    override func sslWrite(_ ssl: UnsafeMutableRawPointer, _ bytes: UnsafeRawBufferPointer) -> Int32 {
        unsafe OpenSSLFunction.write?(ssl, bytes.baseAddress, Int32(bytes.count)) ?? -1
    }

    override func sslError(_ ssl: UnsafeMutableRawPointer, _ result: Int32) -> Int32 {
        unsafe hasEnded && result <= 0 ? SSL_ERROR_ZERO_RETURN : super.sslError(ssl, result)
    }

    private func end() -> Int32 {
        hasEnded = true
        return 0
    }
}

/// The `SSL_CTX`s whose server connections are gated.
enum GatedContexts {
    /// -1 if OpenSSL has no slot left.
    private static let index = CRYPTO_get_ex_new_index(CRYPTO_EX_INDEX_SSL_CTX, 0, nil, nil, nil, nil)

    static func add(_ context: OpaquePointer) {
        // Any pointer but nil.
        unsafe SSL_CTX_set_ex_data(context, index, UnsafeMutableRawPointer(context))
    }

    /// A new gate for a server's connection; nil for clients, for programs' own contexts, and if there is no memory.
    static func gate(for ssl: OpaquePointer) -> Unmanaged<InterposedConnection>? {
        guard unsafe SSL_is_server(ssl) == 1, index >= 0, let context = unsafe SSL_get_SSL_CTX(ssl),
            unsafe SSL_CTX_get_ex_data(context, index) != nil, unsafe InterposedTLS.slot.retain(GatedConnection(), for: ssl)
        else { return nil }
        return unsafe InterposedTLS.slot.object(of: ssl)
    }
}
